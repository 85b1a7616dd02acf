//! Checking a value against a block: types, presence, constraints, rules.
//!
//! Every violation is reported, each with its position and place, and what to do. What is unknown passes now and is
//! checked again at apply, by the same code, when it is known (CRUD-11).

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{Attribute, Block, Constraint, NestedBlock, Nesting, Presence, Shape};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::path::{Path, Step};
use crate::source::Origin;
use crate::suggestion::nearest;
use crate::types::{Mismatch, convert, may_become};
use crate::value::{Entries, Kind, Value};

/// The outcome of a check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The value with its types settled and its secrets marked: what the program wrote, without defaults. Holds null
    /// in place of what was wrong.
    pub value: Value,
    /// All that is wrong, and what is worth a warning.
    pub diagnostics: Diagnostics,
}

impl Block {
    /// Checks what a program wrote for this block. `subject` names the declaration in messages.
    pub fn check(&self, value: &Value, subject: impl fmt::Display) -> Checked {
        self.check_as(value, &subject)
    }

    fn check_as(&self, value: &Value, subject: &dyn fmt::Display) -> Checked {
        let mut checker = Checker {
            subject,
            path: Path::ROOT,
            secret_at: None,
            diagnostics: Diagnostics::new(),
            secrets: Vec::new(),
        };
        checker.secret_at = value.is_secret().then_some(0);
        checker.note_secrets(value);
        let value = checker.block(self, value);
        let secrets: Arc<[Origin]> = checker.secrets.into();
        let conceal = |diagnostic: Diagnostic| diagnostic.concealing(secrets.clone());
        let mut diagnostics = Diagnostics::new();
        diagnostics.extend(checker.diagnostics.into_iter().map(conceal));
        Checked { value, diagnostics }
    }
}

/// A longer value would drown the message that quotes it.
const FOUND_LENGTH_MAX: usize = 40;

struct Checker<'a> {
    subject: &'a dyn fmt::Display,
    path: Path,
    /// The length of the path to the outermost secret around.
    secret_at: Option<usize>,
    diagnostics: Diagnostics,
    /// Where secrets stand in the source: a line that is shown may hold one that the message is not about.
    secrets: Vec<Origin>,
}

