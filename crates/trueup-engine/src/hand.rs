//! Changes of state by hand (STATE-9), and taking over what is observed (DRIFT-9): each under the lease, journalled, and legal by the same function as any other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, AddressRange, Diagnostic, Diagnostics};
use trueup_program::Program;
use trueup_state::{
    Batch, Cause, Entry, HeldLease, Holder as LeaseHolder, Lease, Record, RecordId, Scope, Snapshot, Status,
    Step, StoreError, Version, Write, transition,
};

use crate::call::Caller;
use crate::lease::RunLease;
use crate::lease_reason::LeaseReason;
use crate::options::{DeployOptions, PlanOptions};
use crate::planner::{self, Sources};
use crate::providers::wait_for_orphans;
use crate::reconciler::{EngineError, Reconciler};
use crate::run_kind::RunKind;

/// What is changed by hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandChange {
    /// Records take another address, with all that refers to them (`state mv`, MOVE-3).
    Move {
        /// From where.
        from: AddressRange,
        /// To where.
        to: AddressRange,
    },
    /// Records are forgotten; their objects stay (`state rm`).
    Forget(AddressRange),
    /// A create whose outcome nobody knows did not happen (`state resolve --absent`, CRASH-1).
    ResolveAbsent(Address),
    /// A record loses its protection (`state unprotect`, REPLACE-9).
    Unprotect(AddressRange),
}

/// A step that a change by hand comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandStep {
    /// The record.
    pub address: Address,
    /// What happens to it.
    pub step: Step,
    pub(crate) id: RecordId,
}

/// What a change of records came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeReport {
    /// The steps that were made.
    pub steps: Vec<HandStep>,
    /// Why the lease could not be released. It expires by itself.
    pub unreleased: Option<StoreError>,
}

/// How long a lease lasts without renewal, where no options of a run say.
const LEASE_TERM: Duration = Duration::from_secs(60);

impl Reconciler {
    /// What a change by hand would come to, or why it cannot be.
    pub async fn preview_by_hand(
        &self,
        scope: &Scope,
        change: &HandChange,
    ) -> Result<Vec<HandStep>, EngineError> {
        let snapshot = self.store().load(scope).await?;
        self.uninterrupted(self.wait_before(scope, change, &snapshot)).await?;
        Ok(steps(&snapshot, change)?)
    }

    /// Makes a change by hand, as a whole.
    pub async fn change_by_hand(
        &self,
        scope: &Scope,
        change: &HandChange,
        options: &DeployOptions,
    ) -> Result<ChangeReport, EngineError> {
        let lease = self.take_lease_by_hand(scope, options, change.reason()).await?;
        let committing = self.commit_by_hand(scope, change, &lease);
        let (steps, unreleased) = under_lease(&lease, committing).await?;
        Ok(ChangeReport { steps, unreleased })
    }

    /// Records objects that exist: all of them, or none (STATE-9). Under the lease, `admit` judges what is recorded by then.
    /// While another holds the lease, `wait` says whether to wait for it. Returns why the lease could not be released, if so.
    pub async fn record(
        &self,
        scope: &Scope,
        batch: &Batch,
        holder: &LeaseHolder,
        admit: &dyn Fn(&Snapshot) -> Result<(), Diagnostics>,
        wait: &mut dyn FnMut(&HeldLease) -> bool,
    ) -> Result<Option<StoreError>, EngineError> {
        let recording = async |lease: &Lease| {
            admit(&self.store().load(scope).await?)?;
            self.store().commit(scope, lease.token, batch).await?;
            Ok(())
        };
        let ((), unreleased) = self.with_lease(scope, holder, wait, recording).await?;
        Ok(unreleased)
    }

    /// The outcome of other work on the state of a scope, while its lease is held and renewed (STATE-3), with why the lease could
    /// not be released, if so. While another holds the lease, `wait` says whether to wait for it.
    pub async fn with_lease<T>(
        &self,
        scope: &Scope,
        holder: &LeaseHolder,
        wait: &mut dyn FnMut(&HeldLease) -> bool,
        work: impl AsyncFnOnce(&Lease) -> Result<T, EngineError>,
    ) -> Result<(T, Option<StoreError>), EngineError> {
        let taking = RunLease::take(self.store(), self.clock(), scope, holder, LEASE_TERM, wait);
        let lease = self.uninterrupted(taking).await?;
        under_lease(&lease, work(&lease.lease)).await
    }

    /// What records would take over from what is observed; changes nothing.
    pub async fn preview_refresh(
        &self,
        program: &Program,
        options: &PlanOptions,
    ) -> Result<Vec<HandStep>, EngineError> {
        let scope = Scope::new(program.stack.clone(), options.stage.clone());
        self.observed(program, options, self.recorded(&scope, options).await?).await
    }

