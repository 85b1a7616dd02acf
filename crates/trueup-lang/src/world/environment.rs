//! The names that an expression in a module can use.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, InstanceKey, Marks, Mode, Path, Type, Value};
use trueup_program::Reference as OutputReference;

use super::functions::is_of_provider;
use super::{Evaluation, Instance, Keys, Position, RepeatedBy, for_each};
use crate::declare::{ResourceKey, suggest};
use crate::eval::{Environment, Reference, Resolved, Surroundings};
use crate::syntax::{Expr, StaticStep};

/// Where an expression stands: in which module, in which instance of a resource.
pub(crate) struct Frame<'a> {
    evaluation: &'a Evaluation<'a>,
    instance: &'a Arc<Instance>,
    position: Position,
    /// What `each.value` comes from, if it must be evaluated again.
    for_each: Option<&'a Expr>,
    /// What `self` stands for.
    this: Option<Address>,
    /// The check that the expression stands in.
    check: Option<&'a str>,
}

impl<'a> Frame<'a> {
    /// Outside any resource.
    pub(crate) fn of_module(evaluation: &'a Evaluation<'a>, instance: &'a Arc<Instance>) -> Self {
        Frame { evaluation, instance, position: Position::One, for_each: None, this: None, check: None }
    }

    /// In a check.
    pub(crate) fn of_check(
        evaluation: &'a Evaluation<'a>,
        instance: &'a Arc<Instance>,
        check: &'a str,
    ) -> Self {
        Frame { check: Some(check), ..Frame::of_module(evaluation, instance) }
    }

    /// In one instance of a resource.
    pub(crate) fn of_resource(
        evaluation: &'a Evaluation<'a>,
        instance: &'a Arc<Instance>,
        resource: usize,
        position: &Position,
    ) -> Self {
        let (_, declared) = instance.resource(resource);
        let for_each = for_each(declared.repetition.as_ref());
        Frame { evaluation, instance, position: position.clone(), for_each, this: None, check: None }
    }

    /// In one instance of a resource, after it was made: `self` stands for it.
    pub(crate) fn after_resource(
        evaluation: &'a Evaluation<'a>,
        instance: &'a Arc<Instance>,
        resource: usize,
        position: &Position,
    ) -> Self {
        let this = Some(instance.address(resource, position.key()));
        Frame { this, ..Frame::of_resource(evaluation, instance, resource, position) }
    }

    /// In what a caller says to one instance of a module.
    pub(crate) fn of_call(
        evaluation: &'a Evaluation<'a>,
        parent: &'a Arc<Instance>,
        called: &'a Instance,
    ) -> Self {
        let call = called.call(parent);
        let position = called.caller.as_ref().map_or(Position::One, |caller| caller.position.clone());
        let for_each = call.and_then(|call| for_each(call.repetition.as_ref()));
        Frame { evaluation, instance: parent, position, for_each, this: None, check: None }
    }

    /// At a position of its own.
    pub(crate) fn at_position(mut self, position: Position, for_each: Option<&'a Expr>) -> Self {
        self.position = position;
        self.for_each = for_each;
        self
    }

    /// The value of an expression; what is wrong is told.
    pub(crate) fn evaluate(&self, expression: &Expr) -> Value {
        self.evaluate_with(expression, &[])
    }

    /// The same where further names are known.
    pub(crate) fn evaluate_with(&self, expression: &Expr, names: &[(SmolStr, Value)]) -> Value {
        self.evaluation.evaluate(self, expression, names)
    }

    pub(crate) fn evaluation(&self) -> &'a Evaluation<'a> {
        self.evaluation
    }
}

impl Environment for Frame<'_> {
    fn resolve(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        self.value_of(reference).map_err(|mut diagnostic| {
            diagnostic.origin.get_or_insert(reference.origin);
            diagnostic
        })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.instance.surroundings[usize::from(self.evaluation.scope.is_final())]
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        self.evaluation.call_function(self.instance, name, arguments)
    }

    fn has_function(&self, name: &str) -> bool {
        is_of_provider(name)
    }

    fn report_source(&self, value: &Value) {
        if !self.evaluation.scope.is_tracing() {
            self.surroundings().secrets.learn([value]);
        }
    }
}

