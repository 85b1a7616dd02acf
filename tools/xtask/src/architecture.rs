//! Checks the tables of crates in ARCHITECTURE.md against the workspace, and that the engine's planner and executor
//! share data alone.
//!
//! A row begins with a folder: "| `crates/trueup-core` | …". Every package has one row. Within the product a package
//! depends only on rows below its own, and on nothing under `testing` or `tools`. In the engine, neither planner nor executor
//! names the other, and what both use names neither.

use std::collections::BTreeMap;
use std::path::Path;

use crate::failure::Failure;
use crate::packages::{self, Package};
use crate::repository::{self, Repository};

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The folders of crates that the product never depends on.
const BESIDE_THE_PRODUCT: [&str; 2] = ["testing", "tools"];

/// The sources of the engine.
const ENGINE: &str = "crates/trueup-engine/src";

/// Modules of the engine, and modules that they must not name.
const SEPARATE_MODULES: [(&str, &[&str]); 9] = [
    ("executor", &["planner"]),
    ("planner", &["executor"]),
    ("call", &["planner", "executor"]),
    ("draft", &["planner", "executor"]),
    ("failures", &["planner", "executor"]),
    ("inputs", &["planner", "executor"]),
    ("outputs", &["planner", "executor"]),
    ("providers", &["planner", "executor"]),
    ("sighting", &["planner", "executor"]),
];

/// Everything that is wrong with the tables and the engine's modules, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let text = repository::read(&repository.root.join(DOCUMENT))?;
    let is_crate = |folder: &str| repository.root.join(folder).join("Cargo.toml").is_file();
    let mut findings = findings(&text, &packages::of(repository)?, is_crate);
    for path in repository.files_below(ENGINE, "rs")? {
        let file = repository.relative(&path).display().to_string();
        findings.extend(forbidden_imports(&file, &repository::read(&path)?));
    }
    Ok(findings)
}

fn findings(text: &str, packages: &[Package], is_crate: impl Fn(&str) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let Some(folder) = row(line) else { continue };
        if !is_crate(folder) {
            findings.push(format!("{DOCUMENT}:{}: `{folder}` is not a crate", index + 1));
        }
        if rows.insert(folder, index).is_some() {
            findings.push(format!("{DOCUMENT}:{}: `{folder}` has two rows", index + 1));
        }
    }
    let by_name: BTreeMap<&str, &Package> = packages.iter().map(|it| (it.name.as_str(), it)).collect();
    for package in packages {
        let folder = package.folder.display().to_string();
        let Some(at) = rows.get(folder.as_str()) else {
            findings.push(format!("{DOCUMENT}: `{folder}` has no row"));
            continue;
        };
        if is_beside_the_product(&package.folder) {
            continue;
        }
        for used in package.dependencies.iter().filter_map(|name| by_name.get(name.as_str())) {
            let used_folder = used.folder.display().to_string();
            if is_beside_the_product(&used.folder) {
                findings.push(format!("`{folder}` is part of the product and depends on `{used_folder}`"));
            } else if rows.get(used_folder.as_str()).is_some_and(|below| below < at) {
                findings.push(format!(
                    "{DOCUMENT}: `{folder}` depends on `{used_folder}`, which stands above it"
                ));
            }
        }
    }
    findings
}

/// The lines of an engine source that name a module which theirs must not know.
fn forbidden_imports(file: &str, text: &str) -> Vec<String> {
    let inside = file.strip_prefix(ENGINE).map(|file| file.trim_start_matches('/')).unwrap_or_default();
    let module = inside.split(['/', '.']).next().unwrap_or_default();
    let rules = SEPARATE_MODULES.iter().filter(|(name, _)| *name == module);
    let forbidden: Vec<&str> = rules.flat_map(|(_, forbidden)| *forbidden).copied().collect();
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.flat_map(|(index, line)| {
        let named = forbidden.iter().filter(move |other| names_module(line, other));
        named.map(move |other| format!("{file}:{}: `{module}` must not use `{other}`", index + 1))
    });
    found.collect()
}

