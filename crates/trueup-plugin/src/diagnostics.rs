//! Diagnostics in the protocol's form.

use smol_str::SmolStr;
use trueup_core::schema::{Block, Shape};
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Path, Severity, Step, Type};
use trueup_terraform::protocol::attribute_path::Step as SentStep;
use trueup_terraform::protocol::attribute_path::step::Selector;
use trueup_terraform::protocol::diagnostic::Severity as Sent;
use trueup_terraform::protocol::{AttributePath, Diagnostic as Message};

/// The diagnostics of a response.
pub(crate) type Messages = Vec<Message>;

/// An error without a position.
pub(crate) fn error(summary: impl Into<String>, detail: impl Into<String>) -> Messages {
    vec![message(Sent::Error, summary.into(), detail.into(), None)]
}

/// A warning without a position.
pub(crate) fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Message {
    message(Sent::Warning, summary.into(), detail.into(), None)
}

/// An error at a position of a configuration.
pub(crate) fn error_at(block: &Block, place: &Path, summary: &str, detail: String) -> Message {
    message(Sent::Error, summary.to_owned(), detail, path(block, place))
}

/// A failed operation. Its own diagnostics take precedence over its message.
pub(crate) fn failure(attempted: &str, failure: &Failure, block: &Block) -> Messages {
    if failure.diagnostics.has_errors() {
        return diagnostics(&failure.diagnostics, block);
    }
    let mut detail = sentence(&failure.message);
    if failure.class == FailureClass::Indeterminate {
        detail.push_str("\n\nNobody knows whether it happened: look before you apply again.");
    }
    let place = failure.path.as_ref().and_then(|place| path(block, place));
    vec![message(Sent::Error, sentence_case(attempted), with_hints(detail, &failure.hints), place)]
}

/// Converts diagnostics.
pub(crate) fn diagnostics(messages: &Diagnostics, block: &Block) -> Messages {
    messages.iter().map(|diagnostic| of_diagnostic(diagnostic, block)).collect()
}

/// Converts a diagnostic.
pub(crate) fn of_diagnostic(diagnostic: &Diagnostic, block: &Block) -> Message {
    let severity = match diagnostic.severity {
        Severity::Error => Sent::Error,
        Severity::Warning => Sent::Warning,
    };
    let place = diagnostic.path.as_ref().and_then(|place| path(block, place));
    let detail = diagnostic.detail.clone().unwrap_or_default();
    message(severity, sentence_case(&diagnostic.summary), with_hints(detail, &diagnostic.hints), place)
}

fn message(severity: Sent, summary: String, detail: String, attribute: Option<AttributePath>) -> Message {
    Message { severity: severity.into(), summary, detail, attribute }
}

fn with_hints(detail: String, hints: &[String]) -> String {
    let hints = hints.iter().map(|hint| sentence(hint));
    let parts = std::iter::once(detail).chain(hints).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// A text as a sentence, which is Terraform's style.
fn sentence(text: &str) -> String {
    let text = sentence_case(text);
    match text.chars().last() {
        Some(last) if last.is_alphanumeric() || matches!(last, '`' | '"' | ')') => format!("{text}."),
        _ => text,
    }
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A path in the protocol's form. It ends at sets, whose elements have no path.
pub(crate) fn path(block: &Block, place: &Path) -> Option<AttributePath> {
    let mut steps = Vec::new();
    let mut inside = Inside::Block(block.clone());
    for step in place.steps() {
        let Some((selector, next)) = inside.follow(step) else { break };
        steps.push(SentStep { selector: Some(selector) });
        inside = next;
    }
    (!steps.is_empty()).then_some(AttributePath { steps })
}

/// The schema at some point of a path.
enum Inside {
    Block(Block),
    Shape(Shape),
    Type(Type),
}

impl Inside {
    fn follow(&self, step: &Step) -> Option<(Selector, Inside)> {
        match (self, step) {
            (Inside::Block(block), Step::Key(name)) => {
                let shape = match (block.attributes.get(name), block.blocks.get(name)) {
                    (Some(attribute), _) => attribute.shape.clone(),
                    (None, Some(nested)) => nested.shape(),
                    (None, None) => return None,
                };
                Some((Selector::AttributeName(name.to_string()), Inside::of(shape)))
            }
            (Inside::Shape(Shape::List(element)), Step::Index(at)) => {
                Some((index(*at)?, Inside::of(Shape::clone(element))))
            }
            (Inside::Shape(Shape::Map(element)), Step::Key(key)) => {
                Some((Selector::ElementKeyString(key.to_string()), Inside::of(Shape::clone(element))))
            }
            (Inside::Type(ty), step) => {
                let next = ty.at(step)?;
                let selector = match (ty, step) {
                    (Type::Map(_), Step::Key(key)) => Selector::ElementKeyString(key.to_string()),
                    (Type::Object(_), Step::Key(key)) => Selector::AttributeName(key.to_string()),
                    (Type::List(_) | Type::Tuple(_), Step::Index(at)) => index(*at)?,
                    _ => return None,
                };
                Some((selector, Inside::Type(next)))
            }
            _ => None,
        }
    }

    fn of(shape: Shape) -> Self {
        match shape {
            Shape::Plain(ty) => Inside::Type(ty),
            Shape::Object(block) => Inside::Block(Block::clone(&block)),
            shape => Inside::Shape(shape),
        }
    }
}

fn index(at: u64) -> Option<Selector> {
    i64::try_from(at).ok().map(Selector::ElementKeyInt)
}

/// Attribute names, for a message.
pub(crate) fn listed(names: &[SmolStr]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
