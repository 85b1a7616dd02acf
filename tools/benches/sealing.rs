//! What sealing costs: nothing where there are no secrets, and little for each where there are some.

use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use trueup_core::{Address, Secret, Value, value};
use trueup_provider::{GenerationNumber, InputValues, RuntimeClock, Slot, State};
use trueup_state::sealing::{KeyKind, KeySources, SealedStore};
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, Holder, Metadata, RecordId, Scope, Step, Store, Write, transition,
};
use trueup_store_sqlite::SqliteStore;

fn main() {
    divan::main();
}

const RECORDS: usize = 10_000;

/// A store that seals, or not, with secrets in its records, or none.
#[derive(Clone, Copy, Debug)]
enum Case {
    Bare,
    Sealed,
    BareWithSecrets,
    SealedWithSecrets,
}

const CASES: [Case; 4] = [Case::Bare, Case::Sealed, Case::BareWithSecrets, Case::SealedWithSecrets];

struct World {
    runtime: Runtime,
    store: Arc<dyn Store>,
    token: FencingToken,
    _folder: TempDir,
}

impl Case {
    fn world(self) -> World {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("there is room for a runtime");
        let (store, token) = runtime.block_on(async {
            let path = folder.path().join("state.db");
            let store = SqliteStore::open(path, Arc::new(RuntimeClock::new())).await;
            let store: Arc<dyn Store> = Arc::new(store.expect("the store can be made"));
            let env = Some(Secret::new("5a".repeat(32)));
            let sources = KeySources { chosen: KeyKind::Env, env, ..KeySources::default() };
            let store = match self {
                Case::Bare | Case::BareWithSecrets => store,
                Case::Sealed | Case::SealedWithSecrets => Arc::new(SealedStore::new(store, sources)),
            };
            let [run, user, host, reason] = ["run", "ada", "here", "bench"].map(str::to_owned);
            let holder = Holder { run, user, host, reason };
            let lease = store.acquire(&scope(), &holder, Duration::from_secs(3600)).await;
            let Ok(Acquired::Lease(lease)) = lease else { panic!("the lease is free") };
            (store, lease.token)
        });
        World { runtime, store, token, _folder: folder }
    }

    fn writes(self, count: usize) -> Vec<Write> {
        let secret = matches!(self, Case::BareWithSecrets | Case::SealedWithSecrets);
        (0..count).map(|number| adopted(number, secret)).collect()
    }
}

fn scope() -> Scope {
    Scope::new("shop", "prod")
}

fn adopted(number: usize, secret: bool) -> Write {
    let address = Address::resource("std_file", &format!("n{number}")).expect("the name is valid");
    let password = Value::from(format!("password number {number}")).into_secret_if(secret);
    let written = value!({ path: (format!("/srv/{number}")), content: "some text", mode: "0644", password: (password) });
    let object = State {
        inputs: Some(InputValues { effective: written.clone(), written }),
        outputs: value!({ path: (format!("/srv/{number}")), size: 9, sha256: (format!("{number:064}")) }),
        private: Vec::new(),
        schema_version: 0,
        identity: None,
    };
    let id = RecordId::from_bytes((number as u128 + 1).to_be_bytes());
    let meta = Metadata { provider: "std".into(), ..Metadata::default() };
    let step = Step::Adopted {
        address: address.clone(),
        origin: address,
        meta,
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    let entry = Entry::new(id, step);
    let record = transition(None, &entry).expect("the step is legal").map(Arc::new);
    Write { expected: None, entry, record }
}

/// Loading 10,000 records.
#[divan::bench(args = CASES, sample_count = 15, sample_size = 1)]
fn load(bencher: Bencher<'_, '_>, case: Case) {
    let World { runtime, store, token, _folder } = case.world();
    let batch = Batch { writes: case.writes(RECORDS), ..Batch::default() };
    runtime.block_on(store.commit(&scope(), token, &batch)).expect("the batch can be committed");
    bencher.bench_local(|| runtime.block_on(store.load(&scope())).expect("it can be loaded").records.len());
}

/// Committing 10,000 records as one batch.
#[divan::bench(args = CASES, sample_count = 10, sample_size = 1)]
fn commit(bencher: Bencher<'_, '_>, case: Case) {
    let batch = Batch { writes: case.writes(RECORDS), ..Batch::default() };
    bencher.with_inputs(|| case.world()).bench_local_refs(|World { runtime, store, token, .. }| {
        runtime.block_on(store.commit(&scope(), *token, &batch)).expect("the batch can be committed")
    });
}
