//! Keys are changed without losing anything, wherever it is cut off; what no key opens is given up, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use trueup_core::{Secret, Value};
use trueup_provider::BoxFuture;
use trueup_state::sealing::{KeyKind, KeySources, Keyring, SealedStore, forget, outline, rekey};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, MemoryStore, RecordId,
    RunSummary, Scope, Snapshot, Step, Store, StoreError, Version, transition,
};

use crate::sealing::world::{CANARY, commit, deploy, held, id, lease, memory, scope, sealed, sources};

/// Another key.
fn next() -> KeySources {
    KeySources { env: Some(Secret::new("22".repeat(32))), ..sources() }
}

fn with(inner: &MemoryStore, sources: KeySources) -> SealedStore {
    SealedStore::new(Arc::new(inner.clone()), sources)
}

fn contents(snapshot: Snapshot) -> (Vec<trueup_state::Record>, Option<Value>) {
    let records = snapshot.records.into_iter().map(|(record, _)| Arc::unwrap_or_clone(record));
    (records.collect(), snapshot.outputs)
}

#[tokio::test]
async fn all_secrets_are_sealed_anew_and_the_old_key_opens_nothing() {
    let inner = memory();
    let before = contents(deploy(&sealed(&inner)).await);
    let raw = contents(inner.load(&scope()).await.unwrap());
    let held_lease = lease(&inner).await;
    let done = rekey(&inner, &scope(), &held_lease, &sources(), &next()).await.unwrap();
    assert_eq!((done.records, done.old_keys_kept), (2, false));
    assert_eq!(contents(with(&inner, next()).load(&scope()).await.unwrap()), before);
    assert!(matches!(sealed(&inner).load(&scope()).await, Err(StoreError::Key { .. })));
    assert_ne!(contents(inner.load(&scope()).await.unwrap()), raw);
    let journal = with(&inner, next()).journal(&scope(), id(1)).await.unwrap();
    assert!(matches!(&journal[..], [Entry { step: Step::Resealed { .. }, .. }]), "{journal:?}");
}

/// State from before secrets were sealed.
#[tokio::test]
async fn plain_state_is_sealed_throughout() {
    let inner = memory();
    let before = contents(deploy(&inner).await);
    let held_lease = lease(&inner).await;
    rekey(&inner, &scope(), &held_lease, &sources(), &sources()).await.unwrap();
    let raw = held(&inner).await;
    assert!(!raw.contains(CANARY), "{raw}");
    assert_eq!(contents(sealed(&inner).load(&scope()).await.unwrap()), before);
}

/// Whoever had read the keyring before reads it again.
#[tokio::test]
async fn those_who_are_at_it_notice_a_change_of_keys() {
    let inner = memory();
    let store = sealed(&inner);
    let before = contents(deploy(&store).await);
    let held_lease = lease(&inner).await;
    rekey(&inner, &scope(), &held_lease, &sources(), &sources()).await.unwrap();
    inner.release(&scope(), &held_lease).await.unwrap();
    assert_eq!(contents(store.load(&scope()).await.unwrap()), before);
    // One that never loads anything again, but writes.
    let late = sealed(&inner);
    late.load(&scope()).await.unwrap();
    let again = lease(&inner).await;
    rekey(&inner, &scope(), &again, &sources(), &sources()).await.unwrap();
    inner.release(&scope(), &again).await.unwrap();
    let own = lease(&late).await;
    late.commit(&scope(), own.token, &Batch { outputs: before.1.clone(), ..Batch::default() }).await.unwrap();
    assert_eq!(contents(sealed(&inner).load(&scope()).await.unwrap()), before);
}

