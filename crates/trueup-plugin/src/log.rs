//! The log of a plugin: lines of JSON on standard error, which Terraform sorts by level and shows with `TF_LOG`.

use std::io::Write;

/// Something worth knowing for whoever reads logs.
pub(crate) fn info(of: &str, message: &str) {
    let line = serde_json::json!({ "@level": "info", "@module": of, "@message": message });
    say(&line.to_string());
}

/// A line on standard error. If nobody reads it, nobody can be told.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