impl Frame<'_> {
    fn value_of(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let steps = reference.steps;
        match reference.root {
            "var" => self.variable(steps),
            "local" => self.local(steps),
            "module" => self.module(reference),
            "data" => match steps {
                [StaticStep::Attribute(type_name), StaticStep::Attribute(name), rest @ ..] => {
                    self.resource(Mode::Data, type_name, name, rest, 2)
                }
                _ => Err(Diagnostic::error("a data source is named by its type and name")
                    .hint("write `data.TYPE.NAME`")),
            },
            "ephemeral" => match steps {
                [StaticStep::Attribute(type_name), StaticStep::Attribute(name), rest @ ..] => {
                    self.resource(Mode::Ephemeral, type_name, name, rest, 2)
                }
                _ => Err(Diagnostic::error("an ephemeral resource is named by its type and name")
                    .hint("write `ephemeral.TYPE.NAME`")),
            },
            "resource" => match steps {
                [StaticStep::Attribute(type_name), StaticStep::Attribute(name), rest @ ..] => {
                    self.resource(Mode::Resource, type_name, name, rest, 2)
                }
                _ => Err(Diagnostic::error("a resource is named by its type and name")),
            },
            "each" => self.each(steps),
            "count" => self.count(steps),
            "path" => self.path(steps),
            "terraform" => match steps {
                [StaticStep::Attribute(name), ..] if name == "workspace" => {
                    Ok(used(Value::string(self.evaluation.world.stage.clone()), 1))
                }
                [StaticStep::Attribute(name), ..] if name == "applying" => {
                    // It is one thing in a plan and another at apply, so nothing that it goes into may be kept.
                    self.evaluation.touch();
                    let applying = Value::from(self.evaluation.scope.is_final());
                    Ok(used(applying.with_marks(Marks::EPHEMERAL), 1))
                }
                _ => Err(Diagnostic::error("there is `terraform.workspace` and `terraform.applying`")),
            },
            "stack" => match steps {
                [StaticStep::Attribute(name), ..] if name == "name" => {
                    Ok(used(Value::string(self.evaluation.world.stack.clone()), 1))
                }
                [StaticStep::Attribute(name), ..] if name == "stage" => {
                    Ok(used(Value::string(self.evaluation.world.stage.clone()), 1))
                }
                _ => Err(Diagnostic::error("there is `stack.name` and `stack.stage`")),
            },
            "self" => match &self.this {
                Some(address) => self.output(address, steps, 0),
                None => Err(Diagnostic::error("`self` stands only in postconditions")),
            },
            type_name => match steps {
                [StaticStep::Attribute(name), rest @ ..] => {
                    self.resource(Mode::Resource, type_name, name, rest, 1)
                }
                _ => Err(self.unknown_root(type_name)),
            },
        }
    }

    fn variable(&self, steps: &[StaticStep]) -> Result<Resolved, Diagnostic> {
        let variables = &self.instance.node.module.variables;
        let name = attribute(steps, "var")?;
        match variables.get_index_of(name) {
            Some(index) => Ok(used(self.evaluation.variable(self.instance, index)?, 1)),
            None => {
                let diagnostic = Diagnostic::error(format!("there is no variable `{name}`"));
                Err(self
                    .suggest(diagnostic, name, variables.keys().map(SmolStr::as_str))
                    .hint(format!("declare it with `variable \"{name}\" {{}}`")))
            }
        }
    }

    fn local(&self, steps: &[StaticStep]) -> Result<Resolved, Diagnostic> {
        let locals = &self.instance.node.module.locals;
        let name = attribute(steps, "local")?;
        match locals.get_index_of(name) {
            Some(index) => Ok(used(self.evaluation.local(self.instance, index)?, 1)),
            None => {
                let diagnostic = Diagnostic::error(format!("there is no local value `{name}`"));
                Err(self.suggest(diagnostic, name, locals.keys().map(SmolStr::as_str)))
            }
        }
    }

    fn each(&self, steps: &[StaticStep]) -> Result<Resolved, Diagnostic> {
        let unknown = Value::unknown(Type::Any);
        let (key, value) = match &self.position {
            Position::Each(key, value) => (Value::string(key.clone()), value),
            Position::Element(key, value) => (key.clone(), value),
            Position::Any(RepeatedBy::ForEach) => (Value::unknown(Type::String), &unknown),
            Position::One | Position::Count(_) | Position::Any(RepeatedBy::Count) => {
                return Err(Diagnostic::error("`each` is known only where `for_each` stands"));
            }
        };
        match steps {
            [StaticStep::Attribute(name), ..] if name == "key" => Ok(used(key, 1)),
            [StaticStep::Attribute(name), ..] if name == "value" => {
                if value.is_wholly_known() {
                    return Ok(used(value.clone(), 1));
                }
                let repeated = self.for_each.and_then(|all| self.instance.repeated_resource(all));
                if let (Some(repeated), key @ Some(_)) = (repeated, self.position.key()) {
                    return self.output(&self.instance.address(repeated, key), &steps[1..], 1);
                }
                // It depends on resources: more may be known of them by now.
                let all =
                    self.for_each.map(|all| Frame::of_module(self.evaluation, self.instance).evaluate(all));
                let found = key.as_str().and_then(|key| all.as_ref()?.get(key)).cloned();
                Ok(used(found.unwrap_or_else(|| value.clone()), 1))
            }
            _ => Err(Diagnostic::error("there is `each.key` and `each.value`")),
        }
    }

    fn count(&self, steps: &[StaticStep]) -> Result<Resolved, Diagnostic> {
        let index = match &self.position {
            Position::Count(index) => Value::from(*index),
            Position::Any(RepeatedBy::Count) => Value::unknown(Type::Number),
            _ => return Err(Diagnostic::error("`count` is known only where `count` stands")),
        };
        match steps {
            [StaticStep::Attribute(name), ..] if name == "index" => Ok(used(index, 1)),
            _ => Err(Diagnostic::error("there is only `count.index`")),
        }
    }

    fn path(&self, steps: &[StaticStep]) -> Result<Resolved, Diagnostic> {
        let shown = |path: &std::path::Path| Value::string(path.display().to_string());
        let outside = &self.instance.outside;
        let value = match attribute(steps, "path")?.as_str() {
            "module" => shown(&self.instance.node.shown),
            "root" => shown(std::path::Path::new(".")),
            "cwd" => shown(&outside.folder),
            other => {
                let diagnostic = Diagnostic::error(format!("there is no `path.{other}`"));
                return Err(suggest(diagnostic, other, ["module", "root", "cwd"].into_iter()));
            }
        };
        Ok(used(value, 1))
    }

    /// An output of a called module, or all of them, of one instance or of all.
    fn module(&self, reference: &Reference<'_>) -> Result<Resolved, Diagnostic> {
        let calls = &self.instance.node.module.calls;
        let name = attribute(reference.steps, "module")?;
        let Some(call) = calls.get_index_of(name) else {
            let diagnostic = Diagnostic::error(format!("there is no module `{name}`"));
            return Err(self.suggest(diagnostic, name, calls.keys().map(SmolStr::as_str)));
        };
        let children = self.evaluation.children(self.instance, call)?;
        let keys = &children.keys;
        let rest = &reference.steps[1..];
        let found = match (keys, rest) {
            (Keys::Pending, _) => return Ok(used(self.not_yet(reference), reference.steps.len())),
            (Keys::One, _) => children.instances.first().map(|child| (child, rest, 1)),
            (Keys::Any(_), [key, rest @ ..]) if instance_key(key).is_some() => {
                children.instances.first().map(|child| (child, rest, 2))
            }
            (Keys::Any(_), _) => return Ok(used(Value::unknown(Type::Any), reference.steps.len())),
            (Keys::Count(_) | Keys::Each(_), [key, rest @ ..]) if instance_key(key).is_some() => {
                let Some(found) = instance_key(key).and_then(|key| keys.find(&key)) else {
                    return Err(self.no_instance(&format!("module.{name}"), keys, key));
                };
                children.instances.get(found).map(|child| (child, rest, 2))
            }
            (Keys::Count(_) | Keys::Each(_), _) => {
                let all = children.instances.iter().map(|child| self.outputs(child));
                return Ok(used(gathered(keys, all.collect::<Result<Vec<_>, _>>()?), 1));
            }
        };
        match found {
            Some((child, [StaticStep::Attribute(output), ..], steps)) => {
                let outputs = &child.node.module.outputs;
                match outputs.get_index_of(output) {
                    Some(index) => Ok(used(self.evaluation.output(child, index)?, steps + 1)),
                    None => {
                        let diagnostic =
                            Diagnostic::error(format!("module `{name}` has no output `{output}`"));
                        Err(self.suggest(diagnostic, output, outputs.keys().map(SmolStr::as_str)))
                    }
                }
            }
            Some((child, _, steps)) => Ok(used(self.outputs(child)?, steps)),
            // The module itself could not be loaded; that was told.
            None => Ok(used(Value::unknown(Type::Any), reference.steps.len())),
        }
    }

    fn outputs(&self, child: &Arc<Instance>) -> Result<Value, Diagnostic> {
        let outputs = child.node.module.outputs.keys().enumerate();
        let outputs = outputs.map(|(index, name)| Ok((name.clone(), self.evaluation.output(child, index)?)));
        Ok(Value::object(outputs.collect::<Result<Vec<_>, Diagnostic>>()?))
    }

    /// A resource: one instance or all, a part of it or the whole.
    fn resource(
        &self,
        mode: Mode,
        type_name: &str,
        name: &SmolStr,
        rest: &[StaticStep],
        steps: usize,
    ) -> Result<Resolved, Diagnostic> {
        let key = ResourceKey { mode, type_name: type_name.into(), name: name.clone() };
        let resources = &self.instance.node.module.resources;
        let Some(index) = resources.get_index_of(&key) else { return Err(self.unknown_resource(&key)) };
        if let Some(check) = resources[index].check.as_deref().filter(|check| self.check != Some(check)) {
            let summary = format!("{}{type_name}.{name} is known in the check `{check}` only", mode.prefix());
            return Err(Diagnostic::error(summary).hint("declare it outside the check"));
        }
        self.evaluation.touch();
        let keys = self.evaluation.resource_keys(self.instance, index)?;
        match (&keys, rest) {
            (Keys::Pending, _) => {
                self.evaluation.pend(resources[index].header);
                Ok(used(Value::unknown(Type::Any), steps + rest.len()))
            }
            (Keys::One, _) => self.output(&self.instance.address(index, None), rest, steps),
            (Keys::Any(_), [step, rest @ ..]) if instance_key(step).is_some() => {
                self.output(&self.instance.address(index, None), rest, steps + 1)
            }
            (Keys::Count(_) | Keys::Each(_), [step, rest @ ..]) if instance_key(step).is_some() => {
                let Some(found) = instance_key(step).and_then(|key| keys.find(&key)) else {
                    return Err(self.no_instance(
                        &self.instance.address(index, None).to_string(),
                        &keys,
                        step,
                    ));
                };
                self.output(&self.instance.address(index, keys.key_at(found)), rest, steps + 1)
            }
            (Keys::Count(_) | Keys::Each(_) | Keys::Any(_), [StaticStep::Attribute(attribute), ..]) => {
                Err(several_instances(&self.instance.address(index, None).to_string(), &keys, attribute))
            }
            (Keys::Any(_), _) => Ok(used(Value::unknown(Type::Any), steps)),
            (Keys::Count(_) | Keys::Each(_), _) => {
                let whole = |position: &Position| {
                    let address = self.instance.address(index, position.key());
                    self.output(&address, &[], 0).map(|resolved| resolved.value)
                };
                let all = keys.positions().iter().map(whole).collect::<Result<Vec<_>, _>>()?;
                Ok(used(gathered(&keys, all), steps))
            }
        }
    }

    /// An attribute of one resource, or the whole.
    fn output(&self, address: &Address, rest: &[StaticStep], steps: usize) -> Result<Resolved, Diagnostic> {
        self.evaluation.touch();
        let (path, taken) = match rest {
            [StaticStep::Attribute(name) | StaticStep::Key(name), ..] => (Path::attribute(name.clone()), 1),
            _ => (Path::ROOT, 0),
        };
        let reference = OutputReference { address: address.clone(), path };
        match self.evaluation.scope.resolve(&reference) {
            Some(value) => Ok(used(
                self.evaluation.world.types.as_declared(address, &reference.path, value),
                steps + taken,
            )),
            None => {
                let name = reference.path.first_key().unwrap_or_default();
                let types = &self.evaluation.world.types;
                let known = types.attribute_names(address.mode(), address.type_name());
                let summary = format!("{} has no attribute `{name}`", address.type_name());
                Err(suggest(Diagnostic::error(summary), name, known.iter().map(String::as_str)))
            }
        }
    }

    fn not_yet(&self, reference: &Reference<'_>) -> Value {
        self.evaluation.pend(reference.origin);
        Value::unknown(Type::Any)
    }

    fn unknown_resource(&self, key: &ResourceKey) -> Diagnostic {
        let prefix = key.mode.prefix();
        let name = |key: &ResourceKey| format!("{prefix}{}.{}", key.type_name, key.name);
        let resources = &self.instance.node.module.resources;
        let known: Vec<String> = match self.evaluation.world.comparisons.take(resources.len()) {
            true => resources.keys().filter(|other| other.mode == key.mode).map(name).collect(),
            false => Vec::new(),
        };
        let here =
            if self.instance.path.is_root() { String::new() } else { format!(" in {}", self.instance.path) };
        let looks_like_type = key.mode != Mode::Resource || key.type_name.contains('_');
        let wanted = name(key);
        if !looks_like_type && trueup_core::nearest(&wanted, known.iter().map(String::as_str)).is_none() {
            return self.unknown_root(&key.type_name);
        }
        let diagnostic = Diagnostic::error(format!("there is no resource `{wanted}`{here}"));
        suggest(diagnostic, &wanted, known.iter().map(String::as_str))
    }

    fn suggest<'n>(
        &self,
        diagnostic: Diagnostic,
        given: &str,
        known: impl ExactSizeIterator<Item = &'n str> + Clone,
    ) -> Diagnostic {
        self.evaluation.world.comparisons.suggest(diagnostic, given, known)
    }

    fn no_instance(&self, of: &str, keys: &Keys, step: &StaticStep) -> Diagnostic {
        let diagnostic = Diagnostic::error(format!("there is no instance {of}{step}"));
        match keys {
            Keys::Count(0) => diagnostic.hint("its `count` is 0"),
            Keys::Count(count) => diagnostic.hint(format!("they are numbered 0 to {}", count - 1)),
            Keys::Each(entries) => {
                let given = match step {
                    StaticStep::Key(key) | StaticStep::Attribute(key) => key.to_string(),
                    StaticStep::Index(index) => index.to_string(),
                };
                self.suggest(diagnostic, &given, entries.as_slice().iter().map(|(key, _)| key.as_str()))
            }
            Keys::One | Keys::Pending | Keys::Any(_) => diagnostic,
        }
    }

    fn unknown_root(&self, root: &str) -> Diagnostic {
        const ROOTS: [&str; 9] =
            ["var", "local", "module", "data", "ephemeral", "each", "count", "path", "terraform"];
        let diagnostic = Diagnostic::error(format!("`{root}` means nothing here"));
        match trueup_core::nearest(root, ROOTS) {
            Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
            None => diagnostic
                .hint("text stands in quotes; names begin with `var.`, `local.` or a resource's type"),
        }
    }
}

