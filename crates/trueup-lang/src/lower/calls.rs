//! Calls of modules, held against what is called.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use trueup_core::Diagnostics;

use crate::declare::{Comparisons, Module, ModuleCall, at};

/// What a call says, held against the variables of what it calls.
pub(super) fn check_call(
    call: &ModuleCall,
    called: &Module,
    comparisons: &Comparisons,
    diagnostics: &mut Diagnostics,
) {
    let given: BTreeSet<&SmolStr> = call.body.attributes().map(|it| &it.name.text).collect();
    for attribute in call.body.attributes() {
        let name = &attribute.name;
        if !called.variables.contains_key(&name.text) {
            let summary = format!("module `{}` has no variable `{}`", call.name.text, name.text);
            let known = called.variables.keys().map(SmolStr::as_str);
            diagnostics.push(comparisons.suggest(at(name.origin, summary), &name.text, known));
        }
    }
    for block in call.body.blocks() {
        diagnostics
            .push(at(block.name.origin, format!("unknown block `{}` in a module call", block.name.text)));
    }
    for (name, variable) in &called.variables {
        if variable.default.is_none() && !given.contains(name) {
            let summary = format!("missing `{name}` for module `{}`", call.name.text);
            diagnostics.push(at(call.header, summary).hint(format!("add `{name} = …`")));
        }
    }
}
