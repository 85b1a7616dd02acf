//! What is sealed, that it comes back exactly, and that nobody changes or moves it unseen.

use std::sync::Arc;

use proptest::prelude::*;
use trueup_core::{Number, Type, Value, value};
use trueup_provider::State;
use trueup_state::sealing::outline;
use trueup_state::{Batch, Entry, MemoryStore, Record, Scope, Step, Store, StoreError, Write, transition};

use crate::sealing::world::{CANARY, commit, deploy, held, id, lease, life, memory, scope, sealed, secret};

/// SECRET-3: in state, journal, private bytes, pending contexts, bindings, identities and outputs.
#[tokio::test]
async fn the_store_sees_no_secret() {
    let inner = memory();
    let loaded = deploy(&sealed(&inner)).await;
    let raw = held(&inner).await;
    assert!(!raw.contains(CANARY), "{raw}");
    assert!(raw.contains("ada") && raw.contains("0644"), "what is not secret is as it is: {raw}");
    assert!(held(&sealed(&inner)).await.contains(CANARY));
    // Another process, with the same key.
    assert_eq!(sealed(&inner).load(&scope()).await.unwrap(), loaded);
}

/// SECRET-3, TARGET-5: no secret, no key, and nothing copied.
#[tokio::test]
async fn what_holds_no_secret_is_shared_as_it_is() {
    let inner = memory();
    let store = sealed(&inner);
    let lease = lease(&store).await;
    let mut steps = life("a", "x");
    let Step::CreateBegun { attempt, .. } = &mut steps[0] else { panic!("it begins so") };
    attempt.bindings.clear();
    attempt.inputs.written = value!({ user: "ada" });
    attempt.inputs.effective = value!({ user: "ada" });
    commit(&store, &lease, id(1), steps.into_iter().take(1)).await.unwrap();
    assert_eq!(inner.keyring(&scope()).await.unwrap(), None, "no keyring is made for nothing");
    let (below, above) = (inner.load(&scope()).await.unwrap(), store.load(&scope()).await.unwrap());
    assert!(Arc::ptr_eq(&below.records[0].0, &above.records[0].0));
}

/// TARGET-5: what did not change is written as it was.
#[tokio::test]
async fn the_same_secret_is_sealed_to_the_same_bytes() {
    let inner = memory();
    deploy(&sealed(&inner)).await;
    let before = inner.load(&scope()).await.unwrap();
    let store = sealed(&inner);
    let lease = lease(&store).await;
    let record = store.load(&scope()).await.unwrap().records[0].0.clone();
    let moved = Step::Moved { to: record.address.clone() };
    commit(&store, &lease, record.id, [moved]).await.unwrap();
    let after = inner.load(&scope()).await.unwrap();
    assert_eq!(after.records[0].0, before.records[0].0);
}

/// What was recorded before secrets were sealed is read, and sealed when it is next written.
#[tokio::test]
async fn plain_state_is_read_and_sealed_with_the_next_write() {
    let inner = memory();
    let plain = deploy(&inner).await;
    let store = sealed(&inner);
    assert_eq!(store.load(&scope()).await.unwrap(), plain);
    let lease = lease(&store).await;
    let moved = Step::Moved { to: plain.records[0].0.address.clone() };
    commit(&store, &lease, id(1), [moved]).await.unwrap();
    let text = |record: &Record| serde_json::to_string(record).unwrap();
    let raw = inner.load(&scope()).await.unwrap();
    assert!(!text(&raw.records[0].0).contains(CANARY) && text(&raw.records[1].0).contains(CANARY));
    assert_eq!(store.load(&scope()).await.unwrap().records[0].0, plain.records[0].0);
}

/// A snapshot with one record, put into a store as it is.
async fn stored(inner: &MemoryStore, at: &Scope, record: &Record) {
    let holder = trueup_state::Holder {
        run: "r".to_owned(),
        user: "u".to_owned(),
        host: "h".to_owned(),
        reason: "test".to_owned(),
    };
    let acquired = inner.acquire(at, &holder, std::time::Duration::from_secs(60)).await.unwrap();
    let trueup_state::Acquired::Lease(lease) = acquired else { panic!("the lease is free") };
    let entry = Entry::new(record.id, Step::Resealed { record: Box::new(record.clone()) });
    let write = Write { expected: None, entry, record: Some(Arc::new(record.clone())) };
    let batch = Batch { writes: vec![write], ..Batch::default() };
    inner.commit(at, lease.token, &batch).await.unwrap();
}

fn object(record: &mut Record) -> &mut State {
    record.current.as_mut().unwrap().object.as_mut().unwrap()
}

/// The sealed record and the keyring of a deployed stack.
async fn deployed() -> (Record, String) {
    let inner = memory();
    deploy(&sealed(&inner)).await;
    let record = Record::clone(&inner.load(&scope()).await.unwrap().records[0].0);
    (record, inner.keyring(&scope()).await.unwrap().unwrap())
}

/// What loading a record with these seals comes to.
async fn loaded(at: &Scope, record: &Record, keyring: &str) -> Result<(), StoreError> {
    let inner = memory();
    inner.replace_keyring(at, None, keyring).await.unwrap();
    stored(&inner, at, record).await;
    sealed(&inner).load(at).await.map(drop)
}