/// SECRET-3: cut off at any write, before or after it reached the store, nothing is lost, and a second try finishes.
#[tokio::test]
async fn a_change_of_keys_may_be_cut_off_anywhere() {
    let mut cut_off = 0;
    for lost in [Lost::Request, Lost::Answer] {
        for writes in 0.. {
            let inner = memory();
            let before = contents(deploy(&sealed(&inner)).await);
            let held_lease = lease(&inner).await;
            let cut = CutOff { inner: inner.clone(), left: AtomicUsize::new(writes), lost };
            let done = rekey(&cut, &scope(), &held_lease, &sources(), &next()).await;
            // Whoever has both keys at hand reads it, whichever of them it is under now.
            let old = sealed(&inner).load(&scope()).await;
            let now = if old.is_ok() { sources() } else { next() };
            assert_eq!(contents(with(&inner, now).load(&scope()).await.unwrap()), before);
            assert!(!held(&inner).await.contains(CANARY));
            // The same command again, whichever that is.
            let finished = rekey(&inner, &scope(), &held_lease, &sources(), &next()).await.unwrap();
            assert!(!finished.old_keys_kept);
            assert_eq!(contents(with(&inner, next()).load(&scope()).await.unwrap()), before);
            if done.is_ok() {
                break;
            }
            cut_off += 1;
        }
    }
    // Two keyrings, two batches and the journal, lost on the way there or back.
    assert_eq!(cut_off, 10);
}

/// SECRET-4: inputs count as changed, outputs as unknown, private bytes are gone, and all else is as it was.
#[tokio::test]
async fn what_no_key_opens_is_given_up_and_nothing_else() {
    let inner = memory();
    let before = deploy(&sealed(&inner)).await;
    let lost = KeySources { env: None, ..sources() };
    let told = forget(&inner, &scope(), None, &lost).await.unwrap();
    let fields = ["bindings.b.token", "identity", "inputs.password", "outputs.list[0]", "private"];
    assert_eq!(told.fields.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>(), [fields; 2]);
    assert_eq!((told.outputs.clone(), told.keyring), (vec!["outputs.hidden".to_owned()], true));
    assert_eq!(contents(sealed(&inner).load(&scope()).await.unwrap()), contents(before.clone()));

    let held_lease = lease(&inner).await;
    assert_eq!(forget(&inner, &scope(), Some(&held_lease), &lost).await.unwrap(), told);
    let store = with(&inner, lost);
    let after = store.load(&scope()).await.unwrap();
    for ((before, _), (after, _)) in before.records.iter().zip(&after.records) {
        assert_eq!(outline(before), outline(after));
        let object = after.current.as_ref().unwrap().object.as_ref().unwrap();
        let password = object.inputs.as_ref().unwrap().effective.get("password").unwrap().clone();
        assert!(password.is_unknown() && password.is_secret());
        assert!(object.private.is_empty());
    }
    assert_eq!(after.outputs.unwrap().get("open"), Some(&Value::from(1)));
    assert_eq!(Keyring::parse(&inner.keyring(&scope()).await.unwrap().unwrap()).unwrap().kind(), None);
    // It goes on with a new key.
    let store = with(&inner, next());
    inner.release(&scope(), &held_lease).await.unwrap();
    let own = lease(&store).await;
    let address = before.records[0].0.address.clone();
    commit(&store, &own, id(1), [Step::Moved { to: address }]).await.unwrap();
    let outputs = Some(crate::sealing::world::outputs());
    store.commit(&scope(), own.token, &Batch { outputs, ..Batch::default() }).await.unwrap();
    assert!(!held(&inner).await.contains(CANARY));
    assert_eq!(
        with(&inner, next()).load(&scope()).await.unwrap().outputs,
        Some(crate::sealing::world::outputs())
    );
}

/// With the key at hand there is nothing to give up.
#[tokio::test]
async fn what_opens_is_not_given_up() {
    let inner = memory();
    let before = deploy(&sealed(&inner)).await;
    let held_lease = lease(&inner).await;
    let told = forget(&inner, &scope(), Some(&held_lease), &sources()).await.unwrap();
    assert!(told.fields.is_empty() && told.outputs.is_empty() && !told.keyring);
    assert_eq!(contents(sealed(&inner).load(&scope()).await.unwrap()), contents(before));
}

