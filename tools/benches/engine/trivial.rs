//! A resource type that does nothing, and programs of it: what is left to measure is the engine.

use std::sync::Arc;

use trueup_core::{Address, Path, Value};
use trueup_engine::{DeployOptions, EventSink, Reconciler, SeededRandom};
use trueup_program::{Expression, Node, Program, Reference, ResourceDeclaration};
use trueup_provider::{
    Clock, Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Recovery, Registry, Result,
    Traits,
};
use trueup_state::{Scope, Store};

/// How many resources depend on one another in a row.
pub(crate) const CHAIN: usize = 10;

const TYPE: &str = "bench_data";

/// Keeps a value, as Terraform's `terraform_data` does.
#[derive(Inputs)]
struct Data {
    input: Option<Value>,
    #[trueup(replace)]
    triggers: Option<Value>,
}

#[derive(Outputs)]
struct DataOutput {
    #[trueup(identity, stable)]
    id: String,
    #[trueup(mirrors = "input")]
    output: Option<Value>,
}

impl Data {
    fn made(&self, context: &Context) -> DataOutput {
        DataOutput { id: context.address.name().to_owned(), output: self.input.clone() }
    }
}

impl Crud for Data {
    type Output = DataOutput;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { read_back: false, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context) -> Result<DataOutput> {
        Ok(self.made(context))
    }

    async fn read(&self, _: &Context, prior: &DataOutput) -> Result<DataOutput> {
        Ok(DataOutput { id: prior.id.clone(), output: prior.output.clone() })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<DataOutput> {
        Ok(self.made(context))
    }

    async fn delete(&self, _: &Context, _: &DataOutput) -> Result<()> {
        Ok(())
    }
}

/// The stage of all runs here.
pub(crate) fn scope() -> Scope {
    Scope::new("bench", "bench")
}

pub(crate) fn options() -> DeployOptions {
    DeployOptions::new(scope().stage)
}

pub(crate) fn reconciler(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Reconciler {
    let registry = Registry::new().with(NativeProvider::new("bench").crud::<Data>("data"));
    Reconciler::new(store, registry, EventSink::new()).with(clock, Arc::new(SeededRandom::new(1)))
}

/// So many resources, in chains.
pub(crate) fn program(resources: usize) -> Program {
    changed_program(resources, 0)
}

/// The same, with other inputs for the first so many.
pub(crate) fn changed_program(resources: usize, changed: usize) -> Program {
    let resources = (0..resources).map(|at| declaration(at, at < changed)).collect();
    Program { stack: scope().stack, resources, ..Program::default() }
}

/// Nothing.
pub(crate) fn empty_program() -> Program {
    program(0)
}

pub(crate) fn address(at: usize) -> Address {
    Address::resource(TYPE, &name(at)).expect("the name is one")
}

/// What a resource depends on.
pub(crate) fn upstream(at: usize) -> Option<usize> {
    (!at.is_multiple_of(CHAIN)).then(|| at - 1)
}

/// The inputs of a resource as they are once everything is known.
pub(crate) fn inputs(at: usize) -> Value {
    let own = [("label", label(at, false)), ("size", Value::from(at as u64))];
    let from = upstream(at).map(|upstream| ("from", name(upstream).into()));
    Value::object([("input", Value::object(own.into_iter().chain(from)))])
}

/// The outputs of a resource.
pub(crate) fn outputs(at: usize) -> Value {
    let output = inputs(at).get("input").cloned().unwrap_or_default();
    Value::object([("id", name(at).into()), ("output", output)])
}

fn declaration(at: usize, changed: bool) -> ResourceDeclaration {
    let mut own: Vec<(_, Expression)> =
        vec![("label".into(), label(at, changed).into()), ("size".into(), Value::from(at as u64).into())];
    if let Some(upstream) = upstream(at) {
        let path: Path = "id".parse().expect("it is a path");
        let reference = Reference { address: address(upstream), path };
        own.push(("from".into(), Expression::new(Node::Reference(reference))));
    }
    let input = Expression::new(Node::Object(own));
    ResourceDeclaration::new(address(at), Expression::new(Node::Object(vec![("input".into(), input)])))
}

fn label(at: usize, changed: bool) -> Value {
    let word = if changed { "changed" } else { "known" };
    format!("resource {at}, as it is {word}").into()
}

fn name(at: usize) -> String {
    format!("data-{at}")
}
