//! All output goes through here: data to standard output, everything else to standard error.
//!
//! One [`Ui`] is shared by all who have something to say. It owns the lines at the bottom of the terminal that change
//! while something runs (`live`), so that whatever else is written scrolls above them, and it puts the terminal back in
//! order however a command ends.
//!
//! Whatever is written is escaped on its way out, apart from our own colours (`ink`). Only [`Ui::raw`] writes bytes as they
//! are.
//!
//! That nobody reads any more (`| head`) is no error: what is left unsaid is dropped. Any other failure of standard output
//! is kept for the end of the command ([`Ui::undelivered`]).

mod columns;
mod ink;
mod live;
mod look;
mod prompt;
mod prose;
mod stream;
mod terminal;
mod workflow;

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trueup_core::escape_json;

pub(crate) use columns::{Line, cut, hanging, padded, shown_path, width, wrapped};
pub(crate) use ink::genuine;
pub(crate) use look::{Look, Mark, Meaning};
pub(crate) use prompt::Answer;
pub(crate) use prose::prose;
pub(crate) use terminal::Terminal;
pub(crate) use terminal::rows;
pub(crate) use workflow::disarmed;

use ink::{written, written_line};
use live::Live;
use stream::{standard_error, standard_output};
use workflow::disarmed_json;

/// What people are told, and asked.
#[derive(Clone)]
pub(crate) struct Ui {
    shared: Arc<Shared>,
}

struct Shared {
    streams: Mutex<Streams>,
    out: Look,
    err: Look,
    terminal: Terminal,
}

struct Streams {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    live: Live,
    /// Why something could not be written to standard output. Nothing is written after it: there would be a gap.
    out_failure: Option<io::Error>,
}

impl Ui {
    /// On the streams of the process.
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self::writing_to(terminal, standard_output(), standard_error())
    }

    /// On these streams.
    pub(crate) fn writing_to(
        terminal: Terminal,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> Self {
        let streams = Mutex::new(Streams { out, err, live: Live::default(), out_failure: None });
        Ui { shared: Arc::new(Shared { streams, out: terminal.out, err: terminal.err, terminal }) }
    }

    /// How data looks.
    pub(crate) fn out(&self) -> Look {
        self.shared.terminal.current(self.shared.out)
    }

    /// How everything else looks.
    pub(crate) fn err(&self) -> Look {
        self.shared.terminal.current(self.shared.err)
    }

    /// Whether someone is there to answer.
    pub(crate) fn is_interactive(&self) -> bool {
        self.shared.terminal.interactive
    }

    /// Whether lines may change after they were written.
    pub(crate) fn is_live(&self) -> bool {
        self.shared.terminal.live
    }

    /// Says what was asked for, on standard output.
    pub(crate) fn data(&self, text: &str) {
        self.deliver(format!("{}\n", written(text)).as_bytes());
    }

    /// Says what was asked for as JSON: what would act on a terminal is spelled so that it reads the same (OUTPUT-2).
    pub(crate) fn json(&self, told: &dyn fmt::Display) {
        self.deliver(format!("{}\n", disarmed_json(&escape_json(&told.to_string()))).as_bytes());
    }

    /// Bytes as they are, without the end of a line: for what was asked for bare.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        self.deliver(bytes);
    }

    fn deliver(&self, bytes: &[u8]) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        streams.above_live(columns, |streams| {
            if streams.out_failure.is_none() {
                let delivered = streams.out.write_all(bytes).and_then(|()| streams.out.flush());
                streams.out_failure = delivered.err();
            }
        });
    }

    /// Why standard output lacks something that someone would have read (OUTPUT-4).
    pub(crate) fn undelivered(&self) -> Option<String> {
        let streams = self.streams();
        // A reader that went away has seen enough.
        let failure = streams.out_failure.as_ref().filter(|it| it.kind() != io::ErrorKind::BrokenPipe);
        failure.map(ToString::to_string)
    }

    /// Says something on the side, on standard error.
    pub(crate) fn note(&self, text: &str) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        streams.above_live(columns, |streams| {
            let _ = streams.err.write_all(format!("{}\n", written(text)).as_bytes());
        });
    }

    /// Says something in sentences on the side. A terminal would break them within words.
    pub(crate) fn prose(&self, text: &str) {
        match self.is_live() {
            true => self.note(&wrapped(text, self.err().columns).join("\n")),
            false => self.note(text),
        }
    }

    /// Several lines on the side, and then the lines at the bottom: what is drawn at once does not flicker.
    pub(crate) fn redraw(&self, above: &[String], bottom: &[String]) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        let mut text = streams.live.erased(columns);
        for line in above {
            text.push_str(&written_line(line));
            text.push('\n');
        }
        text.push_str(&streams.live.drawn(bottom));
        let _ = streams.err.write_all(text.as_bytes()).and_then(|()| streams.err.flush());
    }

    /// Takes the lines at the bottom away and shows the cursor again.
    pub(crate) fn settle(&self) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        let text = streams.live.ended(columns);
        let _ = streams.err.write_all(text.as_bytes()).and_then(|()| streams.err.flush());
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        // Whoever panicked while writing left at worst half a line.
        self.shared.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn above_live(&mut self, columns: usize, write: impl FnOnce(&mut Self)) {
        let erase = self.live.erased(columns);
        let _ = self.err.write_all(erase.as_bytes()).and_then(|()| self.err.flush());
        write(self);
        let again = self.live.again();
        let _ = self.err.write_all(again.as_bytes()).and_then(|()| self.err.flush());
    }
}
