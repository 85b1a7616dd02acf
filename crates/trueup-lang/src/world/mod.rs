//! Modules and resources with all their instances, and the values of their names.
//!
//! An [`Instance`] is one instance of a module. What it needs is found when it is asked for: how many instances there
//! are of a resource, what a local value is, what a variable was given. What depends on no resource is settled once and
//! kept; what does is evaluated anew whenever more is known of the resources, by an [`Evaluation`].

mod environment;
mod evaluation;
mod functions;
mod providers;
mod recent;
mod repetition;
mod types;
mod used;

use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, Weak};

use smol_str::SmolStr;
use trueup_core::{Address, InstanceKey, KnownSecrets, Mode, ModulePath, ModuleStep, Value};

use crate::declare::{Comparisons, ModuleCall, Repetition, Resource, ResourceKey};
use crate::eval::{Moment, Reads, Surroundings};
use crate::modules::ModuleNode;
use crate::syntax::{Expr, ExprKind, StaticStep};

pub(crate) use environment::Frame;
pub(crate) use evaluation::Evaluation;
pub(crate) use providers::{Builtin, implied, named};
use recent::Recent;
pub(crate) use repetition::{Children, Keys, Position, RepeatedBy};
pub(crate) use types::{StaticScope, TypeSchema, Types};
pub(crate) use used::{Standing, Used};

/// A program with all its instances.
pub(crate) struct World {
    pub(crate) root: Arc<Instance>,
    pub(crate) stack: SmolStr,
    pub(crate) stage: SmolStr,
    /// What was given for the root module's variables.
    pub(crate) given: indexmap::IndexMap<SmolStr, Value>,
    pub(crate) types: Types,
    /// The providers that are built in.
    pub(crate) builtin: Builtin,
    /// Whether the program is judged by itself, and what is not known now is not found out later.
    pub(crate) validating: bool,
    pub(crate) comparisons: Comparisons,
    /// How many instances of modules there are.
    pub(crate) modules: AtomicUsize,
}

/// What evaluation may know of the world outside.
#[derive(Clone, Default)]
pub(crate) struct Outside {
    pub(crate) folder: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) plan_time: Option<std::time::SystemTime>,
    pub(crate) reads: Reads,
    pub(crate) secrets: KnownSecrets,
}

/// One instance of a module.
pub(crate) struct Instance {
    pub(crate) node: Arc<ModuleNode>,
    pub(crate) path: ModulePath,
    /// Who calls it; `None` for the root module.
    pub(crate) caller: Option<Caller>,
    /// What functions may know while planning, and at apply.
    surroundings: [Surroundings; 2],
    outside: Outside,
    /// The address of each resource, without a key.
    addresses: Vec<Address>,
    keys: Vec<OnceLock<Keys>>,
    children: Vec<OnceLock<Children>>,
    locals: Vec<Known>,
    variables: Vec<Known>,
    validations: Vec<Known>,
    outputs: Vec<Known>,
}

/// What is known of a name once and for all.
#[derive(Default)]
struct Known {
    /// Its value, if that depends on no resource.
    value: OnceLock<Value>,
    /// The resources it depends on.
    used: OnceLock<Arc<[Address]>>,
    /// Its latest value, if it depends on many.
    recent: Recent,
}

/// Who calls a module.
pub(crate) struct Caller {
    parent: Weak<Instance>,
    /// The call, by its position among those of the parent.
    call: usize,
    /// Which instance this is.
    pub(crate) position: Position,
}

impl Instance {
    /// The root module.
    pub(crate) fn root(node: Arc<ModuleNode>, outside: Outside, moment: Moment) -> Arc<Self> {
        Arc::new(Self::new(node, ModulePath::ROOT, None, outside, moment))
    }

