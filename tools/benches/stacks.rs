//! What whole folders cost, by their shape: to be built into a program, and to be planned by the engine.
//!
//! Where instances refer to each other by key, time should grow as their number does. Where all refer to all, the
//! references themselves are as many as the square of that; there, one of them must be cheap.

use std::sync::Arc;

use divan::{AllocProfiler, Bencher};
use tempfile::TempDir;
use trueup_engine::{Cancellation, DeployOptions, EventSink, Reconciler};
use trueup_front_end::{BuildRequest, BuiltProgram, Purpose, RandomBytes, Variables};
use trueup_lang::StackFolder;
use trueup_program::FunctionAnswers;
use trueup_provider::{Registry, RuntimeClock};
use trueup_provider_std::{Randomness, terraform_provider};
use trueup_state::MemoryStore;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const INSTANCES: [usize; 2] = [500, 1_000];

/// How the resources of a folder hang together.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Instances that refer to another resource's instance of the same key.
    ByKey,
    /// Instances that repeat another resource's, and use what `each` holds.
    Chained,
    /// A local value that gathers the outputs of all, used by as many others.
    Gathered,
    /// Modules by key, each with a variable, a resource and an output, all gathered by an output.
    Modules,
}

const CASES: [(Shape, usize); 8] = {
    let [few, many] = INSTANCES;
    [
        (Shape::ByKey, few),
        (Shape::ByKey, many),
        (Shape::Chained, few),
        (Shape::Chained, many),
        (Shape::Gathered, few),
        (Shape::Gathered, many),
        (Shape::Modules, few),
        (Shape::Modules, many),
    ]
};

impl Shape {
    fn text(self, instances: usize) -> String {
        let keys = format!("toset([for n in range({instances}) : \"key-${{n}}\"])");
        let first = format!(
            "resource \"terraform_data\" \"first\" {{\n  for_each = {keys}\n  input    = \"value of ${{each.key}}\"\n}}\n"
        );
        match self {
            Shape::ByKey => format!(
                "{first}resource \"terraform_data\" \"second\" {{\n  for_each = {keys}\n  input    = terraform_data.first[each.key].output\n}}\n"
            ),
            Shape::Chained => format!(
                "{first}resource \"terraform_data\" \"second\" {{\n  for_each = terraform_data.first\n  input    = each.value.output\n}}\n"
            ),
            Shape::Gathered => format!(
                "{first}locals {{\n  all = {{ for key, it in terraform_data.first : key => it.output }}\n}}\nresource \"terraform_data\" \"second\" {{\n  for_each = {keys}\n  input    = local.all[each.key]\n}}\n"
            ),
            Shape::Modules => format!(
                "module \"many\" {{\n  source   = \"./inner\"\n  for_each = {keys}\n  name     = each.key\n}}\noutput \"all\" {{\n  value = [for it in module.many : it.name]\n}}\n"
            ),
        }
    }

    fn folder(self, instances: usize) -> TempDir {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("there is room for a file");
        };
        write("main.tf", &self.text(instances));
        std::fs::create_dir(folder.path().join("inner")).expect("there is room for a folder");
        let inner = "variable \"name\" {}\nresource \"terraform_data\" \"it\" {\n  input = var.name\n}\noutput \"name\" {\n  value = terraform_data.it.output\n}\n";
        write("inner/main.tf", inner);
        folder
    }
}

fn registry() -> Registry {
    Registry::new().with(terraform_provider(Randomness::default()))
}

async fn built(folder: &TempDir) -> BuiltProgram {
    let random: Arc<RandomBytes> = Arc::new(|bytes: &mut [u8]| bytes.fill(0));
    let request = BuildRequest {
        registry: &registry(),
        stack: "bench",
        stage: "dev",
        variables: &Variables::default(),
        home: None,
        plan_time: std::time::SystemTime::UNIX_EPOCH,
        now: std::time::SystemTime::UNIX_EPOCH,
        random: &random,
        purpose: Purpose::Deploy,
        answers: &FunctionAnswers::default(),
        known: None,
        waited_for: &[],
    };
    StackFolder::read(folder.path()).build(request).await.expect("it is sound")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("there is room for a runtime")
}

#[divan::bench(args = CASES.map(Case), sample_count = 3, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>, Case((shape, instances)): &Case) {
    let (folder, runtime) = (shape.folder(*instances), runtime());
    bencher.bench_local(|| runtime.block_on(built(&folder)));
}

#[divan::bench(args = CASES.map(Case), sample_count = 3, sample_size = 1)]
fn deploy(bencher: Bencher<'_, '_>, Case((shape, instances)): &Case) {
    let (folder, runtime) = (shape.folder(*instances), runtime());
    let program = runtime.block_on(built(&folder)).program;
    bencher.bench_local(|| {
        runtime.block_on(async {
            let store = MemoryStore::on_clock(Arc::new(RuntimeClock::new()));
            let reconciler = Reconciler::new(Arc::new(store), registry(), EventSink::new());
            let options = DeployOptions::new("bench");
            reconciler.deploy(&program, &options, &Cancellation::new()).await.expect("it can be deployed")
        })
    });
}

/// A case as the table of results names it.
struct Case((Shape, usize));

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (shape, instances) = self.0;
        write!(f, "{shape:?} {instances}")
    }
}
