//! Templates: the texts of their parts, one after another.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Kind, Marks, Origin, Refinement, Type, Value, convert};

use super::Evaluator;
use super::quoting::collection_marks;
use crate::limits::{TEXT_BYTES_MAX, too_long};
use crate::normal_form::normal_text;
use crate::syntax::TemplatePart;

/// What a template has come to so far.
#[derive(Default)]
struct Text {
    text: String,
    unknown: bool,
    /// The text before the first part that is unknown.
    beginning: Option<SmolStr>,
    /// Nothing is added any more.
    is_too_long: bool,
    marks: Marks,
    /// Where the template begins.
    origin: Option<Origin>,
}

impl Text {
    /// Of what follows, nothing is known but perhaps how it begins.
    fn unknown_from_here(&mut self, known: Option<&Refinement>) {
        self.unknown = true;
        if self.beginning.is_none() {
            let prefix = known.map_or("", |known| known.prefix.as_str());
            self.beginning = Some(format!("{}{prefix}", self.text).into());
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn template(&mut self, parts: &[TemplatePart], origin: Origin) -> Value {
        // One interpolation alone is that value, of whatever type.
        if let [TemplatePart::Interpolation(only)] = parts {
            return self.value(only);
        }
        let mut text = Text { origin: Some(origin), ..Text::default() };
        self.template_parts(parts, &mut text);
        let result = match text.unknown {
            true => Value::refined(Type::String, Refinement::beginning(text.beginning.unwrap_or_default())),
            false => normal_text(Value::string(text.text)),
        };
        result.with_marks(text.marks)
    }

    fn template_parts(&mut self, parts: &[TemplatePart], text: &mut Text) {
        for part in parts {
            if text.is_too_long {
                return;
            }
            match part {
                TemplatePart::Text(literal) => self.push_text(literal, None, text),
                TemplatePart::Interpolation(expression) => {
                    let value = self.value(expression);
                    self.push(&value, expression.origin, text);
                }
                TemplatePart::If { condition, then, otherwise } => {
                    let condition = self.condition(condition, "the condition");
                    text.marks |= condition.marks();
                    match condition.as_bool() {
                        Some(true) => self.template_parts(then, text),
                        Some(false) => self.template_parts(otherwise, text),
                        None => text.unknown_from_here(None),
                    }
                }
                TemplatePart::For { key, value, collection, body } => {
                    let source = self.value(collection);
                    let marks = collection_marks(&source);
                    text.marks |= marks;
                    let Some(elements) = self.elements(&source, collection.origin) else {
                        text.unknown_from_here(None);
                        continue;
                    };
                    for (element_key, element) in elements {
                        let depth = self.enter(key.as_ref(), element_key, value, element);
                        self.inside(marks, |it| it.template_parts(body, text));
                        self.scope.truncate(depth);
                    }
                }
            }
        }
    }

    fn push_text(&mut self, part: &str, origin: Option<Origin>, text: &mut Text) {
        if text.text.len() + part.len() <= TEXT_BYTES_MAX {
            return text.text.push_str(part);
        }
        (text.is_too_long, text.unknown) = (true, true);
        if let Some(origin) = origin.or(text.origin) {
            self.mistake(origin, format!("this text {}", too_long()));
        }
    }

    fn push(&mut self, value: &Value, origin: Origin, text: &mut Text) {
        text.marks |= value.all_marks();
        self.environment.report_source(value);
        match convert(value, &Type::String).as_ref().map(Value::kind) {
            Ok(Kind::String(part)) => self.push_text(part, Some(origin), text),
            Ok(Kind::Unknown(_)) => text.unknown_from_here(value.refinement()),
            Ok(_) => {
                self.tell(
                    origin,
                    Diagnostic::error("this is null, which has no text")
                        .hint("give another value in its place: coalesce(x, \"\")"),
                );
                text.unknown = true;
            }
            Err(_) => {
                let found = self.described(value);
                self.tell(
                    origin,
                    Diagnostic::error(format!("this is {found}, which cannot stand in a text"))
                        .hint("turn it into text first, for example with `jsonencode` or `join`"),
                );
                text.unknown = true;
            }
        }
    }
}
