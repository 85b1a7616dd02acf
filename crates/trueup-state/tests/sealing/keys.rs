//! Where keys come from, what is said when one is not there, and that nothing makes one for nothing.

use std::path::Path;
use std::sync::Arc;

use trueup_core::Secret;
use trueup_state::sealing::{KeyError, KeyKind, KeySources, Keyring, SealedStore};
use trueup_state::{MemoryStore, Store, StoreError};

use crate::sealing::world::{CANARY, deploy, held, lease, memory, scope};

fn opened_by(inner: &MemoryStore, sources: &KeySources) -> SealedStore {
    SealedStore::new(Arc::new(inner.clone()), sources.clone())
}

/// A command that "wraps" by turning the text around, as a service would by its own key.
fn turning(folder: &Path) -> Vec<String> {
    let script = folder.join("keeper.sh");
    let text = "read line\ncase $1 in wrap) echo \"kept:$(echo $line | rev)\";; unwrap) echo ${line#kept:} | rev;; esac\n";
    std::fs::write(&script, text).unwrap();
    vec!["sh".to_owned(), script.display().to_string()]
}

fn every_source(folder: &Path) -> [KeySources; 4] {
    let of = |chosen| KeySources { chosen, ..KeySources::default() };
    [
        KeySources { file: Some(folder.join("config/key")), ..of(KeyKind::File) },
        KeySources { passphrase: Some(Secret::new("correct horse".to_owned())), ..of(KeyKind::Passphrase) },
        KeySources { env: Some(Secret::new("ab".repeat(32))), ..of(KeyKind::Env) },
        KeySources { command: turning(folder), ..of(KeyKind::Command) },
    ]
}

/// SECRET-3.
#[tokio::test]
async fn every_kind_of_key_seals_and_opens() {
    let folder = tempfile::tempdir().unwrap();
    for sources in every_source(folder.path()) {
        let inner = memory();
        let loaded = deploy(&opened_by(&inner, &sources)).await;
        let raw = held(&inner).await;
        assert!(!raw.contains(CANARY) && !raw.contains("correct horse") && !raw.contains("abababab"));
        assert_eq!(opened_by(&inner, &sources).load(&scope()).await.unwrap(), loaded);
        let keyring = Keyring::parse(&inner.keyring(&scope()).await.unwrap().unwrap()).unwrap();
        assert_eq!(keyring.kind(), Some(sources.chosen));
        // Whoever chooses another kind for new keyrings opens this one all the same.
        let others = KeySources { chosen: KeyKind::Env, ..sources };
        assert_eq!(opened_by(&inner, &others).load(&scope()).await.unwrap(), loaded);
    }
}

/// SECRET-3: a missing or wrong key is told with where it was looked for, and nothing is lost.
#[tokio::test]
async fn a_missing_or_wrong_key_is_told_with_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [file, passphrase, env, command] = every_source(folder.path());
    let other_file = folder.path().join("other");
    std::fs::write(&other_file, "cd".repeat(32)).unwrap();
    let text = |text: &str| Some(Secret::new(text.to_owned()));
    let failing = ["sh", "-c", "echo no entry >&2; exit 3"].map(str::to_owned).to_vec();
    let nowhere = Some(folder.path().join("nowhere"));
    let cases = [
        (&file, KeySources { file: nowhere, ..file.clone() }, "nowhere"),
        (&file, KeySources { file: None, ..file.clone() }, "no home folder"),
        (&file, KeySources { file: Some(other_file), ..file.clone() }, "other is "),
        (&passphrase, KeySources { passphrase: None, ..passphrase.clone() }, "TRUEUP_PASSPHRASE"),
        (
            &passphrase,
            KeySources { passphrase: text("wrong"), ..passphrase.clone() },
            "TRUEUP_PASSPHRASE is ",
        ),
        (&env, KeySources { env: None, ..env.clone() }, "no key in TRUEUP_KEY"),
        (&env, KeySources { env: text("short"), ..env.clone() }, "not 32 bytes"),
        (&env, KeySources { env: text(&"cd".repeat(32)), ..env.clone() }, "key in TRUEUP_KEY is "),
        (&command, KeySources { command: Vec::new(), ..command.clone() }, "none is set"),
        (&command, KeySources { command: failing, ..command.clone() }, "exit status: 3: no entry"),
    ];
    for (right, wrong, told) in cases {
        let inner = memory();
        let loaded = deploy(&opened_by(&inner, right)).await;
        let before = held(&inner).await;
        let store = opened_by(&inner, &wrong);
        let error = store.load(&scope()).await.unwrap_err();
        let refused = lease_refused(&store).await;
        for error in [error, refused] {
            assert!(matches!(error, StoreError::Key { .. }), "{error}");
            let error = error.to_string();
            assert!(error.contains(told), "{told}: {error}");
            assert!(!error.contains("wrong") && !error.contains("cdcd"), "{error}");
        }
        assert_eq!(held(&inner).await, before, "nothing was touched");
        assert_eq!(opened_by(&inner, right).load(&scope()).await.unwrap(), loaded);
        lease(&inner).await;
    }
}

