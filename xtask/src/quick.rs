//! `cargo xtask quick`: format, lint and tests of the packages that differ from main. No server is started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::phases;
use crate::repository::Repository;
use crate::workspace;

/// Tests of whole processes, of which each takes seconds. They are left to `cargo xtask ci`.
// Matched anywhere in a name: `aws::` alone would skip `laws::` too.
const LEFT_TO_CI: [&str; 7] =
    ["aws::examples::", "aws::shop::", "kills::", "plugins::", "referee::", "teams::", "contest::"];

pub(crate) fn run(repository: &Repository) -> Result<(), Failure> {
    phases::format(repository)?;
    phases::texts(repository)?;
    let changed = changed_files(&repository.root)?;
    let packages = packages_of(&changed, &package_folders(repository)?);
    if packages.is_empty() {
        println!("no package differs from main: {} changed files", changed.len());
        return Ok(());
    }
    let names: Vec<String> = packages.into_iter().collect();
    println!("packages that differ from main: {}", names.join(", "));
    let mut tests = workspace::tests_of(repository, &names)?;
    // The runner passes these on to each binary, as `cargo test` does.
    tests.arg("--").args(LEFT_TO_CI.iter().flat_map(|left| ["--skip", left]));
    tests.env(trueup_test_servers::LEFT_OUT, "postgres,ministack,moto");
    cargo::run(&mut tests)?;
    println!(
        "left to `cargo xtask ci`: other packages, documentation tests, servers, and {}",
        LEFT_TO_CI.join(" ")
    );
    Ok(())
}

/// Files that differ from where this branch left main, uncommitted and untracked ones too.
fn changed_files(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let main = ["origin/main", "main"]
        .into_iter()
        .find(|name| git(root, &["rev-parse", "-q", "--verify", name]).is_ok());
    let main = main.ok_or_else(|| Failure::new("there is no branch `main` to compare with"))?;
    let base = git(root, &["merge-base", "HEAD", main])?;
    let changed = git(root, &["diff", "--name-only", base.trim()])?;
    let untracked = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    Ok(changed.lines().chain(untracked.lines()).map(PathBuf::from).collect())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let failed = |why: &str| Failure::new(format!("`git {}` failed: {why}", arguments.join(" ")));
    let output = Command::new("git").current_dir(root).args(arguments).output();
    let output = output.map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Name and folder of each package of the workspace, the folder relative to the root.
fn package_folders(repository: &Repository) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut metadata = cargo(&repository.root);
    metadata.args(["metadata", "--no-deps", "--format-version=1"]);
    let answer: serde_json::Value = serde_json::from_slice(&cargo::capture(&mut metadata)?)
        .map_err(|error| Failure::new(format!("cannot read cargo's metadata: {error}")))?;
    let packages = answer["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((package["name"].as_str()?.to_owned(), repository.relative(manifest.parent()?)))
    };
    Ok(packages.iter().filter_map(folder).collect())
}

/// The packages that these files belong to.
fn packages_of(files: &[PathBuf], folders: &[(String, PathBuf)]) -> BTreeSet<String> {
    let owner = |file: &PathBuf| {
        let owners = folders.iter().filter(|(_, folder)| file.starts_with(folder));
        owners.max_by_key(|(_, folder)| folder.components().count()).map(|(name, _)| name.clone())
    };
    files.iter().filter_map(owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let folders = [("outer", "a"), ("inner", "a/b"), ("other", "ab")];
        let folders = folders.map(|(name, folder)| (name.to_owned(), PathBuf::from(folder)));
        let packages =
            |file: &str| packages_of(&[PathBuf::from(file)], &folders).into_iter().collect::<Vec<_>>();
        assert_eq!(packages("a/src/lib.rs"), ["outer"]);
        assert_eq!(packages("a/b/src/lib.rs"), ["inner"]);
        assert_eq!(packages("ab/Cargo.toml"), ["other"]);
        assert!(packages("docs/tutorial.md").is_empty());
    }
}
