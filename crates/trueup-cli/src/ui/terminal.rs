//! What stands behind the streams of the process: terminals or not, how wide, what they can show.

use std::io::IsTerminal;

use super::look::Look;
use crate::settings::Environment;

/// How wide lines are where there is no terminal to ask.
const COLUMNS_DEFAULT: usize = 80;

/// Narrower than this, nothing can be laid out.
const COLUMNS_MIN: usize = 40;

/// What stands behind the streams of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// How standard output looks.
    pub out: Look,
    /// How standard error looks.
    pub err: Look,
    /// Whether someone is there to answer.
    pub interactive: bool,
    /// Whether lines may change after they were written.
    pub live: bool,
    /// Whether the width is that of a terminal, and changes with it.
    pub measured: bool,
}

impl Terminal {
    /// What the process has, as far as the environment and the user agree with it.
    pub(crate) fn detect(environment: &Environment, no_color: bool) -> Self {
        let (stdin, stdout, stderr) = (
            std::io::stdin().is_terminal(),
            std::io::stdout().is_terminal(),
            std::io::stderr().is_terminal(),
        );
        let dumb = environment.get("TERM") == Some("dumb");
        let quiet = no_color || environment.is_set("NO_COLOR") || dumb;
        let forced = environment.is_set("CLICOLOR_FORCE") && !quiet;
        let unicode = speaks_utf8(environment);
        let given = environment.get("COLUMNS").and_then(|columns| columns.parse().ok());
        let columns = given.or_else(|| measure().filter(|_| stdout || stderr)).unwrap_or(COLUMNS_DEFAULT);
        let columns = columns.max(COLUMNS_MIN);
        let look = |terminal: bool| Look { colour: forced || (terminal && !quiet), unicode, columns };
        let ci = environment.is_set("CI");
        Terminal {
            out: look(stdout),
            err: look(stderr),
            interactive: stdin && stderr && !ci,
            live: stderr && !dumb && !ci,
            measured: given.is_none() && (stdout || stderr),
        }
    }

    /// How something looks now: a terminal may have been resized.
    pub(super) fn current(self, look: Look) -> Look {
        match measure().filter(|_| self.measured) {
            Some(columns) => Look { columns: columns.max(COLUMNS_MIN), ..look },
            None => look,
        }
    }
}

fn measure() -> Option<usize> {
    crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0)
}

/// How many lines the terminal has.
pub(crate) fn rows() -> usize {
    crossterm::terminal::size().map_or(24, |(_, rows)| usize::from(rows))
}

/// By the locale, in the order in which the C library looks.
fn speaks_utf8(environment: &Environment) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| environment.get(name).filter(|locale| !locale.is_empty()));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
