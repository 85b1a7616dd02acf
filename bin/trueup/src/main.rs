//! The program `trueup`: what `trueup-composition` puts together, with nothing added.

use std::process::ExitCode;

/// Plans are many small pieces, on two threads: a tenth of their time, with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    trueup_composition::main("trueup", env!("CARGO_PKG_VERSION"), |registry| registry)
}
