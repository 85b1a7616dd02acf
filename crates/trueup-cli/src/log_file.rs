//! The log file: one line for each event, whatever it quotes, without secrets. That it cannot be written ends nothing, and
//! is told.
//!
//! Libraries log what they send and receive, at level `trace` every byte of it. Each event is scrubbed of the secrets that
//! the providers of this call know by then, and of passwords in addresses.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use trueup_core::{KnownSecrets, escape_line, mask_credentials};

use crate::failure::{CommandError, CommandResult};
use crate::settings::Environment;
use crate::ui::{Ui, disarmed, shown_path};

/// The secrets of all that a call of the command line uses. A clone is the same list.
#[derive(Clone, Default)]
pub(crate) struct LoggedSecrets(Arc<Mutex<Vec<KnownSecrets>>>);

impl LoggedSecrets {
    /// Keeps these out of the log from now on.
    pub(crate) fn add(&self, secrets: &KnownSecrets) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(secrets.clone());
    }

    /// A text without them, for whoever must not wait; `None` if they are in use, perhaps by whoever panics.
    pub(crate) fn try_scrubbed(&self, text: &str) -> Option<String> {
        let known = self.0.try_lock().ok()?;
        known
            .iter()
            .try_fold(text.to_owned(), |text, secrets| Some(secrets.try_scrubbed(&text)?.into_owned()))
    }

    fn scrubbed(&self, event: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let event = mask_credentials(event).into_owned();
        known.iter().fold(event, |event, secrets| secrets.scrubbed(&event).into_owned())
    }
}

/// A log that is written.
pub(crate) struct LogFile {
    path: PathBuf,
    failure: Arc<OnceLock<io::Error>>,
}

impl LogFile {
    /// Begins to log to a file, behind what is there.
    pub(crate) fn begin(
        path: &Path,
        environment: &Environment,
        secrets: LoggedSecrets,
    ) -> CommandResult<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        // What providers and plugins log is for whoever runs them.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| CommandError::file("write", path, &error))?;
        let wanted = environment.get("TRUEUP_LOG").unwrap_or("info");
        let filter = tracing_subscriber::EnvFilter::try_new(wanted).map_err(|error| {
            CommandError::new(
                format!("TRUEUP_LOG is `{wanted}`: {error}"),
                "set it to error, warn, info, debug or trace",
            )
        })?;
        let failure: Arc<OnceLock<io::Error>> = Arc::default();
        let writer = Mutex::new(Lines { out: file, failure: failure.clone(), secrets });
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_env_filter(filter);
        // Another one is set only where tests share a process.
        let _ = tracing::subscriber::set_global_default(subscriber.with_writer(writer).finish());
        Ok(LogFile { path: path.to_owned(), failure })
    }

    /// Where the file lies, whatever links lead there.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        std::fs::canonicalize(&self.path).ok()
    }

    /// Tells that the log is not whole, if it is not.
    pub(crate) fn warn(&self, ui: &Ui) {
        if let Some(why) = self.failure.get() {
            ui.note(&format!("warning: the log in {} is not complete: {why}", shown_path(&self.path)));
        }
    }
}

/// Writes each event, which comes as a whole, as one line without anything that acts on a display (OUTPUT-1). After a
/// failure nothing is written: the subscriber would complain of every event, and panic where nobody hears it.
struct Lines<W> {
    out: W,
    failure: Arc<OnceLock<io::Error>>,
    secrets: LoggedSecrets,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        if self.failure.get().is_none() {
            let text = self.secrets.scrubbed(&String::from_utf8_lossy(event));
            let line = text.strip_suffix('\n').unwrap_or(&text);
            if let Err(error) = self.out.write_all(format!("{}\n", disarmed(&escape_line(line))).as_bytes()) {
                let _ = self.failure.set(error);
            }
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUTPUT-1: nobody outside writes lines of the log, or colours them.
    #[test]
    fn an_event_is_one_line() {
        let mut log = Lines { out: Vec::new(), failure: Arc::default(), secrets: LoggedSecrets::default() };
        log.write_all("INFO said: a\nERROR forged \x1b[31m\u{202e}\n".as_bytes()).unwrap();
        log.write_all(b"INFO next\n").unwrap();
        assert_eq!(
            String::from_utf8(log.out).unwrap(),
            "INFO said: a\\nERROR forged \\u{1b}[31m\\u{202e}\nINFO next\n"
        );
    }

    /// SECRET-12.
    #[test]
    fn passwords_in_addresses_are_not_logged() {
        let mut log = Lines { out: Vec::new(), failure: Arc::default(), secrets: LoggedSecrets::default() };
        log.write_all(b"DEBUG connecting to http://ada:hunter22pw@proxy:8080\n").unwrap();
        assert_eq!(String::from_utf8(log.out).unwrap(), "DEBUG connecting to http://ada:…@proxy:8080\n");
    }
}
