//! The plugin's log: JSON lines on standard error, which Terraform shows with `TF_LOG`.

use std::io::Write;

/// Logs a message of the level *info*.
pub(crate) fn info(of: &str, message: &str) {
    let line = serde_json::json!({ "@level": "info", "@module": of, "@message": message });
    say(&line.to_string());
}

/// Writes a line to standard error. There is nowhere to report a failure to write it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