    /// Lets records take over what is observed, and changes no object.
    pub async fn refresh(
        &self,
        program: &Program,
        options: &DeployOptions,
    ) -> Result<ChangeReport, EngineError> {
        let scope = Scope::new(program.stack.clone(), options.plan.stage.clone());
        let lease = self.take_lease_by_hand(&scope, options, LeaseReason::Refresh).await?;
        let refreshing = async {
            let snapshot = self.store().load(&scope).await?;
            let observing = self.observed(program, &options.plan, snapshot.clone());
            let steps = self.uninterrupted(observing).await?;
            self.commit_steps(&scope, snapshot, &steps, &lease).await?;
            Ok(steps)
        };
        let (steps, unreleased) = under_lease(&lease, refreshing).await?;
        Ok(ChangeReport { steps, unreleased })
    }

    async fn observed(
        &self,
        program: &Program,
        options: &PlanOptions,
        snapshot: Snapshot,
    ) -> Result<Vec<HandStep>, EngineError> {
        let options = &PlanOptions { drift: true, ..options.clone() };
        let sources = Sources {
            program,
            calls: self.caller(program, options),
            options,
            kind: RunKind::Deploy,
            looking: self.looking(),
            observations: None,
            about: None,
            ephemerals: crate::ephemeral::Ephemerals::new(self.clock().clone(), options.timeout),
        };
        Ok(Box::pin(planner::observe(&sources, snapshot)).await?)
    }

    async fn take_lease_by_hand(
        &self,
        scope: &Scope,
        options: &DeployOptions,
        reason: LeaseReason,
    ) -> Result<RunLease, EngineError> {
        let run = self.fresh_run();
        self.uninterrupted(self.take_lease_for(scope, options, &run, reason)).await
    }

    async fn commit_steps(
        &self,
        scope: &Scope,
        snapshot: Snapshot,
        steps: &[HandStep],
        lease: &RunLease,
    ) -> Result<(), EngineError> {
        let writes = writes(snapshot, steps)?;
        if !writes.is_empty() {
            let batch = Batch { writes, ..Batch::default() };
            self.store().commit(scope, lease.lease.token, &batch).await?;
        }
        Ok(())
    }

    /// Refuses to believe that a create made nothing if some of it was still under way when a person said so (CRASH-9).
    async fn wait_before(
        &self,
        scope: &Scope,
        change: &HandChange,
        snapshot: &Snapshot,
    ) -> Result<(), EngineError> {
        let HandChange::ResolveAbsent(address) = change else { return Ok(()) };
        let options = PlanOptions::new(scope.stage.clone());
        let calls = Caller::new(self.registry(), self.clock().clone(), scope.clone(), &options);
        if !wait_for_orphans(&calls, snapshot).await? {
            return Ok(());
        }
        let summary = format!("a killed run was still at work until now, and may have made {address}");
        let diagnostic = Diagnostic::error(summary).about(address.to_string());
        let hint = "it has ended now: look for the object again, then repeat the command";
        Err(Diagnostics::from(diagnostic.hint(hint)).into())
    }

    async fn commit_by_hand(
        &self,
        scope: &Scope,
        change: &HandChange,
        lease: &RunLease,
    ) -> Result<Vec<HandStep>, EngineError> {
        let snapshot = self.store().load(scope).await?;
        self.uninterrupted(self.wait_before(scope, change, &snapshot)).await?;
        let steps = steps(&snapshot, change)?;
        self.commit_steps(scope, snapshot, &steps, lease).await?;
        Ok(steps)
    }
}

impl HandChange {
    /// The name of the command that makes it.
    pub fn name(&self) -> &'static str {
        self.reason().name()
    }

    fn reason(&self) -> LeaseReason {
        match self {
            HandChange::Move { .. } => LeaseReason::StateMove,
            HandChange::Forget(_) => LeaseReason::StateRemove,
            HandChange::ResolveAbsent(_) => LeaseReason::StateResolve,
            HandChange::Unprotect(_) => LeaseReason::StateUnprotect,
        }
    }
}

/// What a change of records comes to, while the lease for it is renewed (STATE-3). A lease that cannot be given back expires
/// by itself, and is reported: the change is made all the same. Only a state that is gone fails it.
async fn under_lease<T>(
    lease: &RunLease,
    work: impl Future<Output = Result<T, EngineError>>,
) -> Result<(T, Option<StoreError>), EngineError> {
    let outcome = lease.kept_during(work).await;
    let released = lease.release().await;
    let changed = outcome?;
    match released {
        Ok(()) => Ok((changed, None)),
        Err(error @ StoreError::TakenAway { .. }) => Err(error.into()),
        Err(error) => Ok((changed, Some(error))),
    }
}

