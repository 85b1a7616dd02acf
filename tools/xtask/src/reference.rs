//! The generated pages of the book, and the schemas beside them: `cargo xtask reference` writes them, `cargo xtask docs` compares them with what the
//! program would write now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::failure::Failure;
use crate::phases;
use crate::repository::{self, Repository};

/// Holds nothing but generated pages.
const FOLDER: &str = "docs/reference";

/// Writes the pages, and removes those that are no longer written.
pub(crate) fn write(repository: &Repository) -> Result<(), Failure> {
    let folder = repository.root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| Failure::new(format!("cannot clear {FOLDER}: {error}")))?;
    }
    phases::build_program(repository)?;
    generate(repository, &folder)
}

/// The pages that are out of date, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let fresh = repository.target_dir().join("reference");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)
            .map_err(|error| Failure::new(format!("cannot clear {}: {error}", fresh.display())))?;
    }
    generate(repository, &fresh)?;
    let kept = repository.root.join(FOLDER);
    compare(&kept, &fresh)
}

fn generate(repository: &Repository, folder: &Path) -> Result<(), Failure> {
    cargo::run(Command::new(repository.built("trueup")).arg("reference").arg(folder))
}

fn compare(kept: &Path, fresh: &Path) -> Result<Vec<String>, Failure> {
    let (kept_pages, fresh_pages) = (pages(kept)?, pages(fresh)?);
    let mut findings = Vec::new();
    for page in kept_pages.union(&fresh_pages) {
        let wrong = match (kept_pages.contains(page), fresh_pages.contains(page)) {
            (true, true) => {
                let same = repository::read(&kept.join(page))? == repository::read(&fresh.join(page))?;
                if same { continue } else { "is out of date" }
            }
            (true, false) => "is no longer written",
            (false, _) => "is missing",
        };
        findings.push(format!("{FOLDER}/{} {wrong}: run `cargo xtask reference`", page.display()));
    }
    Ok(findings)
}

/// The pages and schemas of a folder, relative to it.
fn pages(folder: &Path) -> Result<BTreeSet<PathBuf>, Failure> {
    let (pages, schemas) = (repository::files_in(folder, "md")?, repository::files_in(folder, "json")?);
    let found = pages.iter().chain(&schemas);
    Ok(found.map(|path| path.strip_prefix(folder).unwrap_or(path).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test needs some folder")]
    fn stale_missing_and_left_over_pages_are_told() {
        let base = std::env::temp_dir().join(format!("trueup-xtask-reference-{}", std::process::id()));
        let (kept, fresh) = (base.join("kept"), base.join("fresh"));
        for (folder, page, text) in [
            (&kept, "same.md", "a"),
            (&fresh, "same.md", "a"),
            (&kept, "stale.md", "a"),
            (&fresh, "stale.md", "b"),
            (&kept, "old.md", ""),
            (&fresh, "inner/new.md", ""),
            (&fresh, "json/new.json", ""),
        ] {
            let path = folder.join(page);
            fs::create_dir_all(path.parent().unwrap_or(folder)).expect("a folder can be made");
            fs::write(path, text).expect("a page can be written");
        }
        let findings = compare(&kept, &fresh).expect("both can be read");
        fs::remove_dir_all(&base).expect("what was made can be removed");
        let run = "run `cargo xtask reference`";
        assert_eq!(
            findings,
            [
                format!("docs/reference/inner/new.md is missing: {run}"),
                format!("docs/reference/json/new.json is missing: {run}"),
                format!("docs/reference/old.md is no longer written: {run}"),
                format!("docs/reference/stale.md is out of date: {run}"),
            ]
        );
    }
}
