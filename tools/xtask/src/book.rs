//! Checks that the book's table of contents, `docs/SUMMARY.md`, names every page below `docs`: a page that it does not
//! name is not built. That the pages it names exist is for `links` to check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::links;
use crate::repository::{self, Repository};

const CONTENTS: &str = "docs/SUMMARY.md";

/// The pages that are not in the book, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let contents = repository.root.join(CONTENTS);
    let named: BTreeSet<PathBuf> = links::targets(&repository::read(&contents)?).map(PathBuf::from).collect();
    let folder = repository.root.join("docs");
    let pages = repository.files_below("docs", "md")?;
    let missing =
        pages.iter().filter(|page| **page != contents).filter(|page| !is_named(page, &folder, &named));
    Ok(missing
        .map(|page| format!("{CONTENTS} does not name {}", repository.relative(page).display()))
        .collect())
}

fn is_named(page: &Path, folder: &Path, named: &BTreeSet<PathBuf>) -> bool {
    page.strip_prefix(folder).is_ok_and(|page| named.contains(page))
}
