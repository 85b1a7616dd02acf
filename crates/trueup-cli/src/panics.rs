//! What a panic tells: where it was, but not what it says, which may hold secrets (SECRET-5).

use std::backtrace::Backtrace;
use std::io::Write;
use std::panic::PanicHookInfo;

use trueup_core::escape;

/// Makes panics tell no more than that, unless the user asks for more by `RUST_BACKTRACE`.
pub(crate) fn tell_only_where() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
        std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
            let told = format!("{panic}\n{}", Backtrace::force_capture());
            // As below. What it says may quote anything (OUTPUT-1).
            let _ = writeln!(std::io::stderr(), "{}", escape(&told));
        }));
        return;
    }
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let place = panic.location().map_or("an unknown place".to_owned(), ToString::to_string);
        tracing::error!(%place, "panic");
        // Not through `Ui`: it may be what panicked.
        let told = format!(
            "error: something that must not happen did, at {place}\n  help: what was begun is journalled; run the \
             command again\n  help: RUST_BACKTRACE=1 shows what it says, which may hold secrets\n"
        );
        // Nobody is left to tell that nobody listens.
        let _ = std::io::stderr().write_all(told.as_bytes());
    }));
}
