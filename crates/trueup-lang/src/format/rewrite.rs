//! Spellings that are out of date, replaced.
//!
//! The tree tells where they are: [`Place`]s in the order of the text, which one pass over the tokens then replaces.
//! Whatever is not one of these places is passed on as it is.

use std::borrow::Cow;
use std::collections::VecDeque;

use trueup_core::Origin;

use super::label;
use super::token::{Token, TokenKind};
use crate::syntax::{Body, ExprKind, Item, Label, Literal};

/// The tokens of a file, with what is out of date replaced. The tree is the one of the same text.
pub(super) fn rewritten<'s>(tokens: Vec<Token<'s>>, tree: &Body) -> Vec<Token<'s>> {
    let mut places = Vec::new();
    collect(tree, Within::File, &mut places);
    if places.is_empty() {
        return tokens;
    }
    let mut result = Vec::with_capacity(tokens.len());
    let mut tokens = VecDeque::from(tokens);
    for place in places {
        take_before(&mut tokens, place.origin.start, &mut result);
        let mut replaced = Vec::new();
        take_before(&mut tokens, place.origin.end, &mut replaced);
        match place.what {
            What::Label(written) => label::push_quoted(written, &replaced, &mut result),
            What::Wrapped => result.extend(unwrapped(replaced)),
            What::Type(type_name, argument) => push_type(type_name, argument, replaced, &mut result),
        }
    }
    result.extend(tokens);
    result
}

/// Something to replace, and where it stands.
struct Place<'t> {
    origin: Origin,
    what: What<'t>,
}

enum What<'t> {
    /// The label of a block, which stands in quotes.
    Label(&'t Label),
    /// A string that may be one interpolation and nothing else.
    Wrapped,
    /// A type as old programs wrote it: its name, and what its elements are if it has some.
    Type(&'static str, Option<&'static str>),
}

/// Where a body stands, as far as its attributes have meanings that we know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    File,
    Variable,
    OtherBlock,
}

fn collect<'t>(body: &'t Body, within: Within, places: &mut Vec<Place<'t>>) {
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => {
                let value = &attribute.value;
                let what = if within == Within::Variable && attribute.name.text == "type" {
                    current_type(&value.kind).map(|(name, argument)| What::Type(name, argument))
                } else {
                    matches!(value.kind, ExprKind::Template(_)).then_some(What::Wrapped)
                };
                places.extend(what.map(|what| Place { origin: value.origin, what }));
            }
            Item::Block(block) => {
                let labels = block.labels.iter();
                places.extend(labels.map(|label| Place { origin: label.origin, what: What::Label(label) }));
                let is_variable = within == Within::File && block.name.text == "variable";
                let inner = if is_variable { Within::Variable } else { Within::OtherBlock };
                collect(&block.body, inner, places);
            }
        }
    }
}

/// What is written today for a type in quotes, whose elements were text, or for a collection of whatever it holds.
fn current_type(value: &ExprKind) -> Option<(&'static str, Option<&'static str>)> {
    match value {
        ExprKind::Literal(Literal::String(text)) => match text.as_str() {
            "string" => Some(("string", None)),
            "list" => Some(("list", Some("string"))),
            "map" => Some(("map", Some("string"))),
            _ => None,
        },
        ExprKind::Traversal(traversal) if traversal.steps.is_empty() => ["list", "map", "set"]
            .into_iter()
            .find(|name| traversal.root.text == *name)
            .map(|name| (name, Some("any"))),
        _ => None,
    }
}

fn push_type<'s>(
    type_name: &'static str,
    argument: Option<&'static str>,
    replaced: Vec<Token<'s>>,
    result: &mut Vec<Token<'s>>,
) {
    // A heredoc or an escape can spell the word too; that is no habit of anyone's, and left alone.
    let spelled: String = replaced.iter().map(|token| token.text.as_ref()).collect();
    let Some(start) = replaced.first().map(|token| token.start) else { return };
    if spelled.trim_matches('"') != type_name {
        result.extend(replaced);
        return;
    }
    let mut push = |kind, text| result.push(inserted(kind, text, start));
    push(TokenKind::Name, type_name);
    if let Some(argument) = argument {
        push(TokenKind::ParenthesisOpen, "(");
        push(TokenKind::Name, argument);
        push(TokenKind::ParenthesisClose, ")");
    }
}