    fn new(
        node: Arc<ModuleNode>,
        path: ModulePath,
        caller: Option<Caller>,
        outside: Outside,
        moment: Moment,
    ) -> Self {
        // As in Terraform, relative paths begin at the root module; others say `path.module`.
        let folder = outside.folder.clone();
        let (home, plan_time) = (outside.home.clone(), outside.plan_time);
        let (reads, secrets) = (outside.reads.clone(), outside.secrets.clone());
        let planning = Surroundings { folder, home, plan_time, moment: None, reads, secrets };
        let applying = Surroundings { moment: Some(moment), ..planning.clone() };
        let module = &node.module;
        let address = |key: &ResourceKey| {
            let named = match key.mode {
                Mode::Resource => Address::resource(&key.type_name, &key.name),
                Mode::Data => Address::data(&key.type_name, &key.name),
                Mode::Ephemeral => Address::ephemeral(&key.type_name, &key.name),
            };
            // Both parts were checked when they were declared, but for the types `module` and `data`.
            let named = named.or_else(|_| Address::resource("invalid_type", &key.name));
            named.expect("names are checked where they are declared").in_module(path.clone())
        };
        let known = |count: usize| std::iter::repeat_with(Known::default).take(count).collect();
        Instance {
            surroundings: [planning, applying],
            outside,
            addresses: module.resources.keys().map(address).collect(),
            keys: std::iter::repeat_with(OnceLock::new).take(module.resources.len()).collect(),
            children: std::iter::repeat_with(OnceLock::new).take(module.calls.len()).collect(),
            locals: known(module.locals.len()),
            variables: known(module.variables.len()),
            validations: known(module.variables.len()),
            outputs: known(module.outputs.len()),
            node,
            path,
            caller,
        }
    }

    /// The instance of a called module at a position.
    fn child(self: &Arc<Self>, call: usize, position: Position) -> Option<Arc<Self>> {
        let (name, _) = self.node.module.calls.get_index(call)?;
        let node = self.node.calls.get(name)?.clone();
        let step = ModuleStep { name: name.clone(), key: position.key() };
        let steps = self.path.steps().iter().cloned().chain([step]);
        let path = ModulePath::new(steps).ok()?;
        let caller = Caller { parent: Arc::downgrade(self), call, position };
        let moment = self.surroundings[1].moment.clone()?;
        Some(Arc::new(Self::new(node, path, Some(caller), self.outside.clone(), moment)))
    }

    /// The module that calls this one.
    pub(crate) fn parent(&self) -> Option<Arc<Instance>> {
        // The world keeps the root, and each instance its children.
        self.caller.as_ref().and_then(|caller| caller.parent.upgrade())
    }

    /// A resource with its name.
    pub(crate) fn resource(&self, index: usize) -> (&ResourceKey, &Resource) {
        self.node.module.resources.get_index(index).expect("resources are counted when a module is read")
    }

    /// The call that made this instance, in its parent.
    pub(crate) fn call<'a>(&self, parent: &'a Instance) -> Option<&'a ModuleCall> {
        let caller = self.caller.as_ref()?;
        parent.node.module.calls.get_index(caller.call).map(|(_, call)| call)
    }

    /// The address of an instance of a resource.
    pub(crate) fn address(&self, resource: usize, key: Option<InstanceKey>) -> Address {
        let address = &self.addresses[resource];
        if key.is_none() { address.clone() } else { address.with_key(key) }
    }

    /// The resource whose instances a `for_each` repeats one by one, as in `for_each = aws_subnet.main`: there, each
    /// instance has to do with one of the others alone.
    fn repeated_resource(&self, for_each: &Expr) -> Option<usize> {
        let ExprKind::Traversal(traversal) = &for_each.kind else { return None };
        let known = traversal.known_part();
        let (mode, type_name, name) = match (known.root.text.as_str(), known.steps.as_slice()) {
            ("data", [StaticStep::Attribute(type_name), StaticStep::Attribute(name)]) => {
                (Mode::Data, type_name.as_str(), name)
            }
            (type_name, [StaticStep::Attribute(name)]) => (Mode::Resource, type_name, name),
            _ => return None,
        };
        let key = ResourceKey { mode, type_name: type_name.into(), name: name.clone() };
        let (index, _, declared) = self.node.module.resources.get_full(&key)?;
        let keyed = matches!(declared.repetition, Some(Repetition::ForEach(_)));
        (keyed && known.complete).then_some(index)
    }

    fn identity(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self) as usize
    }
}

/// The expression of `for_each`, if that is what repeats something.
pub(crate) fn for_each(repetition: Option<&Repetition>) -> Option<&Expr> {
    match repetition {
        Some(Repetition::ForEach(expression)) => Some(expression),
        Some(Repetition::Count(_)) | None => None,
    }
}
