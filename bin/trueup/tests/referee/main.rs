//! Terraform as referee: both programs go through the same configurations with the same providers, and planned actions,
//! reasons for replacements, resulting values and outputs must come out alike.
//!
//! A case is a file of `cases`: configurations that a folder has one after another. Each begins with `=== title`; further
//! files of it with `--- path`; `!!! object attribute json` changes an object of our own provider by hand before it is
//! planned. `fixture` stands for our own provider, with which a case runs in both versions of the protocol.
//!
//! Without `terraform` on the path nothing is compared, and the test says so. More cases and providers come from folders
//! that `TRUEUP_REFEREE_CASES` and `TRUEUP_REFEREE_PROVIDERS` name; `cargo xtask referee` sets them.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod aws;
mod case;
mod folder;
mod match_up;
mod providers;

use std::path::Path;

use case::Case;

/// One test for each case, so that they run at the same time.
macro_rules! cases {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let case = Case::read(&own_cases().join(concat!(stringify!($name), ".case")));
            case.versions().into_iter().for_each(|version| match_up::run(&case, Some(version)));
        }
    )*};
}

cases! { ephemeral legacy lifecycles modules moves nests opens references things trees }

fn own_cases() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee/cases")
}

#[test]
fn every_case_is_run() {
    let files = std::fs::read_dir(own_cases()).unwrap().flatten();
    let mut names: Vec<String> = files.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let known = [
        "ephemeral",
        "legacy",
        "lifecycles",
        "modules",
        "moves",
        "nests",
        "opens",
        "references",
        "things",
        "trees",
    ];
    assert_eq!(names, known.map(|name| format!("{name}.case")));
}

/// Cases of others, with providers of others.
#[test]
fn given_cases() {
    for folder in std::env::var_os("TRUEUP_REFEREE_CASES").iter().flat_map(std::env::split_paths) {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")).flatten()
        {
            if entry.path().extension().is_some_and(|it| it == "case") {
                match_up::run(&Case::read(&entry.path()), None);
            }
        }
    }
}
