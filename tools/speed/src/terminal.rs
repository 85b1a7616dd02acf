//! A terminal for a command, which nobody looks at.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::failure::Failure;

/// Runs a command in a terminal to its end; what was written there.
pub(crate) fn run(
    words: &[OsString],
    folder: &Path,
    environment: Vec<(String, OsString)>,
) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("no terminal could be had: {error}"));
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).map_err(|error| failed(&error))?;
    let mut command = CommandBuilder::from_argv(words.to_vec());
    command.cwd(folder);
    command.env_clear();
    for (name, value) in environment {
        command.env(name, value);
    }
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).map_err(|error| failed(&error))?;
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().map_err(|error| failed(&error))?;
    let drawn = std::thread::spawn(move || {
        let (mut bytes, mut drawn) = ([0; 65_536], Vec::new());
        // The end of the terminal is an error to its reader.
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            drawn.extend_from_slice(&bytes[..count]);
        }
        drawn
    });
    child.wait().map_err(|error| failed(&error))?;
    drop(pair.master);
    drawn.join().map_err(|_| Failure::new("the reader of the terminal broke down"))
}
