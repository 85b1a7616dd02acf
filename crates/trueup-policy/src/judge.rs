//! What policies say of a plan.

use trueup_core::{Diagnostic, Diagnostics};
use trueup_engine::Plan;

use crate::cel::{CelError, Value as Cel};
use crate::{Effect, Policies, Policy, view};

/// The variables of a `when`.
pub(crate) const VARIABLES: [&str; 2] = ["plan", "resource"];

/// The index of `resource` among them.
pub(crate) const RESOURCE: usize = 1;

/// Beyond this many objections of one policy, only their number is told.
const OBJECTIONS_MAX: usize = 20;

impl Policies {
    /// What the policies object to. An error among it means that the plan must not be carried out.
    pub fn judge(&self, plan: &Plan) -> Diagnostics {
        let mut found = Diagnostics::new();
        if self.is_empty() {
            return found;
        }
        let resources = view::resources(plan);
        let whole = view::whole(plan, &resources);
        for policy in &self.policies {
            if !policy.of_resources {
                found.extend(policy.object_to(&[whole.clone(), Cel::Null]));
                continue;
            }
            let mut objections = 0;
            for (resource, action) in resources.iter().zip(&plan.actions) {
                if let Some(objection) = policy.object_to(&[whole.clone(), resource.clone()]) {
                    objections += 1;
                    if objections <= OBJECTIONS_MAX {
                        found.push(objection.about(action.address.to_string()));
                    }
                }
            }
            if objections > OBJECTIONS_MAX {
                let more = objections - OBJECTIONS_MAX;
                found.push(policy.diagnostic(&format!("{more} more resources like that")));
            }
        }
        found
    }
}

impl Policy {
    /// The objection of the policy to the plan, or to one of its resources.
    fn object_to(&self, variables: &[Cel; VARIABLES.len()]) -> Option<Diagnostic> {
        match self.program.evaluate(variables) {
            Ok(Cel::Bool(false)) => None,
            Ok(Cel::Bool(true)) => Some(self.diagnostic(&self.message)),
            Ok(other) => {
                let why = format!("`when` is of type {}, neither true nor false", other.type_of().name());
                let detail = format!("it is in {}", self.file.display());
                Some(self.broken(&why).detail(detail).hint("compare it with something"))
            }
            Err(error) => Some(self.failed(&error)),
        }
    }

    fn diagnostic(&self, message: &str) -> Diagnostic {
        let summary = format!("policy `{}`: {message}", self.name);
        let from = format!("it is in {}", self.file.display());
        match self.effect {
            Effect::Deny => Diagnostic::error(summary).detail(from),
            Effect::Warn => Diagnostic::warning(summary).detail(from),
        }
    }

    /// A `when` that fails, with its place.
    fn failed(&self, error: &CelError) -> Diagnostic {
        let text = self.program.text();
        let (line, column) = error.position(text);
        let place = format!("it is in {}, line {line}, column {column} of `when`", self.file.display());
        let broken = self.broken(error.message()).detail(format!("{place}\n{}", error.excerpt(text)));
        match error.fix() {
            Some(fix) => broken.hint(fix),
            None => broken,
        }
    }

    /// A policy that can't be evaluated protects nothing, so it denies.
    fn broken(&self, why: &str) -> Diagnostic {
        Diagnostic::error(format!("policy `{}` cannot be evaluated: {why}", self.name))
    }
}
