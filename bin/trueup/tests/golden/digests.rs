//! The digests of golden files: a changed, missing or additional file fails a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::golden::{FOLDERS, Golden, home};

/// The file with the digests.
const DIGESTS: &str = "digests";

/// The folder that may change with what commands say.
const EXPECTED: &str = "expected/";

/// The digest of each golden file, a line each.
pub(crate) fn digests(golden: &Golden) -> String {
    let mut text = String::new();
    for (name, bytes) in golden.files("") {
        if name != DIGESTS && !name.starts_with(EXPECTED) {
            writeln!(text, "{} {name}", blake3::hash(&bytes).to_hex()).unwrap();
        }
    }
    text
}

/// Writes the digests of a new folder.
pub(crate) fn write(golden: &Golden) {
    golden.write(DIGESTS, digests(golden));
}

/// STATE-7, PLANFILE-4
#[test]
fn golden_files_are_as_they_were_written() {
    for golden in Golden::all() {
        let (expected, found) = (golden.text(DIGESTS), digests(&golden));
        let by_name = |text: &str| -> BTreeMap<String, String> {
            text.lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(sum, name)| (name.into(), sum.into()))
                .collect()
        };
        let (expected, found) = (by_name(&expected), by_name(&found));
        let differing =
            expected.keys().chain(found.keys()).filter(|name| expected.get(*name) != found.get(*name));
        let differing: BTreeSet<&String> = differing.collect();
        let folder = golden.path("");
        assert!(
            differing.is_empty(),
            "golden files never change: bring back {differing:?} in {}",
            folder.display()
        );
    }
}

#[test]
fn every_folder_of_golden_files_is_tested() {
    let folders = std::fs::read_dir(home()).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    // The programs of the next folder.
    names.retain(|name| name != "stacks");
    names.sort();
    assert_eq!(names, FOLDERS);
}
