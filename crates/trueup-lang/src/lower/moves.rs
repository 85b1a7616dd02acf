//! `moved` and `removed`: what has another address than before, or none.

use trueup_core::{AddressRange, ModulePath};
use trueup_program::{MoveDeclaration, RemovedDeclaration};

use super::addresses::range;
use super::build::Builder;
use crate::declare::{Moved, Removed, at};
use crate::modules::ModuleNode;
use crate::world::Instance;

impl Builder<'_> {
    pub(super) fn lower_moves(&mut self, instance: &Instance) {
        let module = &instance.node.module;
        module.moved.iter().for_each(|moved| self.lower_moved(instance, moved));
        module.removed.iter().for_each(|removed| self.lower_removed(instance, removed));
    }

    fn lower_moved(&mut self, instance: &Instance, moved: &Moved) {
        let ends = (range(&moved.from, &instance.path), range(&moved.to, &instance.path));
        match ends {
            (Ok(from), Ok(to)) => {
                // One instance among others may move, and so may what is repeated in another way than before.
                let whole = without_keys(&from);
                let leaves = from == whole && whole != without_keys(&to);
                if leaves && is_declared(&from, instance, Repeated::GivesOtherAddresses) {
                    let summary = format!("{from} is said to be moved and still declared");
                    self.tell(at(moved.header, summary).hint("remove one of them"));
                }
                self.program.moves.push(MoveDeclaration { from, to });
            }
            (from, to) => {
                [from.err(), to.err()].into_iter().flatten().for_each(|wrong| self.tell(*wrong));
            }
        }
    }

    fn lower_removed(&mut self, instance: &Instance, removed: &Removed) {
        match range(&removed.from, &instance.path) {
            Ok(from) => {
                if is_declared(&from, instance, Repeated::IsTheSame) {
                    let summary = format!("{from} is said to be removed and still declared");
                    self.tell(at(removed.header, summary).hint("remove one of them"));
                }
                self.program.removed.push(RemovedDeclaration { from, destroy: removed.destroy });
            }
            Err(wrong) => self.tell(*wrong),
        }
    }
}

/// What it means that a module on the way is repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeated {
    /// Its instances are meant as well.
    IsTheSame,
    /// Its instances have keys, and an address without one is another.
    GivesOtherAddresses,
}

/// Whether an instance of a module, or a module it calls, declares something.
pub(super) fn is_declared(range: &AddressRange, instance: &Instance, repeated: Repeated) -> bool {
    let called = |path: &ModulePath| {
        let steps = path.steps().get(instance.path.steps().len()..)?;
        steps.iter().try_fold(&*instance.node, |node: &ModuleNode, step| {
            let call = node.module.calls.get(&step.name)?;
            let counts = call.repetition.is_none() || repeated == Repeated::IsTheSame;
            node.calls.get(&step.name).filter(|_| counts).map(|node| &**node)
        })
    };
    match range {
        AddressRange::Resource(address) => called(address.module()).is_some_and(|node| {
            let mut keys = node.module.resources.keys().filter(|key| key.mode == address.mode());
            keys.any(|key| key.type_name == address.type_name() && key.name == address.name())
        }),
        AddressRange::Module(path) => called(path).is_some(),
    }
}

/// The same without keys after its last name.
fn without_keys(range: &AddressRange) -> AddressRange {
    match range {
        AddressRange::Resource(address) => AddressRange::Resource(address.with_key(None)),
        AddressRange::Module(path) => {
            let mut steps = path.steps().to_vec();
            steps.iter_mut().last().into_iter().for_each(|step| step.key = None);
            AddressRange::Module(ModulePath::new(steps).unwrap_or_else(|_| path.clone()))
        }
    }
}
