//! `cargo xtask quick`: format, lint and tests of the packages that differ from main. No server is started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cargo;
use crate::failure::Failure;
use crate::packages::{self, Package};
use crate::phases;
use crate::repository::{Repository, git};
use crate::workspace;

/// Tests of whole processes, of which each takes seconds. They are left to `cargo xtask ci`.
// Matched anywhere in a name: `aws::` alone would skip `laws::` too.
const LEFT_TO_CI: [&str; 7] =
    ["aws::examples::", "aws::shop::", "kills::", "plugins::", "referee::", "teams::", "contest::"];

pub(crate) fn run(repository: &Repository) -> Result<(), Failure> {
    phases::format(repository)?;
    phases::texts(repository)?;
    let changed = changed_files(&repository.root)?;
    let packages = packages_of(&changed, &packages::of(repository)?);
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

/// The packages that these files belong to.
fn packages_of(files: &[PathBuf], packages: &[Package]) -> BTreeSet<String> {
    let owner = |file: &PathBuf| {
        let owners = packages.iter().filter(|package| file.starts_with(&package.folder));
        owners.max_by_key(|package| package.folder.components().count()).map(|package| package.name.clone())
    };
    files.iter().filter_map(owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_innermost_package() {
        let folders = [("outer", "a"), ("inner", "a/b"), ("other", "ab")];
        let folders = folders.map(|(name, folder)| Package {
            name: name.to_owned(),
            folder: PathBuf::from(folder),
            dependencies: Vec::new(),
            has_doc_tests: None,
        });
        let packages =
            |file: &str| packages_of(&[PathBuf::from(file)], &folders).into_iter().collect::<Vec<_>>();
        assert_eq!(packages("a/src/lib.rs"), ["outer"]);
        assert_eq!(packages("a/b/src/lib.rs"), ["inner"]);
        assert_eq!(packages("ab/Cargo.toml"), ["other"]);
        assert!(packages("docs/tutorial.md").is_empty());
    }
}
