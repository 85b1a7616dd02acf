//! A key that a service keeps, reached through a command of the user's.
//!
//! The command is run with `wrap` or `unwrap` as its last argument. To wrap, it reads a key in Base64 from a line of its
//! standard input, and writes what is to be kept to a line of its standard output. To unwrap, it reads what was kept and
//! writes the key. It ends with 0 if that went well; otherwise what it says on standard error is told, without what passed
//! through its standard input and output: a script that traces its steps repeats the key.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use trueup_core::{KnownSecrets, Value};
use zeroize::Zeroizing;

use super::{KeyBytes, KeyError, key_of_text};
use crate::cause::Cause;

/// What a service answers is a few hundred bytes.
const ANSWER_MAX: usize = 64 * 1024;

/// What the command makes of a key.
pub(super) async fn wrap(command: &[String], key: &str) -> Result<String, KeyError> {
    Ok(ask(command, "wrap", key).await?.to_string())
}

/// The key that the command made this of.
pub(super) async fn unwrap(command: &[String], wrapped: &str) -> Result<KeyBytes, KeyError> {
    let answer = ask(command, "unwrap", wrapped).await?;
    let why = "it did not answer with 32 bytes in Base64";
    key_of_text(&answer).ok_or_else(|| unusable(command, "unwrap", why))
}

async fn ask(command: &[String], what: &str, line: &str) -> Result<Zeroizing<String>, KeyError> {
    let failed = |error: std::io::Error| unusable(command, what, Cause::new(error));
    let (program, arguments) = command.split_first().expect("a command has a name");
    let mut child = Command::new(program)
        .args(arguments)
        .arg(what)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        let line = Zeroizing::new(format!("{line}\n"));
        // A command that reads nothing may still answer; if it should have read, its answer tells.
        let _ = input.write_all(line.as_bytes()).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    let answer = Zeroizing::new(output.stdout);
    if !output.status.success() {
        let passed = [line, &String::from_utf8_lossy(&answer)];
        let secrets = KnownSecrets::default();
        secrets.learn(&passed.map(|text| Value::from(text).into_secret()));
        let told = String::from_utf8_lossy(&output.stderr);
        let told = secrets.scrubbed(&told);
        let told = told.trim().lines().last().unwrap_or("it said nothing").to_owned();
        return Err(unusable(command, what, format!("{}: {told}", output.status)));
    }
    let text = std::str::from_utf8(&answer)
        .ok()
        .map(str::trim)
        .filter(|text| !text.is_empty() && text.len() <= ANSWER_MAX && !text.contains('\n'));
    let why = "it did not answer with one line of text";
    text.map(|text| Zeroizing::new(text.to_owned())).ok_or_else(|| unusable(command, what, why))
}

fn unusable(command: &[String], what: &str, why: impl Into<Cause>) -> KeyError {
    KeyError::Unusable { looked: format!("`{} {what}`", command.join(" ")), why: why.into() }
}
