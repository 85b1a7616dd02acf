//! The provider in a process of its own.

mod agreement;
mod engine;
mod process;
mod terraform;
mod trouble;

/// The same driver as for the fixture, which tests the other end of the protocol.
#[path = "../../../terraform-fixture/tests/client/terraform.rs"]
mod driver;

/// The provider as a plugin.
fn binary() -> std::path::PathBuf {
    env!("CARGO_BIN_EXE_terraform-provider-notes").into()
}