fn steps(snapshot: &Snapshot, change: &HandChange) -> Result<Vec<HandStep>, Diagnostics> {
    let records = || snapshot.records.iter().map(|(record, _)| &**record);
    let covered = |range: &AddressRange| -> Result<Vec<&Record>, Diagnostics> {
        let found: Vec<&Record> = records().filter(|record| range.covers(&record.address)).collect();
        if found.is_empty() { Err(unrecorded(snapshot, range).into()) } else { Ok(found) }
    };
    let of = |record: &Record, step| HandStep { address: record.address.clone(), step, id: record.id };
    match change {
        HandChange::Move { from, to } => moves(snapshot, &covered(from)?, from, to),
        HandChange::Forget(range) => {
            let forget = |record: &&Record| -> Vec<HandStep> {
                record.generations().map(|it| of(record, Step::Dropped { number: it.number })).collect()
            };
            Ok(covered(range)?.iter().flat_map(forget).collect())
        }
        HandChange::ResolveAbsent(address) => {
            let record = covered(&address.clone().into())?[0];
            match &record.current {
                Some(current)
                    if current.object.is_none() && matches!(current.status, Status::Creating(_)) =>
                {
                    Ok(vec![of(record, Step::Abandoned { number: current.number })])
                }
                _ => Err(Diagnostic::error(format!("no create of {address} has an unknown outcome"))
                    .hint("`trueup state show` tells what is recorded")
                    .into()),
            }
        }
        HandChange::Unprotect(range) => {
            let protected = covered(range)?.into_iter().filter(|record| record.meta.protect);
            let unprotect = |record: &Record| {
                let mut meta = record.meta.clone();
                meta.protect = false;
                of(record, Step::MetaChanged { meta })
            };
            Ok(protected.map(unprotect).collect())
        }
    }
}

/// The moves of records, and what follows for those that depend on them.
fn moves(
    snapshot: &Snapshot,
    moving: &[&Record],
    from: &AddressRange,
    to: &AddressRange,
) -> Result<Vec<HandStep>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let target = |address: &Address| from.rebase(to, address);
    for record in moving {
        let address = &record.address;
        let wrong = match target(address) {
            None => Some((format!("{address} cannot move to {to}"), "name two resources or two modules")),
            Some(to) if to.type_name() != address.type_name() => Some((
                format!("{address} cannot move to {to}: they are of different types"),
                "say so with `moved` in the program, if the type can take it over",
            )),
            Some(to) if snapshot.records.iter().any(|(other, _)| other.address == to) => Some((
                format!("{address} cannot move to {to}: there is a resource already"),
                "remove one of them from state first",
            )),
            Some(_) => None,
        };
        if let Some((summary, hint)) = wrong {
            diagnostics.push(Diagnostic::error(summary).hint(hint));
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut steps = Vec::new();
    for (record, _) in &snapshot.records {
        let of = |step| HandStep { address: record.address.clone(), step, id: record.id };
        if from.covers(&record.address)
            && let Some(to) = target(&record.address)
        {
            steps.push(of(Step::Moved { to }));
        }
        let used: BTreeSet<&Address> =
            record.dependencies().filter(|dependency| from.covers(dependency)).collect();
        let moved: Vec<(Address, Address)> =
            used.into_iter().filter_map(|from| Some((from.clone(), target(from)?))).collect();
        if !moved.is_empty() {
            steps.push(of(Step::Relinked { moved }));
        }
    }
    Ok(steps)
}

/// The writes that steps come to.
fn writes(snapshot: Snapshot, steps: &[HandStep]) -> Result<Vec<Write>, StoreError> {
    let mut records: std::collections::BTreeMap<RecordId, (Option<Arc<Record>>, Version)> =
        snapshot.records.into_iter().map(|(record, version)| (record.id, (Some(record), version))).collect();
    let mut writes = Vec::new();
    for HandStep { step, id, address } in steps {
        let Some((record, version)) = records.get_mut(id) else { continue };
        let entry = Entry::new(*id, step.clone());
        let next = transition(record.take().map(Arc::unwrap_or_clone), &entry);
        let next = next.map_err(|illegal| StoreError::Damaged {
            location: address.to_string(),
            what: Cause::new(illegal),
        })?;
        *record = next.map(Arc::new);
        writes.push(Write { expected: Some(*version), entry, record: record.clone() });
    }
    Ok(writes)
}

fn unrecorded(snapshot: &Snapshot, range: &AddressRange) -> Diagnostic {
    let known: Vec<String> = snapshot.records.iter().map(|(record, _)| record.address.to_string()).collect();
    let diagnostic = Diagnostic::error(format!("nothing is recorded of {range}"));
    match trueup_core::nearest(&range.to_string(), known.iter().map(String::as_str)) {
        Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
        None => diagnostic.hint("`trueup state list` tells what is recorded"),
    }
}
