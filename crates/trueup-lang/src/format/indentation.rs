//! How far each line is indented.
//!
//! A line that opens more brackets than it closes moves what follows one step to the right, however many they are, and
//! the lines that close them move it back. So `f([{` costs one step and not three.

use super::line::{Line, depth_change};
use super::token::{Token, TokenKind};

const STEP: usize = 2;

/// Sets the space before the first token of each line.
pub(super) fn indent(tokens: &mut [Token<'_>], lines: &[Line]) {
    let mut steps = Steps::default();
    for line in lines {
        let first = line.lead.start;
        if tokens[first].kind == TokenKind::Newline {
            tokens[first].spaces = 0;
            continue;
        }
        let change =
            depth_change(counted(&tokens[line.lead.clone()])) + depth_change(&tokens[line.assigned.clone()]);
        // A line that opens brackets stands left of what is in them, one that closes them does too.
        if change < 0 {
            steps.close(change.unsigned_abs());
        }
        tokens[first].spaces = STEP * steps.open.len();
        if change > 0 {
            steps.open.push(change.unsigned_abs());
        }
    }
}

/// What is inside a heredoc says nothing of the code around it.
fn counted<'t, 's>(lead: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let heredoc = lead.iter().position(|token| token.kind == TokenKind::HeredocOpen);
    &lead[..heredoc.unwrap_or(lead.len())]
}

/// The steps to the right that are in force.
#[derive(Default)]
struct Steps {
    /// For each step, how many brackets must be closed to take it back.
    open: Vec<usize>,
}

impl Steps {
    fn close(&mut self, mut brackets: usize) {
        while brackets > 0
            && let Some(last) = self.open.last_mut()
        {
            let closed = brackets.min(*last);
            brackets -= closed;
            *last -= closed;
            if *last == 0 {
                self.open.pop();
            }
        }
    }
}
