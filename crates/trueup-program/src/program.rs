//! Programs: what front ends hand to the engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::{Address, AddressRange, ModulePath, Path, SourceMap, Value};

use crate::expression::{Expression, Place, Reference};
use crate::retry::RetrySettings;

/// All that a program declares.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name of the stack.
    pub stack: SmolStr,
    /// How providers are configured; one that is not named here gets an empty configuration.
    pub providers: Vec<ProviderDeclaration>,
    /// What modules tell providers of themselves (`provider_meta`), by the providers' names.
    pub provider_metas: BTreeMap<ModulePath, Arc<BTreeMap<SmolStr, Value>>>,
    /// The resources.
    pub resources: Vec<ResourceDeclaration>,
    /// What is only read.
    pub data: Vec<DataDeclaration>,
    /// What is opened for a run and closed at its end.
    pub ephemeral: Vec<DataDeclaration>,
    /// What the stack gives to people and other stacks.
    pub outputs: Vec<OutputDeclaration>,
    /// Resources that have another address than before (MOVE-1).
    pub moves: Vec<MoveDeclaration>,
    /// Resources that are no longer declared, and what becomes of their objects.
    pub removed: Vec<RemovedDeclaration>,
    /// Objects to adopt by their id (ADOPT-7).
    pub imports: Vec<ImportDeclaration>,
    /// What should hold of the whole.
    pub checks: Vec<CheckDeclaration>,
    /// How many operations of one kind run at a time, beyond what the run as a whole allows.
    pub parallelism: Vec<ParallelismClass>,
    /// How failed operations of one type are repeated, by its name, where a resource does not say.
    pub type_retries: BTreeMap<SmolStr, RetrySettings>,
    /// What the origins of values and diagnostics refer to.
    pub sources: SourceMap,
}

/// A class of resources of which only so many are worked on at a time, such as those of one frail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelismClass {
    /// The name by which resources say that they belong to it.
    pub name: SmolStr,
    /// The most operations at a time.
    pub limit: usize,
}

/// A provider and its configuration.
#[derive(Clone, Debug)]
pub struct ProviderDeclaration {
    /// The name by which resources refer to it: `aws`, `aws.west`.
    pub name: SmolStr,
    /// The configuration.
    pub config: Expression,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct ResourceDeclaration {
    /// Its address.
    pub address: Address,
    /// The provider that manages it, by the name of its declaration; `None` for the one its type is of.
    pub provider: Option<SmolStr>,
    /// Its inputs, as an object.
    pub inputs: Expression,
    /// What it depends on beyond what its inputs refer to.
    pub depends_on: Vec<Address>,
    /// What others attach to it.
    pub bindings: Vec<BindingDeclaration>,
    /// The address it had before (MOVE-1).
    pub renamed_from: Option<Address>,
    /// What makes it be replaced when it changes: whole resources, or attributes of them.
    pub replace_triggered_by: Vec<Reference>,
    /// What must hold once it is as it should be. They are evaluated for what they find wrong.
    pub postconditions: Vec<Expression>,
    /// How the engine treats it.
    pub options: ResourceOptions,
    /// Where it was declared.
    pub place: Option<Place>,
}

/// What others attach to a resource (BIND-1).
#[derive(Clone, Debug)]
pub struct BindingDeclaration {
    /// Tells it from the other bindings of the same target.
    pub key: SmolStr,
    /// What is attached.
    pub payload: Expression,
}

/// How the engine treats a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceOptions {
    /// Left in the cloud when it is removed or replaced.
    pub retain: bool,
    /// Neither replaced nor deleted.
    pub protect: bool,
    /// Whether an object of someone else is taken over; `None`: as the run says.
    pub adopt: Option<bool>,
    /// What is done about drift.
    pub drift: DriftPolicy,
    /// Positions whose changes do not count (PLAN-21).
    pub ignore_changes: Vec<Path>,
    /// Whether a replacement deletes first; `None`: as the type says.
    pub delete_first: Option<bool>,
    /// How long operations may take; `None`: as the run says.
    pub timeouts: Option<Box<Timeouts>>,
    /// How failed operations are repeated; what it does not set is as for its type or the run.
    pub retry: RetrySettings,
    /// The class of resources that share a limit, by its name.
    pub parallelism_class: Option<SmolStr>,
}

