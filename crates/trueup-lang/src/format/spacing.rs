//! The space between the tokens of a line: one or none.

use super::line::Line;
use super::token::{Token, TokenKind};

/// Sets the space before each token but the first of a line and of a comment cell.
pub(super) fn space(tokens: &mut [Token<'_>], lines: &[Line]) {
    for line in lines {
        space_cell(&mut tokens[line.lead.clone()]);
        if let Some(assign) = tokens[line.assigned.clone()].first_mut() {
            assign.spaces = 1;
        }
        space_cell(&mut tokens[line.assigned.clone()]);
    }
}

fn space_cell(cell: &mut [Token<'_>]) {
    for at in 1..cell.len() {
        let before = at.checked_sub(2).map(|before| cell[before].kind);
        let is_apart = is_apart(before, &cell[at - 1], &cell[at]) || would_be_one_number(cell, at);
        cell[at].spaces = usize::from(is_apart);
    }
}

/// Whether there is space between two tokens. What stands before them in their cell has a say too.
fn is_apart(before: Option<TokenKind>, left: &Token<'_>, right: &Token<'_>) -> bool {
    use TokenKind::{
        Assign, BraceClose, BraceOpen, BracketOpen, Colon, Comma, Dot, DoubleColon, Ellipsis, HeredocClose,
        HeredocOpen, Minus, Name, Newline, Not, Number, Operator, ParenthesisOpen, Question, QuoteClose,
        QuoteOpen, SequenceClose, SequenceOpen, Text,
    };
    match (left.kind, right.kind) {
        (_, Newline) => false,
        // A call, which keywords before a parenthesis look like too.
        (Name, ParenthesisOpen | DoubleColon) | (DoubleColon, Name) => false,
        (Dot, _) | (_, Dot | Comma | Ellipsis) => false,
        (Comma, _) => true,
        // Space beside text would be a part of it.
        (Text | QuoteOpen | HeredocOpen, _) | (_, Text | QuoteClose | HeredocClose) => false,
        // `[for x in [1, 2] : x]`: here the bracket is no index.
        (Name, _) if left.text == "in" && before == Some(Name) => true,
        (Name | Number, BracketOpen) => false,
        (closing, BracketOpen) if closing.depth_change() < 0 => false,
        (Not, _) => false,
        // A minus behind something that cannot be an operand is a sign.
        (Minus, _) => !matches!(
            before,
            None | Some(
                ParenthesisOpen
                    | BraceOpen
                    | BracketOpen
                    | Assign
                    | Colon
                    | Comma
                    | Question
                    | Operator
                    | Minus
                    | Not
            )
        ),
        (BraceOpen, BraceClose) => false,
        (BraceOpen, _) | (_, BraceClose) => true,
        // `${ { a = 1 } }`: three braces in a row are hard to count.
        (SequenceOpen, BraceOpen) | (BraceClose, SequenceClose) => true,
        (SequenceClose, SequenceOpen) => false,
        (opening, _) if opening.depth_change() > 0 => false,
        (_, closing) if closing.depth_change() < 0 => false,
        _ => true,
    }
}

/// `1 .0` takes the first element of a number, which is nonsense but not 1.0. In `a.1 .0` nothing can go wrong.
fn would_be_one_number(cell: &[Token<'_>], dot: usize) -> bool {
    let kind_at = |at: usize| cell.get(at).map(|token| token.kind);
    let [left, own, right] = [kind_at(dot - 1), kind_at(dot), kind_at(dot + 1)];
    if left != Some(TokenKind::Number) || own != Some(TokenKind::Dot) || right != Some(TokenKind::Number) {
        return false;
    }
    let mut before = cell[..dot - 1].iter().rev().map(|token| token.kind);
    before.find(|kind| *kind != TokenKind::Comment) != Some(TokenKind::Dot)
}
