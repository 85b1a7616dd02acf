//! `std_tls_key`: a private key.

use rcgen::{KeyPair, RsaKeySize};
use trueup_core::{Secret, Value};
use trueup_provider::{Error, FieldType, Inputs, Outputs, Result};

use crate::kept::kept_in_state;

/// A private key, made once and kept in state as a secret. For production keep the key where it is used, and give it
/// only to what needs it.
#[derive(Inputs)]
pub struct TlsKey {
    /// What kind of key: `ecdsa_p256`, `ecdsa_p384`, `ed25519`, `rsa_2048` or `rsa_4096`.
    #[trueup(default = Algorithm::EcdsaP256, replace)]
    algorithm: Algorithm,
    /// Anything whose change should make another one.
    #[trueup(replace)]
    keepers: Option<Value>,
}

/// A kind of key.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// ECDSA on the curve P-256: what most should use.
    EcdsaP256,
    /// ECDSA on the curve P-384.
    EcdsaP384,
    /// EdDSA on the curve 25519.
    Ed25519,
    /// RSA with 2048 bits, for old partners.
    #[trueup(rename = "rsa_2048")]
    Rsa2048,
    /// RSA with 4096 bits, for old partners.
    #[trueup(rename = "rsa_4096")]
    Rsa4096,
}

/// A private key and its public part.
#[derive(Outputs, Clone)]
pub struct TlsKeyOutput {
    /// The private key, as PEM (PKCS #8).
    #[trueup(stable)]
    private_key_pem: Secret<String>,
    /// The public key, as PEM.
    #[trueup(stable)]
    public_key_pem: String,
}

impl TlsKey {
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn generate(&self) -> Result<TlsKeyOutput> {
        let key = match self.algorithm {
            Algorithm::EcdsaP256 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256),
            Algorithm::EcdsaP384 => KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384),
            Algorithm::Ed25519 => KeyPair::generate_for(&rcgen::PKCS_ED25519),
            Algorithm::Rsa2048 => KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048),
            Algorithm::Rsa4096 => KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_4096),
        };
        let key = key.map_err(|error| Error::fatal(format!("cannot make a key: {error}")))?;
        Ok(TlsKeyOutput { private_key_pem: key.serialize_pem().into(), public_key_pem: key.public_key_pem() })
    }
}

kept_in_state!(TlsKey, TlsKeyOutput, |this, _| this.generate());