/// SECRET-10: a script that traces its steps repeats what it reads, and what it answers.
#[tokio::test]
async fn a_command_that_repeats_the_key_does_not_show_it() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let keeper = |script: &str| KeySources {
        chosen: KeyKind::Command,
        command: ["sh", "-xc", &script.replace("SEEN", &seen.display().to_string()), "keeper"]
            .map(str::to_owned)
            .to_vec(),
        ..KeySources::default()
    };
    let inner = memory();
    let wrapping = keeper("read -r line; echo \"$line\" > SEEN; false plaintext=\"$line\"");
    let told = lease_refused(&opened_by(&inner, &wrapping)).await.to_string();
    let key = std::fs::read_to_string(&seen).unwrap();
    assert!(told.contains("plaintext=(secret)") && !told.contains(key.trim()), "{told}");
    deploy(&opened_by(&inner, &keeper("read -r line; echo \"$line\" > SEEN; echo wrapped"))).await;
    let key = std::fs::read_to_string(&seen).unwrap();
    let unwrapping = keeper("key=$(cat SEEN); echo \"$key\"; false \"$key\"");
    let told = opened_by(&inner, &unwrapping).load(&scope()).await.unwrap_err().to_string();
    assert!(told.contains("false (secret)") && !told.contains(key.trim()), "{told}");
}

async fn lease_refused(store: &SealedStore) -> StoreError {
    let text = str::to_owned;
    let holder = trueup_state::Holder { run: text("r"), user: text("u"), host: text("h"), reason: text("x") };
    store.acquire(&scope(), &holder, std::time::Duration::from_secs(1)).await.unwrap_err()
}

/// SECRET-3: whoever only reads makes no key; a key is there before anything is done that might need one.
#[tokio::test]
async fn a_key_is_made_by_the_first_lease_and_never_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let sources = KeySources { file: Some(path.clone()), ..KeySources::default() };
    let inner = memory();
    let store = opened_by(&inner, &sources);
    store.load(&scope()).await.unwrap();
    assert!(!path.exists());
    lease(&store).await;
    assert!(path.exists());
    assert_eq!(inner.keyring(&scope()).await.unwrap(), None, "no keyring without a secret");
}

/// Two who begin at once agree on one keyring.
#[tokio::test]
async fn the_first_keyring_counts() {
    let folder = tempfile::tempdir().unwrap();
    let [file, ..] = every_source(folder.path());
    let inner = memory();
    let late = opened_by(&inner, &file);
    let held_by_late = lease(&late).await;
    late.release(&scope(), &held_by_late).await.unwrap();
    let loaded = deploy(&opened_by(&inner, &file)).await;
    let keyring = inner.keyring(&scope()).await.unwrap();
    let again = lease(&late).await;
    let outputs = loaded.outputs.clone();
    late.commit(&scope(), again.token, &trueup_state::Batch { outputs, ..Default::default() }).await.unwrap();
    assert_eq!(inner.keyring(&scope()).await.unwrap(), keyring);
    assert_eq!(opened_by(&inner, &file).load(&scope()).await.unwrap(), loaded);
}

#[test]
fn a_newer_keyring_is_refused() {
    let newer = Keyring::parse(r#"{"version":3,"something":"else"}"#);
    assert_eq!(newer, Err(KeyError::Format { found: 3, known: 2 }));
    assert!(matches!(Keyring::parse("{}"), Err(KeyError::Keyring { .. })));
}

/// SECRET-1.
#[test]
fn keys_are_not_printed() {
    let sources = KeySources {
        passphrase: Some(Secret::new("hush".to_owned())),
        env: Some(Secret::new("ab".repeat(32))),
        ..KeySources::default()
    };
    let printed = format!("{sources:?}");
    assert!(!printed.contains("hush") && !printed.contains("abab"), "{printed}");
}
