//! What to do with each declared node, in the order of dependencies: evaluate its inputs, look for what may exist
//! already, and ask its type.

use std::time::Duration;

use futures_util::StreamExt;
use trueup_core::schema::Block;
use trueup_core::{Address, Diagnostic, Diagnostics, Failure, FailureClass, Path, Value};
use trueup_program::{DriftPolicy, Scope as _};
use trueup_provider::{
    Binding, CallContext, Configured, DataRequest, FailedCreate, ImportRequest, Imported, InputValues,
    LookupRequest, Ownership, PlanAnswer, PlanRequest, PrivateBytes, Recovery, ResourceHandler, Sighting,
    State, Traits, Verdict,
};
use trueup_state::{Generation, Record, Status};

use super::configure::{configure_late, expected, forget_outdated, unconfigured, written};
use super::node::{Attributes, Decision, FoundObject, NodeKind, Sight, Start};
use super::sightings::{Chosen, SlotSightings, chosen, may_be, sole};
use super::trace::lines;
use super::{Draft, Sources, Spot, failed, located, refresh};
use crate::mutations::planted;
use crate::panics::caught;
use crate::places::{Place, place, respelled};
use crate::plan::{Action, Reason};
use crate::retry::within;
use crate::saved::{Asked, ById, Sighted, Told};

pub(super) async fn decide(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    // Where a cycle was opened, what is recorded stands in until more is known.
    for (_, target) in draft.loose.clone() {
        keep(draft, target);
    }
    // One round settles everything but cycles; there each round knows what the one before decided (BIND-7).
    for _ in 0..=draft.loose.len() {
        let before: Vec<_> =
            draft.loose.iter().map(|(_, target)| draft.attributes[*target].clone()).collect();
        decide_all(sources, draft).await?;
        let after: Vec<_> = draft.loose.iter().map(|(_, target)| draft.attributes[*target].clone()).collect();
        if before == after {
            break;
        }
        forget_outdated(sources, draft).await?;
    }
    Ok(())
}

