//! What the planner knows of each resource, data source and ephemeral resource, filled in pass by pass.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Address, Change, Path, Value};
use trueup_program::{DataDeclaration, Place, ResourceDeclaration};
use trueup_provider::{
    Binding, Configured, DataHandler, EphemeralHandler, GenerationNumber, IdempotencyToken, InputValues,
    ResourceHandler, Slot, State, StubInputs,
};
use trueup_state::{Attempt, Metadata, Record, Version};

use super::attributes::{data_blocks, resource_blocks};
use crate::plan::{Action, Reason, ReplaceOrder};

/// One resource, data source or ephemeral resource.
pub(crate) struct Node<'p> {
    pub(crate) address: Address,
    pub(crate) kind: NodeKind<'p>,
    /// The name of the provider that manages it.
    pub(crate) provider: SmolStr,
    /// The provider's configuration; `None` while it is unknown.
    pub(crate) config: Option<Configured>,
    /// What is recorded, shared with whoever loaded it.
    pub(crate) record: Option<(Arc<Record>, Version)>,
    /// What was seen of it.
    pub(crate) sight: Sight,
    /// What it should become; `None` for what is not declared.
    pub(crate) desired: Option<InputValues>,
    /// What others attach to it.
    pub(crate) bindings: Vec<Binding>,
    /// What was decided.
    pub(crate) decision: Decision,
}

/// What a node stands for. Declarations stay in the program: there are many, and nobody changes them.
pub(crate) enum NodeKind<'p> {
    /// A resource, declared, recorded or both.
    Resource { declared: Option<&'p ResourceDeclaration>, handler: Arc<dyn ResourceHandler> },
    /// A data source.
    Data { declared: &'p DataDeclaration, handler: Arc<dyn DataHandler> },
    /// Something that is opened for a run.
    Ephemeral { declared: &'p DataDeclaration, handler: Arc<dyn EphemeralHandler> },
}

/// What was seen of a recorded object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sight {
    /// It was not looked at.
    #[default]
    Unseen,
    /// It is there, as it is recorded.
    AsRecorded,
    /// It is there, and differs from its record.
    Present(Box<State>),
    /// It is gone.
    Gone,
    /// It is where the configuration of its provider led when it was made, and the one of now does not (DRIFT-11).
    Elsewhere {
        /// Whether the type says so, so that both can exist at once.
        apart: bool,
    },
    /// The type cannot look.
    Unreadable,
}

/// How apply begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Start {
    /// From the record as it is, or from nothing if there is none.
    #[default]
    Record,
    /// With an object that was found.
    Adopt(Box<FoundObject>),
    /// By repeating the create that was interrupted, with its own inputs and token (CRASH-1).
    RepeatCreate,
    /// By looking first: at plan the inputs were not known (ADOPT-6).
    LookFirst,
    /// By finishing the delete that was interrupted (CRASH-6), or by deleting what came of a create that was interrupted in
    /// another place (DELETE-11).
    FinishDelete,
    /// By forgetting the object that is gone and making it again, as the same generation (CRUD-2).
    Recreate,
}

/// An object that was found and becomes a resource's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundObject {
    pub(crate) state: State,
    /// Which generation it is.
    pub(crate) number: GenerationNumber,
    /// Whose name it bears: that of this slot, of a resource first created under that address.
    pub(crate) slot: Slot,
    pub(crate) origin: Address,
    /// Older generations that were found beside it, oldest first: they are to be deleted (RECONCILE-4).
    pub(crate) older: Vec<(State, GenerationNumber, Slot)>,
    /// The inputs that it was looked for by.
    pub(crate) sought: InputValues,
    /// Whether it was somebody else's.
    pub(crate) foreign: bool,
}

#[cfg(feature = "mutations")]
impl FoundObject {
    /// The same as if it had the inputs of the attempt, where that is planted.
    pub(crate) fn trusted(mut self, attempted: &InputValues) -> Self {
        if crate::mutations::planted!(TrustAttempt) {
            self.state.inputs = Some(attempted.clone());
        }
        self
    }
}

impl FoundObject {
    /// The steps that take it into state, with what is older. An update begins with the adoption, because a lookup does not
    /// tell whether the object is whole: until one has succeeded, every run reconciles it (RECONCILE-2). A delete before
    /// that knows the inputs it was found by.
    pub(crate) fn adopted(
        &self,
        address: &Address,
        meta: &Metadata,
        token: IdempotencyToken,
    ) -> Vec<trueup_state::Step> {
        let own = (self.state.clone(), self.number, self.slot);
        let mut steps = Vec::new();
        for (object, number, slot) in self.older.iter().cloned().chain([own]) {
            let (address, origin, meta) = (address.clone(), self.origin.clone(), meta.clone());
            steps.push(trueup_state::Step::Adopted {
                address,
                origin,
                meta: meta.clone(),
                number,
                slot,
                object,
            });
            let inputs = self.sought.without_ephemeral();
            let attempt = Attempt { inputs, bindings: Vec::new(), token, pending: None, stub: false };
            steps.push(trueup_state::Step::UpdateBegun { meta, attempt });
        }
        steps
    }
}

/// What was decided for a node.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) action: Action,
    pub(crate) start: Start,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) changes: Vec<Change>,
    pub(crate) drift: Vec<Change>,
    pub(crate) drifted_inputs: Vec<Change>,
    pub(crate) replace_paths: Vec<Path>,
    pub(crate) order: Option<ReplaceOrder>,
    /// The outputs to expect.
    pub(crate) outputs: Value,
    /// Whether what replaces the object would be in its place, however that is spelled.
    pub(crate) keeps_place: bool,
    /// Whether what was found only has to be taken into state, as far as its type or whoever named it can tell.
    pub(crate) adopts_only: bool,
}

