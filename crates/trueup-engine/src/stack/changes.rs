//! What became of earlier addresses, and objects that exist already: moves, removals and imports.
//!
//! Addresses are written as in a stack file, relative to the module that is being declared.

use std::panic::Location;

use trueup_core::{Address, AddressRange, ModulePath};
use trueup_program::{ImportDeclaration, IntoExpr, MoveDeclaration, Place, RemovedDeclaration};
use trueup_provider::Outputs;

use super::{Declared, Stack};

/// What becomes of the objects of a resource that is no longer declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removal {
    /// They are deleted, as they would be without a word.
    Delete,
    /// They stay, and are no longer managed.
    Forget,
}

impl Stack<'_> {
    /// Says that a resource had another address before, such as `my_file.readme` (MOVE-1).
    #[track_caller]
    pub fn moved<Out: Outputs>(&mut self, from: &str, to: &Declared<Out>) {
        if let Some(from) = self.range(from, Location::caller()) {
            self.program.moves.push(MoveDeclaration { from, to: to.into() });
        }
    }

    /// Says that all that is in a module had another address before: `module.old` became `module.net` (MOVE-3).
    #[track_caller]
    pub fn moved_module(&mut self, from: &str, to: &str) {
        let location = Location::caller();
        let ends = (self.range(from, location), self.range(to, location));
        if let (Some(from), Some(to)) = ends {
            self.program.moves.push(MoveDeclaration { from, to });
        }
    }

    /// Says what becomes of a resource, or of a whole module, that is no longer declared.
    #[track_caller]
    pub fn removed(&mut self, from: &str, removal: Removal) {
        if let Some(from) = self.range(from, Location::caller()) {
            let destroy = removal == Removal::Delete;
            self.program.removed.push(RemovedDeclaration { from, destroy });
        }
    }

    /// Adopts the object of this id (ADOPT-7).
    #[track_caller]
    pub fn import<Out: Outputs>(&mut self, to: &Declared<Out>, id: impl IntoExpr<String>) {
        let place = Some(Place::Code(Location::caller()));
        let id = id.into_expr().into_expression().placed_in(&mut self.program.sources);
        self.program
            .imports
            .push(ImportDeclaration { place, ..ImportDeclaration::new(to.address().clone(), id) });
    }

    /// A range within the module that is being declared; `None` and a mistake if the text is none.
    fn range(&mut self, text: &str, location: &'static Location<'static>) -> Option<AddressRange> {
        match text.parse() {
            Ok(AddressRange::Resource(address)) => {
                let module = self.within(address.module());
                Some(Address::in_module(&address, module).into())
            }
            Ok(AddressRange::Module(module)) => Some(AddressRange::Module(self.within(&module))),
            Err(error) => {
                self.mistake(error.to_string(), "write an address, such as `my_file.readme`", location);
                None
            }
        }
    }

    fn within(&self, module: &ModulePath) -> ModulePath {
        let steps = self.module.steps().iter().chain(module.steps()).cloned();
        ModulePath::new(steps).expect("the steps of paths are names")
    }
}
