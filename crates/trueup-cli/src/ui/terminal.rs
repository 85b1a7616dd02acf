//! What stands behind the streams of the process: terminals or not, how wide, what they can show.

use std::io::IsTerminal;

use rustix::termios::tcgetwinsize;

use super::look::Look;
use crate::settings::Environment;

/// How wide lines are where there is no terminal to ask.
const COLUMNS_DEFAULT: usize = 80;

/// How many lines there are where there is no terminal to ask.
const ROWS_DEFAULT: usize = 24;

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
        let columns = given.or_else(|| size().map(|(columns, _)| columns)).unwrap_or(COLUMNS_DEFAULT);
        let columns = columns.max(COLUMNS_MIN);
        let look = |terminal: bool| Look {
            colour: forced || (terminal && !quiet),
            unicode,
            columns,
            whole: !terminal,
        };
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
        let measured = if self.measured { size() } else { None };
        match measured {
            Some((columns, _)) => Look { columns: columns.max(COLUMNS_MIN), ..look },
            None => look,
        }
    }
}

/// The columns and lines of the terminal behind the streams, if there is one. Asked for before every line, so it must
/// cost next to nothing: crossterm would ask other programs where there is no terminal.
fn size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(std::io::stderr()).or_else(|_| tcgetwinsize(std::io::stdout())).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some((columns, rows))
}

/// How many lines the terminal has.
pub(crate) fn rows() -> usize {
    size().map_or(ROWS_DEFAULT, |(_, rows)| rows)
}

/// By the locale, in the order in which the C library looks.
fn speaks_utf8(environment: &Environment) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| environment.get(name).filter(|locale| !locale.is_empty()));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
