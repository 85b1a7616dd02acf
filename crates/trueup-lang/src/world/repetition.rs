//! How many instances there are of a resource or module, and which.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Entries, InstanceKey, Kind, Type, Value, convert};

use super::{Evaluation, Frame, Instance};
use crate::declare::{Repetition, at};
use crate::syntax::Expr;

/// The instances of something.
#[derive(Clone, PartialEq)]
pub(crate) enum Keys {
    /// It is not repeated.
    One,
    /// `count`.
    Count(u64),
    /// `for_each`: keys in order, with their values as far as they were known.
    Each(Entries),
    /// Not known yet.
    Pending,
    /// Not known, and not to be known: validation looks at one that stands for all.
    Any(RepeatedBy),
}

/// What repeats something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepeatedBy {
    Count,
    ForEach,
}

/// Which instance of several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Position {
    /// The only one.
    One,
    /// `count.index`.
    Count(u64),
    /// `each.key` and `each.value`.
    Each(SmolStr, Value),
    /// The same of an import, which may go through any collection and has no key of its own.
    Element(Value, Value),
    /// The one that stands for all.
    Any(RepeatedBy),
}

impl Position {
    /// The key in an address.
    pub(crate) fn key(&self) -> Option<InstanceKey> {
        match self {
            Position::One | Position::Element(..) | Position::Any(_) => None,
            Position::Count(index) => Some(InstanceKey::Index(*index)),
            Position::Each(key, _) => Some(InstanceKey::Key(key.clone())),
        }
    }
}

impl Keys {
    /// All positions, in order.
    pub(crate) fn positions(&self) -> Vec<Position> {
        match self {
            Keys::One => vec![Position::One],
            Keys::Count(count) => (0..*count).map(Position::Count).collect(),
            Keys::Each(entries) => {
                entries.iter().map(|(key, value)| Position::Each(key.clone(), value.clone())).collect()
            }
            Keys::Pending => Vec::new(),
            Keys::Any(by) => vec![Position::Any(*by)],
        }
    }

    /// How many there are, as far as that is known.
    pub(crate) fn len(&self) -> usize {
        match self {
            Keys::One | Keys::Any(_) => 1,
            Keys::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Keys::Each(entries) => entries.len(),
            Keys::Pending => 0,
        }
    }

    /// Where an instance stands among all of them; `None` if there is no such instance. As in lists and maps, numbers
    /// and texts that say the same are the same.
    pub(crate) fn find(&self, key: &InstanceKey) -> Option<usize> {
        match (self, key) {
            (Keys::Count(count), key) => {
                let index = match key {
                    InstanceKey::Index(index) => *index,
                    InstanceKey::Key(text) => text.parse().ok()?,
                };
                usize::try_from(index).ok().filter(|_| index < *count)
            }
            (Keys::Each(entries), key) => {
                let text = match key {
                    InstanceKey::Index(index) => SmolStr::from(index.to_string()),
                    InstanceKey::Key(text) => text.clone(),
                };
                entries.as_slice().binary_search_by(|(own, _)| own.cmp(&text)).ok()
            }
            (Keys::Any(_), _) => Some(0),
            (Keys::One | Keys::Pending, _) => None,
        }
    }

    /// The key of the instance that stands there.
    pub(crate) fn key_at(&self, at: usize) -> Option<InstanceKey> {
        match self {
            Keys::Count(_) => Some(InstanceKey::Index(at as u64)),
            Keys::Each(entries) => entries.as_slice().get(at).map(|(key, _)| InstanceKey::Key(key.clone())),
            Keys::One | Keys::Pending | Keys::Any(_) => None,
        }
    }
}

/// The instances of a called module.
#[derive(Clone)]
pub(crate) struct Children {
    pub(crate) keys: Keys,
    /// One for each key, in order; none if the module could not be read.
    pub(crate) instances: Arc<[Arc<Instance>]>,
}

impl Default for Children {
    /// Not known yet.
    fn default() -> Self {
        Children { keys: Keys::Pending, instances: Arc::new([]) }
    }
}

