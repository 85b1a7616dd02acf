//! What a text means, whatever its layout: the outline of its tree, with old spellings read as what they stand for.

use trueup_core::SourceMap;
use trueup_lang::syntax::{Body, Expr, ExprKind, Item, TemplatePart, parse_body, parse_expression};

use crate::syntax::outline::{outline, outline_body};

/// Panics if the text cannot be read.
pub(crate) fn meaning(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let mut parsed = parse_body(text, SourceMap::new().add("test", text));
    assert!(!parsed.diagnostics.has_errors(), "{:?} in:\n{text}", parsed.diagnostics);
    modernize(&mut parsed.tree, &[]);
    outline_body(&parsed.tree)
}

fn modernize(body: &mut Body, within: &[&str]) {
    for item in &mut body.items {
        match item {
            Item::Attribute(attribute) => {
                let mut value = core(&attribute.value).clone();
                if within == ["variable"] && attribute.name.text == "type" {
                    value = current_type(value);
                }
                attribute.value = value;
            }
            Item::Block(block) => modernize(&mut block.body, &[within, &[block.name.text.as_str()]].concat()),
        }
    }
}

/// A value without the quotes or parentheses that say nothing.
fn core(value: &Expr) -> &Expr {
    match &value.kind {
        ExprKind::Parentheses(inner) => core(inner),
        ExprKind::Template(template) => match template.parts.as_slice() {
            [TemplatePart::Interpolation(inner)] => core(inner),
            _ => value,
        },
        _ => value,
    }
}

fn current_type(written: Expr) -> Expr {
    let current = match outline(&written).as_str() {
        "\"string\"" => "string",
        "\"list\"" => "list(string)",
        "\"map\"" => "map(string)",
        "list" => "list(any)",
        "map" => "map(any)",
        "set" => "set(any)",
        _ => return written,
    };
    parse_expression(current, SourceMap::new().add("test", current)).expect("a type")
}