/// What is done about drift (DRIFT-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriftPolicy {
    /// It is repaired.
    #[default]
    Fix,
    /// It is told.
    Warn,
    /// It is not looked for.
    Ignore,
}

/// How long each operation on a resource may take; `None`: as the run says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// To make it.
    pub create: Option<Duration>,
    /// To bring it up to date.
    pub update: Option<Duration>,
    /// To remove it.
    pub delete: Option<Duration>,
    /// To look at it.
    pub read: Option<Duration>,
}

impl Timeouts {
    /// The same for every operation.
    pub fn all(each: Duration) -> Self {
        let each = Some(each);
        Timeouts { create: each, update: each, delete: each, read: each }
    }
}

/// Something that is only read, or opened for a run.
#[derive(Clone, Debug)]
pub struct DataDeclaration {
    /// Its address.
    pub address: Address,
    /// The provider that reads or opens it; `None` for the one its type is of.
    pub provider: Option<SmolStr>,
    /// Its inputs, as an object.
    pub inputs: Expression,
    /// What it depends on beyond what its inputs refer to.
    pub depends_on: Vec<Address>,
    /// The resources whose changes defer the read.
    pub deferral: Deferral,
    /// What must hold of what was read. They are evaluated for what they find wrong.
    pub postconditions: Vec<Expression>,
    /// The result of a failed read.
    pub failure: ReadFailure,
    /// Where it was declared.
    pub place: Option<Place>,
}

/// The resources whose changes defer a read to apply, though all its inputs are known (UNKNOWN-12). A data source must depend
/// on each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deferral {
    /// A change of one of these.
    pub resources: Vec<Address>,
    /// A change of one of these, or of anything that they depend on.
    pub with_upstream: Vec<Address>,
}

/// The result of a failed read of a data source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadFailure {
    /// An error.
    #[default]
    Error,
    /// A warning, and outputs that stay unknown: a check asked for it (CHECK-2).
    Warning,
}

/// Something that should hold of the whole; a warning if it does not.
#[derive(Clone, Debug)]
pub struct CheckDeclaration {
    /// Its name.
    pub name: SmolStr,
    /// Evaluated for what it finds wrong.
    pub condition: Expression,
}

/// An output of the stack.
#[derive(Clone, Debug)]
pub struct OutputDeclaration {
    /// Its name.
    pub name: SmolStr,
    /// Its value.
    pub value: Expression,
    /// Whether it is secret, whatever it is made of.
    pub secret: bool,
}

/// A resource, or all that is in a module, that has another address than before (MOVE-1, MOVE-3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveDeclaration {
    /// The address before.
    pub from: AddressRange,
    /// The address now.
    pub to: AddressRange,
}

/// A resource, or all that is in a module, that is no longer declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedDeclaration {
    /// The address it had.
    pub from: AddressRange,
    /// Whether its object is deleted; if not, it is left where it is and forgotten.
    pub destroy: bool,
}

/// An object to adopt by its id.
#[derive(Clone, Debug)]
pub struct ImportDeclaration {
    /// The resource it becomes.
    pub to: Address,
    /// Its id; or what identifies it, as an object.
    pub id: Expression,
    /// Where it was declared.
    pub place: Option<Place>,
}

impl ImportDeclaration {
    /// An object with this id becomes a resource.
    pub fn new(to: Address, id: Expression) -> Self {
        ImportDeclaration { to, id, place: None }
    }
}

impl DataDeclaration {
    /// A data source or ephemeral resource with these inputs and nothing special. Any change upstream defers the read.
    pub fn new(address: Address, inputs: Expression) -> Self {
        let deferral = Deferral { resources: Vec::new(), with_upstream: vec![address.clone()] };
        DataDeclaration {
            address,
            provider: None,
            inputs,
            depends_on: Vec::new(),
            deferral,
            postconditions: Vec::new(),
            failure: ReadFailure::default(),
            place: None,
        }
    }
}

impl ResourceDeclaration {
    /// A resource with these inputs and nothing special.
    pub fn new(address: Address, inputs: Expression) -> Self {
        ResourceDeclaration {
            address,
            provider: None,
            inputs,
            depends_on: Vec::new(),
            bindings: Vec::new(),
            renamed_from: None,
            replace_triggered_by: Vec::new(),
            postconditions: Vec::new(),
            options: ResourceOptions::default(),
            place: None,
        }
    }
}