/// What a newer program sealed is not lost, however little this one can do with it.
#[tokio::test]
async fn what_a_newer_program_sealed_is_not_given_up() {
    let inner = memory();
    deploy(&sealed(&inner)).await;
    let keyring = inner.keyring(&scope()).await.unwrap().unwrap();
    let newer = keyring.replace("\"version\":1", "\"version\":3");
    inner.replace_keyring(&scope(), Some(&keyring), &newer).await.unwrap();
    let before = held(&inner).await;
    let held_lease = lease(&inner).await;
    let refused = forget(&inner, &scope(), Some(&held_lease), &sources()).await;
    assert!(matches!(refused, Err(StoreError::Key { .. })), "{refused:?}");
    assert_eq!(held(&inner).await, before);
}

/// CRASH-8: a record is sealed anew, and says the same.
#[tokio::test]
async fn resealing_changes_nothing_but_secrets() {
    let inner = memory();
    deploy(&sealed(&inner)).await;
    let record = trueup_state::Record::clone(&inner.load(&scope()).await.unwrap().records[0].0);
    let resealed = |record: &trueup_state::Record| {
        let step = Step::Resealed { record: Box::new(record.clone()) };
        Entry::new(id(1), step)
    };
    assert_eq!(transition(None, &resealed(&record)), Ok(Some(record.clone())));
    let mut other = record.clone();
    other.meta.protect = true;
    let refused = transition(Some(record), &resealed(&other)).unwrap_err().to_string();
    assert!(refused.contains("more than secrets would change"), "{refused}");
}

/// Neither key opens it: the error is about the one that should.
#[tokio::test]
async fn a_change_of_keys_needs_one_of_them() {
    let inner = memory();
    deploy(&sealed(&inner)).await;
    let before = held(&inner).await;
    let held_lease = lease(&inner).await;
    let none = KeySources { env: None, ..sources() };
    let refused = rekey(&inner, &scope(), &held_lease, &none, &next()).await.unwrap_err().to_string();
    assert!(refused.contains("no key in TRUEUP_KEY"), "{refused}");
    assert_eq!(held(&inner).await, before);
}

#[tokio::test]
async fn the_kind_of_key_can_change() {
    let inner = memory();
    let before = contents(deploy(&sealed(&inner)).await);
    let held_lease = lease(&inner).await;
    let passphrase = KeySources {
        chosen: KeyKind::Passphrase,
        passphrase: Some(Secret::new("correct horse".to_owned())),
        ..KeySources::default()
    };
    rekey(&inner, &scope(), &held_lease, &sources(), &passphrase).await.unwrap();
    assert_eq!(contents(with(&inner, passphrase).load(&scope()).await.unwrap()), before);
}

/// Whether a write that is cut off reached the store.
#[derive(Clone, Copy)]
enum Lost {
    Request,
    Answer,
}

/// A store that is cut off after some writes.
struct CutOff {
    inner: MemoryStore,
    left: AtomicUsize,
    lost: Lost,
}

impl CutOff {
    async fn write<T>(&self, write: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let gone = || StoreError::Unavailable {
            attempted: "write",
            location: "here".to_owned(),
            cause: "cut off".into(),
        };
        let spend = |left: usize| left.checked_sub(1);
        match (self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend), self.lost) {
            (Ok(_), _) => write.await,
            (Err(_), Lost::Request) => Err(gone()),
            (Err(_), Lost::Answer) => {
                write.await?;
                Err(gone())
            }
        }
    }
}

impl Store for CutOff {
    fn location(&self) -> String {
        self.inner.location()
    }
    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        self.inner.load(scope)
    }
    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        self.inner.acquire(scope, holder, term)
    }
    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.renew(scope, lease)
    }
    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.release(scope, lease)
    }
    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.inner.unlock(scope, run)
    }
    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.inner.keyring(scope)
    }
    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.write(self.inner.replace_keyring(scope, expected, keyring)))
    }
    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(self.write(self.inner.commit(scope, token, batch)))
    }
    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.inner.journal(scope, id)
    }
    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.write(self.inner.forget_before_resealing(scope, token)))
    }
    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        self.inner.runs(scope)
    }
    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        self.inner.history(scope, run)
    }
    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.prune(scope, keep_runs)
    }
    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        self.inner.held(scope)
    }
    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.inner.forget_scope(scope, token)
    }
    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        self.inner.scopes()
    }
}
