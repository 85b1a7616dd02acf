//! What policies say of a plan.

use trueup_core::{Diagnostic, Diagnostics};
use trueup_engine::Plan;

use crate::cel::{CelError, Steps, Value as Cel};
use crate::view::{self, Seen};
use crate::{Effect, Policies, Policy};

/// The variables of a `when`.
pub(crate) const VARIABLES: [&str; 2] = ["plan", "resource"];

/// The index of `plan` among them.
pub(crate) const PLAN: usize = 0;

/// The index of `resource` among them.
pub(crate) const RESOURCE: usize = 1;

/// Beyond this many objections of one policy, only their number is told.
const OBJECTIONS_MAX: usize = 20;

/// What one policy may take for all resources of a plan, in steps: some half a minute.
const POLICY_STEPS_MAX: u64 = 500_000_000;

/// What policies say of a plan.
#[derive(Debug, Default)]
pub struct Judgement {
    /// Their objections. An error among them means that the plan must not be carried out.
    pub found: Diagnostics,
    /// What can't be decided before apply.
    pub undecided: Vec<Undecided>,
}

/// A policy that can't be decided yet, since it depends on values that are known only at apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The name of the policy.
    pub policy: String,
    /// The resource that it can't be decided for; `None` for the plan as a whole.
    pub address: Option<String>,
}

/// What a policy says of a plan, or of one of its resources.
pub(crate) enum Verdict {
    Passed,
    Objection(Box<Diagnostic>),
    Undecided,
}

/// What is judged: a plan, and perhaps one of its resources.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) plan: &'a Cel,
    pub(crate) resource: Option<&'a Seen>,
    /// Whether any resource of the plan holds a secret.
    pub(crate) is_plan_secret: bool,
}

impl Policies {
    /// What the policies say of a plan.
    pub fn judge(&self, plan: &Plan) -> Judgement {
        let mut judgement = Judgement::default();
        if self.is_empty() {
            return judgement;
        }
        let resources = view::planned(plan);
        let whole = view::whole(plan, &resources);
        let is_plan_secret = resources.iter().any(|it| it.is_secret);
        let case = Case { plan: &whole, resource: None, is_plan_secret };
        for policy in &self.policies {
            if policy.of_resources {
                policy.judge_each(case, &resources, &mut judgement);
                continue;
            }
            match policy.judge(case, &mut Steps::DEFAULT_MAX.clone()) {
                Verdict::Passed => {}
                Verdict::Objection(objection) => judgement.found.push(*objection),
                Verdict::Undecided => judgement.undecided.push(policy.undecided(None)),
            }
        }
        judgement
    }
}

impl Policy {
    /// Judges all resources.
    fn judge_each(&self, case: Case<'_>, resources: &[Seen], judgement: &mut Judgement) {
        let (mut objections, mut steps_left) = (0, POLICY_STEPS_MAX);
        for resource in resources {
            let address = || resource.address.to_string();
            match self.judge(Case { resource: Some(resource), ..case }, &mut steps_left) {
                Verdict::Passed => {}
                Verdict::Undecided => judgement.undecided.push(self.undecided(Some(address()))),
                Verdict::Objection(objection) => {
                    objections += 1;
                    if objections <= OBJECTIONS_MAX {
                        judgement.found.push(objection.about(address()));
                    }
                    if steps_left == 0 {
                        break;
                    }
                }
            }
        }
        if objections > OBJECTIONS_MAX {
            let more = objections - OBJECTIONS_MAX;
            judgement.found.push(self.diagnostic(&format!("{more} more resources like that")));
        }
    }

    /// Judges the plan, or one of its resources. What that takes is taken from `steps_left`; when one evaluation takes too
    /// many, none are left.
    pub(crate) fn judge(&self, case: Case<'_>, steps_left: &mut u64) -> Verdict {
        let resource = case.resource.map_or(Cel::Null, |resource| resource.view.clone());
        let steps = Steps::new(Steps::DEFAULT_MAX.min(*steps_left));
        let outcome = self.program.evaluate_within(&[case.plan.clone(), resource], &steps);
        *steps_left = steps_left.saturating_sub(steps.taken());
        match outcome {
            Ok(Cel::Bool(false)) => Verdict::Passed,
            Ok(Cel::Bool(true)) => Verdict::Objection(Box::new(self.diagnostic(&self.message))),
            Ok(other) => {
                let why = format!("`when` is of type {}, neither true nor false", other.type_of().name());
                let detail = format!("it is in {}", self.file.display());
                Verdict::Objection(Box::new(
                    self.broken(&why).detail(detail).hint("compare it with something"),
                ))
            }
            Err(error) if error.is_unknown() => Verdict::Undecided,
            Err(error) => {
                if error.is_out_of_steps() {
                    *steps_left = 0;
                }
                Verdict::Objection(Box::new(self.failed(&error, self.sees_secrets(case))))
            }
        }
    }

    /// Whether the values that the policy reads hold a secret.
    fn sees_secrets(&self, case: Case<'_>) -> bool {
        case.resource.is_some_and(|resource| resource.is_secret)
            || (self.sees_resources() && case.is_plan_secret)
    }

    /// Whether the policy reads the resources of the plan, rather than the one it is about.
    pub(crate) fn sees_resources(&self) -> bool {
        ["resources", "counts"].iter().any(|field| self.program.refers_to_field(PLAN, field))
    }

    pub(crate) fn undecided(&self, address: Option<String>) -> Undecided {
        Undecided { policy: self.name.clone(), address }
    }

    fn diagnostic(&self, message: &str) -> Diagnostic {
        let summary = format!("policy `{}`: {message}", self.name);
        let from = format!("it is in {}", self.file.display());
        match self.effect {
            Effect::Deny => Diagnostic::error(summary).detail(from),
            Effect::Warn => Diagnostic::warning(summary).detail(from),
        }
    }

    /// A `when` that fails, with its place. Of secrets, nothing is quoted.
    fn failed(&self, error: &CelError, sees_secrets: bool) -> Diagnostic {
        let text = self.program.text();
        let (line, column) = error.position(text);
        let place = format!("it is in {}, line {line}, column {column} of `when`", self.file.display());
        let why = if sees_secrets { error.message_without_values() } else { error.message() };
        let broken = self.broken(why).detail(format!("{place}\n{}", error.excerpt(text)));
        match error.fix() {
            Some(fix) => broken.hint(fix),
            None => broken,
        }
    }

    /// A policy that was judged so often at apply that it may not be judged again.
    pub(crate) fn exhausted(&self) -> Diagnostic {
        self.broken("judging it again with each new value takes too many steps")
            .detail(format!("it is in {}", self.file.display()))
            .hint("narrow the resources that it compares, by their type first")
    }

    /// A policy that can't be evaluated protects nothing, so it denies.
    fn broken(&self, why: &str) -> Diagnostic {
        Diagnostic::error(format!("policy `{}` cannot be evaluated: {why}", self.name))
    }
}
