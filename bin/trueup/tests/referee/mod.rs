//! Terraform as referee: both programs go through the same configurations with the same providers, and planned actions,
//! reasons for replacements, resulting values and outputs must come out alike.
//!
//! A case is a file of `cases`: configurations that a folder has one after another. Each begins with `=== title`; further
//! files of it with `--- path`; `!!! object attribute json` changes an object of our own provider by hand before it is
//! planned. Files that a configuration does not mention are as they were, but for `main.tf`. `fixture` stands for our own
//! provider, with which a case runs in both versions of the protocol. The cases of `aws` have a cloud for each program.
//!
//! Without `terraform` on the path nothing is compared, and the test says so. More cases and providers come from folders
//! that `TRUEUP_REFEREE_CASES` and `TRUEUP_REFEREE_PROVIDERS` name; `cargo xtask referee` sets them.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod aws;
mod case;
mod coverage;
mod drawn;
mod folder;
mod match_up;
mod providers;

use std::path::{Path, PathBuf};

use case::Case;
use coverage::Seen;
use trueup_test_servers::environment::variable;

/// One test for each case, so that they run at the same time.
macro_rules! cases {
    ($($name:ident)*) => {
        /// The names of all cases with our own provider.
        const CASES: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                let case = Case::read(&own_cases().join(concat!(stringify!($name), ".case"))).shortened();
                let seen = case.versions_to_run().into_iter().map(|version| match_up::run(&case, Some(version)));
                if let Some(seen) = seen.collect::<Option<Vec<_>>>() {
                    seen.into_iter().fold(Seen::default(), Seen::and).tell(&case);
                }
            }
        )*
    };
}

cases! { ephemeral imports legacy lifecycles modules moves nests opens reads references things trees }

fn own_cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee/cases")
}

/// The files of cases in a folder.
fn cases_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")).flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "case"));
    paths.sort();
    paths
}

#[test]
fn every_case_is_run() {
    for (folder, names) in [(own_cases(), CASES), (aws::folder(), aws::CASES)] {
        let files = cases_in(&folder);
        let found: Vec<_> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, names);
    }
}

/// Cases of others, with providers of others.
#[test]
fn given_cases() {
    let given = variable("TRUEUP_REFEREE_CASES").filter(|folders| !folders.is_empty());
    for folder in given.iter().flat_map(std::env::split_paths) {
        for path in cases_in(&folder) {
            if let Some(seen) = match_up::run(&Case::read(&path), None) {
                eprint!("as Terraform does it, in {}:\n{seen}", path.display());
            }
        }
    }
}
