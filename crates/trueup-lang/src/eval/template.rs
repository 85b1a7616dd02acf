//! Templates: the texts of their parts, one after another.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Kind, Marks, Origin, Type, Value, convert};

use super::Evaluator;
use crate::syntax::TemplatePart;

/// How long a text may become: names that are used twice, over and over, double it each time.
const TEXT_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What a template has come to so far.
#[derive(Default)]
struct Text {
    text: String,
    unknown: bool,
    marks: Marks,
}

impl Evaluator<'_> {
    pub(super) fn template(&mut self, parts: &[TemplatePart]) -> Value {
        // One interpolation alone is that value, of whatever type.
        if let [TemplatePart::Interpolation(only)] = parts {
            return self.value(only);
        }
        let mut text = Text::default();
        self.template_parts(parts, &mut text);
        let result = if text.unknown { Value::unknown(Type::String) } else { Value::string(text.text) };
        result.with_marks(text.marks)
    }

    fn template_parts(&mut self, parts: &[TemplatePart], text: &mut Text) {
        for part in parts {
            match part {
                TemplatePart::Text(literal) => text.text.push_str(literal),
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
                        None => text.unknown = true,
                    }
                }
                TemplatePart::For { key, value, collection, body } => {
                    let source = self.value(collection);
                    text.marks |= source.marks();
                    let Some(elements) = self.elements(&source, collection.origin) else {
                        text.unknown = true;
                        continue;
                    };
                    for (element_key, element) in elements {
                        let depth = self.enter(key.as_ref(), element_key, value, element);
                        self.template_parts(body, text);
                        self.scope.truncate(depth);
                    }
                }
            }
        }
    }

    fn push(&mut self, value: &Value, origin: Origin, text: &mut Text) {
        text.marks |= value.all_marks();
        match convert(value, &Type::String).as_ref().map(Value::kind) {
            Ok(Kind::String(part)) if text.text.len() + part.len() > TEXT_BYTES_MAX => {
                if !text.unknown {
                    let limit = TEXT_BYTES_MAX / (1024 * 1024);
                    self.mistake(origin, format!("this text becomes longer than {limit} MiB"));
                }
                text.unknown = true;
            }
            Ok(Kind::String(part)) => text.text.push_str(part),
            Ok(Kind::Unknown(_)) => text.unknown = true,
            Ok(_) => {
                self.tell(
                    origin,
                    Diagnostic::error("this is null, which has no text")
                        .hint("give another value in its place: coalesce(x, \"\")"),
                );
                text.unknown = true;
            }
            Err(_) => {
                let found = match value.kind() {
                    Kind::Unknown(ty) => SmolStr::new(format!("a value of type {ty}")),
                    kind => kind.name().into(),
                };
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