async fn decide_all(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for level in draft.graph.levels(&draft.order) {
        let (declared, left_out): (Vec<usize>, Vec<usize>) = level
            .into_iter()
            .filter(|at| draft.nodes[*at].is_declared())
            .partition(|at| draft.selection.contains(*at));
        for at in left_out {
            keep(draft, at);
        }
        match configure_late(sources, draft, &declared).await {
            Ok(late) => {
                if let Err(wrong) = refresh::look(sources, draft, late).await {
                    diagnostics.extend(wrong);
                }
            }
            Err(wrong) => diagnostics.extend(wrong),
        }
        for &at in &declared {
            diagnostics.extend(prepare(draft, at));
        }
        if diagnostics.has_errors() {
            // Later levels would only repeat what is wrong here.
            continue;
        }
        let seen: &Draft = draft;
        let decisions = futures_util::stream::iter(declared)
            .map(|at| async move { (at, decide_one(sources, seen, at).await) })
            .buffer_unordered(sources.options.parallelism.max(1));
        let mut decided: Vec<_> = decisions.collect().await;
        decided.sort_by_key(|(at, _)| *at);
        for (at, decision) in decided {
            match decision {
                Ok(decision) => {
                    settle(draft, at, decision);
                    diagnostics.extend(draft.postconditions(at));
                }
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Opens the ephemeral resources of a draft in which nothing is to change, so that providers which need them are ready.
pub(super) async fn open_as_recorded(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
) -> Result<(), Diagnostics> {
    let ephemeral = |at: &usize| draft.nodes[*at].is_ephemeral() && draft.selection.contains(*at);
    let opened: Vec<usize> = draft.order.iter().copied().filter(ephemeral).collect();
    if opened.is_empty() {
        return Ok(());
    }
    (0..draft.nodes.len()).for_each(|at| keep(draft, at));
    for at in opened {
        configure_late(sources, draft, &[at]).await?;
        let wrong = prepare(draft, at);
        if wrong.has_errors() {
            return Err(wrong);
        }
        let decision = decide_one(sources, draft, at).await.map_err(|wrong| Diagnostics::from(*wrong))?;
        settle(draft, at, decision);
    }
    let all: Vec<usize> = (0..draft.nodes.len()).collect();
    configure_late(sources, draft, &all).await.map(drop)
}

/// Evaluates and checks the inputs of a node.
pub(super) fn prepare(draft: &mut Draft, at: usize) -> Diagnostics {
    let scope = draft.known();
    let node = &draft.nodes[at];
    let (inputs, bound) = match &node.kind {
        NodeKind::Resource { declared: Some(declared), .. } => {
            (&declared.inputs, declared.bindings.as_slice())
        }
        NodeKind::Data { declared, .. } | NodeKind::Ephemeral { declared, .. } => {
            (&declared.inputs, [].as_slice())
        }
        NodeKind::Resource { declared: None, .. } => return Diagnostics::new(),
    };
    let block = match &node.kind {
        NodeKind::Resource { handler, .. } => &handler.schema().inputs,
        NodeKind::Data { handler, .. } => handler.inputs(),
        NodeKind::Ephemeral { handler, .. } => handler.schema(),
    };
    let evaluated = inputs.evaluate(&scope);
    let mut diagnostics = evaluated.diagnostics;
    if !node.is_ephemeral() {
        diagnostics.extend(block.refuse_ephemeral(&evaluated.value, &node.address));
    }
    let mut bindings = Vec::new();
    for binding in bound {
        let payload = binding.payload.evaluate(&scope);
        diagnostics.extend(payload.diagnostics);
        bindings.push(Binding::new(binding.key.clone(), payload.value));
    }
    let mut desired = None;
    if !diagnostics.has_errors() {
        let checked = block.check(&evaluated.value, &node.address);
        diagnostics.extend(checked.diagnostics);
        desired =
            Some(InputValues { effective: block.with_defaults(&checked.value), written: checked.value });
    }
    let node = &mut draft.nodes[at];
    node.desired = desired;
    node.bindings = Binding::resolved(bindings);
    diagnostics
}

/// What is left out stays as it is recorded, and that is what others see of it.
pub(super) fn keep(draft: &mut Draft, at: usize) {
    if let Some(object) = draft.nodes[at].object() {
        let inputs = object.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
        draft.attributes[at] = Some(Attributes::new(inputs, object.outputs.clone()));
    }
}

/// Records a decision and what dependents may know of it.
fn settle(draft: &mut Draft, at: usize, decision: Decision) {
    let node = &mut draft.nodes[at];
    let recorded = node.object().and_then(|object| object.inputs.clone());
    if recorded.is_some() && recorded == node.desired {
        // What is as it was shares its storage with the record.
        node.desired = recorded;
    }
    let inputs = node.desired.as_ref().map_or(Value::NULL, |desired| desired.effective.clone());
    draft.attributes[at] = Some(Attributes::new(inputs, decision.outputs.clone()));
    node.decision = decision;
}

async fn decide_one(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: usize,
) -> Result<Decision, Box<Diagnostic>> {
    let node = &draft.nodes[at];
    let Some(desired) = &node.desired else { return Ok(Decision::default()) };
    let decided = match &node.kind {
        NodeKind::Data { handler, .. } => decide_data(sources, draft, at, &**handler, desired).await,
        NodeKind::Ephemeral { handler, .. } => {
            decide_ephemeral(sources, draft, at, &**handler, desired).await
        }
        NodeKind::Resource { handler, .. } => {
            let case = Case { sources, draft, at, handler: &**handler, desired };
            case.decide().await
        }
    };
    decided.map_err(|failure| {
        let failed = failed(&node.address, "plan", &failure);
        Box::new(located(failed, &desired.written))
    })
}

/// A data source is read now if it can be (UNKNOWN-12).
async fn decide_data(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: usize,
    handler: &dyn trueup_provider::DataHandler,
    inputs: &InputValues,
) -> Result<Decision, Failure> {
    let node = &draft.nodes[at];
    let context = sources.context(&draft.scope, &node.address, None);
    match &node.config {
        Some(config) if is_settled(draft, at, inputs) => {
            let request = DataRequest { config, inputs, context: &context };
            let read = async {
                let outputs = sources.retrying(&context, || handler.read(request)).await?;
                Ok(Told { outputs })
            };
            let told = sources.observed(Asked::Data, &node.address, &[&inputs.effective], read).await?;
            Ok(Decision { outputs: told.outputs, ..Decision::default() })
        }
        _ => Ok(read_later(handler.outputs())),
    }
}

/// An ephemeral resource is opened now if it can be. What it gives is no part of what a plan is saved with.
async fn decide_ephemeral(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    at: usize,
    handler: &dyn trueup_provider::EphemeralHandler,
    inputs: &InputValues,
) -> Result<Decision, Failure> {
    let address = &draft.nodes[at].address;
    let context = sources.context(&draft.scope, address, None);
    match &draft.nodes[at].config {
        Some(config) if is_settled(draft, at, inputs) => {
            let request = DataRequest { config, inputs, context: &context };
            let opened = sources.retrying(&context, || handler.open(request)).await?;
            Ok(Decision { outputs: sources.ephemerals.hold(address, opened), ..Decision::default() })
        }
        _ => Ok(read_later(handler.schema())),
    }
}

/// Whether all that a node reads by is known, and nothing that it depends on will change.
fn is_settled(draft: &Draft<'_>, at: usize, inputs: &InputValues) -> bool {
    let mut upstream = draft.upstream(at);
    inputs.effective.is_wholly_known()
        && upstream.all(|other| draft.nodes[other].decision.action == Action::NoOp)
}

fn read_later(outputs: &Block) -> Decision {
    let outputs = Value::unknown(outputs.implied_type());
    Decision { action: Action::Read, outputs, reasons: vec![Reason::OutputUnknown], ..Decision::default() }
}

/// The object that a decision starts from.
#[derive(Clone, Copy)]
struct Prior<'a> {
    object: &'a State,
    /// The inputs of the attempt that it comes from, if that has not finished.
    attempted: Option<&'a InputValues>,
    observed: Option<&'a State>,
    bindings: &'a [Binding],
}

/// One resource to decide on.
struct Case<'a> {
    sources: &'a Sources<'a>,
    draft: &'a Draft<'a>,
    at: usize,
    handler: &'a dyn ResourceHandler,
    desired: &'a InputValues,
}

impl Case<'_> {
    async fn decide(&self) -> Result<Decision, Failure> {
        let node = &self.draft.nodes[self.at];
        let current = node.record.as_ref().and_then(|(record, _)| record.current.as_ref());
        let mut decision = self.decide_in_place(current).await?;
        if matches!(decision.action, Action::Replace | Action::MayReplace) {
            decision.keeps_place = match (&decision.start, current) {
                (Start::Adopt(found), _) => found.state.inputs.as_ref().is_some_and(|it| self.is_desired(it)),
                (_, Some(current)) => self.is_object_of(current).await,
                (_, None) => false,
            };
        }
        match current {
            Some(current) if self.may_move(current, &decision).await? => {
                self.as_possible_move(decision).await
            }
            _ => Ok(decision),
        }
    }

    /// The decision if its provider leads to the same place as before.
    async fn decide_in_place(&self, current: Option<&Generation>) -> Result<Decision, Failure> {
        match current {
            None => self.decide_new().await,
            Some(current) => match (&current.status, &current.object) {
                (Status::Deleting, _) => self.decide_undeleted().await,
                (Status::Creating(_), None) => self.decide_unknown_create(current).await,
                (_, None) => self.decide_new().await,
                (Status::Ready, Some(object)) => self.decide_known(object, current, &[]).await,
                (Status::Creating(_), Some(object)) => self.decide_half_made(object, current).await,
                (Status::Updating(_), Some(object)) => self.decide_unfinished(object, current).await,
            },
        }
    }

    /// Nothing is recorded: it is created, unless it exists already (ADOPT-1).
    async fn decide_new(&self) -> Result<Decision, Failure> {
        if let Some(state) = self.imported().await? {
            return self.decide_found(self.found_by_id(state, 0, 0), Reason::Adopted).await;
        }
        match self.look(self.desired, Duration::ZERO).await? {
            Looked::Nothing => self.create(Start::Record, vec![Reason::New]).await,
            Looked::Later => self.create(Start::LookFirst, vec![Reason::New]).await,
            Looked::Found(found) => self.decide_found(*found, Reason::Adopted).await,
        }
    }

    /// The object that the program wants adopted by its id (ADOPT-7).
    async fn imported(&self) -> Result<Option<State>, Failure> {
        let node = &self.draft.nodes[self.at];
        let declared = self.sources.program.imports.iter().find(|import| import.to == node.address);
        let Some(declared) = declared else { return Ok(None) };
        let invalid = |message: String| Failure::new(FailureClass::Invalid, message);
        let draft = self.draft;
        let scope = draft.known();
        let given = declared.id.evaluate(&scope).value;
        if given.contains_secret() {
            // Providers make addresses, names and messages of it.
            let message = "the id of an import must not be secret: it is shown and recorded";
            return Err(invalid(message.to_owned()).hint("use `nonsensitive` if it is not secret"));
        }
        let identity = Some(&given).filter(|given| given.as_entries().is_some() && given.is_wholly_known());
        let id = match (given.as_str(), identity) {
            (None, None) => {
                let message = "what to import by must be an id or an identity that is known now";
                return Err(invalid(message.to_owned()));
            }
            (id, _) => id.unwrap_or_default(),
        };
        let Some(config) = &node.config else {
            return Err(invalid(
                "nothing can be imported before the provider's configuration is known".to_owned(),
            ));
        };
        let context = self.sources.context(&draft.scope, &node.address, None);
        let request = ImportRequest { config, id, identity, context: &context };
        let import = async {
            let found = self.sources.retrying(&context, || self.handler.import(request)).await?;
            Ok(found.into_iter().map(ById::from).collect::<Vec<_>>())
        };
        let found = self.sources.observed(Asked::Import, &node.address, &[&given], import).await?;
        let own = found
            .into_iter()
            .map(Imported::from)
            .find(|imported| imported.type_name == node.address.type_name());
        let own =
            own.ok_or_else(|| invalid(format!("{given} is not of the type {}", node.address.type_name())))?;
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let inputs = own.state.inputs.as_ref().map(|inputs| &inputs.effective);
        self.refuse_held(&own.state, inputs, record).await?;
        Ok(Some(own.state))
    }

    /// A create whose outcome nobody knows (CRASH-1).
    async fn decide_unknown_create(&self, current: &Generation) -> Result<Decision, Failure> {
        if let Some(state) = self.imported().await? {
            // A person looked, and says which object it is.
            let found = self.found_by_id(state, current.number, current.slot);
            return self.decide_found(found, Reason::Recovered).await;
        }
        if self.may_be_elsewhere(current).await {
            // What came of it, if anything, goes before another one is made.
            let decision = self.create(Start::FinishDelete, vec![Reason::Recovered]).await?;
            return self.as_replacement(decision, Reason::ProviderChanged).await;
        }
        let attempted = attempted_inputs(current, self.desired);
        let begun_with = current.inputs().unwrap_or(attempted);
        match self.handler.recovery(&attempted.effective) {
            // It may be there and not be visible yet: its absence must outlast the type's window.
            Recovery::Lookup => {
                match self.look(attempted, self.interrupted_window(attempted)).await? {
                    Looked::Found(found) => {
                        let found = *found;
                        #[cfg(feature = "mutations")]
                        let found = found.trusted(attempted);
                        // Whether it ever came to the inputs of the attempt, nobody knows: there are no olds (RECONCILE-1).
                        let decision = self.decide_found(found, Reason::Recovered).await?;
                        self.unless_replaced(decision, begun_with).await
                    }
                    // The request may still be under way, until whoever sent it has lost the lease: looked for once more then.
                    Looked::Nothing | Looked::Later => {
                        let start = if planted!(TrustOldAbsence) { Start::Record } else { Start::LookFirst };
                        let decision = self.create(start, vec![Reason::Recovered]).await?;
                        self.unless_replaced(decision, begun_with).await
                    }
                }
            }
            Recovery::Token => self.decide_repeated(current).await,
            Recovery::Blind if planted!(RepeatBlindCreate) => {
                self.create(Start::Record, vec![Reason::Recovered]).await
            }
            Recovery::Blind => {
                Err(outcome_unknown(&self.draft.nodes[self.at].address, self.handler.traits()))
            }
        }
    }

    /// Whether an object was made, or a create sent, where the provider's configuration of now may not lead.
    async fn may_be_elsewhere(&self, current: &Generation) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let Some(places) = self.draft.places(self.sources.registry, self.at) else { return false };
        places.elsewhere(config, current).await.is_some_and(|other| other.place != Place::Alike)
    }

    /// Whether the desired inputs denote the object of a generation, however they spell it (REPLACE-11).
    async fn is_object_of(&self, generation: &Generation) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let Some(places) = self.draft.places(self.sources.registry, self.at) else { return false };
        places.is_object_of(config, &self.desired.effective, generation).await
    }

    /// Whether the desired inputs denote the same object as others under the configuration in use.
    fn is_desired(&self, inputs: &InputValues) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let place = |inputs: &InputValues| place(self.handler, config, &inputs.effective);
        place(self.desired).is_some_and(|here| place(inputs) == Some(here))
    }

    /// Refuses an object that something else holds.
    async fn refuse_held(
        &self,
        object: &State,
        inputs: Option<&Value>,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let node = &self.draft.nodes[self.at];
        let Some(places) = self.draft.places(self.sources.registry, self.at) else { return Ok(()) };
        let spot = Spot { places: &places, config: node.config.as_ref(), inputs };
        self.draft.holders.refuse_held(spot, &node.address, object, record).await
    }

    /// Whether the configuration of its provider, once it is known, may lead away from what is there or may have been
    /// made.
    async fn may_move(&self, current: &Generation, decision: &Decision) -> Result<bool, Failure> {
        let node = &self.draft.nodes[self.at];
        let in_place = match decision.action {
            Action::NoOp | Action::MayUpdate | Action::Update => true,
            Action::Create => current.is_interrupted(),
            _ => false,
        };
        if !in_place || node.config.is_some() || node.is_in_records() {
            return Ok(false);
        }
        let written = written(self.sources.program, self.draft, &node.provider);
        let expected = expected(self.sources.registry, &node.provider, written).await;
        let expected = expected.map_err(|wrong| unconfigured(&node.provider, Some(wrong)))?;
        match self.draft.places(self.sources.registry, self.at).zip(expected) {
            Some((places, expected)) => Ok(places.may_lead_elsewhere(&expected, current).await),
            None => Ok(false),
        }
    }

    /// The same decision with leave to replace the object if it turns out to be in another place (UNKNOWN-14). What is
    /// protected has none for a mere possibility, but is looked at.
    async fn as_possible_move(&self, mut decision: Decision) -> Result<Decision, Failure> {
        decision.reasons.push(Reason::ProviderUnknown);
        if self.draft.nodes[self.at].declared().is_some_and(|declared| declared.options.protect) {
            decision.action = decision.action.max(Action::MayUpdate);
            return Ok(decision);
        }
        decision.outputs = self.ask(None).await?.outputs;
        decision.action = Action::MayReplace;
        Ok(decision)
    }

    /// How long the object of an interrupted create may stay out of sight, by what the program says now or said then. When
    /// the create began does not count: the clock may have been set forward since, and the request still be under way.
    fn interrupted_window(&self, attempted: &InputValues) -> Duration {
        let of = |inputs: &InputValues| self.handler.consistency_window(&inputs.effective);
        of(attempted).max(of(self.desired))
    }

    /// A create that is repeated as it was; if the program has since changed in a replace field, it is replaced at once.
    async fn decide_repeated(&self, current: &Generation) -> Result<Decision, Failure> {
        let decision = self.create(Start::RepeatCreate, vec![Reason::Recovered]).await?;
        match current.inputs() {
            Some(attempted) => self.unless_replaced(decision, attempted).await,
            None => Ok(decision),
        }
    }

    /// A decision about what came of an interrupted create. If the program has since changed in a replace field, that is
    /// replaced, however far it came. The values of the attempt are not told: nobody knows whether they were reached.
    async fn unless_replaced(
        &self,
        mut decision: Decision,
        attempted: &InputValues,
    ) -> Result<Decision, Failure> {
        if decision.action == Action::Replace {
            return Ok(decision);
        }
        let fields = self.handler.schema().replace_fields();
        let mut changes = self.handler.input_changes(attempted, self.desired);
        // A stub was begun before all its inputs were known: of those, none has changed.
        changes.retain(|change| change.before.as_ref().is_none_or(Value::is_wholly_known));
        if self.is_desired(attempted) {
            let inputs = &self.handler.schema().inputs.attributes;
            let is_identity = |name: &str| inputs.get(name).is_some_and(|attribute| attribute.identity);
            changes.retain(|change| !change.path.first_key().is_some_and(is_identity));
        }
        let forcing = changes.iter().filter(|change| fields.iter().any(|field| field.overlaps(&change.path)));
        let paths: Vec<Path> = forcing.map(|change| change.path.clone()).collect();
        if !paths.is_empty() {
            decision.outputs = self.ask(None).await?.outputs;
            decision.action = Action::Replace;
            decision.replace_paths = paths;
        }
        Ok(decision)
    }

    /// A create that came half-way (CRASH-2).
    async fn decide_half_made(&self, object: &State, current: &Generation) -> Result<Decision, Failure> {
        let mut decision = self.decide_unfinished(object, current).await?;
        if self.handler.traits().failed_create == FailedCreate::Replace {
            decision = self.as_replacement(decision, Reason::Tainted).await?;
        }
        Ok(decision)
    }

    /// An object with which something was under way. Of one that was never brought to any inputs, those of the attempt tell
    /// whether it can become what is wanted now (CRASH-2).
    async fn decide_unfinished(&self, object: &State, current: &Generation) -> Result<Decision, Failure> {
        let decision = self.decide_known(object, current, &[Reason::Recovered]).await?;
        match current.attempt().filter(|_| object.inputs.is_none() && decision.action == Action::Update) {
            Some(attempt) => self.unless_replaced(decision, &attempt.inputs).await,
            None => Ok(decision),
        }
    }

    /// A delete that was interrupted, and the program wants the resource again (CRASH-6).
    async fn decide_undeleted(&self) -> Result<Decision, Failure> {
        self.create(Start::FinishDelete, vec![Reason::Recovered]).await
    }

    /// An object that was found and becomes ours (ADOPT-5).
    async fn decide_found(&self, found: FoundObject, why: Reason) -> Result<Decision, Failure> {
        let (object, attempted) = (&found.state, Some(&found.sought));
        let prior = Prior { object, attempted, observed: None, bindings: &[] };
        let answer = self.ask(Some(prior)).await?;
        let is_desired = || found.state.inputs.as_ref().is_some_and(|it| self.is_desired(it));
        let answer = match answer.verdict >= Verdict::MayReplace && is_desired() {
            true => Box::pin(self.in_place(answer, prior)).await?,
            false => answer,
        };
        let mut decision = Self::concluded(answer, vec![why]);
        // Taking it into state is an action of its own, even if nothing else is to be done.
        decision.action = decision.action.max(Action::Update);
        decision.start = Start::Adopt(Box::new(found));
        Ok(decision)
    }

    /// What someone named by its id, for this generation and slot.
    fn found_by_id(&self, state: State, number: u64, slot: u64) -> FoundObject {
        let (origin, sought) = (self.draft.origin(self.at), self.desired.clone());
        FoundObject { state, number, slot, origin, older: Vec::new(), sought, foreign: false }
    }

    /// An object that is recorded.
    async fn decide_known(
        &self,
        object: &State,
        current: &Generation,
        unfinished: &[Reason],
    ) -> Result<Decision, Failure> {
        let node = &self.draft.nodes[self.at];
        if node.sight == Sight::Gone {
            return self.create(Start::Recreate, vec![Reason::Gone]).await;
        }
        if matches!(node.sight, Sight::Elsewhere { .. }) && !self.is_object_of(current).await {
            let decision = self.create(Start::Record, unfinished.to_vec()).await?;
            return self.as_replacement(decision, Reason::ProviderChanged).await;
        }
        let drift_counts = node.declared().is_none_or(|declared| declared.options.drift == DriftPolicy::Fix);
        let compared = node.compared();
        let seen = compared.as_deref().filter(|_| drift_counts);
        let attempted = current.attempt().map(|attempt| &attempt.inputs);
        let prior = Prior { object, attempted, observed: seen, bindings: &current.bindings };
        let answer = self.ask(Some(prior)).await?;
        let answer = match answer.verdict >= Verdict::MayReplace && self.is_object_of(current).await {
            true => Box::pin(self.in_place(answer, prior)).await?,
            false => answer,
        };
        let mut reasons = unfinished.to_vec();
        if answer.verdict != Verdict::NoOp || !answer.drift.is_empty() {
            reasons.extend((!answer.changes.is_empty()).then_some(Reason::Inputs));
            reasons.extend((!answer.drift.is_empty()).then_some(Reason::Drift));
            reasons.extend((current.bindings != node.bindings).then_some(Reason::Bindings));
        }
        let mut decision = Self::concluded(answer, reasons);
        if matches!(decision.action, Action::Replace | Action::MayReplace) && !self.ignored().is_empty() {
            // Nothing is ignored of a new object.
            decision.outputs = self.ask(None).await?.outputs;
        }
        if !unfinished.is_empty() {
            decision.action = decision.action.max(Action::Update);
        }
        if decision.action == Action::NoOp && !decision.outputs.is_wholly_known() {
            // What stays as it is has the outputs that it has, whatever its type expects (UNKNOWN-3).
            decision.outputs = compared.as_deref().unwrap_or(object).outputs.clone();
        }
        if decision.action == Action::NoOp && self.sources.options.force {
            decision.action = Action::Update;
            decision.reasons.push(Reason::Forced);
        }
        if self.sources.options.replace.iter().any(|range| range.covers(&node.address)) {
            decision = self.as_replacement(decision, Reason::Forced).await?;
        }
        if decision.action != Action::Replace && self.is_triggered() {
            decision = self.as_replacement(decision, Reason::Triggered).await?;
        }
        let changes = matches!(decision.action, Action::Update | Action::MayUpdate);
        if changes && node.sight == Sight::Unreadable && self.may_be_elsewhere(current).await {
            // An update where nobody can look might make a second one.
            decision = self.as_replacement(decision, Reason::ProviderChanged).await?;
        }
        Ok(decision)
    }

    /// Whether something changes that makes the resource be replaced. What is not known yet counts as changing.
    fn is_triggered(&self) -> bool {
        let draft = self.draft;
        let triggers = draft.nodes[self.at].declared().map_or(&[][..], |it| &it.replace_triggered_by);
        triggers.iter().any(|trigger| {
            let Some(upstream) = draft.index.get(&trigger.address).map(|at| &draft.nodes[*at]) else {
                return false;
            };
            if trigger.path.is_root() {
                return !matches!(upstream.decision.action, Action::NoOp | Action::Read);
            }
            let Some(object) = upstream.object() else { return false };
            let inputs = object.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
            let before = object.outputs.at(&trigger.path).or_else(|| inputs.at(&trigger.path));
            let after = draft.known().resolve(trigger);
            !before.unwrap_or_default().same(&after.unwrap_or_default())
        })
    }

    /// The plan for a new object.
    async fn create(&self, start: Start, reasons: Vec<Reason>) -> Result<Decision, Failure> {
        let answer = self.ask(None).await?;
        let mut decision = Self::concluded(answer, reasons);
        decision.start = start;
        Ok(decision)
    }

    async fn as_replacement(&self, decision: Decision, why: Reason) -> Result<Decision, Failure> {
        let fresh = self.ask(None).await?;
        let mut reasons = decision.reasons;
        reasons.push(why);
        Ok(Decision { action: Action::Replace, outputs: fresh.outputs, reasons, ..decision })
    }

    fn concluded(answer: PlanAnswer, mut reasons: Vec<Reason>) -> Decision {
        let action = action_of(answer.verdict);
        if matches!(action, Action::MayUpdate | Action::MayReplace) {
            reasons.push(Reason::OutputUnknown);
        }
        Decision {
            action,
            start: Start::Record,
            reasons,
            changes: answer.changes,
            drift: answer.drift,
            replace_paths: answer.replace_paths,
            order: answer.delete_first.then_some(crate::plan::ReplaceOrder::DeleteFirst),
            outputs: answer.outputs,
            keeps_place: false,
        }
    }

    /// The positions whose changes do not count (PLAN-21).
    fn ignored(&self) -> &[Path] {
        let declared = self.draft.nodes[self.at].declared();
        declared.map_or(&[][..], |declared| &declared.options.ignore_changes)
    }

    async fn ask(&self, prior: Option<Prior<'_>>) -> Result<PlanAnswer, Failure> {
        let node = &self.draft.nodes[self.at];
        let ignored = self.ignored();
        let (attempted, observed) = prior.map_or((None, None), |prior| (prior.attempted, prior.observed));
        let prior_bindings = prior.map_or(&[][..], |prior| prior.bindings);
        let prior = prior.map(|prior| prior.object);
        let kept = prior
            .filter(|_| !ignored.is_empty())
            .map(|prior| self.handler.keep_ignored(self.desired, prior, observed, ignored));
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let origin = self.draft.origin(self.at);
        let context = self.sources.context_as(&self.draft.scope, &node.address, &origin, record);
        let private = PrivateBytes(prior.map(|prior| prior.private.clone()).unwrap_or_default());
        let request = PlanRequest {
            config: node.config.as_ref(),
            desired: kept.as_ref().unwrap_or(self.desired),
            prior,
            attempted,
            observed,
            bindings: &node.bindings,
            prior_bindings,
            private: &private,
            context: &context,
        };
        let mut answer = caught(self.handler.plan(request)).await?;
        context.report_warnings(std::mem::take(&mut answer.diagnostics));
        Ok(answer)
    }

    /// The answer about an object that the inputs only spell differently: an update, unless it is replaced for another
    /// reason (REPLACE-11).
    async fn in_place(&self, answer: PlanAnswer, prior: Prior<'_>) -> Result<PlanAnswer, Failure> {
        let respelled = |state: &State| respelled(self.handler.schema(), state, self.desired);
        let (object, observed) = (respelled(prior.object), prior.observed.map(respelled));
        let prior = Prior { object: &object, observed: observed.as_ref(), ..prior };
        Ok(updated_instead(answer, self.ask(Some(prior)).await?))
    }

    /// Looks for an object of this identity, if the type can and the inputs are known (ADOPT-1, ADOPT-6). What is not
    /// there by the end of the window is absent.
    async fn look(&self, inputs: &InputValues, window: Duration) -> Result<Looked, Failure> {
        let node = &self.draft.nodes[self.at];
        let Some(config) = &node.config else { return Ok(Looked::Later) };
        if !inputs.effective.is_wholly_known() {
            return Ok(Looked::Later);
        }
        let origins = self.draft.origins(self.sources.program, self.at);
        let (mut refused, mut foreign) = (None, None);
        for origin in origins {
            match self.look_as(inputs, config, window, origin).await {
                Ok(Looked::Nothing) => {}
                // Its own object, under another address that it had, comes before somebody else's under this one.
                Ok(Looked::Found(found)) if found.foreign => {
                    foreign.get_or_insert(found);
                }
                // What is not its own under one address may be under another that it had.
                Err(failure) if failure.class == FailureClass::AlreadyExists => {
                    refused.get_or_insert(failure);
                }
                looked => return looked,
            }
        }
        match (foreign, refused) {
            (Some(found), _) => Ok(Looked::Found(found)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(Looked::Nothing),
        }
    }

    /// The same under the names that follow from one address.
    async fn look_as(
        &self,
        inputs: &InputValues,
        config: &Configured,
        window: Duration,
        origin: Address,
    ) -> Result<Looked, Failure> {
        let node = &self.draft.nodes[self.at];
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let context = self.sources.context_as(&self.draft.scope, &node.address, &origin, record);
        let interrupted =
            record.and_then(|record| record.current.as_ref()).is_some_and(Generation::is_interrupted);
        let is_found = |found: &Option<Vec<Sighting>>| found.as_ref().is_some_and(|it| !it.is_empty());
        let looking = async {
            let mut sightings = SlotSightings::new(self.handler, inputs, record.is_some(), context.slot);
            while let Some(slot) = sightings.next_slot() {
                let context = CallContext { slot, ..context.clone() };
                let request = LookupRequest { config, desired: inputs, interrupted, context: &context };
                let lookup = || self.sources.retrying(&context, || self.handler.lookup(request));
                sightings.note(slot, within(&*self.sources.clock, || window, lookup, is_found).await?);
            }
            let found = sightings.settled(interrupted, &node.address, self.handler.traits())?.into_iter();
            let found = found.filter(|(sighting, _)| may_be(sighting, record));
            Ok(found.map(|(sighting, slot)| (Sighted::from(sighting), slot)).collect::<Vec<_>>())
        };
        let found = self.sources.observed(Asked::Lookup, &origin, &[&inputs.effective], looking).await?;
        let found: Vec<_> =
            found.into_iter().map(|(sighted, slot)| (Sighting::from(sighted), slot)).collect();
        let adopt = node.declared().and_then(|it| it.options.adopt).unwrap_or(self.sources.options.adopt);
        let seen = sole(&found);
        let chosen = match chosen(found, adopt, &node.address.to_string()) {
            Err(failure) => {
                if let Some(seen) = seen {
                    // Another resource's own, whatever the type takes it for, is not to be adopted either.
                    self.refuse_held(&seen, Some(&inputs.effective), record).await?;
                }
                return Err(failure);
            }
            Ok(chosen) => chosen,
        };
        match chosen {
            None => Ok(Looked::Nothing),
            Some(Chosen { sighting, slot, older }) => {
                self.refuse_held(&sighting.state, Some(&inputs.effective), record).await?;
                let number = sighting.ownership.generation().unwrap_or(context.generation);
                let foreign = sighting.ownership == Ownership::Unowned;
                let (state, sought) = (sighting.state, inputs.clone());
                let found = FoundObject { state, number, slot, origin, older, sought, foreign };
                Ok(Looked::Found(Box::new(found)))
            }
        }
    }
}

