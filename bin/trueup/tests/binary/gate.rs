//! Commands that wait until a test lets them go on, so that a run can be watched in its middle.

use std::io::Write;

use trueup_cli_harness::Folder;

/// Makes a pipe: whoever reads it waits until something is written, and the other way round.
pub(crate) fn pipe(folder: &Folder, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap();
    assert!(made.success());
}

/// Lets whoever reads the pipe `gate` go on; waits until there is someone.
pub(crate) fn open(folder: &Folder) {
    let mut gate = std::fs::OpenOptions::new().write(true).open(folder.path().join("gate")).unwrap();
    gate.write_all(b"{}\n").unwrap();
}
