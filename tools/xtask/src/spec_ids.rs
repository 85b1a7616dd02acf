//! Checks the specification both ways: each cited id, such as PLAN-3, is defined once in `docs/spec`, and each defined id
//! is cited by a test.
//!
//! A line `- **PLAN-3** …` defines an id. Citations are searched in all Rust sources and documents. Only words whose
//! first part is a section of the specification count, so that UTF-8 and the like are no citations. A test cites the ids in
//! its doc comment; those anywhere else prove nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::failure::Failure;
use crate::repository::{self, Repository};

/// The folders whose sources may cite ids, besides the documents. `tools` is not among them: the tests of this module
/// cite ids that don't exist.
const SOURCE_FOLDERS: [&str; 6] = ["bin", "crates", "providers", "stores", "testing", "examples"];

/// Everything that is wrong with ids, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let mut specification = Specification::default();
    for path in repository.files_below("docs/spec", "md")? {
        specification.add(&repository.relative(&path).display().to_string(), &repository::read(&path)?);
    }

    let mut citing: Vec<PathBuf> = repository.documents()?;
    for folder in SOURCE_FOLDERS {
        citing.extend(repository.files_below(folder, "rs")?);
    }
    println!("ids: {}; files that may cite them: {}", specification.places.len(), citing.len());
    let mut findings = std::mem::take(&mut specification.findings);
    let mut tested = BTreeSet::new();
    for path in citing {
        let (file, text) = (repository.relative(&path).display().to_string(), repository::read(&path)?);
        findings.extend(specification.unknown_citations(&file, &text));
        tested.extend(test_citations(&text).map(ToOwned::to_owned));
    }
    findings.extend(specification.untested(&tested));
    Ok(findings)
}

/// The ids that are defined, and what was wrong with the definitions.
#[derive(Default)]
struct Specification {
    /// Each id, and where it is defined.
    places: BTreeMap<String, String>,
    sections: BTreeSet<String>,
    findings: Vec<String>,
}

impl Specification {
    /// Takes up the definitions of one document.
    fn add(&mut self, file: &str, markdown: &str) {
        for (index, line) in markdown.lines().enumerate() {
            let Some((id, section)) = definition(line) else { continue };
            let place = format!("{file}:{}", index + 1);
            if let Some(first) = self.places.get(id) {
                self.findings.push(format!("{place}: {id} is already defined at {first}"));
                continue;
            }
            self.sections.insert(section.to_owned());
            self.places.insert(id.to_owned(), place);
        }
    }

    /// The citations in a text that lead nowhere.
    fn unknown_citations(&self, file: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        for (index, line) in text.lines().enumerate() {
            for word in words(line) {
                let is_citation = section_of(word).is_some_and(|section| self.sections.contains(section));
                if is_citation && !self.places.contains_key(word) {
                    findings.push(format!("{file}:{}: {word} is not in docs/spec", index + 1));
                }
            }
        }
        findings
    }

    /// The ids that no test cites.
    fn untested(&self, tested: &BTreeSet<String>) -> Vec<String> {
        let untested = self.places.iter().filter(|(id, _)| !tested.contains(*id));
        untested.map(|(id, place)| format!("{place}: no test cites {id}")).collect()
    }
}

/// The words in the doc comments of tests.
fn test_citations(source: &str) -> impl Iterator<Item = &str> {
    let mut documented: Vec<&str> = Vec::new();
    let mut cited = Vec::new();
    for line in source.lines().map(str::trim_start) {
        if let Some(comment) = line.strip_prefix("///") {
            documented.push(comment);
        } else if is_test_attribute(line) {
            cited.append(&mut documented);
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            documented.clear();
        }
    }
    cited.into_iter().flat_map(words)
}

/// Whether a line makes a test of the function below: `#[test]`, `#[tokio::test(…)]`.
fn is_test_attribute(line: &str) -> bool {
    let Some((name, _)) = line.strip_prefix("#[").and_then(|rest| rest.split_once([']', '('])) else {
        return false;
    };
    name.rsplit("::").next() == Some("test")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
}

/// The id that a line defines, and its section.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (id, _) = line.strip_prefix("- **")?.split_once("**")?;
    Some((id, section_of(id)?))
}

/// The section of a word that has the form of an id: `PLAN` of `PLAN-3`.
fn section_of(word: &str) -> Option<&str> {
    let (section, number) = word.split_once('-')?;
    let is_section = !section.is_empty() && section.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_section && is_number).then_some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKDOWN: &str =
        "## PLAN — classification\n\n- **PLAN-1** Empty state.\n- **PLAN-2** As PLAN-1, but\n";

    fn specification(markdown: &str) -> Specification {
        let mut specification = Specification::default();
        specification.add("spec.md", markdown);
        specification
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(specification(MARKDOWN).unknown_citations("lib.rs", text), expected, "in {text:?}");
    }

    #[test]
    fn citations_of_defined_ids_pass_in_any_company() {
        check("/// PLAN-1, PLAN-2.\n// (PLAN-2's) `PLAN-1`: see PLAN-1/PLAN-2", &[]);
    }

    #[test]
    fn citations_of_ids_that_do_not_exist_are_found_with_their_line() {
        check("fn a() {}\n/// PLAN-1, PLAN-12", &["lib.rs:2: PLAN-12 is not in docs/spec"]);
        check("/// PLAN-02", &["lib.rs:1: PLAN-02 is not in docs/spec"]);
    }

    #[test]
    fn other_words_with_a_dash_and_a_number_are_no_citations() {
        check("UTF-8, SHA-256, us-east-1, MY-PLAN-9, PLAN-9a, PLAN_9, PLAN-", &[]);
    }

    #[test]
    fn an_id_that_no_test_cites_is_found_where_it_is_defined() {
        let untested = |source: &str| {
            let tested = test_citations(source).map(ToOwned::to_owned).collect();
            specification(MARKDOWN).untested(&tested)
        };
        let one = ["spec.md:4: no test cites PLAN-2"];
        assert_eq!(untested("/// PLAN-1, PLAN-2.\n#[test]\nfn a() {}"), [""; 0]);
        assert_eq!(
            untested("    /// PLAN-1\n    /// PLAN-2: why.\n    #[tokio::test(start_paused = true)]"),
            [""; 0]
        );
        assert_eq!(untested("/// PLAN-1\n// Another reason.\n#[cfg(unix)]\n#[test]\nfn a() {}"), one);
        assert_eq!(
            untested("/// PLAN-1\n#[test]\nfn a() {}\n/// PLAN-2\nfn helper() {}\n#[test]\nfn b() {}"),
            one
        );
        assert_eq!(untested("/// PLAN-1\n#[test]\nfn a() {} // PLAN-2\n//! PLAN-2\n#[test]\nfn b() {}"), one);
    }

    #[test]
    fn an_id_defined_twice_is_found_with_both_places() {
        let twice = specification("- **PLAN-1** One.\n- **PLAN-1** Two.");
        assert_eq!(twice.findings, ["spec.md:2: PLAN-1 is already defined at spec.md:1"]);
    }
}