impl Checker<'_> {
    /// Notes the places of all that is marked secret already.
    fn note_secrets(&mut self, value: &Value) {
        if value.is_secret() {
            self.secrets.extend(value.origin());
        }
        value.children().for_each(|child| self.note_secrets(child));
    }

    fn block(&mut self, block: &Block, value: &Value) -> Value {
        let given = match value.kind() {
            Kind::Unknown(ty) if may_become(ty, &block.implied_type()) => {
                return value.with_kind(Kind::Unknown(block.implied_type()));
            }
            Kind::Map(entries) | Kind::Object(entries) => entries,
            _ => {
                self.report(format!("expected an object, found {}", value.kind_name()), value.origin());
                return Value::NULL;
            }
        };
        self.report_unknown_names(block, given, value);
        let mut entries = Vec::with_capacity(given.len());
        for (name, attribute) in &block.attributes {
            let item = given.get(name).filter(|item| !item.is_null());
            let secret = attribute.secret || item.is_some_and(Value::is_secret);
            let checked = self.at(Step::Key(name.clone()), secret, |it| match item {
                Some(item) => Some(it.attribute(attribute, item)),
                None => {
                    it.missing_attribute(name, attribute, value);
                    None
                }
            });
            entries.extend(checked.map(|checked| (name.clone(), checked)));
        }
        for (name, nested) in &block.blocks {
            let item = given.get(name).filter(|item| !item.is_null());
            let secret = item.is_some_and(Value::is_secret);
            let checked =
                self.at(Step::Key(name.clone()), secret, |it| it.nested_block(name, nested, item, value));
            entries.extend(checked.map(|checked| (name.clone(), checked)));
        }
        for rule in &block.rules {
            if let Some((violation, hint)) = rule.violation(given) {
                // The block itself is the place: the attributes may be several, none, or secret.
                let diagnostic = Diagnostic::error(format!("{violation} in {}", self.subject));
                self.push(diagnostic.at(self.place(), value.origin()).hint(hint));
            }
        }
        value.with_kind(Value::object(entries).kind().clone())
    }

    fn report_unknown_names(&mut self, block: &Block, given: &Entries, value: &Value) {
        let known = |name: &str| block.attributes.contains_key(name) || block.blocks.contains_key(name);
        for (name, item) in given.iter().filter(|(name, _)| !known(name)) {
            let settable = block.names().filter(|name| {
                block.attributes.get(*name).is_none_or(|attribute| attribute.presence != Presence::Computed)
            });
            let settable: Vec<&str> = settable.collect();
            if self.secret_at.is_some() {
                // The keys inside a secret are as secret as its values.
                let summary = format!("unknown attribute in a secret value of {}", self.subject);
                let hint = format!("`{}` takes `{}`", self.place(), settable.join("`, `"));
                self.push(Diagnostic::error(summary).at(self.place(), value.origin()).hint(hint));
                return;
            }
            let meant = nearest(name, settable.iter().copied());
            if meant.and_then(|meant| block.attributes.get(meant)).is_some_and(|attribute| attribute.secret) {
                // A slip in the name does not make the value less secret.
                self.secrets.extend(item.origin());
            }
            let hint = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if settable.is_empty() => "it takes no attributes".to_owned(),
                None => format!("it takes `{}`", settable.join("`, `")),
            };
            let diagnostic = Diagnostic::error(format!("unknown attribute `{name}` in {}", self.subject));
            let path = self.path.join(Step::Key(name.clone()));
            self.push(diagnostic.at(path, item.origin().or(value.origin())).hint(hint));
        }
    }

    fn missing_attribute(&mut self, name: &str, attribute: &Attribute, block: &Value) {
        if attribute.presence == Presence::Required {
            let diagnostic = Diagnostic::error(format!("missing attribute `{name}` in {}", self.subject));
            let hint = format!("set `{name}`, {}", wanted(attribute));
            self.push(diagnostic.at(self.place(), block.origin()).hint(hint));
        }
    }

    fn attribute(&mut self, attribute: &Attribute, item: &Value) -> Value {
        if attribute.secret {
            self.secrets.extend(item.origin());
        }
        if attribute.presence == Presence::Computed {
            let diagnostic =
                Diagnostic::error(format!("`{}` in {} cannot be set", self.place(), self.subject));
            let diagnostic = diagnostic.at(self.place(), item.origin());
            self.push(diagnostic.hint("the provider decides it; remove it"));
            return Value::NULL;
        }
        if let Some(reason) = &attribute.deprecated {
            let diagnostic =
                Diagnostic::warning(format!("`{}` in {} is deprecated", self.place(), self.subject));
            self.push(diagnostic.at(self.place(), item.origin()).hint(reason));
        }
        let checked = match &attribute.shape {
            Shape::Plain(ty) => match convert(item, ty) {
                Ok(converted) => converted,
                Err(mismatches) => {
                    self.report_mismatches(mismatches, attribute);
                    return Value::NULL;
                }
            },
            shape => self.nested(shape, item),
        };
        let checked = checked.into_secret_if(attribute.secret);
        for constraint in attribute.constraints.iter().filter(|constraint| !constraint.holds_for(&checked)) {
            self.report_constraint(constraint, attribute, &checked, item.origin());
        }
        checked
    }

    fn report_constraint(
        &mut self,
        constraint: &Constraint,
        attribute: &Attribute,
        value: &Value,
        origin: Option<Origin>,
    ) {
        let mut summary = format!("`{}` in {} must {constraint}", self.place(), self.subject);
        let found = value.to_string();
        if !value.contains_secret() && found.len() <= FOUND_LENGTH_MAX {
            summary.push_str(&format!(", not {found}"));
        }
        let meant = match (constraint, value.as_str()) {
            (Constraint::OneOf(allowed), Some(text)) => {
                nearest(text, allowed.iter().filter_map(Value::as_str))
            }
            _ => None,
        };
        let hint = match meant {
            Some(meant) if !value.is_secret() => format!("did you mean \"{meant}\"?"),
            _ => format!("`{}` is {}", self.place(), wanted(attribute)),
        };
        let diagnostic = Diagnostic::error(summary).at(self.place(), origin);
        self.push(diagnostic.hint(hint));
    }

    fn report_mismatches(&mut self, mismatches: Vec<Mismatch>, attribute: &Attribute) {
        for Mismatch { path, origin, message } in mismatches {
            let inside = if self.secret_at.is_some() { &[] } else { path.steps() };
            let place: Path = self.place().steps().iter().chain(inside).cloned().collect();
            let diagnostic = Diagnostic::error(format!("`{place}` in {}: {message}", self.subject));
            let hint = format!("`{}` is {}", self.place(), wanted(attribute));
            self.push(diagnostic.at(place, origin).hint(hint));
        }
    }

    fn nested_block(
        &mut self,
        name: &str,
        nested: &NestedBlock,
        item: Option<&Value>,
        outer: &Value,
    ) -> Option<Value> {
        let count = match item {
            None => 0,
            Some(item) => match (nested.nesting, item.as_items(), item.as_entries()) {
                (Nesting::List | Nesting::Set, Some(items), _) => items.len() as u64,
                (Nesting::Map, _, Some(entries)) => entries.len() as u64,
                // An unknown number of blocks is counted once it is known.
                _ if item.is_unknown() => nested.items_min,
                _ => 1,
            },
        };
        let origin = item.and_then(Value::origin).or(outer.origin());
        if count < nested.items_min {
            self.report(
                format!(
                    "{} needs at least {} `{name}` block(s), found {count}",
                    self.subject, nested.items_min
                ),
                origin,
            );
        }
        if let Some(max) = nested.items_max.filter(|max| count > *max) {
            self.report(
                format!("{} takes at most {max} `{name}` block(s), found {count}", self.subject),
                origin,
            );
        }
        item.map(|item| self.nested(&nested.shape(), item))
    }

    fn nested(&mut self, shape: &Shape, item: &Value) -> Value {
        let checked = match (shape, item.kind()) {
            (Shape::Object(block), _) => return self.block(block, item),
            (Shape::Plain(ty), _) => match convert(item, ty) {
                Ok(converted) => return converted,
                Err(mismatches) => {
                    for Mismatch { message, origin, .. } in mismatches {
                        self.report(format!("`{}` in {}: {message}", self.place(), self.subject), origin);
                    }
                    return Value::NULL;
                }
            },
            (_, Kind::Unknown(ty)) if may_become(ty, &shape.implied_type()) => {
                return item.with_kind(Kind::Unknown(shape.implied_type()));
            }
            (Shape::List(element), Kind::List(items) | Kind::Set(items)) => {
                Value::list(self.items(element, items))
            }
            (Shape::Set(element), Kind::List(items) | Kind::Set(items)) => {
                Value::set(self.items(element, items))
            }
            (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => {
                let check = |(key, item): (&SmolStr, &Value)| {
                    let secret = item.is_secret();
                    (key.clone(), self.at(Step::Key(key.clone()), secret, |it| it.nested(element, item)))
                };
                Value::map(entries.iter().map(check).collect::<Vec<_>>())
            }
            _ => {
                let expected = if matches!(shape, Shape::Map(_)) { "values under keys" } else { "a list" };
                self.report(
                    format!(
                        "`{}` in {}: expected {expected}, found {}",
                        self.place(),
                        self.subject,
                        item.kind_name()
                    ),
                    item.origin(),
                );
                return Value::NULL;
            }
        };
        item.with_kind(checked.kind().clone())
    }

    fn items(&mut self, element: &Shape, items: &[Value]) -> Vec<Value> {
        let check = |(at, item): (usize, &Value)| {
            self.at(Step::Index(at as u64), item.is_secret(), |it| it.nested(element, item))
        };
        items.iter().enumerate().map(check).collect()
    }

    fn at<T>(&mut self, step: Step, secret: bool, inside: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.secret_at;
        self.path.push(step);
        if secret {
            self.secret_at = around.or(Some(self.path.steps().len()));
        }
        let outcome = inside(self);
        self.path.pop();
        self.secret_at = around;
        outcome
    }

    /// The position as messages may name it: of what lies inside a secret, that of the secret.
    fn place(&self) -> Path {
        let steps = self.path.steps();
        steps.iter().take(self.secret_at.unwrap_or(steps.len())).cloned().collect()
    }

    fn report(&mut self, summary: String, origin: Option<Origin>) {
        self.push(Diagnostic::error(summary).at(self.place(), origin));
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic.about(self.subject.to_string()));
    }
}

/// What an attribute takes, for a hint.
fn wanted(attribute: &Attribute) -> String {
    let kind = attribute.shape.implied_type().to_string();
    let article = if kind.starts_with(['a', 'o']) { "an" } else { "a" };
    let mut text = format!("{article} {kind}");
    if let Some(first) = attribute.doc.lines().next().filter(|line| !line.is_empty()) {
        text.push_str(": ");
        text.push_str(first.trim_end_matches('.'));
    }
    text
}