fn used(value: Value, steps_used: usize) -> Resolved {
    Resolved { value, steps_used }
}

fn attribute<'a>(steps: &'a [StaticStep], root: &str) -> Result<&'a SmolStr, Diagnostic> {
    match steps {
        [StaticStep::Attribute(name) | StaticStep::Key(name), ..] => Ok(name),
        _ => {
            Err(Diagnostic::error(format!("`{root}` alone is nothing")).hint(format!("write `{root}.NAME`")))
        }
    }
}

fn instance_key(step: &StaticStep) -> Option<InstanceKey> {
    match step {
        StaticStep::Index(index) => Some(InstanceKey::Index(*index)),
        StaticStep::Key(key) => Some(InstanceKey::Key(key.clone())),
        StaticStep::Attribute(_) => None,
    }
}

/// The values of all instances: a tuple for `count`, an object for `for_each`.
fn gathered(keys: &Keys, values: Vec<Value>) -> Value {
    match keys {
        Keys::Each(entries) => Value::object(entries.iter().map(|(key, _)| key.clone()).zip(values)),
        Keys::One | Keys::Count(_) | Keys::Pending | Keys::Any(_) => Value::tuple(values),
    }
}

fn several_instances(of: &str, keys: &Keys, attribute: &str) -> Diagnostic {
    let (example, all) = match keys {
        Keys::Each(_) => ("[\"key\"]", format!("values({of})[*].{attribute}")),
        Keys::One | Keys::Count(_) | Keys::Pending | Keys::Any(_) => ("[0]", format!("{of}[*].{attribute}")),
    };
    Diagnostic::error(format!("there are several instances of {of}"))
        .hint(format!("say which: `{of}{example}.{attribute}`, or all: `{all}`"))
}
