//! Columns: the `=` of lines that follow each other stand below each other, and so do the comments behind them.

use std::ops::Range;

use super::line::Line;
use super::token::Token;

/// Sets the space before what is assigned and before comments. Everything else has its space already.
pub(super) fn align(tokens: &mut [Token<'_>], lines: &[Line]) {
    // First the values, because they move the comments.
    align_cells(tokens, lines, |line| Cell { before: line.lead.clone(), own: line.assigned.clone() });
    align_cells(tokens, lines, |line| Cell {
        before: line.lead.start..line.assigned.end,
        own: line.comment.clone(),
    });
}

/// A cell that is moved, and what stands before it on its line.
struct Cell {
    before: Range<usize>,
    own: Range<usize>,
}

fn align_cells(tokens: &mut [Token<'_>], lines: &[Line], cell_of: impl Fn(&Line) -> Cell) {
    let mut run: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        let cell = cell_of(line);
        if cell.own.is_empty() {
            close_run(tokens, &mut run);
        } else {
            let columns = tokens[cell.before].iter().map(Token::columns).sum();
            run.push((cell.own.start, columns));
        }
    }
    close_run(tokens, &mut run);
}

/// Puts the cells of a run, each with the columns before it, behind the widest of these, and empties the run.
fn close_run(tokens: &mut [Token<'_>], run: &mut Vec<(usize, usize)>) {
    let widest = run.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
    for (first, columns) in run.drain(..) {
        tokens[first].spaces = widest - columns + 1;
    }
}
