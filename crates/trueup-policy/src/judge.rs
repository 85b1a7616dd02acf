//! What policies say of a plan.

use cel::{Context, ExecutionError, Value as Cel};
use trueup_core::{Diagnostic, Diagnostics};
use trueup_engine::Plan;

use crate::{Effect, Policies, Policy, view};

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
                found.extend(policy.object_to(&whole, None, None));
                continue;
            }
            let mut objections = 0;
            for (resource, action) in resources.iter().zip(&plan.actions) {
                let address = action.address.to_string();
                if let Some(objection) = policy.object_to(&whole, Some(resource), Some(address)) {
                    objections += 1;
                    if objections <= OBJECTIONS_MAX {
                        found.push(objection);
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
    /// What the policy says of the plan, or of one of its resources.
    fn object_to(&self, plan: &Cel, resource: Option<&Cel>, address: Option<String>) -> Option<Diagnostic> {
        let mut context = Context::default();
        context.add_variable_from_value("plan", plan.clone());
        if let Some(resource) = resource {
            context.add_variable_from_value("resource", resource.clone());
        }
        let objection = match self.program.execute(&context) {
            Ok(Cel::Bool(false)) => return None,
            Ok(Cel::Bool(true)) => self.diagnostic(&self.message),
            Ok(other) => {
                let why = format!("`when` is of type {}, neither true nor false", other.type_of());
                self.broken(&why).hint("compare it with something")
            }
            Err(error @ ExecutionError::UndeclaredReference(_)) => {
                self.broken(&error.to_string()).hint("a policy speaks of `plan` and of `resource`")
            }
            Err(error) => self
                .broken(&error.to_string())
                .hint("ask with `has(…)` whether something is there before speaking of it"),
        };
        Some(match address {
            Some(address) => objection.about(address),
            None => objection,
        })
    }

    fn diagnostic(&self, message: &str) -> Diagnostic {
        let summary = format!("policy `{}`: {message}", self.name);
        let from = format!("it is in {}", self.file.display());
        match self.effect {
            Effect::Deny => Diagnostic::error(summary).detail(from),
            Effect::Warn => Diagnostic::warning(summary).detail(from),
        }
    }

    /// A policy that cannot be asked protects nothing, so it denies.
    fn broken(&self, why: &str) -> Diagnostic {
        Diagnostic::error(format!("policy `{}` cannot be evaluated: {why}", self.name))
            .detail(format!("it is in {}", self.file.display()))
    }
}