/// The code in a string that is one interpolation and nothing else; any other value as it is.
fn unwrapped(mut value: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut wraps = vec![false; value.len()];
    let mut core = 0..value.len();
    while is_one_interpolation(&value[core.clone()]) {
        for at in [core.start, core.start + 1, core.end - 2, core.end - 1] {
            wraps[at] = true;
        }
        core = core.start + 2..core.end - 2;
        // What is inside may be wrapped again, between comments.
        while core.len() > 1 && is_remark(&value[core.start]) {
            core.start += 1;
        }
        while core.len() > 1 && is_remark(&value[core.end - 1]) {
            core.end -= 1;
        }
    }
    if !wraps.contains(&true) {
        return value;
    }
    let mut wraps = wraps.into_iter();
    value.retain(|_| wraps.next() == Some(false));
    let newlines_before = value.iter().take_while(|token| token.kind == TokenKind::Newline).count();
    value.drain(..newlines_before);
    while value.pop_if(|last| last.kind == TokenKind::Newline).is_some() {}
    if goes_on_over_lines(&value) && !is_one_parenthesis(&value) {
        let start = value.first().map_or(0, |first| first.start);
        value.insert(0, inserted(TokenKind::ParenthesisOpen, "(", start));
        value.push(inserted(TokenKind::ParenthesisClose, ")", start));
    }
    value
}

fn is_remark(token: &Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Comment | TokenKind::Newline)
}

fn is_one_interpolation(value: &[Token<'_>]) -> bool {
    let [quote, open, inside @ .., close, end_quote] = value else { return false };
    let is_framed = quote.kind == TokenKind::QuoteOpen
        && open.kind == TokenKind::SequenceOpen
        && open.text.starts_with('$')
        && close.kind == TokenKind::SequenceClose
        && end_quote.kind == TokenKind::QuoteClose;
    // A heredoc ends with its line, and what comes after the string may stand on that.
    let last = inside.iter().rev().find(|token| !is_remark(token));
    if !is_framed || last.is_none_or(|last| last.kind == TokenKind::HeredocClose) {
        return false;
    }
    let mut strings_open = 0_usize;
    inside.iter().all(|token| {
        match token.kind {
            TokenKind::QuoteOpen => strings_open += 1,
            TokenKind::QuoteClose => strings_open = strings_open.saturating_sub(1),
            // A second interpolation beside the first one, or one in a heredoc.
            TokenKind::SequenceOpen | TokenKind::SequenceClose if strings_open == 0 => return false,
            _ => {}
        }
        true
    })
}

/// Whether a new line, which in the braces was space, would end the value. Within brackets it would not; parentheses
/// around those are a habit of Terraform's that we share; it does without them where only comments end the lines.
fn goes_on_over_lines(value: &[Token<'_>]) -> bool {
    let mut depth = 0;
    value.iter().any(|token| {
        depth += token.kind.depth_change();
        token.kind == TokenKind::Newline || depth == 0 && token.ends_line()
    })
}

/// Whether the first token is a parenthesis that the last one closes.
fn is_one_parenthesis(value: &[Token<'_>]) -> bool {
    let [first, inside @ .., last] = value else { return false };
    let mut depth = 0;
    let stays_inside = inside.iter().all(|token| {
        depth += token.kind.depth_change();
        depth >= 0
    });
    first.kind == TokenKind::ParenthesisOpen && last.kind == TokenKind::ParenthesisClose && stays_inside
}

/// Moves the tokens that begin before this place.
fn take_before<'s>(tokens: &mut VecDeque<Token<'s>>, place: u32, to: &mut Vec<Token<'s>>) {
    while let Some(token) = tokens.pop_front_if(|token| token.start < place as usize) {
        to.push(token);
    }
}

pub(super) fn inserted<'s>(kind: TokenKind, text: impl Into<Cow<'s, str>>, start: usize) -> Token<'s> {
    Token { kind, text: text.into(), start, spaces: 0 }
}