/// The inputs of the create that was interrupted, by which its object is found. A stub was begun before all its inputs
/// were known; then the ones to come tell as much.
fn attempted_inputs<'a>(current: &'a Generation, desired: &'a InputValues) -> &'a InputValues {
    current.inputs().filter(|inputs| inputs.effective.is_wholly_known()).unwrap_or(desired)
}

/// The plan for an object whose identity is only spelled differently, by the type's answer about it and by that about the
/// same object in its new spelling (REPLACE-11).
pub(crate) fn updated_instead(answer: PlanAnswer, respelled: PlanAnswer) -> PlanAnswer {
    match respelled.verdict {
        Verdict::MayReplace | Verdict::Replace | Verdict::Create => answer,
        verdict => PlanAnswer { verdict: verdict.max(Verdict::Update), changes: answer.changes, ..respelled },
    }
}

/// What looking came to.
enum Looked {
    Nothing,
    /// The inputs are not known yet.
    Later,
    Found(Box<FoundObject>),
}

/// CRASH-1
pub(crate) fn outcome_unknown(address: &Address, traits: &Traits) -> Failure {
    let message = format!(
        "CreateOutcomeUnknown: a create of {address} was interrupted, and nothing can find its object"
    );
    let existing = match traits.importable {
        true => format!("`trueup import {address} ID`; if it does not,"),
        false => {
            "delete it by hand, because its type cannot be imported. Then, or if it does not,".to_owned()
        }
    };
    Failure::new(FailureClass::Indeterminate, message).hint(format!(
        "make sure no other run is creating it, then look for the object yourself. If it exists, {existing} \
         `trueup state resolve {address} --absent`"
    ))
}

