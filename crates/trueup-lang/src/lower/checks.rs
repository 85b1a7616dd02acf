//! Checks, and what they read.

use std::sync::Arc;

use trueup_program::{CheckDeclaration, DataDeclaration, Program, ReadFailure};

use super::build::Builder;
use super::computed::What;
use crate::world::{Evaluation, Instance, Position, Standing, Used};

impl Builder<'_> {
    /// Lowers the checks of one instance of a module.
    pub(super) fn lower_checks(&mut self, evaluation: &Evaluation<'_>, instance: &Arc<Instance>) {
        let here = Standing { instance, position: &Position::One, for_each: None };
        for (index, check) in instance.node.module.checks.iter().enumerate() {
            let mut used = Used::new();
            for assertion in &check.assertions {
                evaluation.used_by_condition(here, assertion, &mut used);
            }
            let lowered = self.lowered(instance, What::Check(index), &used);
            let condition = lowered.into_expression(None);
            self.program.checks.push(CheckDeclaration { name: check.name.text.clone(), condition });
        }
    }

    /// What a check reads is about the whole as it will be: it is read once nothing is left to change.
    pub(super) fn read_for_checks_last(&mut self) {
        let is_for_check = |declared: &&mut DataDeclaration| declared.failure == ReadFailure::Warning;
        let Program { data, resources, .. } = &mut self.program;
        for declared in data.iter_mut().filter(is_for_check) {
            declared.depends_on.extend(resources.iter().map(|it| it.address.clone()));
            declared.deferral.resources.extend(resources.iter().map(|it| it.address.clone()));
        }
    }
}
