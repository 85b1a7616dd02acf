//! The lines at the bottom of the terminal that change while something runs.
//!
//! Only texts are made here; the [`Ui`](super::Ui) writes them. Lines are drawn to fit; if the terminal has become
//! narrower since, each takes as many rows as it wraps to.

use super::ink::{unpainted_line, written_line};
use super::width;

/// What stands at the bottom.
#[derive(Default)]
pub(super) struct Live {
    /// Each line as it is written, and how wide it is.
    lines: Vec<(String, usize)>,
    /// Whether they stand on the screen now.
    shown: bool,
    cursor_hidden: bool,
}

const CURSOR_HIDE: &str = "\x1b[?25l";
const CURSOR_SHOW: &str = "\x1b[?25h";
const CLEAR_BELOW: &str = "\x1b[J";

impl Live {
    /// What erases the lines.
    pub(super) fn erased(&mut self, columns: usize) -> String {
        if !std::mem::take(&mut self.shown) || self.lines.is_empty() {
            return String::new();
        }
        // To the start of the first of them: the cursor stands at the start of the line after the last.
        let rows = |(_, width): &(String, usize)| width.div_ceil(columns.max(1)).max(1);
        format!("\x1b[{}F{CLEAR_BELOW}", self.lines.iter().map(rows).sum::<usize>())
    }

    /// What draws these lines, where the others were erased.
    pub(super) fn drawn(&mut self, lines: &[String]) -> String {
        let measured = |line: &String| (written_line(line), width(&unpainted_line(line)));
        self.lines = lines.iter().map(measured).collect();
        self.again()
    }

    /// What draws the lines again.
    pub(super) fn again(&mut self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let mut text = String::new();
        if !std::mem::replace(&mut self.cursor_hidden, true) {
            text.push_str(CURSOR_HIDE);
        }
        for (line, _) in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        self.shown = true;
        text
    }

    /// What takes the lines away for good.
    pub(super) fn ended(&mut self, columns: usize) -> String {
        let mut text = self.erased(columns);
        self.lines.clear();
        if std::mem::take(&mut self.cursor_hidden) {
            text.push_str(CURSOR_SHOW);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::ink::genuine;
    use super::*;

    #[test]
    fn what_was_drawn_is_erased_once() {
        let mut live = Live::default();
        assert_eq!(live.erased(80), "");
        assert_eq!(live.drawn(&["a".to_owned(), "b".to_owned()]), "\x1b[?25la\nb\n");
        assert_eq!(live.erased(80), "\x1b[2F\x1b[J");
        assert_eq!(live.erased(80), "");
        assert_eq!(live.again(), "a\nb\n");
        assert_eq!(live.ended(80), "\x1b[2F\x1b[J\x1b[?25h");
        assert_eq!(live.ended(80), "");
    }

    #[test]
    fn a_line_that_wraps_in_a_narrower_terminal_is_erased_whole() {
        let mut live = Live::default();
        live.drawn(&[genuine("\x1b[32m12345678\x1b[0m")]);
        assert_eq!(live.erased(4), "\x1b[2F\x1b[J");
    }

    /// OUTPUT-1: whatever a line quotes, it is one line, and erased as one.
    #[test]
    fn a_line_that_quotes_others_stays_one_line() {
        let mut live = Live::default();
        assert_eq!(live.drawn(&["a\n\x1b[9A".to_owned()]), "\x1b[?25la\\n\\u{1b}[9A\n");
        assert_eq!(live.erased(80), "\x1b[1F\x1b[J");
    }
}
