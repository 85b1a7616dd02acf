//! Planning: from a program and what is recorded to a plan, in named passes.
//!
//! Each pass is a file: `relocate` gives records their new addresses, `collect` makes a node for each resource, `connect` finds their dependencies and cycles, `select` what the run is about,
//! `configure` makes providers ready, `refresh` looks at recorded objects, `decide` walks the nodes in order, evaluates inputs and asks each type what to
//! do, `retire` adds what is no longer declared, `replace` settles the order of replacements, `guard` refuses what must
//! not happen, `conclude` writes the plan down. Planning changes nothing: neither records nor objects.

mod collect;
mod conclude;
pub(crate) mod configure;
mod connect;
mod decide;
mod guard;
mod holders;
pub(crate) mod node;
mod observe;
mod origin;
mod orphans;
mod preview;
mod refresh;
pub(crate) mod relocate;
mod replace;
mod retire;
mod select;
mod short_secrets;
mod sightings;
mod trace;
mod validate;

pub(crate) use decide::{action_of, outcome_unknown, repeated, to_be_repeated, updated_instead};
pub(crate) use holders::{Holders, ObjectHolder, Spot};
pub(crate) use observe::observe;
pub(crate) use orphans::wait_for_orphans;
pub use preview::Preview;
pub(crate) use sightings::{Chosen, SlotSightings, can_look, chosen, may_be, sole};
pub use trace::PassDump;
pub(crate) use trace::Trace;
pub(crate) use validate::validate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, Failure, KnownSecrets, Origin, Path, Value};
use trueup_program::Program;
use trueup_provider::{
    BoxFuture, CallContext, Clock, Configured, IdempotencyToken, NameRules, Owner, ProgressSink, Registry,
};
use trueup_state::{Record, RecordId, Scope, Snapshot};

use crate::configurations::Recorded;
use crate::ephemeral::Ephemerals;
use crate::graph::Graph;
use crate::looking::Looking;
use crate::options::PlanOptions;
use crate::panics::caught;
use crate::places::Places;
use crate::plan::Plan;
use crate::retry::{Attempts, Next};
use crate::saved::{About, Asked, Observations};
use crate::warned::Warned;
use node::{Attributes, Node, NodeKind, NodeScope};
use relocate::Relocation;
use select::Selection;

/// What is planned: the plan, and what the executor needs to carry it out.
pub(crate) struct Planned<'p> {
    pub(crate) plan: Plan,
    pub(crate) draft: Draft<'p>,
}

/// What a plan is made from.
pub(crate) struct Sources<'a> {
    pub(crate) program: &'a Program,
    pub(crate) registry: &'a Registry,
    pub(crate) options: &'a PlanOptions,
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether everything is to be deleted (DELETE-4).
    pub(crate) destroy: bool,
    /// How far looking has come.
    pub(crate) looking: &'a Looking,
    /// What is learned by looking, for plans that are saved or follow from one.
    pub(crate) observations: Option<&'a Observations>,
    /// What the saved plan that this one must come out like is about.
    pub(crate) about: Option<&'a About>,
    /// What providers warn of.
    pub(crate) warned: Warned,
    /// What is open while the plan is made.
    pub(crate) ephemerals: Ephemerals,
}

/// A plan in the making, of a program.
pub(crate) struct Draft<'p> {
    pub(crate) scope: Scope,
    pub(crate) index: IndexMap<Address, usize>,
    pub(crate) nodes: Vec<Node<'p>>,
    /// What each node depends on: its references and explicit dependencies, or what is recorded if it is undeclared.
    pub(crate) graph: Graph,
    /// The nodes, each after all it depends on.
    pub(crate) order: Vec<usize>,
    pub(crate) attributes: Vec<Option<Attributes>>,
    /// What each node depends on as its record says, declared or not, as far as that is there.
    pub(crate) recorded_graph: Graph,
    pub(crate) configs: IndexMap<SmolStr, Option<Configured>>,
    /// The configurations that recorded objects were made with.
    pub(crate) recorded: Recorded,
    pub(crate) relocation: Relocation,
    pub(crate) selection: Selection,
    pub(crate) holders: Holders,
    /// Dependencies that a cycle through bindings leaves for the second pass: who depends, on whom (BIND-5).
    pub(crate) loose: Vec<(usize, usize)>,
    /// Dependencies that are part of a cycle, by bindings alone: who depends, on whom.
    pub(crate) circular: BTreeSet<(usize, usize)>,
    /// The stack's outputs as the last run left them.
    pub(crate) recorded_outputs: Option<Value>,
    pub(crate) warnings: Diagnostics,
    /// The secrets of the run.
    pub(crate) secrets: KnownSecrets,
    /// Records as they were before their objects were brought to the current schema versions, where that changed them.
    pub(crate) unmigrated: IndexMap<RecordId, Arc<Record>>,
    /// Whether it is being carried out.
    pub(crate) applying: bool,
    /// The nodes that are first applied with values that stand in for others, since they are in a cycle or after one.
    pub(crate) provisional: BTreeSet<usize>,
    /// The nodes of which this run has made stubs.
    pub(crate) stubbed: BTreeSet<usize>,
    /// The addresses under which resources were first created that have others now: their names still follow from those.
    moved_away: BTreeSet<Address>,
    /// The addresses that resources were renamed from, by their new ones.
    renamed: BTreeMap<Address, Address>,
}