/// Adds what the next run does about a create that is repeated with its token, and how to give it up.
pub(crate) fn to_be_repeated(address: &Address, failure: Failure) -> Failure {
    failure.hint(format!(
        "the next run repeats this create unchanged, with the same token; if it made nothing, \
         `trueup state resolve {address} --absent` gives it up"
    ))
}

/// Adds how to give up a create that is repeated with its token: editing the program does not change the repeated request.
pub(crate) fn repeated(address: &Address, failure: Failure) -> Failure {
    failure.hint(format!(
        "an earlier run began this create, and it is repeated unchanged; if it made nothing, \
         `trueup state resolve {address} --absent` gives it up"
    ))
}

/// What a type's verdict means for the plan.
pub(crate) fn action_of(verdict: Verdict) -> Action {
    match verdict {
        Verdict::NoOp => Action::NoOp,
        Verdict::MayUpdate => Action::MayUpdate,
        Verdict::Update => Action::Update,
        Verdict::MayReplace => Action::MayReplace,
        Verdict::Replace => Action::Replace,
        Verdict::Create => Action::Create,
    }
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    lines(draft, |at, node| {
        let Decision { action, reasons, .. } = &node.decision;
        let decided = node.is_declared() && draft.selection.contains(at);
        decided.then(|| match reasons.as_slice() {
            [] => action.name().to_owned(),
            reasons => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                format!("{}, because: {}", action.name(), reasons.join(", "))
            }
        })
    })
}
