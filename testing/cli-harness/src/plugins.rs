//! Plugins for tests of binaries that start them: our own, and those of others that lie on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of our own Terraform providers, beside a binary. They belong to another package, so a test that runs by
/// itself builds them first.
pub fn fixture_providers(beside: &str) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(beside).parent().unwrap().to_owned();
        if trueup_test_servers::is_built() {
            return folder;
        }
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

/// How deep folders are searched for providers.
const DEPTH_MAX: usize = 8;

/// The folder of the binary of a Terraform provider of others, below folders that are named or below those where they
/// usually lie.
pub fn provider_folder(kind: &str, named: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let home = trueup_test_servers::environment::home().map(|home| home.join(".terraform.d"));
    let usual = ["/usr/share/terraform/plugins", "/usr/local/share", "/opt"].map(PathBuf::from);
    named.into_iter().chain(home).chain(usual).find_map(|root| below(&root, kind))
}

fn below(root: &Path, kind: &str) -> Option<PathBuf> {
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let rest = name.strip_prefix("terraform-provider-").and_then(|name| name.strip_prefix(kind));
            if path.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
                && !name.ends_with(".zip")
            {
                return Some(folder);
            }
        }
    }
    None
}
