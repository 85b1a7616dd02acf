//! How text looks: colour by meaning, and marks that have a plain form where the terminal has no UTF-8.

use anstyle::{AnsiColor, Effects, Style};

use trueup_core::escape_line;

use super::ink::genuine;

/// What a terminal, or whatever stands in its place, can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// Whether colours are wanted.
    pub colour: bool,
    /// Whether marks beyond ASCII are shown.
    pub unicode: bool,
    /// How wide a line should be.
    pub columns: usize,
    /// Whether text is shown whole, however wide it is: nobody can ask a log for more.
    pub whole: bool,
}

/// What a stretch of text means. Colour only repeats what the text says already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// Something comes to be, or went well.
    Create,
    /// Something changes, or needs attention.
    Update,
    /// Something is replaced.
    Replace,
    /// Something goes away, or went wrong.
    Delete,
    /// Not worth much attention.
    Quiet,
    /// Worth more than what is around it.
    Strong,
}

/// Marks with a plain form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// Something was done.
    Done,
    /// Something failed.
    Failed,
    /// Something was skipped.
    Skipped,
    /// Becomes.
    Becomes,
    /// Was changed from outside to.
    Became,
    /// Between facts on one line.
    Dot,
    /// More of the same.
    Ellipsis,
    /// What is chosen.
    Pointer,
    /// Replace.
    Replace,
    /// Nothing to do.
    NoOp,
}

impl Look {
    /// What tests see: 80 columns, no colour.
    #[cfg(test)]
    pub(crate) const PLAIN: Look = Look { colour: false, unicode: true, columns: 80, whole: false };

    /// Text within a line, in the colour of its meaning.
    pub(crate) fn paint(self, meaning: Meaning, text: &str) -> String {
        let text = escape_line(text);
        if !self.colour || text.is_empty() {
            return text.into_owned();
        }
        let style = match meaning {
            Meaning::Create => AnsiColor::Green.on_default(),
            Meaning::Update => AnsiColor::Yellow.on_default(),
            Meaning::Replace => AnsiColor::Magenta.on_default(),
            Meaning::Delete => AnsiColor::Red.on_default(),
            Meaning::Quiet => Style::new().effects(Effects::DIMMED),
            Meaning::Strong => Style::new().effects(Effects::BOLD),
        };
        format!("{}{text}{}", genuine(&style.to_string()), genuine(&format!("{style:#}")))
    }

    /// Text within a line, without a colour.
    pub(crate) fn plain(self, text: &str) -> String {
        escape_line(text).into_owned()
    }

    /// A mark, in the form that can be shown.
    pub(crate) fn mark(self, mark: Mark) -> &'static str {
        let (rich, plain) = match mark {
            Mark::Done => ("✓", "ok"),
            Mark::Failed => ("✗", "!!"),
            Mark::Skipped => ("⊘", "--"),
            Mark::Becomes => ("→", "->"),
            Mark::Became => ("←", "<-"),
            Mark::Dot => ("·", "|"),
            Mark::Ellipsis => ("…", "..."),
            Mark::Pointer => ("▸", ">"),
            Mark::Replace => ("±", "+/-"),
            Mark::NoOp => ("•", "*"),
        };
        if self.unicode { rich } else { plain }
    }

    /// One of the pictures of a thing that turns, by time.
    pub(crate) fn spinner(self, tick: u128) -> &'static str {
        let pictures: &[&str] = match self.unicode {
            true => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
            false => &["|", "/", "-", "\\"],
        };
        pictures[(tick % pictures.len() as u128) as usize]
    }

    /// Facts on one line.
    pub(crate) fn facts(self, facts: &[String]) -> String {
        facts.join(&format!(" {} ", self.mark(Mark::Dot)))
    }
}