impl<'p> Draft<'p> {
    /// The places of objects of a node's type, under its configuration of the provider.
    pub(crate) fn places<'a>(&self, registry: &'a Registry, at: usize) -> Option<Places<'a>> {
        let node = &self.nodes[at];
        let (recorded, provider) = (self.recorded.clone(), node.provider.clone());
        Some(Places { registry, recorded, handler: node.handler()?.clone(), provider })
    }

    /// The address that the physical names of a node follow from.
    pub(crate) fn origin(&self, at: usize) -> Address {
        let node = &self.nodes[at];
        match &node.record {
            Some((record, _)) => record.origin.clone(),
            None => origin::fresh_origin(&self.moved_away, &node.address),
        }
    }

    /// The addresses under which the object of a node may be found: without a record, also those it had before.
    pub(crate) fn origins(&self, program: &Program, at: usize) -> Vec<Address> {
        let mut origins = vec![self.origin(at)];
        if self.nodes[at].record.is_none() {
            let before = origin::predecessors(program, &self.renamed, &self.nodes[at].address).into_iter();
            // What has its names from there is another resource, and recorded.
            origins.extend(before.filter(|origin| !self.moved_away.contains(origin)));
        }
        origins
    }

    /// All that a node depends on, with what a cycle leaves for the second pass.
    pub(crate) fn upstream(&self, at: usize) -> impl Iterator<Item = usize> {
        let loose = self.loose.iter().filter(move |(from, _)| *from == at).map(|(_, target)| *target);
        self.graph.dependencies(at).chain(loose)
    }

    /// All that depends on a node, likewise.
    pub(crate) fn downstream(&self, at: usize) -> impl Iterator<Item = usize> {
        let loose = self.loose.iter().filter(move |(_, target)| *target == at).map(|(from, _)| *from);
        self.graph.dependents(at).chain(loose)
    }

    /// What is known of outputs by now.
    pub(crate) fn known(&self) -> NodeScope<'_> {
        let Draft { index, nodes, attributes, applying, secrets, .. } = self;
        NodeScope { index, nodes, attributes, applying: *applying, secrets }
    }

    /// What is wrong with a node, by the postconditions that it states.
    pub(crate) fn postconditions(&self, at: usize) -> Diagnostics {
        let stated = match &self.nodes[at].kind {
            NodeKind::Resource { declared, .. } => declared.map_or(&[][..], |it| &it.postconditions),
            NodeKind::Data { declared, .. } | NodeKind::Ephemeral { declared, .. } => {
                &declared.postconditions
            }
        };
        let mut wrong = Diagnostics::new();
        for stated in stated {
            wrong.extend(stated.evaluate(&self.known()).diagnostics);
        }
        wrong
    }

    /// What the program's checks find.
    pub(crate) fn checks(&self, program: &Program) -> Diagnostics {
        let mut found = Diagnostics::new();
        for check in &program.checks {
            found.extend(check.condition.evaluate(&self.known()).diagnostics);
        }
        found
    }
}

/// Makes the plan, or says all that is in its way. The trace, if one is asked for, tells what each pass did.
pub(crate) async fn plan<'p>(
    sources: &Sources<'p>,
    snapshot: Snapshot,
    trace: &mut Trace,
) -> Result<Planned<'p>, Diagnostics> {
    sources.with_open(pass_by_pass(sources, snapshot, trace)).await
}

async fn pass_by_pass<'p>(
    sources: &Sources<'p>,
    mut snapshot: Snapshot,
    trace: &mut Trace,
) -> Result<Planned<'p>, Diagnostics> {
    let _waited = wait_for_orphans(sources.registry, &sources.clock, &snapshot).await?;
    // Before all other passes, so that none ever sees an old address.
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    trace.note("relocate", || relocate::dump(&relocation));
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    trace.note("collect", || collect::dump(&draft));
    // Before any call to a provider: a cycle or a dangling reference must cost nothing (PLAN-13).
    connect::connect(sources, &mut draft)?;
    trace.note("connect", || connect::dump(&draft));
    // Before anything is read: what is left out is not looked at.
    select::select(sources, &mut draft)?;
    trace.note("select", || select::dump(&draft));
    refresh::prepare(sources, &mut draft).await?;
    trace.note("configure", || configure::dump(&draft));
    refresh::refresh(sources, &mut draft).await?;
    trace.note("refresh", || refresh::dump(&draft));
    decide::decide(sources, &mut draft).await?;
    trace.note("decide", || decide::dump(&draft));
    retire::retire(sources, &mut draft);
    trace.note("retire", || retire::dump(&draft));
    // After all actions are known: the order of one replacement may follow from another.
    replace::replace(&mut draft)?;
    trace.note("replace", || replace::dump(&draft));
    guard::guard(sources, &draft).await?;
    let plan = conclude::conclude(sources, &mut draft)?;
    trace.note("conclude", || plan.to_string());
    Ok(Planned { plan, draft })
}

