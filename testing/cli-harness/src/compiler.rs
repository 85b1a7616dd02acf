//! The compiler, run on single files against the library `trueup` that the tests were built with: nothing is built again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A call of the compiler, in a folder, that finds the library as `trueup`. Several builds of it may lie beside the tests:
/// it is the last that has these modules and items, such as `lang` or `conformance::Kit`.
pub fn rustc(folder: &Path, needed: &[&str]) -> Command {
    let library = library(needed);
    let mut command = compiler();
    command.current_dir(folder).arg("--edition=2024");
    command.arg("--extern").arg(format!("trueup={}", library.display()));
    command.arg(format!("-Ldependency={}", library.parent().unwrap().display()));
    command
}

#[expect(clippy::disallowed_methods, reason = "cargo says which compiler it uses")]
fn compiler() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The library beside the test's binary, with all it depends on.
fn library(needed: &[&str]) -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let built = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libtrueup-") && name.ends_with(".rlib")
    });
    let mut built: Vec<PathBuf> = built.collect();
    built.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let found = built.into_iter().rev().find(|library| has(library, needed));
    found.unwrap_or_else(|| panic!("no library with {needed:?} lies beside its tests"))
}

/// Whether a program that names these items compiles with a library.
fn has(library: &Path, needed: &[&str]) -> bool {
    if needed.is_empty() {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let named = needed.iter().enumerate();
    let names: String = named.map(|(at, name)| format!("pub use trueup::{name} as item_{at};\n")).collect();
    fs::write(folder.path().join("probe.rs"), names).unwrap();
    let mut command = compiler();
    command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "probe.rs"]);
    command.current_dir(&folder).arg("--extern").arg(format!("trueup={}", library.display()));
    command.arg(format!("-Ldependency={}", library.parent().unwrap().display()));
    command.output().unwrap().status.success()
}
