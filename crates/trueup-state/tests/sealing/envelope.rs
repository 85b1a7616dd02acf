//! Payloads other than state, sealed by the same keys.

use trueup_core::Secret;
use trueup_state::Scope;
use trueup_state::sealing::{Envelope, EnvelopeError, KeySources};

use crate::sealing::world::{scope, sources};

/// PLANFILE-4: what was damaged, or is another's, is refused with the reason.
#[tokio::test]
async fn an_envelope_opens_for_whom_it_was_sealed() {
    let scope = scope();
    let envelope = Envelope { scope: &scope, purpose: "plan" };
    let payload: Vec<u8> = (0..=255).collect();
    let sealed = envelope.seal(&payload, &sources()).await.unwrap();
    assert_eq!(envelope.open(&sealed, &sources()).await.unwrap()[..], payload);

    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(envelope.open(&changed, &sources()).await.is_err(), "the change of byte {at} went unseen");
    }
    assert_eq!(envelope.open(b"{}", &sources()).await.unwrap_err(), EnvelopeError::Foreign);
    assert_eq!(envelope.open(b"trueup envelope 2\n", &sources()).await.unwrap_err(), EnvelopeError::Newer);
    assert!(envelope.open(&sealed[..sealed.len() - 1], &sources()).await.is_err());
    let for_another = Envelope { purpose: "export", ..envelope };
    assert_eq!(for_another.open(&sealed, &sources()).await.unwrap_err(), EnvelopeError::Changed);
    let elsewhere = Scope::new("shop", "dev");
    assert!(Envelope { scope: &elsewhere, ..envelope }.open(&sealed, &sources()).await.is_err());
    let wrong = KeySources { env: Some(Secret::new("22".repeat(32))), ..sources() };
    let told = envelope.open(&sealed, &wrong).await.unwrap_err().to_string();
    assert!(told.contains("TRUEUP_KEY") && !told.contains("2222"), "{told}");
}