/// SECRET-3: whatever byte of a sealed secret is changed, and however, it is told which one.
#[tokio::test]
async fn a_changed_secret_is_told_with_its_record_and_field() {
    let (record, keyring) = deployed().await;
    assert_eq!(loaded(&scope(), &record, &keyring).await, Ok(()));
    let inputs = record.current.as_ref().unwrap().object.as_ref().unwrap().inputs.clone().unwrap();
    let text = inputs.effective.get("password").unwrap().as_sealed().unwrap().to_owned();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let mut changed = record.clone();
        let password = Value::sealed(String::from_utf8(bytes).unwrap());
        let inputs = object(&mut changed).inputs.as_mut().unwrap();
        inputs.effective = inputs.effective.with_entry("password", password);
        let Err(StoreError::Damaged { what, .. }) = loaded(&scope(), &changed, &keyring).await else {
            panic!("the change of byte {at} went unseen");
        };
        assert!(what.to_string().contains("`inputs.password` of std_file.a"), "{what}");
    }
    let private = object(&mut record.clone()).private.clone();
    for at in 17..private.len() {
        let mut changed = record.clone();
        object(&mut changed).private[at] ^= 1;
        let Err(StoreError::Damaged { what, .. }) = loaded(&scope(), &changed, &keyring).await else {
            panic!("the change of byte {at} went unseen");
        };
        assert!(what.to_string().contains("`private` of std_file.a"), "{what}");
    }
}

/// SECRET-3: a secret opens in its own field of its own record of its own stack and stage, and nowhere else.
#[tokio::test]
async fn a_secret_in_anothers_place_is_told() {
    let (record, keyring) = deployed().await;
    let mut swapped = record.clone();
    let outputs = object(&mut swapped).outputs.clone();
    let password = object(&mut swapped).inputs.as_ref().unwrap().effective.get("password").unwrap().clone();
    object(&mut swapped).outputs = outputs.with_entry("list", Value::list([password, value!("open")]));
    let told = loaded(&scope(), &swapped, &keyring).await.unwrap_err().to_string();
    assert!(told.contains("`outputs.list[0]` of std_file.a does not open"), "{told}");

    let other = Record { id: id(3), ..record.clone() };
    let told = loaded(&scope(), &other, &keyring).await.unwrap_err().to_string();
    assert!(told.contains("does not open"), "{told}");

    let moved = Record { address: "std_file.elsewhere".parse().unwrap(), ..record.clone() };
    assert_eq!(loaded(&scope(), &moved, &keyring).await, Ok(()), "a resource may move (MOVE-1)");

    for elsewhere in [Scope::new("shop", "dev"), Scope::new("shopprod", ""), Scope::new("sho", "pprod")] {
        let refused = loaded(&elsewhere, &record, &keyring).await;
        assert!(matches!(refused, Err(StoreError::Key { .. })), "{refused:?}");
    }
}

fn any_secret_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::NULL),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,30}".prop_map(|text| Value::number(text.parse::<Number>().unwrap())),
        ".{0,40}".prop_map(Value::from),
        Just(Value::unknown(Type::list(Type::String))),
    ];
    plain.prop_recursive(4, 30, 5, |inner| {
        let key = prop_oneof!["[a-z]{1,4}", "\\$?.{0,5}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::set),
            prop::collection::btree_map(key.clone(), inner.clone(), 0..4).prop_map(Value::map),
            prop::collection::btree_map(key, inner.clone(), 0..4).prop_map(Value::object),
            inner.clone().prop_map(Value::into_secret),
            inner.prop_map(Value::into_secret),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trueup_test_servers::sized(64, 1_000)))]

    /// SECRET-3: whatever its type, and wherever in a value it stands, a secret comes back as it was.
    #[test]
    fn values_come_back_exactly(first in any_secret_value(), second in any_secret_value()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let inner = memory();
            let store = sealed(&inner);
            let lease = lease(&store).await;
            let mut steps = life("a", "x");
            steps.truncate(3);
            let Step::Settled { object, .. } = &mut steps[2] else { panic!("it ends so") };
            object.outputs = Value::object([("first", first.clone()), ("second", second.clone())]);
            object.identity = Some(Value::object([("both", Value::set([first.clone(), second.clone()]))]));
            commit(&store, &lease, id(1), steps.clone()).await.unwrap();
            let entries = steps.into_iter().map(|step| Entry::new(id(1), step));
            let expected = entries.fold(None, |record, entry| transition(record, &entry).unwrap());
            let loaded = sealed(&inner).load(&scope()).await.unwrap();
            assert_eq!(Some(Record::clone(&loaded.records[0].0)), expected);
            let raw = inner.load(&scope()).await.unwrap();
            assert_eq!(outline(&raw.records[0].0), outline(&loaded.records[0].0));
        });
    }
}

/// SECRET-1: what is sealed says no more when it is printed than what is not.
#[test]
fn sealed_values_are_shown_as_secrets() {
    let sealed = Value::sealed("1.00.abc");
    assert_eq!((sealed.to_string(), format!("{sealed:?}")), ("(secret)".to_owned(), "(secret)".to_owned()));
    assert_eq!(sealed.to_json(trueup_core::JsonForm::PUBLIC), r#"{"$secret":true}"#);
    assert_ne!(sealed, secret("1.00.abc"));
}
