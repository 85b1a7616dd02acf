//! Stores that hold so many resources already, without a deploy that would leave its own traces in memory.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::Value;
use trueup_engine::{Random, SeededRandom};
use trueup_provider::{GenerationNumber, InputValues, Slot, State};
use trueup_state::{
    Acquired, Batch, Entry, Holder, Lease, Metadata, Record, RecordId, Step, Store, Write, transition,
};

use crate::trivial;

/// How many records go into one commit.
const ROWS: usize = 1_000;

/// Records the resources of [`trivial::program`] as a deploy would leave them.
pub(crate) async fn record(store: &dyn Store, resources: usize) {
    let (scope, lease) = (trivial::scope(), lease(store).await);
    let random = SeededRandom::new(7);
    let all: Vec<usize> = (0..resources).collect();
    for some in all.chunks(ROWS) {
        let writes = some.iter().map(|at| write(*at, RecordId::from_bytes(random.bytes()))).collect();
        let batch = Batch { writes, ..Batch::default() };
        store.commit(&scope, lease.token, &batch).await.expect("the store can be written");
    }
    store.release(&scope, &lease).await.expect("the lease is ours");
}

/// Takes the lease, as a run would.
pub(crate) async fn lease(store: &dyn Store) -> Lease {
    let word = || "bench".to_owned();
    let holder = Holder { run: word(), user: word(), host: word(), reason: word() };
    match store.acquire(&trivial::scope(), &holder, Duration::from_secs(3600)).await {
        Ok(Acquired::Lease(lease)) => lease,
        other => panic!("nobody else is here: {other:?}"),
    }
}

/// The step that records one resource.
pub(crate) fn write(at: usize, id: RecordId) -> Write {
    let address = trivial::address(at);
    let step = Step::Adopted {
        address: address.clone(),
        origin: address,
        meta: Metadata {
            provider: "bench".into(),
            dependencies: trivial::upstream(at).map(trivial::address).into_iter().collect(),
            ..Metadata::default()
        },
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object: object(at),
    };
    let entry = Entry::new(id, step);
    let record = transition(None, &entry).expect("it begins a record").map(Arc::new);
    Write { expected: None, entry, record }
}

fn object(at: usize) -> State {
    let values = trivial::inputs(at);
    State {
        inputs: Some(InputValues { written: values.clone(), effective: values }),
        outputs: trivial::outputs(at),
        private: Vec::new(),
        schema_version: 0,
        identity: trivial::outputs(at).get("id").map(|id| Value::object([("id", id.clone())])),
    }
}

/// Panics unless records made here are those that a deploy leaves.
pub(crate) async fn assert_as_deployed(deployed: &dyn Store, made: &dyn Store) {
    assert_eq!(records(deployed).await, records(made).await, "records are made as a deploy leaves them");
}

async fn records(store: &dyn Store) -> Vec<Record> {
    let snapshot = store.load(&trivial::scope()).await.expect("the store can be read");
    let anonymous = |(record, _): (Arc<Record>, _)| Record {
        id: RecordId::from_bytes([0; 16]),
        ..Arc::unwrap_or_clone(record)
    };
    let mut records: Vec<Record> = snapshot.records.into_iter().map(anonymous).collect();
    records.sort_by(|left, right| left.address.cmp(&right.address));
    records
}
