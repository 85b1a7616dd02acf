//! The key services that this program was built with.

use trueup_cli::KeyServiceClients;

/// What makes their clients.
pub(crate) fn clients() -> KeyServiceClients {
    KeyServiceClients {
        #[cfg(feature = "kms")]
        kms: Some(Box::new(|request| trueup_key_services::kms_key(request.key, request.clock.clone()))),
        #[cfg(not(feature = "kms"))]
        kms: None,
        #[cfg(feature = "vault")]
        vault: Some(Box::new(|request| {
            trueup_key_services::vault_key(request.key, request.environment, request.clock.clone())
        })),
        #[cfg(not(feature = "vault"))]
        vault: None,
    }
}