impl Children {
    /// The instance of a key.
    pub(crate) fn get(&self, key: &InstanceKey) -> Option<&Arc<Instance>> {
        self.instances.get(self.keys.find(key)?)
    }
}

/// The most instances of one thing.
const COUNT_MAX: u64 = 1_000_000;

/// The most instances of modules in a program.
const MODULES_MAX: usize = 50_000;

impl Evaluation<'_> {
    /// The instances of a resource.
    pub(crate) fn resource_keys(
        &self,
        instance: &Arc<Instance>,
        resource: usize,
    ) -> Result<Keys, Diagnostic> {
        if let Some(keys) = instance.keys[resource].get() {
            return Ok(keys.clone());
        }
        let (_, declared) = instance.resource(resource);
        let keys = self.guarded(instance, super::evaluation::Entity::Resource(resource), || {
            self.keys(instance, declared.repetition.as_ref())
        })?;
        if keys != Keys::Pending {
            let _ = instance.keys[resource].set(keys.clone());
        }
        Ok(keys)
    }

    /// The instances of a called module.
    pub(crate) fn children(&self, instance: &Arc<Instance>, call: usize) -> Result<Children, Diagnostic> {
        if let Some(children) = instance.children[call].get() {
            return Ok(children.clone());
        }
        let Some((_, declared)) = instance.node.module.calls.get_index(call) else {
            return Ok(Children::default());
        };
        let keys = self.guarded(instance, super::evaluation::Entity::Call(call), || {
            self.keys(instance, declared.repetition.as_ref())
        })?;
        if keys == Keys::Pending {
            return Ok(Children::default());
        }
        let (more, before) = (keys.len(), self.world.modules.load(Relaxed));
        if before.saturating_add(more) > MODULES_MAX {
            let summary = format!("there are more than {MODULES_MAX} instances of modules");
            let hint = "modules that call each other more than once multiply, as `count` and `for_each` do";
            return Err(at(declared.header, summary).hint(hint));
        }
        self.world.modules.fetch_add(more, Relaxed);
        // Another may have been faster; all must see the same instances.
        let children = instance.children[call].get_or_init(|| {
            let positions = keys.positions().into_iter();
            let instances = positions.filter_map(|position| instance.child(call, position)).collect();
            Children { keys, instances }
        });
        Ok(children.clone())
    }

    /// The positions that the `for_each` of an import gives, as far as it is known.
    pub(crate) fn elements(&self, instance: &Arc<Instance>, for_each: &Expr) -> Vec<Position> {
        let value = Frame::of_module(self, instance).evaluate(for_each);
        match elements(for_each, &value) {
            Ok(Some(elements)) => elements,
            // Validation finds out no more.
            Ok(None) if self.world.validating => Vec::new(),
            Ok(None) => {
                self.pend(for_each.origin);
                Vec::new()
            }
            Err(wrong) => {
                self.tell(*wrong);
                Vec::new()
            }
        }
    }

    fn keys(&self, instance: &Arc<Instance>, repetition: Option<&Repetition>) -> Keys {
        let (expression, by) = match repetition {
            None => return Keys::One,
            Some(Repetition::Count(expression)) => (expression, RepeatedBy::Count),
            Some(Repetition::ForEach(expression)) => (expression, RepeatedBy::ForEach),
        };
        let frame = Frame::of_module(self, instance);
        let value = frame.evaluate(expression);
        let keys = match by {
            RepeatedBy::Count => counted_keys(expression, &value),
            RepeatedBy::ForEach => each_keys(expression, &value),
        };
        match keys {
            Ok(Keys::Pending) if self.world.validating => Keys::Any(by),
            Ok(Keys::Pending) => {
                self.pend(expression.origin);
                Keys::Pending
            }
            Ok(keys) => keys,
            Err(wrong) => {
                self.tell(*wrong);
                Keys::Pending
            }
        }
    }
}

