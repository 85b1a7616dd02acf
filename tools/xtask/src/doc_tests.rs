//! Checks that a library declares whether its documentation has tests.
//!
//! For each library with `doctest` on, `cargo test --doc` lets rustdoc read the whole crate, which takes a second or two
//! even where there is no example. So crates without examples have `doctest = false`, and none with examples may have it.

use std::path::Path;

use crate::failure::Failure;
use crate::packages;
use crate::repository::{self, Repository};

/// Everything that is declared wrong, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let mut findings = Vec::new();
    for package in packages::of(repository)? {
        let Some(is_tested) = package.has_doc_tests else { continue };
        let has_examples = has_examples(&repository.root.join(&package.folder).join("src"))?;
        findings.extend(finding(&package.folder, is_tested, has_examples));
    }
    Ok(findings)
}

fn finding(folder: &Path, is_tested: bool, has_examples: bool) -> Option<String> {
    let advice = match (is_tested, has_examples) {
        (true, false) => "has no example in its documentation: set `doctest = false` under `[lib]`",
        (false, true) => "has examples in its documentation: remove `doctest = false`",
        _ => return None,
    };
    Some(format!("{}/Cargo.toml: this crate {advice}", folder.display()))
}

fn has_examples(sources: &Path) -> Result<bool, Failure> {
    for path in repository::files_in(sources, "rs")? {
        if has_example(&repository::read(&path)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether doc comments hold code that rustdoc compiles. A document that is included counts as such.
fn has_example(source: &str) -> bool {
    let mut in_code = false;
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#![doc = include_str!") || line.starts_with("#[doc = include_str!") {
            return true;
        }
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = comment.and_then(|text| text.trim_start().strip_prefix("```")) else { continue };
        in_code = !in_code;
        if in_code && is_rust(language) {
            return true;
        }
    }
    false
}

/// Whether rustdoc takes a code block with this info string for Rust.
fn is_rust(language: &str) -> bool {
    const ATTRIBUTES: [&str; 5] = ["", "rust", "no_run", "should_panic", "compile_fail"];
    language.trim().split(',').all(|word| ATTRIBUTES.contains(&word.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_that_rustdoc_compiles_is_an_example() {
        assert!(has_example("/// Adds.\n///\n/// ```\n/// add(1, 2);\n/// ```\nfn add() {}"));
        assert!(has_example("//! ```rust,no_run\n//! main();\n//! ```"));
        assert!(has_example("#![doc = include_str!(\"../README.md\")]"));
        assert!(!has_example("/// ```text\n/// a → b\n/// ```\nfn a() {}"));
        assert!(!has_example("// ```\nlet text = \"```\";"));
    }

    #[test]
    fn a_crate_says_whether_it_has_examples() {
        let found = |is_tested, has_examples| finding(Path::new("crates/a"), is_tested, has_examples);
        assert_eq!(found(true, true), None);
        assert_eq!(found(false, false), None);
        assert!(found(true, false).is_some_and(|text| text.contains("set `doctest = false`")));
        assert!(found(false, true).is_some_and(|text| text.contains("remove `doctest = false`")));
    }
}
