//! One evaluation: what is known of resources now, and what came up on the way.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics, Origin, Type, Value};
use trueup_program::Scope;

use super::{Frame, Instance, Known, World};
use crate::declare::{Condition, at};
use crate::limits::deep;
use crate::syntax::Expr;
use crate::variables::{ITS_DEFAULT, converted, ephemeral_if, tellable};

/// One evaluation. Short-lived: it is made for one set of known outputs.
pub(crate) struct Evaluation<'a> {
    pub(crate) world: &'a World,
    pub(crate) scope: &'a dyn Scope,
    /// Whether anything asked for an output of a resource since this was last reset.
    touched: Cell<bool>,
    /// Whether the answer of a provider's function was missing.
    missing: Cell<bool>,
    /// Where something depends on instances that are not known yet.
    pending: RefCell<Vec<Origin>>,
    memo: RefCell<BTreeMap<(usize, Entity), Value>>,
    /// The same of what is wrong, so that it is told once, but to each who asks apart.
    memo_of_wrong: RefCell<BTreeMap<(usize, Entity), Value>>,
    /// What is being evaluated, the outermost first.
    active: RefCell<Vec<(Arc<Instance>, Entity)>>,
    /// Those beyond the first few, to be found without going through all.
    active_deep: RefCell<BTreeSet<(usize, Entity)>>,
    told: RefCell<Diagnostics>,
}

/// The longest chain of names of which each refers to the next: each takes its part of memory.
const DEPTH_MAX: usize = 20_000;

/// So many of the names being evaluated are looked through one by one; most chains are no longer.
const ACTIVE_FIRST: usize = 16;

