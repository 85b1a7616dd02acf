// src/main.rs
mod file;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use trueup::NativeProvider;

fn provider() -> NativeProvider {
    NativeProvider::new("my").crud::<file::File>("file")
}

fn main() -> ExitCode {
    trueup::lang::cli("notes", env!("CARGO_PKG_VERSION"), |registry| registry.with(provider()))
}
