//! `import`: objects that the root module wants adopted.

use std::sync::Arc;

use trueup_core::Address;
use trueup_program::{ImportDeclaration, Place};

use super::addresses::{computed_address, range};
use super::build::Builder;
use super::computed::What;
use super::moves::{Repeated, is_declared};
use super::resources::{Declaration, LoweredResource};
use crate::declare::{Import, at};
use crate::syntax::{Access, AccessKind, ExprKind, StaticStep};
use crate::world::{Evaluation, Frame, Instance, Position, Standing, Used, implied};

impl Builder<'_> {
    /// Lowers all imports. That each names an instance that is declared, and one of its own, is for the engine to tell.
    pub(super) fn lower_imports(&mut self, evaluation: &Evaluation<'_>, root: &Arc<Instance>) {
        for (index, import) in root.node.module.imports.iter().enumerate() {
            self.check_target(root, import);
            let positions = match &import.for_each {
                None => vec![Position::One],
                Some(for_each) => evaluation.elements(root, for_each),
            };
            for position in positions {
                let frame = Frame::of_module(evaluation, root)
                    .at_position(position.clone(), import.for_each.as_ref());
                let to = match computed_address(&frame, &import.to, &root.path) {
                    Ok(to) => to,
                    Err(wrong) => {
                        self.tell(*wrong);
                        continue;
                    }
                };
                self.check_import_provider(root, import, &to);
                let mut used = Used::new();
                let here =
                    Standing { instance: root, position: &position, for_each: import.for_each.as_ref() };
                evaluation.used_by(here, &import.id, &mut used);
                let lowered = self.lowered(root, What::Import { index, position }, &used);
                let evaluated = lowered.within(evaluation);
                self.tell_all(evaluated.diagnostics);
                self.refuse_ephemeral(&evaluated.value, import.id.origin, "the id of an import");
                let id = lowered.into_expression(Some(&evaluated.value));
                if !self.is_stood_in_for(&to) {
                    let place = Some(Place::Source(import.header));
                    self.program.imports.push(ImportDeclaration { to, id, place });
                }
            }
        }
    }

    /// Tells of an import into a resource that is not declared, however many objects it adopts (ADOPT-11).
    fn check_target(&mut self, root: &Arc<Instance>, import: &Import) {
        let ExprKind::Traversal(traversal) = &import.to.kind else { return };
        let mut named = traversal.known_part();
        named.steps = traversal.steps.iter().filter_map(attribute).collect();
        // What is no address is told where it is evaluated.
        let Ok(named) = range(&named, &root.path) else { return };
        if !is_declared(&named, root, Repeated::IsTheSame) {
            let hint = "declare it, with the provider and inputs of the object, or remove the import";
            self.tell(
                at(import.to.origin, format!("{named} is to be imported, and is not declared")).hint(hint),
            );
        }
    }

    /// Whether an instance that validation does not know is one of those that another stands for.
    fn is_stood_in_for(&self, to: &Address) -> bool {
        let modules = |address: &Address| -> Vec<_> {
            address.module().steps().iter().map(|step| step.name.clone()).collect()
        };
        let named =
            |address: &Address| (address.type_name() == to.type_name()) && address.name() == to.name();
        let mut declared = self.resources.iter().map(LoweredResource::address).filter(|it| named(it));
        self.world.validating && declared.any(|it| it != to && modules(it) == modules(to))
    }

    /// Whoever imports is who manages.
    fn check_import_provider(&mut self, root: &Instance, import: &Import, to: &Address) {
        let Some(named) = &import.provider else { return };
        let manages = self.resources.iter().find_map(|it| match &it.declaration {
            Declaration::Resource(declared) if declared.address == *to => Some(declared.provider.clone()),
            _ => None,
        });
        let Some(manages) = manages else { return };
        let manages = manages.unwrap_or_else(|| implied(to.type_name()).into());
        if root.configuration(named, &self.world.builtin).as_ref() != Some(&manages) {
            let summary = format!("{to} is managed by the provider `{manages}`, not by `{named}`");
            self.tell(
                at(named.origin, summary).hint("say `provider` on the resource, and leave it out here"),
            );
        }
    }
}

fn attribute(access: &Access) -> Option<StaticStep> {
    match &access.kind {
        AccessKind::Attribute(name) => Some(StaticStep::Attribute(name.clone())),
        AccessKind::Index(_) => None,
    }
}
