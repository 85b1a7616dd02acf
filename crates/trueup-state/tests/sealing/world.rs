//! Records with secrets, a store to keep them in, and keys to seal them with.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, Secret, Value, value};
use trueup_provider::{Binding, GenerationNumber, IdempotencyToken, InputValues, Slot, State};
use trueup_state::sealing::{KeyKind, KeySources, SealedStore};
use trueup_state::{
    Acquired, Attempt, Batch, Entry, Holder, Lease, MemoryStore, Metadata, Record, RecordId, Scope, Snapshot,
    Step, Store, StoreError, Version, Write, transition,
};
use trueup_store_suite::conformance::HandClock;

pub(crate) const CANARY: &str = "canary-51c9";

pub(crate) fn scope() -> Scope {
    Scope::new("shop", "prod")
}

pub(crate) fn id(number: u8) -> RecordId {
    RecordId::from_bytes([number; 16])
}

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::on_clock(Arc::new(HandClock::new()))
}

/// A key that needs no file.
pub(crate) fn sources() -> KeySources {
    let env = Some(Secret::new("11".repeat(32)));
    KeySources { chosen: KeyKind::Env, env, ..KeySources::default() }
}

pub(crate) fn sealed(inner: &MemoryStore) -> SealedStore {
    SealedStore::new(Arc::new(inner.clone()), sources())
}

pub(crate) fn secret(text: &str) -> Value {
    Value::from(text).into_secret()
}

pub(crate) async fn lease(store: &dyn Store) -> Lease {
    let text = str::to_owned;
    let holder = Holder { run: text("r"), user: text("u"), host: text("h"), reason: text("test") };
    match store.acquire(&scope(), &holder, Duration::from_secs(60)).await.unwrap() {
        Acquired::Lease(lease) => lease,
        Acquired::Held(held) => panic!("the lease is free: {held:?}"),
    }
}

/// The life of a record with a secret in every part that can have one; the password is part of all of them.
pub(crate) fn life(name: &str, password: &str) -> Vec<Step> {
    let address = Address::resource("std_file", name).unwrap();
    let written = value!({ user: "ada", password: (secret(password)) });
    let inputs = InputValues { effective: written.with_entry("mode", value!("0644")), written };
    let attempt = Attempt {
        inputs: inputs.clone(),
        bindings: vec![Binding::new("b", value!({ token: (secret(&format!("{password}-bound"))) }))],
        token: IdempotencyToken::from_bytes([9; 16]),
        pending: None,
        stub: false,
    };
    let meta = Metadata { provider: "std".into(), ..Metadata::default() };
    let object = State {
        inputs: Some(inputs),
        outputs: value!({ id: 7, list: [(secret(&format!("{password}-out"))), "open"] }),
        private: format!("{password}-private").into_bytes(),
        schema_version: 1,
        identity: Some(secret(&format!("{password}-identity"))),
    };
    vec![
        Step::CreateBegun {
            address: address.clone(),
            origin: address,
            meta: meta.clone(),
            number: GenerationNumber::FIRST,
            slot: Slot::FIRST,
            attempt: attempt.clone(),
        },
        Step::Pending { number: GenerationNumber::FIRST, context: secret(&format!("{password}-pending")) },
        Step::Settled { number: GenerationNumber::FIRST, object },
        Step::UpdateBegun { meta, attempt },
    ]
}

pub(crate) fn outputs() -> Value {
    value!({ open: 1, hidden: (secret(&format!("{CANARY}-stack"))) })
}

/// Commits the steps of a record one after the other, as the engine does.
pub(crate) async fn commit(
    store: &dyn Store,
    lease: &Lease,
    id: RecordId,
    steps: impl IntoIterator<Item = Step>,
) -> Result<(), StoreError> {
    let loaded = store.load(&scope()).await?;
    let known = loaded.records.into_iter().find(|(record, _)| record.id == id);
    let (mut record, mut expected): (Option<Arc<Record>>, Option<Version>) = known.unzip();
    for step in steps {
        let entry = Entry::new(id, step);
        let after = transition(record.map(Arc::unwrap_or_clone), &entry).unwrap();
        record = after.map(Arc::new);
        let writes = vec![Write { expected, entry, record: record.clone() }];
        expected = Some(store.commit(&scope(), lease.token, &Batch { writes, ..Batch::default() }).await?);
    }
    Ok(())
}

/// A stack of two resources and outputs, all with secrets.
pub(crate) async fn deploy(store: &dyn Store) -> Snapshot {
    let lease = lease(store).await;
    for (number, name) in [(1, "a"), (2, "b")] {
        commit(store, &lease, id(number), life(name, &format!("{CANARY}-{name}"))).await.unwrap();
    }
    let batch = Batch { outputs: Some(outputs()), ..Batch::default() };
    store.commit(&scope(), lease.token, &batch).await.unwrap();
    store.release(&scope(), &lease).await.unwrap();
    store.load(&scope()).await.unwrap()
}

/// All that the store holds of a scope, as text.
pub(crate) async fn held(store: &dyn Store) -> String {
    use std::fmt::Write;
    let mut held = String::new();
    let mut texts = Vec::new();
    let snapshot = store.load(&scope()).await.unwrap();
    for (record, _) in &snapshot.records {
        texts.push(serde_json::to_string(record).unwrap());
        let journal = store.journal(&scope(), record.id).await.unwrap();
        texts.extend(journal.iter().map(|entry| serde_json::to_string(entry).unwrap()));
        let objects = record.generations().filter_map(|generation| generation.object.as_ref());
        texts.extend(objects.map(|object| String::from_utf8_lossy(&object.private).into_owned()));
    }
    texts.extend(snapshot.outputs.map(|it| it.to_json(trueup_core::JsonForm::RECORD)));
    texts.extend(store.keyring(&scope()).await.unwrap());
    texts.iter().for_each(|text| writeln!(held, "{text}").unwrap());
    held
}