impl Sources<'_> {
    /// The outcome of some work, while what it opens is kept open; at its end all of it is closed.
    pub(crate) async fn with_open<T>(
        &self,
        work: impl Future<Output = Result<T, Diagnostics>>,
    ) -> Result<T, Diagnostics> {
        let outcome = self.ephemerals.kept_during(work).await;
        let mut wrong = Diagnostics::new();
        for (address, failure) in self.ephemerals.close_all().await {
            wrong.push(failed(&address, "close", &failure));
        }
        match outcome {
            Ok(done) if wrong.is_empty() => Ok(done),
            Ok(_) => Err(wrong),
            Err(mut told) => {
                told.extend(wrong);
                Err(told)
            }
        }
    }

    /// The name of the configuration that manages a resource or reads a data source of this type.
    pub(crate) fn provider_name(&self, named: Option<SmolStr>, type_name: &str) -> SmolStr {
        let own = || self.registry.provider_of(type_name).map(|provider| SmolStr::new(provider.name()));
        named.filter(|name| !name.is_empty()).or_else(own).unwrap_or_default()
    }

    /// What a call for a generation of a node is told.
    pub(crate) fn context(&self, scope: &Scope, address: &Address, record: Option<&Record>) -> CallContext {
        self.context_as(scope, address, record.map_or(address, |record| &record.origin), record)
    }

    /// The same with names that follow from that address.
    pub(crate) fn context_as(
        &self,
        scope: &Scope,
        address: &Address,
        origin: &Address,
        record: Option<&Record>,
    ) -> CallContext {
        let current = record.and_then(|record| record.current.as_ref());
        // Beside older generations that wait to be deleted, another one has another number and name.
        let (next_number, free_slot) =
            record.map_or((0, 0), |record| (record.next_number(), record.free_slot()));
        CallContext {
            owner: Owner { stack: scope.stack.clone(), stage: scope.stage.clone(), origin: origin.clone() },
            address: address.clone(),
            generation: current.map_or(next_number, |current| current.number),
            slot: current.map_or(free_slot, |current| current.slot),
            // Planning creates nothing, so no token of its own is ever used.
            token: current
                .and_then(|current| current.attempt())
                .map_or(IdempotencyToken::from_bytes([0; 16]), |attempt| attempt.token),
            pending: None,
            cancellation: tokio_util::sync::CancellationToken::new(),
            clock: self.clock.clone(),
            progress: ProgressSink::new(|_| {}),
            warnings: self.warned.of(address),
            name_rules: NameRules::default(),
            secrets: self.registry.secrets().clone(),
        }
    }
}

impl Sources<'_> {
    /// Calls something until it succeeds or need not be tried again.
    pub(crate) async fn retrying<'f, T>(
        &self,
        context: &CallContext,
        call: impl Fn() -> BoxFuture<'f, Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let (retry, timeout) = (self.options.retry, self.options.timeout);
        let mut attempts = Attempts::new(retry, timeout, &*self.clock, &context.address);
        loop {
            match caught(call()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => match attempts.after(failure, &*self.clock) {
                    Next::Again { wait, .. } => self.clock.sleep(wait).await,
                    Next::GiveUp(failure) => return Err(failure),
                },
            }
        }
    }
}

impl Sources<'_> {
    /// What is learned by asking the outside, or was when the plan was made that this one follows (PLANFILE-2).
    pub(crate) async fn observed<T: Serialize + DeserializeOwned>(
        &self,
        kind: Asked,
        address: &Address,
        with: &[&Value],
        ask: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match self.observations {
            // Boxed, because only saved plans keep answers and each call would have the room for it.
            Some(observations) => Box::pin(observations.answer(kind, address, with, ask)).await,
            None => ask.await,
        }
    }
}

/// A failure of one resource while planning, on its line (PLAN-14).
/// A diagnostic at the place of the input that it is about, or of the nearest around it.
pub(crate) fn located(mut diagnostic: Diagnostic, inputs: &Value) -> Diagnostic {
    let Some(path) = diagnostic.path.as_ref().filter(|_| diagnostic.origin.is_none()) else {
        return diagnostic;
    };
    let mut steps = path.steps();
    while let Some((_, outer)) = steps.split_last() {
        let at: Path = steps.iter().cloned().collect();
        let origin = inputs.at(&at).and_then(|value| value.origin());
        if origin.is_some() {
            diagnostic.origin = origin;
            break;
        }
        steps = outer;
    }
    let mut secrets = Vec::new();
    secret_origins(inputs, &mut secrets);
    diagnostic.concealing(secrets.into())
}

/// Where secrets stand in the source: a line that is shown may hold one.
fn secret_origins(value: &Value, found: &mut Vec<Origin>) {
    if value.is_secret() {
        found.extend(value.origin());
    }
    value.children().for_each(|child| secret_origins(child, found));
}

pub(crate) fn failed(address: &Address, attempted: &str, failure: &Failure) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::error(format!("{attempted} {address}: {failure}")).about(address.to_string());
    diagnostic.hints = failure.hints.clone();
    diagnostic.path = failure.path.clone();
    diagnostic
}
