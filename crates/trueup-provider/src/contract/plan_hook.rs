//! What a plan hook sees and says.

use smol_str::SmolStr;
use trueup_core::schema::ResourceSchema;
use trueup_core::{Address, Failure, FailureClass, FieldType, Path, Value};

use super::fields::Inputs;
use crate::context::CallContext;
use crate::error::{Error, Result};
use crate::identity::{NameRules, Owner};

/// What a plan hook sees.
pub struct PlanHookRequest<'a, In: Inputs, Out, C> {
    /// The provider's configuration; `None` while it is unknown.
    pub config: Option<&'a C>,
    /// The recorded inputs and outputs; `None` if there is no prior state. An adopted object may have no inputs.
    pub prior: Option<PriorView<In, Out>>,
    /// The inputs to come, as far as they are known.
    pub current: In::View,
    /// Whether what others attach changed.
    pub bindings_changed: bool,
    /// Whether the new object takes the place of a recorded one.
    pub(crate) replaces: bool,
    /// The call, with the identity.
    pub(crate) context: &'a CallContext,
    /// What names the type may have.
    pub(crate) name_rules: NameRules,
}

impl<In: Inputs, Out, C> PlanHookRequest<'_, In, Out, C> {
    /// The recorded inputs; `None` if nothing is recorded, and for an adopted object.
    pub fn prior_inputs(&self) -> Option<&In> {
        self.prior.as_ref()?.inputs.as_ref()
    }

    /// The address of the resource.
    pub fn address(&self) -> &Address {
        &self.context.address
    }

    /// The stack and the stage that the resource belongs to, and the address of its first creation.
    pub fn owner(&self) -> &Owner {
        &self.context.owner
    }

    /// The name that a new object gets (RECONCILE-4): handed to [`PlanHook::set_output`], the plan shows it and dependents
    /// know it. `None` for a recorded object, which keeps the name in its outputs; one that replaces it gets another.
    pub fn physical_name(&self) -> Option<String> {
        let is_first = self.prior.is_none() && !self.replaces;
        is_first.then(|| self.context.physical_name_within(&self.name_rules))
    }
}

/// What a plan hook sees of the recorded object.
pub struct PriorView<In, Out> {
    /// The recorded inputs; `None` for an adopted object.
    pub inputs: Option<In>,
    /// For an object without recorded inputs: those of the attempt that it comes from. A delete of it has these.
    pub attempted: Option<In>,
    /// The recorded outputs.
    pub outputs: Out,
    /// The outputs as they were just read, if they were.
    pub observed: Option<Out>,
}

/// What a plan hook says. Where it says nothing, comparison decides. Inputs and outputs are named by texts, or by fields
/// such as `File::FIELDS.path`, which the compiler checks.
#[derive(Debug, Default)]
pub struct PlanHook {
    pub(crate) outputs_may_change: bool,
    pub(crate) unknown: Vec<SmolStr>,
    pub(crate) outputs: Vec<(SmolStr, Value)>,
    pub(crate) decision: Option<Decision>,
    pub(crate) replace_paths: Vec<Path>,
    pub(crate) replace_fields: Vec<Path>,
    pub(crate) delete_first: bool,
}

/// What a hook decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    NoOp,
    Update,
    Replace,
}

impl PlanHook {
    /// An output that apply will compute anew (UNKNOWN-9).
    pub fn mark_output_unknown(&mut self, output: impl Into<SmolStr>) {
        self.unknown.push(output.into());
    }

    /// An output that is known before apply (UNKNOWN-1).
    pub fn set_output(&mut self, output: impl Into<SmolStr>, value: &impl FieldType) -> Result<()> {
        self.outputs.push((output.into(), value.encode().map_err(Error::from)?));
        Ok(())
    }

    /// Nothing has to be done, whatever differs.
    pub fn keep(&mut self) {
        self.decision = Some(Decision::NoOp);
    }

    /// The object must be brought up to date, even if nothing differs.
    pub fn update(&mut self) {
        self.decision = Some(Decision::Update);
    }

    /// A new object must be made, because of this input.
    pub fn replace(&mut self, because_of: impl Into<SmolStr>) {
        self.decision = Some(Decision::Replace);
        self.replace_paths.push(Path::attribute(because_of));
    }

    /// A change of this input, or of what lies at a path such as `create.url`, takes a new object, as if it were marked
    /// `replace`. For inputs of which only the others tell whether they can be changed in place.
    pub fn replace_if_changed(&mut self, input: impl AsRef<str>) {
        let input = input.as_ref();
        self.replace_fields.push(input.parse().unwrap_or_else(|_| Path::attribute(input)));
    }

    /// A replacement must delete the old object first.
    pub fn delete_first(&mut self) {
        self.delete_first = true;
    }

    /// Refuses names that the type does not have: silently ignored, they would leave a plan wrong.
    pub(crate) fn check_names(&self, schema: &ResourceSchema) -> Result<(), Failure> {
        let outputs = self.unknown.iter().chain(self.outputs.iter().map(|(name, _)| name));
        let outputs =
            outputs.map(|name| (name.as_str(), "output", schema.outputs.attributes.contains_key(name)));
        let inputs = self.replace_paths.iter().chain(&self.replace_fields).filter_map(Path::first_key);
        let inputs = inputs.map(|name| (name, "input", schema.inputs.names().any(|own| own == name)));
        match outputs.chain(inputs).find(|(_, _, known)| !known) {
            None => Ok(()),
            Some((name, kind, _)) => {
                let message =
                    format!("the plan hook speaks of an {kind} `{name}` that the type does not have");
                Err(Failure::new(FailureClass::Fatal, message))
            }
        }
    }

    /// An update may change any output that this hook does not speak of: for hooks that only decide, and vouch for
    /// nothing (UNKNOWN-2).
    pub fn outputs_may_change(&mut self) {
        self.outputs_may_change = true;
    }

    /// What a contract says whose type has no hook.
    pub(crate) fn leave_to_comparison(&mut self) -> Result<()> {
        self.outputs_may_change();
        Ok(())
    }
}