fn counted_keys(expression: &Expr, value: &Value) -> Result<Keys, Box<Diagnostic>> {
    let wrong = |summary: &str| Box::new(at(expression.origin, summary));
    refuse_ephemeral(expression, "count", value)?;
    if value.is_unknown() {
        return Ok(Keys::Pending);
    }
    if value.is_null() {
        return Err(wrong("`count` must not be null"));
    }
    let number = convert(value, &Type::Number).ok();
    let number = number.as_ref().and_then(Value::as_number).and_then(trueup_core::Number::as_u64);
    match number {
        Some(count) if count <= COUNT_MAX => Ok(Keys::Count(count)),
        Some(_) => Err(wrong("`count` is too large")),
        None => Err(wrong("`count` must be a whole number from 0 on")),
    }
}

fn each_keys(expression: &Expr, value: &Value) -> Result<Keys, Box<Diagnostic>> {
    let wrong = |summary: String| Box::new(at(expression.origin, summary));
    refuse_ephemeral(expression, "for_each", value)?;
    if value.is_secret() {
        let hint = "its keys would be shown in addresses; use `nonsensitive` if they are not secret";
        return Err(wrong("`for_each` must not be secret".to_owned()).hinted(hint));
    }
    match value.kind() {
        Kind::Unknown(_) => Ok(Keys::Pending),
        Kind::Map(entries) | Kind::Object(entries) => Ok(Keys::Each(entries.clone())),
        Kind::Set(items) => {
            let mut keys = Vec::with_capacity(items.len());
            for item in items.iter() {
                match item.kind() {
                    Kind::Unknown(_) => return Ok(Keys::Pending),
                    Kind::String(_) if item.is_secret() => {
                        return Err(wrong("`for_each` must not hold secrets".to_owned()));
                    }
                    Kind::String(key) => keys.push((key.clone(), item.clone())),
                    _ => {
                        let summary = format!(
                            "`for_each` takes a set of texts, and this one holds {}",
                            item.kind_name()
                        );
                        return Err(wrong(summary));
                    }
                }
            }
            Ok(Keys::Each(Entries::from_pairs(keys)))
        }
        Kind::List(_) => Err(wrong("`for_each` takes a map or a set of texts, not a list".to_owned())
            .hinted("write `toset(…)`")),
        _ => Err(wrong(format!("`for_each` takes a map or a set of texts, not {}", value.kind_name()))),
    }
}

/// The elements of any collection, each with its key: imports have none in their addresses. `None` if they are not known yet.
fn elements(expression: &Expr, value: &Value) -> Result<Option<Vec<Position>>, Box<Diagnostic>> {
    refuse_ephemeral(expression, "for_each", value)?;
    if !value.is_wholly_known() {
        return Ok(None);
    }
    let marks = value.marks();
    let element =
        |key: Value, value: &Value| Position::Element(key.with_marks(marks), value.clone().with_marks(marks));
    Ok(Some(match value.kind() {
        Kind::Null => Vec::new(),
        Kind::List(items) => {
            items.iter().enumerate().map(|(at, item)| element(Value::from(at as u64), item)).collect()
        }
        Kind::Set(items) => items.iter().map(|item| element(item.clone(), item)).collect(),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().map(|(key, item)| element(Value::string(key.clone()), item)).collect()
        }
        _ => {
            let summary = format!("`for_each` takes a collection, not {}", value.kind_name());
            return Err(Box::new(at(expression.origin, summary)));
        }
    }))
}

/// How many there are is recorded.
fn refuse_ephemeral(expression: &Expr, word: &str, value: &Value) -> Result<(), Box<Diagnostic>> {
    // What stands under a key may be ephemeral, if the keys are not.
    let keys = match value.kind() {
        Kind::Set(items) => items.iter().fold(value.marks(), |marks, item| marks | item.marks()),
        _ => value.marks(),
    };
    if !keys.is_ephemeral() {
        return Ok(());
    }
    let summary = format!("ephemeral value not allowed: `{word}` decides what is recorded");
    Err(Box::new(at(expression.origin, summary)).hinted("use a value that is the same in every run"))
}

trait Hinted {
    fn hinted(self, hint: &str) -> Self;
}

impl Hinted for Box<Diagnostic> {
    fn hinted(self, hint: &str) -> Self {
        Box::new((*self).hint(hint))
    }
}