/// Whether a line of code has a path through a module of this name.
fn names_module(line: &str, module: &str) -> bool {
    line.match_indices(module).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + module.len()..]);
        let is_word = !before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        is_word && (after.starts_with("::") || before.ends_with("crate::"))
    })
}

/// The folder that a line of a table begins with.
fn row(line: &str) -> Option<&str> {
    let (folder, _) = line.strip_prefix("| `")?.split_once("` |")?;
    Some(folder)
}

fn is_beside_the_product(folder: &Path) -> bool {
    BESIDE_THE_PRODUCT.iter().any(|beside| folder.starts_with(beside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, dependencies: &[&str]) -> Package {
        let name = folder.rsplit('/').next().unwrap_or(folder).to_owned();
        let dependencies = dependencies.iter().map(ToString::to_string).collect();
        Package { name, folder: folder.into(), dependencies, has_doc_tests: None }
    }

    fn check(rows: &[&str], packages: &[Package], expected: &[&str]) {
        let text: String = rows.iter().map(|folder| format!("| `{folder}` | purpose |\n")).collect();
        let is_crate = |folder: &str| packages.iter().any(|package| package.folder == Path::new(folder));
        assert_eq!(findings(&text, packages, is_crate), expected);
    }

    #[test]
    fn crates_in_the_order_of_their_dependencies_pass() {
        let packages = [
            package("crates/top", &["bottom", "serde"]),
            package("crates/bottom", &[]),
            package("testing/kit", &["top"]),
        ];
        check(&["crates/top", "crates/bottom", "testing/kit"], &packages, &[]);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let packages = [package("crates/top", &[]), package("testing/kit", &[])];
        check(&["crates/top"], &packages, &["ARCHITECTURE.md: `testing/kit` has no row"]);
    }

    #[test]
    fn a_row_without_a_crate_or_with_a_second_row_is_found() {
        let packages = [package("crates/top", &[])];
        let expected = [
            "ARCHITECTURE.md:2: `crates/gone` is not a crate",
            "ARCHITECTURE.md:3: `crates/top` has two rows",
        ];
        check(&["crates/top", "crates/gone", "crates/top"], &packages, &expected);
    }

    #[test]
    fn a_dependency_that_points_upwards_is_found() {
        let packages = [package("crates/top", &[]), package("crates/bottom", &["top"])];
        let expected = ["ARCHITECTURE.md: `crates/bottom` depends on `crates/top`, which stands above it"];
        check(&["crates/top", "crates/bottom"], &packages, &expected);
    }

    #[test]
    fn a_product_crate_that_uses_a_test_crate_is_found() {
        let packages = [package("crates/top", &["kit"]), package("testing/kit", &[])];
        let expected = ["`crates/top` is part of the product and depends on `testing/kit`"];
        check(&["crates/top", "testing/kit"], &packages, &expected);
    }

    #[test]
    fn the_executor_uses_nothing_of_the_planner() {
        let text =
            "//! As crate::planner says.\nuse crate::planner::Trace;\nlet planner = 1;\nplanner::plan();\n";
        let file = "crates/trueup-engine/src/executor/mod.rs";
        let expected = [2, 4].map(|line| format!("{file}:{line}: `executor` must not use `planner`"));
        assert_eq!(forbidden_imports(file, text), expected);
        assert_eq!(forbidden_imports("crates/trueup-engine/src/saved/mod.rs", text), [""; 0]);
    }

    #[test]
    fn shared_data_uses_neither_planner_nor_executor() {
        let file = "crates/trueup-engine/src/failures.rs";
        let expected = [format!("{file}:1: `failures` must not use `executor`")];
        assert_eq!(forbidden_imports(file, "use crate::executor;\n"), expected);
    }
}
