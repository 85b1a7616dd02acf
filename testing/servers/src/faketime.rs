//! Another time for one process: libfaketime stands between it and the clocks of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The name by which tests leave it out.
pub const NAME: &str = "faketime";

/// The library, if it is installed.
pub fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let folders = folders.chain([PathBuf::from("/usr/lib"), PathBuf::from("/usr/local/lib")]);
    folders.map(|folder| folder.join("faketime/libfaketimeMT.so.1")).find(|path| Path::exists(path))
}

/// Lets a command see another time: `+1h` is an hour ahead, `+0 x60` goes sixty times as fast from now on.
///
/// # Panics
/// If the library is missing.
pub fn fake(command: &mut Command, time: &str) {
    let library = library().expect("the test command says when libfaketime is missing");
    command.env("LD_PRELOAD", library).env("FAKETIME", time).env("FAKETIME_NO_CACHE", "1");
}
