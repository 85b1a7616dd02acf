//! The expressions of earlier sessions, in a file of the user's: one to a line, as a JSON text, the newest last.
//!
//! What may hold a secret is not written: a line that begins with a space, that has a word in it such as `password` or
//! `sensitive`, or that quotes a secret which a provider of the stack knows. The file is for its owner alone. It only saves
//! typing, so nothing that goes wrong with it is an error.

use std::borrow::Cow;
use std::path::PathBuf;

use trueup_core::escape_line;
use trueup_files::Accept;

use crate::log_file::LoggedSecrets;
use crate::whole_file::{self, Readers};

/// How many expressions are kept.
pub(super) const KEPT_MAX: usize = 1_000;

const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Longer ones are not worth keeping.
const LINE_BYTES_MAX: usize = 4_096;

/// What tells that a line may hold a secret.
const TELLTALES: [&str; 8] =
    ["sensitive", "secret", "passw", "passphrase", "token", "credential", "bcrypt", "private_key"];

/// The file, and the secrets that must not be in it.
pub(super) struct Remembered {
    file: Option<PathBuf>,
    secrets: LoggedSecrets,
}

impl Remembered {
    /// In this file; nowhere, if there is no place for it.
    pub(super) fn in_file(file: Option<PathBuf>, secrets: LoggedSecrets) -> Self {
        Remembered { file, secrets }
    }

    /// All expressions, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(file) = &self.file else { return Vec::new() };
        let text = trueup_files::read_text(file, Accept::Regular, FILE_BYTES_MAX).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<String>(line).ok());
        // The file may have been written by others, and is shown.
        lines.filter(|line| line.lines().all(|line| matches!(escape_line(line), Cow::Borrowed(_)))).collect()
    }

    /// Adds an expression, unless it may hold a secret. Whether it may be shown again in this session too.
    pub(super) fn add(&self, line: &str) -> bool {
        if !self.is_harmless(line) {
            return false;
        }
        // Other sessions write too.
        let mut lines = self.lines();
        if lines.last().is_none_or(|last| last != line) {
            lines.push(line.to_owned());
        }
        let kept = &lines[lines.len().saturating_sub(KEPT_MAX)..];
        let text: String =
            kept.iter().map(|line| format!("{}\n", serde_json::Value::from(line.as_str()))).collect();
        if let Some(file) = &self.file {
            let _ = file.parent().map_or(Ok(()), make_private_folder);
            let _ = whole_file::replace(file, text.as_bytes(), Readers::Owner);
        }
        true
    }

    fn is_harmless(&self, line: &str) -> bool {
        let lower = line.to_lowercase();
        !line.starts_with(' ')
            && line.len() <= LINE_BYTES_MAX
            && !TELLTALES.iter().any(|telltale| lower.contains(telltale))
            && self.secrets.try_scrubbed(line).is_some_and(|scrubbed| scrubbed == line)
    }
}

fn make_private_folder(folder: &std::path::Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SECRET-15.
    #[test]
    fn what_may_hold_a_secret_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/trueup/console_history");
        let secrets = LoggedSecrets::default();
        let known = trueup_core::KnownSecrets::default();
        known.learn(&[trueup_core::Value::from("hunter2-hunter2").into_secret()]);
        secrets.add(&known);
        let remembered = Remembered::in_file(Some(file.clone()), secrets);
        for line in ["sensitive(\"x\")", " upper(\"x\")", "var.db_Password", "md5(\"hunter2-hunter2\")"] {
            assert!(!remembered.add(line), "{line}");
        }
        assert!(!file.exists());
        for line in ["upper(\"é\")", "[1,\n 2]", "[1,\n 2]"] {
            assert!(remembered.add(line), "{line}");
        }
        assert_eq!(remembered.lines(), ["upper(\"é\")", "[1,\n 2]"]);
        #[cfg(unix)]
        {
            let mode = |path: &std::path::Path| {
                std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions())
                    & 0o777
            };
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        }
        std::fs::write(&file, "\"x\"\n\"y\"\n".repeat(KEPT_MAX)).unwrap();
        remembered.add("last");
        let lines = remembered.lines();
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (KEPT_MAX, Some("last")));
        std::fs::write(&file, "garbage\n\"\\u001b[2J\"\n\"fine\"\n").unwrap();
        assert_eq!(remembered.lines(), ["fine"], "what others wrote acts on no terminal");
    }
}
