//! The user's configuration file: what holds wherever they work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trueup_files::{Accept, ReadError};
use trueup_state::sealing::KeyKind;

use super::profile::UserProfile;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserSettings {
    /// How many operations run at a time.
    pub parallelism: Option<usize>,
    /// Whether colours are used where they can be.
    pub color: Option<bool>,
    /// Files and folders of policies for all plans.
    #[serde(default)]
    pub policies: Vec<PathBuf>,
    /// Where state is kept if the stack does not say.
    pub state: Option<UserState>,
    /// Where the key is that seals secrets.
    pub key: Option<UserKey>,
    /// What `--profile` can name.
    #[serde(default)]
    pub profile: BTreeMap<String, UserProfile>,
}

/// Where the key is that seals secrets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserKey {
    /// The kind that is taken where there is none yet.
    pub kind: Option<KeyKind>,
    /// The key file.
    pub file: Option<PathBuf>,
    /// The command that keeps keys: a program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// The key in AWS KMS: its id, ARN or alias.
    pub kms: Option<String>,
    /// The key in the transit engine of Vault or OpenBao: `KEY` or `MOUNT/KEY`.
    pub vault: Option<String>,
}

/// Where state is kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct UserState {
    /// The kind of store.
    pub kind: String,
    /// What that kind takes.
    #[serde(flatten)]
    pub settings: toml::Table,
}

/// What is wrong with the file, and where. Neither the line nor a value in it is quoted, as the error itself would: it may
/// be the password of a store.
fn unquoted(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.chars().rev().take_while(|char| *char != '\n').count();
    let mut message = error.message().trim_end().to_owned();
    let value = match (message.find('"'), message.rfind('"')) {
        (Some(first), Some(last)) => Some(first..=last),
        _ => message.strip_prefix("unknown variant `").and_then(|rest| {
            let start = message.len() - rest.len();
            Some(start..=start + rest.find("`, expected")?.checked_sub(1)?)
        }),
    };
    if let Some(value) = value {
        message.replace_range(value, "…");
    }
    format!("line {line}, column {column}: {message}")
}

/// More than anyone writes by hand.
const SETTINGS_BYTES_MAX: u64 = 4 * 1024 * 1024;

impl UserSettings {
    /// What the file at a path says; nothing, if there is none. Fails with what to tell the user.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self::default()) };
        match trueup_files::read_text(path, Accept::Stream, SETTINGS_BYTES_MAX) {
            Ok(text) => {
                let read: Result<Self, _> = toml::from_str(&text);
                let mut settings =
                    read.map_err(|error| format!("{}: {}", path.display(), unquoted(&error, &text)))?;
                let beside = path.parent().unwrap_or(Path::new(""));
                settings.policies.iter_mut().for_each(|policy| *policy = beside.join(&policy));
                Ok(settings)
            }
            Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SECRET-13
    #[test]
    fn nothing_of_a_configuration_file_is_quoted() {
        let rows = [
            ("state.url = hunter2", "line 1"),
            ("[state]\nkind = \"pg\"\nurl = \"hunter2", "line 3"),
            ("[state]\nurl = \"hunter2\"", "missing field `kind`"),
            ("parallelism = \"hunter2\"", "line 1, column 15: invalid type: string …, expected usize"),
            ("[key]\nkind = \"hunter2\"", "line 2, column 8: unknown variant `…`, expected one of"),
            ("[key]\nkind = \"hunter`, expected 2\"", "unknown variant"),
            ("[key]\ncommand = \"hun\\\"ter2\"", "expected a sequence"),
            ("[profile.x]\nenvironment = \"hunter2\"", "line 2"),
            ("hunter2", "line 1"),
            ("= hunter2", "line 1"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for (text, expected) in rows {
            std::fs::write(&path, text).unwrap();
            let told = UserSettings::read(Some(&path)).unwrap_err();
            assert!(told.contains(expected), "{text}: {told}");
            assert!(!told.contains("hunter") && !told.contains("ter2"), "{text}: {told}");
        }
    }
}