/// Something with a value of its own, by its position in its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Entity {
    Variable(usize),
    /// Whether a variable is what it must be.
    Validation(usize),
    Local(usize),
    Output(usize),
    /// How often a resource is repeated.
    Resource(usize),
    /// How often a module is repeated.
    Call(usize),
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(world: &'a World, scope: &'a dyn Scope) -> Self {
        Evaluation {
            world,
            scope,
            touched: Cell::new(false),
            missing: Cell::new(false),
            pending: RefCell::default(),
            memo: RefCell::default(),
            memo_of_wrong: RefCell::default(),
            active: RefCell::default(),
            active_deep: RefCell::default(),
            told: RefCell::default(),
        }
    }

    /// Notes that an output of a resource was asked for.
    pub(super) fn touch(&self) {
        self.touched.set(true);
    }

    /// Notes that the answer of a provider's function is missing: no value of this evaluation is kept for others, since
    /// what stands on a missing answer may look like any other value.
    pub(super) fn miss(&self) {
        self.touched.set(true);
        self.missing.set(true);
    }

    /// Notes that something depends on instances that are not known yet.
    pub(super) fn pend(&self, origin: Origin) {
        self.touched.set(true);
        self.pending.borrow_mut().push(origin);
    }

    /// How often something depended on instances that are not known yet.
    pub(crate) fn pending_count(&self) -> usize {
        self.pending.borrow().len()
    }

    /// Where that was, each place once.
    pub(crate) fn pending(&self) -> Vec<Origin> {
        let mut pending = self.pending.borrow().clone();
        pending.sort();
        pending.dedup();
        pending
    }

    /// Whether the value of something depends on resources.
    pub(crate) fn depends_on_resources(&self, work: impl FnOnce() -> Value) -> (Value, bool) {
        let before = self.touched.replace(false);
        let value = work();
        let touched = self.touched.replace(before || self.touched.get());
        (value, touched)
    }

    pub(crate) fn tell(&self, diagnostic: Diagnostic) {
        self.told.borrow_mut().push(diagnostic);
    }

    pub(crate) fn tell_all(&self, diagnostics: Diagnostics) {
        self.told.borrow_mut().extend(diagnostics);
    }

    /// Does something apart from all else, and says all that is wrong with it, told before or not.
    pub(crate) fn apart<T>(&self, work: impl FnOnce() -> T) -> (T, Diagnostics) {
        let before = self.told.replace(Diagnostics::new());
        self.memo_of_wrong.borrow_mut().clear();
        let done = work();
        self.memo_of_wrong.borrow_mut().clear();
        (done, self.told.replace(before))
    }

    /// All that was wrong.
    pub(crate) fn into_told(self) -> Diagnostics {
        self.told.into_inner()
    }

    fn is_active(&self, instance: &Arc<Instance>, entity: Entity) -> bool {
        let active = self.active.borrow();
        let mut first = active.iter().take(ACTIVE_FIRST);
        first.any(|(other, active)| Arc::ptr_eq(other, instance) && *active == entity)
            || active.len() > ACTIVE_FIRST
                && self.active_deep.borrow().contains(&(instance.identity(), entity))
    }

    /// Does something for an entity, unless that is being done already.
    pub(super) fn guarded<T>(
        &self,
        instance: &Arc<Instance>,
        entity: Entity,
        work: impl FnOnce() -> T,
    ) -> Result<T, Diagnostic> {
        if self.is_active(instance, entity) {
            return Err(self.round(instance, entity));
        }
        if self.active.borrow().len() >= DEPTH_MAX {
            let summary = format!("{} is more than {DEPTH_MAX} names away", instance.name_of(entity));
            return Err(
                Diagnostic::error(summary).hint("shorten the chain of names that refer to each other")
            );
        }
        let is_deep = self.active.borrow().len() >= ACTIVE_FIRST;
        self.active.borrow_mut().push((instance.clone(), entity));
        if is_deep {
            self.active_deep.borrow_mut().insert((instance.identity(), entity));
        }
        let done = deep(work);
        if is_deep {
            self.active_deep.borrow_mut().remove(&(instance.identity(), entity));
        }
        self.active.borrow_mut().pop();
        Ok(done)
    }

    /// The round of names by which an entity depends on itself.
    fn round(&self, instance: &Arc<Instance>, entity: Entity) -> Diagnostic {
        let is_this =
            |(active, other): &(Arc<Instance>, Entity)| Arc::ptr_eq(active, instance) && *other == entity;
        let active = self.active.borrow();
        let round = active.iter().skip_while(|it| !is_this(it));
        let round: Vec<String> = round.map(|(instance, entity)| instance.name_of(*entity)).collect();
        let name = instance.name_of(entity);
        Diagnostic::error(format!("{name} depends on itself"))
            .detail(format!("{} → {name}", round.join(" → ")))
            .hint("remove one of these references")
    }

    /// The value of an entity, evaluated once, and kept for good if it depends on no resource.
    fn value_of(
        &self,
        instance: &Arc<Instance>,
        entity: Entity,
        known: &Known,
        work: impl FnOnce() -> Value,
    ) -> Result<Value, Diagnostic> {
        if let Some(value) = known.value.get() {
            return Ok(value.clone());
        }
        let key = (instance.identity(), entity);
        let memo = |memo: &RefCell<BTreeMap<_, Value>>| memo.borrow().get(&key).cloned();
        if let Some(value) = memo(&self.memo).or_else(|| memo(&self.memo_of_wrong)) {
            // Why it was not kept for good is forgotten; at worst this evaluates what depends on it once more.
            self.touch();
            return Ok(value);
        }
        let used = known.used.get();
        if let Some(value) = used.and_then(|used| known.recent.get(used, self.scope)) {
            self.touch();
            self.memo.borrow_mut().insert(key, value.clone());
            return Ok(value);
        }
        let wrong_before = self.told.borrow().len();
        let (value, touched) = {
            let before = self.touched.replace(false);
            let value = self.guarded(instance, entity, work);
            let touched = self.touched.get();
            self.touched.set(before || touched);
            (value?, touched)
        };
        // Time and chance are unknown until apply: what is not known yet may be then.
        let wrong = self.told.borrow().len() > wrong_before;
        if wrong || touched || self.missing.get() || !value.is_wholly_known() {
            let memo = if wrong { &self.memo_of_wrong } else { &self.memo };
            memo.borrow_mut().insert(key, value.clone());
            if let (Some(used), false) = (used, wrong || self.missing.get()) {
                known.recent.set(used, self.scope, &value);
            }
            return Ok(value);
        }
        // Another may have been faster; all must see the same value, even one that chance made.
        Ok(known.value.get_or_init(|| value).clone())
    }

    /// A local value.
    pub(crate) fn local(&self, instance: &Arc<Instance>, index: usize) -> Result<Value, Diagnostic> {
        self.value_of(instance, Entity::Local(index), &instance.locals[index], || {
            Frame::of_module(self, instance).evaluate(&instance.node.module.locals[index].value)
        })
    }

    /// An output of a module.
    pub(crate) fn output(&self, instance: &Arc<Instance>, index: usize) -> Result<Value, Diagnostic> {
        self.value_of(instance, Entity::Output(index), &instance.outputs[index], || {
            let output = &instance.node.module.outputs[index];
            let frame = Frame::of_module(self, instance);
            self.conditions(&frame, &output.preconditions, "the precondition of an output");
            let value = frame.evaluate(&output.value);
            if !output.ephemeral && value.all_marks().is_ephemeral() {
                let summary = "ephemeral value not allowed: this output is not said to be ephemeral";
                let hint = match instance.path.is_root() {
                    true => "outputs of the root module are recorded; use `ephemeralasnull` to leave it out",
                    false => "add `ephemeral = true` to the output",
                };
                self.tell(at(output.value.origin, summary).hint(hint));
                return Value::unknown(Type::Any);
            }
            value.into_secret_if(output.sensitive).with_marks(ephemeral_if(output.ephemeral))
        })
    }

    /// A variable.
    pub(crate) fn variable(&self, instance: &Arc<Instance>, index: usize) -> Result<Value, Diagnostic> {
        let known = &instance.variables[index];
        let value =
            self.value_of(instance, Entity::Variable(index), known, || self.given(instance, index))?;
        self.validate(instance, index)?;
        Ok(value)
    }

    /// Tells of what must hold of a variable and does not. Whoever uses the variable asks for this, so that what
    /// becomes known only at apply is still held against it.
    fn validate(&self, instance: &Arc<Instance>, index: usize) -> Result<(), Diagnostic> {
        let variable = &instance.node.module.variables[index];
        let entity = Entity::Validation(index);
        // A validation uses its own variable.
        if variable.validations.is_empty() || self.is_active(instance, entity) {
            return Ok(());
        }
        self.value_of(instance, entity, &instance.validations[index], || {
            let frame = Frame::of_module(self, instance);
            self.conditions(&frame, &variable.validations, "the validation of a variable");
            Value::NULL
        })?;
        Ok(())
    }

    /// What a variable was given, or its default, as one of its type.
    fn given(&self, instance: &Arc<Instance>, index: usize) -> Value {
        let variable = &instance.node.module.variables[index];
        let name = &variable.name.text;
        // Where the value is given, if that is in a call.
        let mut place = None;
        let given = match instance.parent() {
            None => self.world.given.get(name).cloned(),
            Some(parent) => {
                let argument = instance.call(&parent).and_then(|call| call.body.attribute(name));
                place = argument.map(|argument| argument.value.origin);
                argument.map(|argument| Frame::of_call(self, &parent, instance).evaluate(&argument.value))
            }
        };
        if !variable.ephemeral && given.as_ref().is_some_and(|it| it.all_marks().is_ephemeral()) {
            let summary =
                format!("ephemeral value not allowed: the variable `{name}` is not said to be ephemeral");
            let hint = "add `ephemeral = true` to the variable";
            self.tell(at(place.unwrap_or(variable.name.origin), summary).hint(hint));
            return Value::unknown(variable.constraint.ty.clone());
        }
        let value = match (given, &variable.default) {
            (Some(given), _) if variable.nullable || !given.is_null() => given,
            // Null is a value only where the variable says so.
            (Some(_), None) => {
                let summary = format!("the variable `{name}` must not be null");
                self.tell(at(place.unwrap_or(variable.name.origin), summary));
                return Value::unknown(variable.constraint.ty.clone());
            }
            (_, Some(default)) => {
                place = None;
                let evaluated = crate::eval::evaluate(default, &crate::eval::Constants::default());
                self.tell_all(tellable(variable, ITS_DEFAULT, default.origin, evaluated.diagnostics));
                evaluated.value
            }
            // What is missing in the root module is told where variables are read, in a call where calls are checked.
            (None, None) => return Value::unknown(variable.constraint.ty.clone()),
        };
        converted(variable, &value).unwrap_or_else(|wrong| {
            for (message, origin) in wrong {
                let inner = origin.or(value.origin());
                // A part of what the call says is more exact; anything else is far from where it went wrong.
                let place = match (place, inner) {
                    (Some(place), Some(inner)) if !contains(place, inner) => place,
                    (place, inner) => inner.or(place).unwrap_or(variable.name.origin),
                };
                self.tell(at(place, format!("the variable `{name}`: {message}")));
            }
            Value::unknown(Type::Any)
        })
    }

    /// Tells of all conditions that do not hold. What is not known yet counts as holding.
    pub(crate) fn conditions(&self, frame: &Frame<'_>, conditions: &[Condition], what: &str) {
        for condition in conditions {
            let Some(message) = self.violated(frame, condition) else { continue };
            self.tell(at(condition.condition.origin, message).detail(format!("{what} does not hold")));
        }
    }

    /// What a condition says if it does not hold.
    pub(crate) fn violated(&self, frame: &Frame<'_>, condition: &Condition) -> Option<String> {
        let holds = frame.evaluate(&condition.condition);
        match trueup_core::convert(&holds, &Type::Bool) {
            Ok(value) if value.is_unknown() => return None,
            Ok(value) if value.as_bool() == Some(true) => return None,
            Ok(value) if value.as_bool() == Some(false) => {}
            _ => {
                self.tell(at(condition.condition.origin, "a condition must be `true` or `false`"));
                return None;
            }
        }
        let message = frame.evaluate(&condition.message);
        Some(match (message.is_secret(), message.as_str()) {
            (false, Some(text)) => text.trim_end().to_owned(),
            (true, _) => "a condition does not hold (its message is secret)".to_owned(),
            (false, None) => "a condition does not hold".to_owned(),
        })
    }

    /// An expression in a frame; what is wrong is told.
    pub(super) fn evaluate(
        &self,
        frame: &Frame<'_>,
        expression: &Expr,
        names: &[(smol_str::SmolStr, Value)],
    ) -> Value {
        let evaluated = crate::eval::evaluate_with(expression, frame, names);
        self.tell_all(evaluated.diagnostics);
        evaluated.value
    }
}

fn contains(outer: Origin, inner: Origin) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

impl Instance {
    /// An entity as people know it.
    pub(super) fn name_of(&self, entity: Entity) -> String {
        let module = &self.node.module;
        let nth = |name: Option<&smol_str::SmolStr>| name.map(ToString::to_string).unwrap_or_default();
        let name = match entity {
            Entity::Variable(at) | Entity::Validation(at) => {
                format!("var.{}", nth(module.variables.get_index(at).map(|(name, _)| name)))
            }
            Entity::Local(at) => format!("local.{}", nth(module.locals.get_index(at).map(|(name, _)| name))),
            Entity::Output(at) => {
                format!("output.{}", nth(module.outputs.get_index(at).map(|(name, _)| name)))
            }
            Entity::Resource(at) => return self.addresses[at].to_string(),
            Entity::Call(at) => format!("module.{}", nth(module.calls.get_index(at).map(|(name, _)| name))),
        };
        if self.path.is_root() { name } else { format!("{}.{name}", self.path) }
    }
}
