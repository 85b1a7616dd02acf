//! Keys that a key service holds: what is stored of them, and what is refused whatever the service answers.

use std::sync::{Arc, Mutex};

use trueup_provider::BoxFuture;
use trueup_state::sealing::{
    KeyError, KeyKind, KeyService, KeyServiceError, KeyServices, KeySources, Keyring, SealedStore,
    ServiceKey, WrappedText, forget, rekey,
};
use trueup_state::{MemoryStore, Scope, Store, StoreError};
use zeroize::Zeroizing;

use crate::sealing::world::{CANARY, deploy, held, lease, memory, scope, sources};

/// A service that hands out numbers for what it keeps, and cares for no context.
#[derive(Debug, Default)]
struct Safe {
    kept: Mutex<Vec<Vec<u8>>>,
    fails: Mutex<Option<KeyServiceError>>,
}

impl Safe {
    fn check(&self) -> Result<(), KeyServiceError> {
        self.fails.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn fail(&self, error: Option<KeyServiceError>) {
        *self.fails.lock().unwrap() = error;
    }
}

impl KeyService for Safe {
    fn location(&self) -> String {
        "the safe".to_owned()
    }

    fn wrap<'a>(
        &'a self,
        plaintext: &'a [u8],
        _: &'a Scope,
    ) -> BoxFuture<'a, Result<WrappedText, KeyServiceError>> {
        Box::pin(async move {
            self.check()?;
            let mut kept = self.kept.lock().unwrap();
            kept.push(plaintext.to_vec());
            Ok(WrappedText { text: format!("number {}", kept.len()), by: "drawer 7".to_owned() })
        })
    }

    fn unwrap<'a>(
        &'a self,
        wrapped: &'a str,
        _: &'a Scope,
    ) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, KeyServiceError>> {
        Box::pin(async move {
            self.check()?;
            let number = wrapped.strip_prefix("number ").and_then(|it| it.parse::<usize>().ok());
            let found = number.and_then(|number| self.kept.lock().unwrap().get(number - 1).cloned());
            let unknown = || KeyServiceError::Unusable("there is no such number".to_owned());
            found.map(Zeroizing::new).ok_or_else(unknown)
        })
    }
}

fn with(safe: &Arc<Safe>, chosen: KeyKind) -> KeySources {
    let key = ServiceKey::Ready(safe.clone());
    let services = KeyServices { kms: key.clone(), vault: key };
    KeySources { chosen, services, ..KeySources::default() }
}

fn opened_by(inner: &MemoryStore, sources: &KeySources) -> SealedStore {
    SealedStore::new(Arc::new(inner.clone()), sources.clone())
}

async fn keyring(inner: &MemoryStore) -> String {
    inner.keyring(&scope()).await.unwrap().unwrap()
}

