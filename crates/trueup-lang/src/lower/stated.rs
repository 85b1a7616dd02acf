//! Names that are written out, in `depends_on` and `ignore_changes`, held against what there is.

use trueup_core::{Diagnostics, Mode, Origin};

use super::build::Builder;
use crate::declare::{Comparisons, IgnoreChanges, Module, Resource, ResourceKey, at, suggest};
use crate::modules::ModuleNode;
use crate::syntax::{StaticStep, StaticTraversal};
use crate::world::TypeSchema;

impl Builder<'_> {
    /// Tells of all names in a module that stand for nothing.
    pub(super) fn check_stated_names(&mut self, node: &ModuleNode) {
        let module = &node.module;
        let resources = module.resources.values().flat_map(|it| &it.depends_on);
        let calls = module.calls.values().flat_map(|it| &it.depends_on);
        let outputs = module.outputs.values().flat_map(|it| &it.depends_on);
        for name in resources.chain(calls).chain(outputs) {
            check_dependency(module, name, &self.world.comparisons, &mut self.diagnostics);
        }
        let world = self.world.clone();
        for (key, declared) in &module.resources {
            if let Some(schema) = world.types.get(key.mode, &key.type_name) {
                check_ignored(key, declared, schema, &mut self.diagnostics);
            }
        }
    }
}

/// What something depends on must be there, and be a whole.
fn check_dependency(
    module: &Module,
    name: &StaticTraversal,
    comparisons: &Comparisons,
    diagnostics: &mut Diagnostics,
) {
    let steps: Vec<&str> = name
        .steps
        .iter()
        .map_while(|step| match step {
            StaticStep::Attribute(name) => Some(name.as_str()),
            StaticStep::Key(_) | StaticStep::Index(_) => None,
        })
        .collect();
    let root = name.root.text.as_str();
    let (known, named) = match (root, steps.as_slice()) {
        ("var", [variable, ..]) => (module.variables.contains_key(*variable), 1),
        ("local", [local, ..]) => (module.locals.contains_key(*local), 1),
        ("module", [call, ..]) => (module.calls.contains_key(*call), 1),
        ("data", [type_name, name, ..]) => (has(module, Mode::Data, type_name, name), 2),
        ("ephemeral", [type_name, name, ..]) => (has(module, Mode::Ephemeral, type_name, name), 2),
        ("resource", [type_name, name, ..]) => (has(module, Mode::Resource, type_name, name), 2),
        (type_name, [name, ..]) => (has(module, Mode::Resource, type_name, name), 1),
        (_, []) => (false, 0),
    };
    if !known {
        let diagnostic = at(name.origin, format!("there is no `{name}` to depend on"));
        if !comparisons.take(module.resources.len() + module.calls.len()) {
            return diagnostics.push(diagnostic);
        }
        let resources = module.resources.keys().map(display);
        let calls = module.calls.keys().map(|call| format!("module.{call}"));
        let all: Vec<String> = resources.chain(calls).collect();
        return diagnostics.push(suggest(diagnostic, &name.to_string(), all.iter().map(String::as_str)));
    }
    // After the name, one key may say which instance.
    let rest = &name.steps[named..];
    let whole = match rest {
        [] => true,
        [StaticStep::Key(_) | StaticStep::Index(_)] => !matches!(root, "var" | "local"),
        _ => false,
    };
    if !whole {
        let summary = "`depends_on` takes whole resources and modules, not what is in them";
        diagnostics.push(at(name.origin, summary).hint("name the resource alone"));
    }
}

fn has(module: &Module, mode: Mode, type_name: &str, name: &str) -> bool {
    let key = ResourceKey { mode, type_name: type_name.into(), name: name.into() };
    module.resources.contains_key(&key)
}

fn display(key: &ResourceKey) -> String {
    format!("{}{}.{}", key.mode.prefix(), key.type_name, key.name)
}

/// What is ignored must be an attribute of the type.
fn check_ignored(key: &ResourceKey, declared: &Resource, schema: &TypeSchema, diagnostics: &mut Diagnostics) {
    let IgnoreChanges::Paths(paths) = &declared.lifecycle.ignore_changes else { return };
    for (path, origin) in paths {
        let Some(name) = path.first_key() else { continue };
        let known = || schema.inputs().names().chain(schema.outputs().names());
        if !known().any(|own| own == name) {
            let names: Vec<&str> = known().collect();
            let diagnostic = at(*origin, format!("{} has no attribute `{name}` to ignore", key.type_name));
            diagnostics.push(suggest(diagnostic, name, names.into_iter()));
        }
    }
}

/// What only the root module may say, in a module that another calls.
pub(super) fn check_called(called: &Module, diagnostics: &mut Diagnostics) {
    let mut refuse = |origin: Origin, summary: &str, hint: &str| {
        diagnostics.push(at(origin, summary).hint(hint));
    };
    for import in &called.imports {
        let hint = "write it there, with `to = module.NAME.TYPE.NAME`";
        refuse(import.header, "`import` stands in the root module only", hint);
    }
    if let Some(stack) = called.settings.stack {
        refuse(stack, "`stack` stands in the root module only", "move it there");
    }
}