impl Default for Decision {
    fn default() -> Self {
        Decision {
            action: Action::NoOp,
            start: Start::Record,
            reasons: Vec::new(),
            changes: Vec::new(),
            drift: Vec::new(),
            drifted_inputs: Vec::new(),
            replace_paths: Vec::new(),
            order: None,
            outputs: Value::NULL,
            keeps_place: false,
            adopts_only: false,
        }
    }
}

impl<'p> Node<'p> {
    /// The handler, if it is a resource.
    pub(crate) fn handler(&self) -> Option<&Arc<dyn ResourceHandler>> {
        match &self.kind {
            NodeKind::Resource { handler, .. } => Some(handler),
            NodeKind::Data { .. } | NodeKind::Ephemeral { .. } => None,
        }
    }

    /// Whether its object is nothing but its record.
    pub(crate) fn is_in_records(&self) -> bool {
        self.handler().is_some_and(|handler| handler.traits().in_records)
    }

    /// The declaration, if it is a resource that has one.
    pub(crate) fn declared(&self) -> Option<&'p ResourceDeclaration> {
        match &self.kind {
            NodeKind::Resource { declared, .. } => *declared,
            NodeKind::Data { .. } | NodeKind::Ephemeral { .. } => None,
        }
    }

    /// Where it is declared, if that is known.
    pub(crate) fn origin(&self) -> Option<trueup_core::Origin> {
        let place = match &self.kind {
            NodeKind::Resource { declared, .. } => declared.and_then(|declared| declared.place),
            NodeKind::Data { declared, .. } | NodeKind::Ephemeral { declared, .. } => declared.place,
        };
        place.and_then(Place::source)
    }

    /// Whether an object that exists becomes its, and nothing is to change (ADOPT-10).
    pub(crate) fn only_adopts(&self) -> bool {
        let Decision { action, changes, drift, adopts_only, .. } = &self.decision;
        let is_as_wanted = changes.is_empty() && drift.is_empty() && self.bindings.is_empty();
        *adopts_only && *action == Action::Update && is_as_wanted
    }

    /// Whether it is opened for a run.
    pub(crate) fn is_ephemeral(&self) -> bool {
        matches!(self.kind, NodeKind::Ephemeral { .. })
    }

    /// Whether the program declares it.
    pub(crate) fn is_declared(&self) -> bool {
        match &self.kind {
            NodeKind::Resource { declared, .. } => declared.is_some(),
            NodeKind::Data { .. } | NodeKind::Ephemeral { .. } => true,
        }
    }

    /// The recorded object of the current generation, as far as it is known.
    pub(crate) fn object(&self) -> Option<&State> {
        self.record.as_ref()?.0.current.as_ref()?.object.as_ref()
    }

    /// Whether something that is there, or may be, is deleted before it is made anew.
    pub(crate) fn is_deleted_first(&self) -> bool {
        let Decision { action, order, .. } = &self.decision;
        let current = self.record.as_ref().and_then(|(record, _)| record.current.as_ref());
        (*action == Action::Replace || self.leaves_older())
            && *order == Some(ReplaceOrder::DeleteFirst)
            && (matches!(self.decision.start, Start::Adopt(_))
                || current.is_some_and(|it| it.object.is_some() || it.attempt().is_some())
                || self.leaves_older())
    }

    /// The object that others of a cycle refer to until this node is applied: what is recorded or was found. Where a new
    /// one takes its place, they refer to a stub of that, if the type can make one (BIND-5).
    pub(crate) fn stand_in(&self) -> Option<&State> {
        let is_made_anew = matches!(self.decision.action, Action::Create | Action::Replace);
        let makes_stub = self.makes_stub();
        match &self.decision.start {
            _ if is_made_anew && makes_stub => None,
            Start::Adopt(found) => Some(&found.state),
            _ => self.object(),
        }
    }

    /// Whether a stub can be made of it, by what is known of its inputs.
    pub(crate) fn makes_stub(&self) -> bool {
        let inputs = self.handler().zip(self.desired.as_ref());
        inputs
            .is_some_and(|(handler, desired)| !matches!(handler.stub_inputs(desired), StubInputs::Impossible))
    }

    /// Whether it is made anew beside older generations that are still there.
    pub(crate) fn leaves_older(&self) -> bool {
        let older = self.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
        self.decision.action == Action::Create && older
    }

    /// The object as it was seen, if it was looked at and is there.
    pub(crate) fn seen(&self) -> Option<&State> {
        match &self.sight {
            Sight::AsRecorded => self.object(),
            Sight::Present(seen) => Some(seen),
            Sight::Unseen | Sight::Gone | Sight::Elsewhere { .. } | Sight::Unreadable => None,
        }
    }

    /// The object as it was seen, with the recorded values where the program ignores changes (PLAN-21).
    pub(crate) fn compared(&self) -> Option<Cow<'_, State>> {
        let seen = self.seen()?;
        let ignored = self.declared().map_or(&[][..], |declared| &declared.options.ignore_changes);
        Some(match (self.handler(), self.object()) {
            (Some(handler), Some(object)) if !ignored.is_empty() => {
                Cow::Owned(handler.ignore_drift(object, seen, ignored))
            }
            _ => Cow::Borrowed(seen),
        })
    }

    /// The outputs and inputs that its type has.
    pub(super) fn blocks(&self) -> [&Block; 2] {
        match &self.kind {
            NodeKind::Resource { handler, .. } => resource_blocks(&**handler),
            NodeKind::Data { handler, .. } => data_blocks(&**handler),
            NodeKind::Ephemeral { handler, .. } => [handler.schema(), handler.schema()],
        }
    }
}