/// SECRET-10: the store gets a kind, an id, the service's text and its name for the key, in a format of its own.
#[tokio::test]
async fn a_key_service_seals_and_opens_and_older_programs_are_told() {
    for (kind, name) in [(KeyKind::Kms, "kms"), (KeyKind::Vault, "vault")] {
        let (inner, safe) = (memory(), Arc::new(Safe::default()));
        let loaded = deploy(&opened_by(&inner, &with(&safe, kind))).await;
        assert!(!held(&inner).await.contains(CANARY));
        assert_eq!(opened_by(&inner, &with(&safe, KeyKind::File)).load(&scope()).await.unwrap(), loaded);
        assert_eq!(safe.kept.lock().unwrap().len(), 1, "one key is wrapped, once");
        let stored: serde_json::Value = serde_json::from_str(&keyring(&inner).await).unwrap();
        let id = stored["keys"][0]["id"].as_str().unwrap().to_owned();
        let expected = serde_json::json!({
            "version": 2, "wrapped_by": { "kind": name },
            "keys": [{ "id": id, "wrapped": "number 1", "by": "drawer 7" }],
        });
        assert_eq!(stored, expected);
        assert_eq!(Keyring::parse(&stored.to_string()).unwrap().kind(), Some(kind));
    }
    // Programs that know of no services still read what needs none.
    let inner = memory();
    deploy(&opened_by(&inner, &sources())).await;
    assert!(keyring(&inner).await.starts_with(r#"{"version":1,"#));
}

/// SECRET-10: a wrapped key that was moved to another stage is refused, though the service unwraps it.
#[tokio::test]
async fn a_wrapped_key_of_another_stage_is_refused() {
    let (inner, safe) = (memory(), Arc::new(Safe::default()));
    let sources = with(&safe, KeyKind::Vault);
    deploy(&opened_by(&inner, &sources)).await;
    let stored = keyring(&inner).await;
    let parsed = Keyring::parse(&stored).unwrap();
    assert!(parsed.unlock(&sources, &scope()).await.unwrap().is_some());
    for other in [Scope::new("shop", "dev"), Scope::new("other", "prod")] {
        let refused = parsed.unlock(&sources, &other).await.unwrap_err();
        assert!(refused.to_string().contains("belongs to another stack"), "{refused}");
    }
    // Nor is what the service returns for another text believed.
    safe.kept.lock().unwrap().push(vec![7; 32]);
    safe.kept.lock().unwrap().push(vec![7; 64]);
    for number in ["number 2", "number 3"] {
        let changed = Keyring::parse(&stored.replace("number 1", number)).unwrap();
        let refused = changed.unlock(&sources, &scope()).await.unwrap_err();
        assert!(matches!(refused, KeyError::Keyring { .. }), "{refused}");
    }
    for (from, to) in [("number 1", ""), ("number 1", "\\u001b]0;x"), ("drawer 7", "a\\nb")] {
        let changed = Keyring::parse(&stored.replace(from, to)).unwrap();
        let refused = changed.unlock(&sources, &scope()).await.unwrap_err();
        assert!(refused.to_string().contains("printable"), "{refused}");
    }
}

/// SECRET-10: a service that does not answer has lost nothing, so nothing is given up; a key that is gone can be.
#[tokio::test]
async fn secrets_are_not_given_up_while_a_service_is_out_of_reach() {
    let (inner, safe) = (memory(), Arc::new(Safe::default()));
    let right = with(&safe, KeyKind::Vault);
    let loaded = deploy(&opened_by(&inner, &right)).await;
    let before = held(&inner).await;
    let own = lease(&inner).await;
    let not_built = ServiceKey::Unusable("it was built without".to_owned());
    let services = KeyServices { vault: not_built, ..KeyServices::default() };
    let cases = [
        (
            Some(KeyServiceError::Unavailable("the safe is shut".to_owned())),
            right.clone(),
            "the safe is shut",
        ),
        (None, KeySources { services, ..right.clone() }, "it was built without"),
    ];
    for (failure, sources, told) in cases {
        safe.fail(failure);
        let refused = forget(&inner, &scope(), Some(&own), &sources).await.unwrap_err();
        let loading = opened_by(&inner, &sources).load(&scope()).await.unwrap_err();
        let changing = rekey(&inner, &scope(), &own, &sources, &crate::sealing::world::sources()).await;
        for error in [refused, loading, changing.unwrap_err()] {
            assert!(matches!(&error, StoreError::Key { error: KeyError::Unavailable { .. }, .. }), "{error}");
            assert!(error.to_string().contains(told), "{error}");
        }
        assert_eq!(held(&inner).await, before, "nothing was touched");
    }
    safe.fail(None);
    assert_eq!(opened_by(&inner, &right).load(&scope()).await.unwrap(), loaded);

    safe.fail(Some(KeyServiceError::Unusable("the key was deleted".to_owned())));
    let error = opened_by(&inner, &right).load(&scope()).await.unwrap_err().to_string();
    assert!(error.contains("the key was deleted; the data key was wrapped by drawer 7"), "{error}");
    let unset = KeySources { services: KeyServices::default(), ..right.clone() };
    let error = opened_by(&inner, &unset).load(&scope()).await.unwrap_err().to_string();
    assert!(error.contains("no key in Vault's transit engine: TRUEUP_KEY_VAULT"), "{error}");
    for lost in [right, unset] {
        assert!(forget(&inner, &scope(), None, &lost).await.unwrap().keyring);
    }
}
