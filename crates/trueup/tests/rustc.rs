//! The compiler, run on single files against the library that these tests were built with: nothing is built again.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A call of the compiler, in the folder of this package, that finds the library as `trueup`.
#[expect(clippy::disallowed_methods, reason = "cargo says which compiler it uses")]
pub(crate) fn rustc() -> Command {
    let library = library();
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--edition=2024");
    command.arg("--extern").arg(format!("trueup={}", library.display()));
    command.arg(format!("-Ldependency={}", library.parent().unwrap().display()));
    command
}

/// The library as cargo built it last: beside this test's binary, with all it depends on.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let built = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtrueup-") && name.ends_with(".rlib")
    });
    let age = |path: &PathBuf| fs::metadata(path as &Path).unwrap().modified().unwrap();
    built.max_by_key(age).expect("the library lies beside its tests")
}
