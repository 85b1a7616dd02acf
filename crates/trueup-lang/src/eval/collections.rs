//! Objects and for expressions.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Kind, Marks, Origin, Type, Value, convert};

use super::quoting::collection_marks;
use super::{ELEMENTS_MAX, Evaluator};
use crate::syntax::{Expr, ExprKind, For, ForResult, Name, ObjectItem, ObjectKey};

/// A key that was evaluated.
enum Key {
    Known {
        text: SmolStr,
        marks: Marks,
    },
    /// Not known, or told to be no key.
    Open {
        marks: Marks,
    },
}

impl Evaluator<'_> {
    pub(super) fn object(&mut self, items: &[ObjectItem]) -> Value {
        let mut entries = Vec::with_capacity(items.len());
        let (mut open, mut marks) = (false, Marks::NONE);
        for item in items {
            let key = match &item.key {
                ObjectKey::Name(name) => Key::Known { text: name.text.clone(), marks: Marks::NONE },
                ObjectKey::Expr(key) if matches!(key.kind, ExprKind::Traversal(_)) => {
                    let wrong =
                        Diagnostic::error("this key is neither a name nor an expression in parentheses")
                            .hint(
                                "write (…) around a key that is computed, and quotes around one that is text",
                            );
                    self.tell(key.origin, wrong);
                    Key::Open { marks: Marks::NONE }
                }
                ObjectKey::Expr(key) => self.key(key),
            };
            let value = self.value(&item.value);
            match key {
                Key::Known { text, marks: of_key } => {
                    marks |= of_key;
                    entries.push((text, value));
                }
                Key::Open { marks: of_key } => {
                    open = true;
                    marks |= of_key | value.marks();
                }
            }
        }
        let object = if open { Value::unknown(Type::Any) } else { Value::object(entries) };
        object.with_marks(marks)
    }

    pub(super) fn for_expression(&mut self, it: &For) -> Value {
        let source = self.value(&it.collection);
        let marks = collection_marks(&source);
        let Some(elements) = self.elements(&source, it.collection.origin) else {
            return Value::unknown(Type::Any).with_marks(marks);
        };
        let mut made = match &it.result {
            ForResult::Tuple(value) => Made::Tuple { value, items: Vec::new() },
            ForResult::Object { key, value, grouped: false } => {
                Made::Object { key, value, entries: BTreeMap::new() }
            }
            ForResult::Object { key, value, grouped: true } => {
                Made::Groups { key, value, groups: BTreeMap::new() }
            }
        };
        let (mut open, of_source, mut marks) = (false, marks, marks);
        if let (Some(filter), true) = (&it.filter, elements.is_empty()) {
            // A filter that can be no bool is a mistake even where there is nothing to filter.
            let unknown = || Value::unknown(Type::Any);
            let depth = self.enter(it.key.as_ref(), unknown(), &it.value, unknown());
            self.condition(filter, "the condition after `if`");
            self.scope.truncate(depth);
        }
        for (key, element) in elements {
            let depth = self.enter(it.key.as_ref(), key, &it.value, element);
            self.inside(of_source, |evaluator| {
                evaluator.element(it.filter.as_ref(), &mut made, &mut open, &mut marks);
            });
            self.scope.truncate(depth);
        }
        let result = if open { Value::unknown(Type::Any) } else { made.finish() };
        if let Some(excess) = result.excess() {
            // Told once, not for each element of the loops around.
            self.elements_left = None;
            return self.too_large(it.collection.origin, excess);
        }
        result.with_marks(marks)
    }

    fn element(&mut self, filter: Option<&Expr>, made: &mut Made<'_>, open: &mut bool, marks: &mut Marks) {
        let taken = match filter {
            Some(filter) => {
                let taken = self.condition(filter, "the condition after `if`");
                *marks |= taken.marks();
                taken.as_bool()
            }
            None => Some(true),
        };
        match taken {
            Some(true) => self.make_one(made, open, marks),
            Some(false) => {}
            None => *open = true,
        }
    }

    fn make_one(&mut self, made: &mut Made<'_>, open: &mut bool, marks: &mut Marks) {
        let (key_expression, value_expression) = match made {
            Made::Tuple { value, items } => {
                items.push(self.value(value));
                return;
            }
            Made::Object { key, value, .. } | Made::Groups { key, value, .. } => (*key, *value),
        };
        let key = self.key(key_expression);
        let value = self.value(value_expression);
        let key = match key {
            Key::Known { text, marks: of_key } => {
                *marks |= of_key;
                text
            }
            Key::Open { marks: of_key } => {
                *marks |= of_key;
                *open = true;
                return;
            }
        };
        match made {
            Made::Object { entries, .. } => {
                let secret = (*marks | self.ambient) != Marks::NONE;
                let shown = if secret { "(secret)".into() } else { key.clone() };
                if entries.insert(key, value).is_some() {
                    self.tell(
                        key_expression.origin,
                        Diagnostic::error(format!("two elements have the key \"{shown}\""))
                            .hint("to gather the values of a key in a list, write `...` after the value"),
                    );
                    *open = true;
                }
            }
            Made::Groups { groups, .. } => groups.entry(key).or_default().push(value),
            Made::Tuple { .. } => {}
        }
    }

    /// The key of an entry, as text.
    fn key(&mut self, expression: &Expr) -> Key {
        let value = self.value(expression);
        let marks = value.marks();
        // Keys count as names wherever secrets are looked for.
        self.environment.report_source(&value);
        match convert(&value, &Type::String).as_ref().map(Value::kind) {
            Ok(Kind::String(text)) => Key::Known { text: text.clone(), marks },
            Ok(Kind::Unknown(_)) => Key::Open { marks },
            Ok(_) => {
                self.mistake(expression.origin, "this key is null; it must be a text");
                Key::Open { marks }
            }
            Err(_) => {
                let summary = format!("this key is {}; it must be a text", value.kind_name());
                self.mistake(expression.origin, summary);
                Key::Open { marks }
            }
        }
    }

    /// The elements of a collection with their keys, or `None` if they are unknown or were told to be none.
    pub(super) fn elements(&mut self, source: &Value, origin: Origin) -> Option<Vec<(Value, Value)>> {
        // Told once, not for each element of the loops around.
        let left = self.elements_left?;
        self.elements_left = left.checked_sub(source.children().count());
        if self.elements_left.is_none() {
            self.mistake(origin, format!("this expression goes through more than {ELEMENTS_MAX} elements"));
            return None;
        }
        match source.kind() {
            Kind::List(items) => {
                Some(items.iter().enumerate().map(|(at, item)| (Value::from(at), item.clone())).collect())
            }
            // Elements of a set have no key but themselves. Those that are not known might be the same.
            Kind::Set(items) => items
                .iter()
                .all(Value::is_wholly_known)
                .then(|| items.iter().map(|item| (item.clone(), item.clone())).collect()),
            Kind::Map(entries) | Kind::Object(entries) => {
                Some(entries.iter().map(|(key, item)| (Value::string(key.clone()), item.clone())).collect())
            }
            Kind::Unknown(Type::Bool | Type::Number | Type::String)
            | Kind::Null
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::String(_) => {
                let found = match source.kind() {
                    Kind::Unknown(ty) => format!("a {ty}"),
                    kind => kind.name().to_owned(),
                };
                let summary = format!("this is {found}; `for` goes through a list, set, map or object");
                self.mistake(origin, summary);
                None
            }
            Kind::Unknown(_) => None,
        }
    }

    /// Makes the names of one element known, and returns the depth to go back to.
    pub(super) fn enter(
        &mut self,
        key: Option<&Name>,
        key_value: Value,
        name: &Name,
        element: Value,
    ) -> usize {
        let depth = self.scope.len();
        if let Some(key) = key {
            self.scope.push((key.text.clone(), key_value));
        }
        self.scope.push((name.text.clone(), element));
        depth
    }
}

/// What a for expression has made so far.
enum Made<'a> {
    Tuple { value: &'a Expr, items: Vec<Value> },
    Object { key: &'a Expr, value: &'a Expr, entries: BTreeMap<SmolStr, Value> },
    Groups { key: &'a Expr, value: &'a Expr, groups: BTreeMap<SmolStr, Vec<Value>> },
}

impl Made<'_> {
    fn finish(self) -> Value {
        match self {
            Made::Tuple { items, .. } => Value::tuple(items),
            Made::Object { entries, .. } => Value::object(entries),
            Made::Groups { groups, .. } => {
                Value::object(groups.into_iter().map(|(key, items)| (key, Value::tuple(items))))
            }
        }
    }
}
