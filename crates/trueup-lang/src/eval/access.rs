//! What is taken of values: names, attributes, indexes and splats.

use trueup_core::{
    Diagnostic, Entries, Kind, Marks, Number, Origin, Refinement, Type, Value, convert, nearest,
};

use super::quoting::collection_marks;
use super::{Evaluator, Reference};
use crate::syntax::{Access, AccessKind, Splat, StaticStep, Traversal};

/// A step whose index is evaluated.
enum Step<'a> {
    Attribute(&'a str),
    Index(Value),
}

impl Evaluator<'_> {
    /// A name and what is taken of it. Names of for expressions come first; all others are the environment's, which
    /// gets to see as many steps as are known.
    pub(super) fn traversal(&mut self, traversal: &Traversal, origin: Origin) -> Value {
        let root = &traversal.root;
        if let Some((_, value)) = self.scope.iter().rev().find(|(name, _)| *name == root.text) {
            let value = value.clone();
            return self.accesses(value, &traversal.steps);
        }
        let steps: Vec<(Step<'_>, Origin)> =
            traversal.steps.iter().map(|access| (self.step(access), access.origin)).collect();
        let known: Vec<StaticStep> = steps.iter().map_while(|(step, _)| static_step(step)).collect();
        let reference = Reference { root: &root.text, steps: &known, origin };
        let resolved = match self.environment.resolve(&reference) {
            Ok(resolved) => resolved,
            Err(diagnostic) => {
                let secret = |(step, _): &(Step<'_>, Origin)| match step {
                    Step::Index(key) => !self.may_quote(key),
                    Step::Attribute(_) => false,
                };
                return match steps.iter().any(secret) {
                    true => self.mistake(root.origin, "there is nothing under this key, which is secret"),
                    false => self.tell(root.origin, diagnostic),
                };
            }
        };
        self.note(&resolved.value);
        let used = resolved.steps_used.min(known.len());
        let of_keys = steps[..used].iter().fold(Marks::NONE, |marks, (step, _)| match step {
            Step::Index(key) => marks | key.marks(),
            Step::Attribute(_) => marks,
        });
        let value = resolved.value.with_marks(of_keys);
        steps[used..].iter().fold(value, |value, (step, origin)| self.taken(&value, step, *origin))
    }

    pub(super) fn accesses(&mut self, source: Value, accesses: &[Access]) -> Value {
        accesses.iter().fold(source, |value, access| {
            let step = self.step(access);
            self.taken(&value, &step, access.origin)
        })
    }

    fn step<'a>(&mut self, access: &'a Access) -> Step<'a> {
        match &access.kind {
            AccessKind::Attribute(name) => Step::Attribute(name),
            AccessKind::Index(index) => Step::Index(self.value(index)),
        }
    }

    fn taken(&mut self, source: &Value, step: &Step<'_>, origin: Origin) -> Value {
        match step {
            Step::Attribute(name) => self.attribute(source, name, origin),
            Step::Index(key) => self.index(source, key, origin),
        }
        .with_marks(source.marks())
    }

    fn attribute(&mut self, source: &Value, name: &str, origin: Origin) -> Value {
        match source.kind() {
            Kind::Object(entries) | Kind::Map(entries) => match entries.get(name) {
                Some(value) => value.clone(),
                None => self.no_such_key(source, entries, name, origin),
            },
            Kind::Unknown(ty) => match ty {
                Type::Any => Value::unknown(Type::Any),
                Type::Map(element) => Value::unknown((**element).clone()),
                Type::Object(object) => match object.attributes.get(name) {
                    Some(ty) => Value::unknown(ty.clone()),
                    None => {
                        let names = object.attributes.keys().map(AsRef::as_ref);
                        let quotes = self.may_quote(source);
                        let suggestion = nearest(name, names).filter(|_| quotes).map(str::to_owned);
                        let summary = format!("this object has no attribute `{name}`");
                        self.tell(origin, suggesting(Diagnostic::error(summary), suggestion.as_deref()))
                    }
                },
                _ => self.no_attributes(&self.described(source), matches!(ty, Type::List(_)), name, origin),
            },
            Kind::Null => self.tell(
                origin,
                Diagnostic::error(format!("this is null, which has no attribute `{name}`"))
                    .hint("test for null first, or use try(…, other_value)"),
            ),
            kind => {
                let listed = matches!(kind, Kind::List(_) | Kind::Set(_));
                self.no_attributes(kind.name(), listed, name, origin)
            }
        }
    }

    fn no_attributes(&mut self, found: &str, listed: bool, name: &str, origin: Origin) -> Value {
        let mut diagnostic = Diagnostic::error(format!("this is {found}, which has no attribute `{name}`"));
        if listed {
            diagnostic = diagnostic.hint(format!("for the attribute of each element write [*].{name}"));
        }
        self.tell(origin, diagnostic)
    }

    fn no_such_key(&mut self, source: &Value, entries: &Entries, name: &str, origin: Origin) -> Value {
        let (what, key) = match source.kind() {
            Kind::Map(_) => ("map", "element with the key"),
            _ => ("object", "attribute"),
        };
        // The keys of a secret are as secret as its values.
        let quotes = self.ambient == Marks::NONE && !source.is_secret();
        let suggestion = quotes.then(|| nearest(name, entries.keys().map(AsRef::as_ref))).flatten();
        let diagnostic = Diagnostic::error(format!("this {what} has no {key} `{name}`"));
        let diagnostic = suggesting(diagnostic, suggestion);
        self.tell(origin, diagnostic)
    }

    fn index(&mut self, source: &Value, key: &Value, origin: Origin) -> Value {
        if key.is_null() {
            return self.mistake(origin, "this index is null");
        }
        let result = match source.kind() {
            Kind::List(items) => match self.position(key, Some(items.len()), origin) {
                Some(Some(at)) => items[at].clone(),
                Some(None) => Value::unknown(common_type(items.iter())),
                None => Value::unknown(Type::Any),
            },
            Kind::Map(entries) | Kind::Object(entries) => match convert(key, &Type::String)
                .as_ref()
                .map(Value::kind)
            {
                Ok(Kind::String(name)) => match entries.get(name) {
                    Some(value) => value.clone(),
                    None if !self.may_quote(key) => self.mistake(origin, "there is no element with this key"),
                    None => self.no_such_key(source, entries, name, origin),
                },
                Ok(_) => Value::unknown(common_type(entries.iter().map(|(_, value)| value))),
                Err(_) => self.mistake(origin, format!("this key is {}; it must be a text", key.kind_name())),
            },
            Kind::Set(_) => self.set_index(origin),
            Kind::Null => self.tell(
                origin,
                Diagnostic::error("this is null, which has no elements")
                    .hint("test for null first, or use try(…, other_value)"),
            ),
            Kind::Unknown(ty) => self.unknown_index(source, ty, key, origin),
            kind => self.mistake(origin, format!("this is {}, which has no elements", kind.name())),
        };
        result.with_marks(key.marks())
    }

    fn unknown_index(&mut self, source: &Value, ty: &Type, key: &Value, origin: Origin) -> Value {
        match ty {
            Type::Any => Value::unknown(Type::Any),
            Type::List(element) => {
                self.position(key, None, origin);
                Value::unknown((**element).clone())
            }
            Type::Tuple(elements) => match self.position(key, Some(elements.len()), origin) {
                Some(Some(at)) => Value::unknown(elements[at].clone()),
                _ => Value::unknown(Type::Any),
            },
            Type::Map(element) => Value::unknown((**element).clone()),
            Type::Object(_) => match convert(key, &Type::String).as_ref().map(Value::kind) {
                Ok(Kind::String(_)) if !self.may_quote(key) => Value::unknown(Type::Any),
                Ok(Kind::String(name)) => self.attribute(source, name, origin),
                _ => Value::unknown(Type::Any),
            },
            Type::Set(_) => self.set_index(origin),
            Type::Bool | Type::Number | Type::String => {
                self.mistake(origin, format!("this is a {ty}, which has no elements"))
            }
        }
    }

    fn set_index(&mut self, origin: Origin) -> Value {
        self.tell(
            origin,
            Diagnostic::error("the elements of a set have no index")
                .hint("give them an order first with `sort` or `tolist`"),
        )
    }

    /// The place in a list: `Some(None)` if it is unknown, `None` once it is told that there is no such place.
    #[allow(clippy::option_option)]
    fn position(&mut self, key: &Value, length: Option<usize>, origin: Origin) -> Option<Option<usize>> {
        let Ok(number) = convert(key, &Type::Number) else {
            let found = key.kind_name();
            self.mistake(origin, format!("an index of a list is a whole number, and this is {found}"));
            return None;
        };
        let Some(number) = number.as_number() else { return Some(None) };
        let at = number.as_u64().and_then(|at| usize::try_from(at).ok());
        match (at, length) {
            (Some(_), None) => Some(None),
            (Some(at), Some(length)) if at < length => Some(Some(at)),
            _ => {
                self.bad_position(number, length, !self.may_quote(key), origin);
                None
            }
        }
    }

    fn bad_position(&mut self, number: &Number, length: Option<usize>, secret: bool, origin: Origin) {
        let shown = if secret { "this index".to_owned() } else { format!("the index {number}") };
        let summary = if !number.is_integer() {
            format!("{shown} is not a whole number")
        } else if *number < Number::from(0) {
            format!("{shown} is negative")
        } else {
            match length.unwrap_or(0) {
                0 => format!("{shown} is beyond this list, which is empty"),
                1 => format!("{shown} is beyond this list, which has 1 element"),
                length => format!("{shown} is beyond this list, which has {length} elements"),
            }
        };
        let mut diagnostic = Diagnostic::error(summary);
        if number.is_integer() && *number < Number::from(0) {
            diagnostic = diagnostic.hint("for the last element write list[length(list) - 1]");
        }
        self.tell(origin, diagnostic);
    }

    /// What is not a list counts as a list of one; null as a list of none.
    pub(super) fn splat(&mut self, splat: &Splat) -> Value {
        let source = self.value(&splat.source);
        let marks = collection_marks(&source);
        // Elements of one type make a list of one type.
        let is_list = matches!(source.kind(), Kind::List(_) | Kind::Set(_)) && !source.is_tuple();
        let items: Vec<Value> = match source.kind() {
            Kind::List(items) | Kind::Set(items) => items.to_vec(),
            Kind::Null => Vec::new(),
            // If it is null, and so how long the list is, is not known.
            // What is not null and no list is one element.
            Kind::Unknown(ty) if source.is_never_null() && !is_sequence(ty) => vec![source.clone()],
            Kind::Unknown(ty) => {
                return self.unknown_splat(ty, source.refinement(), splat, marks).with_marks(marks);
            }
            _ => vec![source.clone()],
        };
        let items: Vec<Value> =
            self.inside(marks, |it| items.into_iter().map(|item| it.splat_item(item, splat)).collect());
        let made = if is_list { Value::list(items) } else { Value::tuple(items) };
        made.with_marks(marks)
    }

    fn unknown_splat(&mut self, ty: &Type, known: Option<&Refinement>, splat: &Splat, marks: Marks) -> Value {
        let mut of = |element: &Type| {
            let element = Value::unknown(element.clone());
            Type::of(&self.inside(marks, |it| it.splat_item(element, splat)))
        };
        match ty {
            Type::List(element) | Type::Set(element) => {
                Value::refined(Type::list(of(element)), known.cloned().unwrap_or_default())
            }
            Type::Tuple(elements) => Value::unknown(Type::tuple(elements.iter().map(of))).never_null(),
            _ => Value::unknown(Type::Any),
        }
    }

    fn splat_item(&mut self, item: Value, splat: &Splat) -> Value {
        self.splat_items.push(item);
        let value = self.value(&splat.each);
        self.splat_items.pop();
        value
    }
}

fn is_sequence(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
}

fn static_step(step: &Step<'_>) -> Option<StaticStep> {
    match step {
        Step::Attribute(name) => Some(StaticStep::Attribute((*name).into())),
        Step::Index(key) => match key.kind() {
            Kind::String(key) => Some(StaticStep::Key(key.clone())),
            Kind::Number(number) => number.as_u64().map(StaticStep::Index),
            _ => None,
        },
    }
}

/// The one type of all elements, or any.
fn common_type<'a>(items: impl Iterator<Item = &'a Value>) -> Type {
    let types: Vec<Type> = items.map(Type::of).collect();
    match types.split_first() {
        Some((first, rest)) if rest.iter().all(|ty| ty == first) => first.clone(),
        _ => Type::Any,
    }
}

fn suggesting(diagnostic: Diagnostic, suggestion: Option<&str>) -> Diagnostic {
    match suggestion {
        Some(name) => diagnostic.hint(format!("did you mean `{name}`?")),
        None => diagnostic,
    }
}
