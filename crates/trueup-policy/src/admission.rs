//! Policies at apply: what a plan could not know yet is judged again on real values, before anything is sent.
//!
//! The engine shows each change when its values and its action are final. Where that tells policies anything new, they are
//! asked again: those of resources about this one, those of the plan about the plan with what is known by now. A policy that
//! compares resources may be undecided until the last of them is known; then the last one is stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use trueup_core::{Address, Diagnostic, Diagnostics, Severity};
use trueup_engine::{AdmissionControl, FinalChange, Plan};

use crate::Policies;
use crate::cel::{Steps, Value as Cel};
use crate::judge::{Case, Verdict};
use crate::view::{self, Seen};

/// What to do about a change that is refused.
const NOTHING_SENT: &str =
    "nothing was sent to the provider for it; change the resource or the policy, then deploy again";

/// What one policy may take for all changes of a run, in steps: some minutes. A policy that compares each resource with all
/// others is judged again for each of them whenever one more is known, so that its cost grows with the cube of their number.
const RUN_STEPS_MAX: u64 = 5_000_000_000;

/// Holds changes against policies while a plan is carried out.
pub struct PolicyAdmission {
    policies: Arc<Policies>,
    steps_max: u64,
    run: Mutex<Option<Watched>>,
}

/// A plan that is carried out, with what is known of it by now.
struct Watched {
    plan: Plan,
    index: BTreeMap<Address, usize>,
    resources: Vec<Seen>,
    /// The resources that were seen on final values.
    settled: BTreeSet<usize>,
    is_secret: bool,
    whole: Cel,
    /// Warnings that were told with the plan, by policy and resource.
    told: BTreeSet<(usize, Option<usize>)>,
    /// Resources whose policies depend on others that are still unknown.
    open: BTreeSet<(usize, usize)>,
    /// For each policy, the steps that it may still take.
    steps_left: Vec<u64>,
}

impl PolicyAdmission {
    /// Admission control that holds changes against these policies.
    pub fn new(policies: Arc<Policies>) -> Self {
        PolicyAdmission { policies, steps_max: RUN_STEPS_MAX, run: Mutex::default() }
    }

    /// Sets how many steps one policy may take for all changes of a run.
    pub fn steps_max(self, steps_max: u64) -> Self {
        PolicyAdmission { steps_max, ..self }
    }
}

impl AdmissionControl for PolicyAdmission {
    fn begin(&self, plan: &Plan) {
        let watched = Watched::new(&self.policies, plan, self.steps_max);
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    }

    fn review(&self, change: &FinalChange<'_>) -> Diagnostics {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.as_mut().map(|watched| watched.judge(&self.policies, change)).unwrap_or_default()
    }
}

impl Watched {
    fn new(policies: &Policies, plan: &Plan, steps_max: u64) -> Self {
        let resources = view::planned(plan);
        let whole = view::whole(plan, &resources);
        let index =
            plan.actions.iter().enumerate().map(|(at, action)| (action.address.clone(), at)).collect();
        let mut watched = Watched {
            plan: plan.clone(),
            index,
            is_secret: resources.iter().any(|it| it.is_secret),
            resources,
            settled: BTreeSet::new(),
            whole,
            told: BTreeSet::new(),
            open: BTreeSet::new(),
            steps_left: vec![steps_max; policies.policies.len()],
        };
        watched.note_plan(policies);
        watched
    }

    /// Notes what was told with the plan, and what it left open.
    fn note_plan(&mut self, policies: &Policies) {
        for (number, policy) in policies.policies.iter().enumerate() {
            let subjects: Vec<Option<usize>> = match policy.of_resources {
                true => (0..self.resources.len()).map(Some).collect(),
                false => vec![None],
            };
            for subject in subjects {
                match self.verdict(policies, number, subject) {
                    Verdict::Passed => {}
                    Verdict::Objection(_) => drop(self.told.insert((number, subject))),
                    Verdict::Undecided => {
                        self.open.extend(subject.filter(|_| policy.sees_resources()).map(|at| (number, at)));
                    }
                }
            }
        }
    }

    /// What policies say of a change, beyond what they said of the plan.
    fn judge(&mut self, policies: &Policies, change: &FinalChange<'_>) -> Diagnostics {
        let mut found = Diagnostics::new();
        let Some(&at) = self.index.get(change.address) else { return found };
        let planned = &self.plan.actions[at];
        let is_known = !self.resources[at].is_unknown && !self.settled.contains(&at);
        if is_known && planned.action == change.action && planned.inputs == *change.inputs {
            return found;
        }
        self.resources[at] = view::decided(planned, change);
        self.is_secret |= self.resources[at].is_secret;
        self.settled.insert(at);
        if policies.policies.iter().any(crate::Policy::sees_resources) {
            self.whole = view::whole(&self.plan, &self.resources);
        }
        let open = std::mem::take(&mut self.open);
        let others =
            open.into_iter().filter(|(_, other)| *other != at).map(|(number, it)| (number, Some(it)));
        let own = policies
            .policies
            .iter()
            .enumerate()
            .map(|(number, policy)| (number, policy.of_resources.then_some(at)));
        let mut exhausted = BTreeSet::new();
        for (number, subject) in own.chain(others).collect::<BTreeSet<_>>() {
            let policy = &policies.policies[number];
            if self.steps_left[number] == 0 {
                self.open.extend(subject.filter(|_| policy.sees_resources()).map(|it| (number, it)));
                if exhausted.insert(number) {
                    found.push(self.told_of(policy.exhausted(), at, at));
                }
                continue;
            }
            match self.verdict(policies, number, subject) {
                Verdict::Passed => {}
                Verdict::Undecided => {
                    self.open.extend(subject.filter(|_| policy.sees_resources()).map(|it| (number, it)));
                }
                Verdict::Objection(objection) => {
                    let is_new = self.told.insert((number, subject));
                    if is_new || objection.severity == Severity::Error {
                        found.push(self.told_of(*objection, subject.unwrap_or(at), at));
                    }
                }
            }
        }
        found
    }

    /// An objection at apply: it stops the change at hand, whichever resource it is about.
    fn told_of(&self, objection: Diagnostic, subject: usize, stopped: usize) -> Diagnostic {
        let address = |at: usize| self.resources[at].address.to_string();
        let [about, stopped_address] = [subject, stopped].map(address);
        let objection = match (objection.severity, subject == stopped) {
            (Severity::Warning, _) => objection,
            (_, true) => objection.hint(NOTHING_SENT),
            (_, false) => objection.hint(format!("{stopped_address} decided it; {NOTHING_SENT}")),
        };
        objection.about(about)
    }

    fn verdict(&mut self, policies: &Policies, number: usize, subject: Option<usize>) -> Verdict {
        let resource = subject.map(|at| &self.resources[at]);
        let case = Case { plan: &self.whole, resource, is_plan_secret: self.is_secret };
        let mut left = Steps::DEFAULT_MAX;
        let verdict = policies.policies[number].judge(case, &mut left);
        let left_of_run = &mut self.steps_left[number];
        *left_of_run = left_of_run.saturating_sub(Steps::DEFAULT_MAX - left);
        verdict
    }
}
