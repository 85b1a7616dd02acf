//! The lines of a text and their cells.
//!
//! A line may be longer than what an editor calls one: a heredoc belongs to the line that it begins on, and so does a
//! comment between `/*` and `*/`.

use std::ops::Range;

use super::token::{Token, TokenKind};

/// A line, as the ranges of its cells. They follow each other without a gap.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// What the line begins with: all of it, if it has no other cells.
    pub(super) lead: Range<usize>,
    /// From the `=` on, if the whole value stands on this line; else empty.
    pub(super) assigned: Range<usize>,
    /// The comment at the end of a line that holds something else too; else empty.
    pub(super) comment: Range<usize>,
}

/// All lines. The token of the text's end is in none of them.
pub(super) fn lines(tokens: &[Token<'_>]) -> Vec<Line> {
    let end = tokens.iter().rposition(|token| token.kind == TokenKind::End).unwrap_or(tokens.len());
    let mut rest = 0..end;
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let length = tokens[rest.clone()].iter().position(Token::ends_line).map_or(rest.len(), |at| at + 1);
        lines.push(cells(tokens, rest.start..rest.start + length));
        rest.start += length;
    }
    lines
}

fn cells(tokens: &[Token<'_>], line: Range<usize>) -> Line {
    let has_comment = line.len() > 1 && tokens[line.end - 1].kind == TokenKind::Comment;
    let comment = line.end - usize::from(has_comment)..line.end;
    let assigned = assignment(tokens, line.start..comment.start).unwrap_or(comment.start);
    Line { lead: line.start..assigned, assigned: assigned..comment.start, comment }
}

/// Where the `=` is, if what follows it closes all that it opens, and nothing else.
fn assignment(tokens: &[Token<'_>], line: Range<usize>) -> Option<usize> {
    let behind_first = line.start + 1..line.end;
    let at = behind_first.into_iter().find(|at| tokens[*at].kind == TokenKind::Assign)?;
    (depth_change(&tokens[at..line.end]) == 0).then_some(at)
}

/// By how many levels the text after these tokens is deeper in brackets.
pub(super) fn depth_change(tokens: &[Token<'_>]) -> isize {
    tokens.iter().map(|token| token.kind.depth_change()).sum()
}
