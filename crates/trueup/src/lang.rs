//! The program `trueup` with resource types of your own: stack files (`*.tf`, `*.tu.hcl`) use them beside the built-in
//! ones and Terraform's, without a plugin.

use std::process::ExitCode;

use crate::Registry;

/// Runs the command line for the stack files of a folder; what `main` returns. The function adds providers of its own to
/// those that `trueup` has.
///
/// ```no_run
/// # use trueup::NativeProvider;
/// # fn my_provider() -> NativeProvider { NativeProvider::new("my") }
/// fn main() -> std::process::ExitCode {
///     trueup::lang::cli("mytool", env!("CARGO_PKG_VERSION"), |registry| registry.with(my_provider()))
/// }
/// ```
///
/// Nothing may come before this in `main`: the program starts itself once more to guard the plugins and commands that it
/// starts.
pub fn cli(
    name: &'static str,
    version: &'static str,
    extend: impl Fn(Registry) -> Registry + Send + Sync + 'static,
) -> ExitCode {
    trueup_composition::main(name, version, extend)
}
