//! The line editor, on a thread of its own: whoever waits for a line also hears of signals, and leaves the terminal as it
//! was when it goes without one.

use std::path::PathBuf;
use std::sync::mpsc;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::config::{BellStyle, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use tokio::sync::oneshot;

use super::complete::{Words, is_open};
use super::remembered::{KEPT_MAX, Remembered};
use crate::log_file::LoggedSecrets;

const PROMPT: &str = "> ";

/// What was typed.
#[derive(Debug)]
pub(crate) enum Typed {
    /// An expression, which may have several lines.
    Line(String),
    /// Ctrl-C: what was begun is given up.
    Abandoned,
    /// Ctrl-D, or the terminal went away.
    End,
}

/// The lines that a person types.
pub(crate) struct Lines {
    asking: mpsc::Sender<oneshot::Sender<Typed>>,
    terminal: Option<Termios>,
}

impl Lines {
    /// Edits with these words to complete and this file to remember lines in.
    pub(crate) fn edited(
        words: Words,
        file: Option<PathBuf>,
        secrets: LoggedSecrets,
    ) -> Result<Self, String> {
        let remembered = Remembered::in_file(file, secrets);
        let mut editor = editor(words).map_err(|error| error.to_string())?;
        for line in remembered.lines() {
            let _ = editor.add_history_entry(line);
        }
        let (asking, asked) = mpsc::channel::<oneshot::Sender<Typed>>();
        let read = move || {
            while let Ok(answer) = asked.recv() {
                let typed = typed(&mut editor, &remembered);
                let _ = answer.send(typed);
            }
        };
        let thread = std::thread::Builder::new().name("trueup-console".to_owned()).spawn(read);
        thread.map_err(|error| error.to_string())?;
        Ok(Lines { asking, terminal: tcgetattr(std::io::stdin()).ok() })
    }

    /// The next one.
    pub(crate) async fn next(&self) -> Typed {
        let (answer, answered) = oneshot::channel();
        match self.asking.send(answer) {
            Ok(()) => answered.await.unwrap_or(Typed::End),
            Err(_) => Typed::End,
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // The editor may still wait for a key, with the terminal in raw mode.
        if let Some(terminal) = &self.terminal {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, terminal);
        }
    }
}

type ConsoleEditor = Editor<Assistance, MemHistory>;

fn editor(words: Words) -> rustyline::Result<ConsoleEditor> {
    let config = Config::builder()
        .max_history_size(KEPT_MAX)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .bell_style(BellStyle::None)
        // Whoever is killed cannot switch it off again.
        .bracketed_paste(false)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(Assistance(words)));
    Ok(editor)
}

fn typed(editor: &mut ConsoleEditor, remembered: &Remembered) -> Typed {
    match editor.readline(PROMPT) {
        Ok(line) => {
            if !line.trim().is_empty() && remembered.add(&line) {
                let _ = editor.add_history_entry(line.as_str());
            }
            Typed::Line(line)
        }
        Err(ReadlineError::Interrupted) => Typed::Abandoned,
        Err(_) => Typed::End,
    }
}

/// What helps while a line is typed.
struct Assistance(Words);

impl Completer for Assistance {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.complete(line, pos))
    }
}

impl Validator for Assistance {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(match is_open(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Assistance {
    type Hint = String;
}

impl Highlighter for Assistance {}

impl Helper for Assistance {}
