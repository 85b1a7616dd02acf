//! Panic messages: the location of a panic, but not its text, which may hold secrets (SECRET-5).

use std::backtrace::Backtrace;
use std::io::Write;
use std::panic::PanicHookInfo;

use trueup_core::escape;

use crate::log_file::LoggedSecrets;
use crate::settings::Environment;

/// Makes panics show no more than that. `RUST_BACKTRACE` shows their text too, without the secrets of this run.
pub(crate) fn show_only_locations(environment: &Environment, secrets: LoggedSecrets) {
    let wants_text = environment.exact("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0");
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        let place = panic.location().map_or("an unknown place".to_owned(), ToString::to_string);
        tracing::error!(%place, "panic");
        let text = wants_text.then(|| format!("{panic}\n{}\n", Backtrace::force_capture()));
        let shown = match text.map(|text| secrets.try_scrubbed(&text)) {
            // It may quote anything (OUTPUT-1).
            Some(Some(text)) => escape(&text).into_owned(),
            Some(None) => format!("error: internal error at {place}\n"),
            None => format!(
                "error: internal error at {place}\n  help: the journal holds everything that was started; run the \
                 command again\n  help: RUST_BACKTRACE=1 shows the panic message, without secrets\n"
            ),
        };
        // Not through `Ui`, which may be what panicked. If standard error is closed, nobody can be told.
        let _ = std::io::stderr().write_all(shown.as_bytes());
    }));
}
