//! Planning: from a program and what is recorded to a plan, in named passes.
//!
//! Each pass is a file: `relocate` gives records their new addresses, `collect` makes a node for each resource, `connect`
//! finds their dependencies and cycles, `select` what the run is about, `configure` makes providers ready, `migrate`
//! brings records of older schema versions along, `refresh` looks at recorded objects, `decide` walks the nodes in order,
//! evaluates inputs and asks each type what to do, `retire` adds what is no longer declared, `replace` settles the order
//! of replacements, `guard` refuses what must not happen, `conclude` writes the plan down. Planning changes nothing:
//! neither records nor objects. `validate` and `observe` run some of the passes for other purposes.

mod collect;
mod conclude;
mod configure;
mod connect;
mod decide;
mod guard;
mod migrate;
mod observe;
mod preview;
mod refresh;
mod relocate;
mod replace;
mod retire;
mod select;
mod short_secrets;
mod trace;
mod validate;

pub(crate) use observe::observe;
pub use preview::Preview;
pub use trace::PassDump;
pub(crate) use trace::Trace;
pub(crate) use validate::validate;

use serde::Serialize;
use serde::de::DeserializeOwned;
use smol_str::SmolStr;
use trueup_core::{Address, Diagnostics, Failure, Value};
use trueup_program::Program;
use trueup_provider::{CallContext, GenerationNumber, Slot};
use trueup_state::{Record, Snapshot};

use crate::call::{Call, Caller, contained};
use crate::draft::ExecutablePlan;
use crate::draft::node::Node;
use crate::ephemeral::Ephemerals;
use crate::events::Operation;
use crate::failures::{describe_attempt, describe_failure};
use crate::looking::Looking;
use crate::options::PlanOptions;
use crate::providers::wait_for_orphans;
use crate::run_kind::RunKind;
use crate::saved::{About, Observations, QuestionKind};

/// What a plan is made from.
pub(crate) struct Sources<'a> {
    pub(crate) program: &'a Program,
    pub(crate) options: &'a PlanOptions,
    /// Makes its calls to providers.
    pub(crate) calls: Caller<'a>,
    pub(crate) kind: RunKind,
    /// How far looking has come.
    pub(crate) looking: &'a Looking,
    /// What is learned by looking, for plans that are saved or follow from one.
    pub(crate) observations: Option<&'a Observations>,
    /// What the saved plan that this one must come out like is about.
    pub(crate) about: Option<&'a About>,
    /// What is open while the plan is made.
    pub(crate) ephemerals: Ephemerals,
}

/// Makes the plan, or says all that is in its way. The trace, if one is asked for, tells what each pass did.
pub(crate) async fn plan<'p>(
    sources: &Sources<'p>,
    snapshot: Snapshot,
    trace: &mut Trace,
) -> Result<ExecutablePlan<'p>, Diagnostics> {
    sources.with_open(pass_by_pass(sources, snapshot, trace)).await
}

async fn pass_by_pass<'p>(
    sources: &Sources<'p>,
    mut snapshot: Snapshot,
    trace: &mut Trace,
) -> Result<ExecutablePlan<'p>, Diagnostics> {
    let _waited = wait_for_orphans(&sources.calls, &snapshot).await?;
    // Before all other passes, so that none ever sees an old address.
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    trace.note("relocate", || relocate::dump(&relocation));
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    trace.note("collect", || collect::dump(&draft));
    // Before any call to a provider: a cycle or a dangling reference must cost nothing (PLAN-13).
    connect::connect(sources, &mut draft).await?;
    trace.note("connect", || connect::dump(&draft));
    // Before anything is read: what is left out is not looked at.
    select::select(sources, &mut draft)?;
    trace.note("select", || select::dump(&draft));
    configure::configure(sources, &mut draft).await?;
    trace.note("configure", || configure::dump(&draft));
    // Before anything is compared: types know objects of the current schema versions alone.
    migrate::migrate(sources, &mut draft).await?;
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
    let plan = conclude::conclude(sources, &mut draft).await?;
    trace.note("conclude", || plan.to_string());
    Ok(ExecutablePlan { plan, draft })
}

/// The outcome of planning, where a panic of a type that is not asked about one resource alone is an error.
async fn plan_contained<T>(work: impl Future<Output = Result<T, Diagnostics>>) -> Result<T, Diagnostics> {
    contained(work).await.unwrap_or_else(|panic| Err(describe_attempt("plan", panic.into()).into()))
}

impl Sources<'_> {
    /// The outcome of some work, while what it opens is kept open; at its end all of it is closed.
    pub(crate) async fn with_open<T>(
        &self,
        work: impl Future<Output = Result<T, Diagnostics>>,
    ) -> Result<T, Diagnostics> {
        let outcome = self.ephemerals.kept_during(plan_contained(work)).await;
        let mut wrong = Diagnostics::new();
        for (address, failure) in self.ephemerals.close_all().await {
            wrong.push(describe_failure(&address, "close", &failure));
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
        let own = || self.calls.registry.provider_of(type_name).map(|provider| SmolStr::new(provider.name()));
        named.filter(|name| !name.is_empty()).or_else(own).unwrap_or_default()
    }

    /// A call for a node.
    pub(crate) fn call<'n>(&self, node: &'n Node<'_>) -> Call<'n> {
        Call::new(&node.address, &node.provider, Operation::Read, self.calls.policy_of(node))
    }

    /// The context of a call for a generation of a node.
    pub(crate) fn context(&self, address: &Address, record: Option<&Record>) -> CallContext {
        self.context_as(address, record.map_or(address, |record| &record.origin), record)
    }

    /// The same with names that follow from that address.
    pub(crate) fn context_as(
        &self,
        address: &Address,
        origin: &Address,
        record: Option<&Record>,
    ) -> CallContext {
        let current = record.and_then(|record| record.current.as_ref());
        // Beside older generations that wait to be deleted, another one has another number and name.
        let (number, slot) = match (current, record) {
            (Some(current), _) => (current.number, current.slot),
            (None, Some(record)) => (record.next_number(), record.free_slot()),
            (None, None) => (GenerationNumber::FIRST, Slot::FIRST),
        };
        // Planning creates nothing: the only token is that of an interrupted attempt.
        let token = current.and_then(|current| current.attempt()).map(|attempt| attempt.token);
        self.calls.context(address, origin, number, slot, token)
    }
}

impl Sources<'_> {
    /// What is learned by asking the outside, or was when the plan was made that this one follows (PLANFILE-2).
    pub(crate) async fn observed<T: Serialize + DeserializeOwned>(
        &self,
        kind: QuestionKind,
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
