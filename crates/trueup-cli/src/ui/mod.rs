//! All output goes through here: data to standard output, everything else to standard error.
//!
//! One [`Ui`] is shared by all who have something to say. It owns the lines at the bottom of the terminal that change
//! while something runs (`live`), so that whatever else is written scrolls above them, and it puts the terminal back in
//! order however a command ends. That nobody reads any more (`| head`) is no error: what is left unsaid is dropped.

mod columns;
mod live;
mod look;
mod prompt;
mod prose;
mod terminal;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use columns::{Line, cut, hanging, padded, width, wrapped};
pub(crate) use look::{Look, Mark, Meaning};
pub(crate) use prompt::Answer;
pub(crate) use prose::prose;
pub(crate) use terminal::Terminal;
pub(crate) use terminal::rows;

use live::Live;

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
}

impl Ui {
    /// On the streams of the process.
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self::writing_to(terminal, Box::new(io::stdout()), Box::new(io::stderr()))
    }

    /// On these streams.
    pub(crate) fn writing_to(
        terminal: Terminal,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> Self {
        let streams = Mutex::new(Streams { out, err, live: Live::default() });
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
        let columns = self.err().columns;
        let mut streams = self.streams();
        streams.above_live(columns, |streams| {
            // A reader that went away has seen enough.
            let _ = writeln!(streams.out, "{text}").and_then(|()| streams.out.flush());
        });
    }

    /// The same without the end of the line, for what must not have one.
    pub(crate) fn raw(&self, text: &[u8]) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        streams.above_live(columns, |streams| {
            let _ = streams.out.write_all(text).and_then(|()| streams.out.flush());
        });
    }

    /// Says something on the side, on standard error.
    pub(crate) fn note(&self, text: &str) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        streams.above_live(columns, |streams| {
            let _ = writeln!(streams.err, "{text}");
        });
    }

    /// Several lines on the side, and then the lines at the bottom: what is drawn at once does not flicker.
    pub(crate) fn redraw(&self, above: &[String], bottom: &[String]) {
        let columns = self.err().columns;
        let mut streams = self.streams();
        let mut text = streams.live.erased(columns);
        for line in above {
            text.push_str(line);
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
