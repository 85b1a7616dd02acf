//! Which resources something depends on, found without evaluating it.
//!
//! Exact where it can be: a resource in one instance counts as that instance, if its index can be known now. What
//! stands in a branch that will not be taken counts too, as in Terraform.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, InstanceKey, Mode, Value};

use super::evaluation::Entity;
use super::{Evaluation, Frame, Instance, Keys, Known, Position, for_each};
use crate::declare::{Condition, Repetition, ResourceKey};
use crate::eval::{references, visit_traversals};
use crate::syntax::{Access, AccessKind, Body, Expr, Item, StaticStep, StaticTraversal, Traversal};

/// Where an expression stands, for finding what it depends on.
#[derive(Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub(crate) instance: &'a Arc<Instance>,
    pub(crate) position: &'a Position,
    pub(crate) for_each: Option<&'a Expr>,
}

pub(crate) type Used = BTreeSet<Address>;

impl Evaluation<'_> {
    /// Adds what an expression depends on.
    pub(crate) fn used_by(&self, standing: Standing<'_>, expression: &Expr, used: &mut Used) {
        visit_traversals(expression, &mut |traversal, bound| {
            self.used_by_traversal(standing, traversal, bound, used);
        });
    }

    /// Adds what a body depends on.
    pub(crate) fn used_by_body(&self, standing: Standing<'_>, body: &Body, used: &mut Used) {
        for item in &body.items {
            match item {
                Item::Attribute(attribute) => self.used_by(standing, &attribute.value, used),
                Item::Block(block) => self.used_by_body(standing, &block.body, used),
            }
        }
    }

    /// Adds the managed resources that an expression itself names, each with all its instances.
    pub(crate) fn resources_named(&self, instance: &Arc<Instance>, expression: &Expr, used: &mut Used) {
        visit_traversals(expression, &mut |traversal, _| {
            if let Some((resource, _)) = resource_named(instance, Mode::Resource, traversal) {
                self.use_resource(instance, resource, None, used);
            }
        });
    }

    /// Adds the managed resources that a body itself names.
    pub(crate) fn resources_named_in_body(&self, instance: &Arc<Instance>, body: &Body, used: &mut Used) {
        for item in &body.items {
            match item {
                Item::Attribute(attribute) => self.resources_named(instance, &attribute.value, used),
                Item::Block(block) => self.resources_named_in_body(instance, &block.body, used),
            }
        }
    }

    /// Adds what a condition and its message depend on.
    pub(crate) fn used_by_condition(&self, standing: Standing<'_>, condition: &Condition, used: &mut Used) {
        self.used_by(standing, &condition.condition, used);
        self.used_by(standing, &condition.message, used);
    }

    /// Adds what decides that there is an instance at a position.
    pub(crate) fn used_by_repetition(
        &self,
        instance: &Arc<Instance>,
        position: &Position,
        repetition: Option<&Repetition>,
        used: &mut Used,
    ) {
        let standing = Standing { instance, position, for_each: None };
        match repetition {
            None => {}
            Some(Repetition::Count(count)) => self.used_by(standing, count, used),
            Some(Repetition::ForEach(for_each)) => self.used_by_for_each(standing, for_each, used),
        }
    }

    /// Adds what one instance has to do with in a `for_each`.
    fn used_by_for_each(&self, standing: Standing<'_>, for_each: &Expr, used: &mut Used) {
        let instance = standing.instance;
        match (instance.repeated_resource(for_each), standing.position.key()) {
            (Some(repeated), key @ Some(_)) => {
                used.insert(instance.address(repeated, key));
            }
            _ => {
                let outside = Standing { position: &Position::One, for_each: None, ..standing };
                self.used_by(outside, for_each, used);
            }
        }
    }

    fn used_by_traversal(
        &self,
        standing: Standing<'_>,
        traversal: &Traversal,
        bound: &[SmolStr],
        used: &mut Used,
    ) {
        let instance = standing.instance;
        let module = &instance.node.module;
        let name = traversal.steps.first().and_then(attribute);
        match traversal.root.text.as_str() {
            "var" => {
                let index = name.and_then(|name| module.variables.get_index_of(&name));
                if let Some(index) = index {
                    self.used_by_known(instance, Entity::Variable(index), &instance.variables[index], used);
                }
            }
            "local" => {
                if let Some(index) = name.and_then(|name| module.locals.get_index_of(&name)) {
                    self.used_by_known(instance, Entity::Local(index), &instance.locals[index], used);
                }
            }
            "module" => self.used_by_module(standing, traversal, bound, used),
            "each" => {
                let value = name.is_some_and(|name| name == "value");
                let known = match standing.position {
                    Position::Each(_, value) | Position::Element(_, value) => value.is_wholly_known(),
                    Position::One | Position::Count(_) | Position::Any(_) => false,
                };
                if let (true, false, Some(for_each)) = (value, known, standing.for_each) {
                    self.used_by_for_each(standing, for_each, used);
                }
            }
            "count" | "path" | "terraform" | "stack" | "self" => {}
            "data" => self.used_by_resource(standing, Mode::Data, traversal, bound, used),
            "ephemeral" => self.used_by_resource(standing, Mode::Ephemeral, traversal, bound, used),
            _ => self.used_by_resource(standing, Mode::Resource, traversal, bound, used),
        }
    }

    fn used_by_resource(
        &self,
        standing: Standing<'_>,
        mode: Mode,
        traversal: &Traversal,
        bound: &[SmolStr],
        used: &mut Used,
    ) {
        let Some((resource, steps)) = resource_named(standing.instance, mode, traversal) else { return };
        let wanted = steps.first().and_then(|access| self.index_of(standing, access, bound));
        self.use_resource(standing.instance, resource, wanted, used);
    }

    /// Adds one instance of a resource, or all of them.
    fn use_resource(
        &self,
        instance: &Arc<Instance>,
        resource: usize,
        wanted: Option<InstanceKey>,
        used: &mut Used,
    ) {
        // What is wrong with the keys is told where they are evaluated.
        let Ok(keys) = self.resource_keys(instance, resource) else { return };
        match (keys, wanted) {
            (Keys::Pending, _) => self.pend(instance.resource(resource).1.header),
            (Keys::One, _) => {
                used.insert(instance.address(resource, None));
            }
            (keys, Some(key)) => {
                // One that does not exist is told where it is evaluated, if that is in a branch that counts.
                if let Some(found) = keys.find(&key) {
                    used.insert(instance.address(resource, keys.key_at(found)));
                }
            }
            (keys, None) => {
                let all = keys.positions();
                used.extend(all.iter().map(|position| instance.address(resource, position.key())));
            }
        }
    }

    /// The instance that an index names, if that can be known now.
    fn index_of(&self, standing: Standing<'_>, access: &Access, bound: &[SmolStr]) -> Option<InstanceKey> {
        let AccessKind::Index(index) = &access.kind else { return None };
        // The names of a for expression are not known here, and what a resource computes is not known now.
        if references(index).iter().any(|it| bound.contains(&it.root.text)) {
            return None;
        }
        let frame = Frame::of_module(self, standing.instance);
        let frame = frame.at_position(standing.position.clone(), standing.for_each);
        let (value, touched) = self.quietly(|| frame.evaluate(index));
        if touched {
            return None;
        }
        let number = value.as_number().and_then(trueup_core::Number::as_u64).map(InstanceKey::Index);
        number.or_else(|| value.as_str().map(|key| InstanceKey::Key(key.into())))
    }

    /// Adds what an output of a module depends on, or all its outputs.
    fn used_by_module(
        &self,
        standing: Standing<'_>,
        traversal: &Traversal,
        bound: &[SmolStr],
        used: &mut Used,
    ) {
        let Some(AccessKind::Attribute(name)) = traversal.steps.first().map(|access| &access.kind) else {
            return;
        };
        let Some(call) = standing.instance.node.module.calls.get_index_of(name) else { return };
        let Ok(children) = self.children(standing.instance, call) else { return };
        if children.keys == Keys::Pending {
            return self.pend(traversal.root.origin);
        }
        let wanted = traversal.steps.get(1).and_then(|access| self.index_of(standing, access, bound));
        let output = traversal.steps.iter().skip(1).find_map(|access| match &access.kind {
            AccessKind::Attribute(name) => Some(name.clone()),
            AccessKind::Index(_) => None,
        });
        let meant = match &wanted {
            // An instance that does not exist is told where it is evaluated, if that is in a branch that counts.
            Some(key) => children.get(key).map(std::slice::from_ref).unwrap_or_default(),
            None => &children.instances,
        };
        for child in meant {
            let outputs = &child.node.module.outputs;
            let named = output.as_ref().and_then(|output| outputs.get_index_of(output));
            let indexes = named.map_or_else(|| (0..outputs.len()).collect(), |index| vec![index]);
            for index in indexes {
                self.used_by_known(child, Entity::Output(index), &child.outputs[index], used);
            }
        }
    }

    /// Adds what a variable, local value or output depends on, which is found out once.
    fn used_by_known(&self, instance: &Arc<Instance>, entity: Entity, known: &Known, used: &mut Used) {
        if let Some(found) = known.used.get() {
            used.extend(found.iter().cloned());
            return;
        }
        let pending_before = self.pending_count();
        let mut found = Used::new();
        // A name that depends on itself is told where it is evaluated.
        let done = self.guarded(instance, entity, || self.used_by_entity(instance, entity, &mut found));
        used.extend(found.iter().cloned());
        if done.is_ok() && self.pending_count() == pending_before {
            let _ = known.used.set(found.into_iter().collect());
        }
    }

    fn used_by_entity(&self, instance: &Arc<Instance>, entity: Entity, used: &mut Used) {
        let module = &instance.node.module;
        let here = Standing { instance, position: &Position::One, for_each: None };
        match entity {
            Entity::Local(index) => self.used_by(here, &module.locals[index].value, used),
            Entity::Output(index) => {
                let output = &module.outputs[index];
                self.used_by(here, &output.value, used);
                for condition in &output.preconditions {
                    self.used_by_condition(here, condition, used);
                }
                self.used_by_names(instance, &output.depends_on, used);
            }
            Entity::Variable(index) => {
                for condition in &module.variables[index].validations {
                    self.used_by_condition(here, condition, used);
                }
                let (Some(parent), Some(caller)) = (instance.parent(), &instance.caller) else { return };
                let Some(call) = instance.call(&parent) else { return };
                let name = &module.variables[index].name.text;
                let there = Standing {
                    instance: &parent,
                    position: &caller.position,
                    for_each: for_each(call.repetition.as_ref()),
                };
                if let Some(argument) = call.body.attribute(name) {
                    self.used_by(there, &argument.value, used);
                }
            }
            Entity::Validation(_) | Entity::Resource(_) | Entity::Call(_) => {}
        }
    }

    /// Adds what names that are written out stand for, as in `depends_on`: resources, and all that is in a module.
    pub(crate) fn used_by_names(&self, instance: &Arc<Instance>, names: &[StaticTraversal], used: &mut Used) {
        for name in names {
            let module = &instance.node.module;
            let (mode, steps) = match (name.root.text.as_str(), name.steps.as_slice()) {
                ("var", [StaticStep::Attribute(variable), ..]) => {
                    if let Some(at) = module.variables.get_index_of(variable) {
                        self.used_by_known(instance, Entity::Variable(at), &instance.variables[at], used);
                    }
                    continue;
                }
                ("local", [StaticStep::Attribute(local), ..]) => {
                    if let Some(at) = module.locals.get_index_of(local) {
                        self.used_by_known(instance, Entity::Local(at), &instance.locals[at], used);
                    }
                    continue;
                }
                ("module", [StaticStep::Attribute(call), ..]) => {
                    if let Some(call) = module.calls.get_index_of(call) {
                        self.used_by_call(instance, call, used);
                    }
                    continue;
                }
                ("data", [StaticStep::Attribute(type_name), rest @ ..]) => {
                    (Mode::Data, (type_name.as_str(), rest))
                }
                ("ephemeral", [StaticStep::Attribute(type_name), rest @ ..]) => {
                    (Mode::Ephemeral, (type_name.as_str(), rest))
                }
                ("resource", [StaticStep::Attribute(type_name), rest @ ..]) => {
                    (Mode::Resource, (type_name.as_str(), rest))
                }
                (type_name, rest) => (Mode::Resource, (type_name, rest)),
            };
            let (type_name, [StaticStep::Attribute(name), rest @ ..]) = steps else { continue };
            let key = ResourceKey { mode, type_name: type_name.into(), name: name.clone() };
            let Some(resource) = module.resources.get_index_of(&key) else { continue };
            let wanted = match rest {
                [StaticStep::Index(index), ..] => Some(InstanceKey::Index(*index)),
                [StaticStep::Key(key), ..] => Some(InstanceKey::Key(key.clone())),
                _ => None,
            };
            self.use_resource(instance, resource, wanted, used);
        }
    }

    /// Adds all that is in a called module.
    fn used_by_call(&self, instance: &Arc<Instance>, call: usize, used: &mut Used) {
        let Ok(children) = self.children(instance, call) else { return };
        if children.keys == Keys::Pending {
            let origin = instance.node.module.calls.get_index(call).map(|(_, call)| call.header);
            return origin.into_iter().for_each(|origin| self.pend(origin));
        }
        for child in children.instances.iter() {
            for resource in 0..child.node.module.resources.len() {
                self.use_resource(child, resource, None, used);
            }
            for call in 0..child.node.module.calls.len() {
                self.used_by_call(child, call, used);
            }
        }
    }

    /// Evaluates without telling what is wrong. Whether it depends on resources.
    fn quietly(&self, work: impl FnOnce() -> Value) -> (Value, bool) {
        let (outcome, _) = self.apart(|| self.depends_on_resources(work));
        outcome
    }
}

/// The resource of a module that a traversal begins with, and what follows its name.
fn resource_named<'t>(
    instance: &Instance,
    mode: Mode,
    traversal: &'t Traversal,
) -> Option<(usize, &'t [Access])> {
    let root = &traversal.root.text;
    // `type.name`, or `data.type.name` and its like.
    let (type_name, name, steps) = match (mode, &traversal.steps[..]) {
        (Mode::Resource, [name, steps @ ..]) if root != "resource" => (root.clone(), attribute(name)?, steps),
        (_, [type_name, name, steps @ ..]) => (attribute(type_name)?, attribute(name)?, steps),
        _ => return None,
    };
    let resources = &instance.node.module.resources;
    Some((resources.get_index_of(&ResourceKey { mode, type_name, name })?, steps))
}

fn attribute(access: &Access) -> Option<SmolStr> {
    match &access.kind {
        AccessKind::Attribute(name) => Some(name.clone()),
        AccessKind::Index(_) => None,
    }
}
