//! The plugins of our own, for tests of binaries that start plugins.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of our own Terraform providers, which lie beside a binary and are built if they are not there: they are of
/// another package.
pub fn fixture_providers(beside: &str) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(beside).parent().unwrap().to_owned();
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--quiet", "--package", "trueup-terraform-fixture", "--bins"]);
        if folder.ends_with("release") {
            command.arg("--release");
        }
        command.arg("--target-dir").arg(folder.parent().unwrap());
        assert!(command.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
        folder
    })
}
