//! What was seen to come out alike, by type and operation, and the page of the book that says so.
//!
//! `cargo xtask referee` names a folder in `TRUEUP_REFEREE_SEEN`, to which each case writes what it saw, beside the case
//! itself, and makes the page of all that is there. Any other run holds what it sees against the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use trueup_test_servers::environment::variable;

use crate::referee::case::{Case, Step};
use crate::referee::folder::Planned;
use crate::referee::{aws, cases_in, own_cases};

/// The page, and its columns after that of types.
const PAGE: &str = include_str!("../../../../docs/terraform-coverage.md");
const COLUMNS: [&str; 7] = ["plan", "create", "update", "replace", "import", "data", "destroy"];

/// What a case has shown.
#[derive(Default)]
pub(crate) struct Seen {
    /// Source of the provider, type, and operation.
    operations: BTreeSet<(String, String, &'static str)>,
    /// The objects there are: the source of the provider and the type, by address.
    alive: BTreeMap<String, (String, String)>,
}

impl Seen {
    /// Both programs planned this for a configuration, and carried it out.
    pub(crate) fn carried_out(&mut self, step: &Step, planned: &Planned) {
        for (address, action) in &planned.actions {
            let kind = type_of(address);
            let whose = (source_of(step, &kind), kind);
            let operation = match action.as_str() {
                "create" => "create",
                "update" => "update",
                "replace" => "replace",
                "import" => "import",
                "delete" => "destroy",
                // It is there, and nobody's any more.
                _ => {
                    self.alive.remove(address);
                    continue;
                }
            };
            for operation in ["plan", operation] {
                self.operations.insert((whose.0.clone(), whose.1.clone(), operation));
            }
            match operation {
                "destroy" => self.alive.remove(address),
                _ => self.alive.insert(address.clone(), whose),
            };
        }
        for kind in step.types("data") {
            self.operations.insert((source_of(step, kind), kind.to_owned(), "data"));
        }
    }

    /// Both programs deleted everything.
    pub(crate) fn destroyed(&mut self) {
        for (source, kind) in std::mem::take(&mut self.alive).into_values() {
            self.operations.insert((source, kind, "destroy"));
        }
    }

    /// What both have seen.
    pub(crate) fn and(mut self, other: Seen) -> Self {
        self.operations.extend(other.operations);
        self
    }

    /// Writes it down, or holds it against the page.
    pub(crate) fn tell(&self, case: &Case) {
        if let Some(folder) = variable("TRUEUP_REFEREE_SEEN") {
            let path = |ending: &str| Path::new(&folder).join(&case.name).with_extension(ending);
            std::fs::write(path("seen"), self.to_string()).unwrap();
            // What changes later has not been seen.
            return std::fs::write(path("case"), &case.text).unwrap();
        }
        let page = page();
        let missing = |(_, kind, word): &&(String, String, &str)| {
            !page.get(kind).is_some_and(|words| words.contains(word))
        };
        let missing: Vec<_> = self.operations.iter().filter(missing).collect();
        assert!(missing.is_empty(), "the page lacks them, `cargo xtask referee` writes it: {missing:?}");
    }
}

/// A line each: source, type and operation.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operations.iter().try_for_each(|(source, kind, word)| writeln!(f, "{source} {kind} {word}"))
    }
}

/// The type in an address: `aws_vpc` in `module.a["b.c"].aws_vpc.main[0]`.
fn type_of(address: &str) -> String {
    let mut depth = 0_i32;
    let mut plain = address.to_owned();
    plain.retain(|it| {
        depth += i32::from(it == '[') - i32::from(it == ']');
        depth == 0 && it != ']'
    });
    plain.rsplit('.').nth(1).unwrap_or_else(|| panic!("{address} should name a type")).to_owned()
}

/// Where the provider of a type is from: the source whose last part is the beginning of its name, or the only one.
fn source_of(step: &Step, kind: &str) -> String {
    let name = kind.split('_').next().unwrap_or(kind);
    let named = step.sources().find(|source| source.rsplit('/').next() == Some(name));
    let others = || step.sources().next().filter(|_| name != "terraform");
    named.or_else(others).unwrap_or("builtin").to_owned()
}

/// What the page says: the operations that each type is marked with.
fn page() -> BTreeMap<String, BTreeSet<&'static str>> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(kind, marks)| {
        let marks = marks.split('|').skip(1).zip(COLUMNS).filter(|(mark, _)| mark.trim() == "✓");
        (kind.to_owned(), marks.map(|(_, column)| column).collect())
    })
    .collect()
}

/// Whatever the run leaves out: each type of a case is on the page, and no other.
#[test]
fn the_page_has_the_types_of_the_cases() {
    let mut types = BTreeSet::new();
    for path in cases_in(&own_cases()).into_iter().chain(cases_in(&aws::folder())) {
        let case = Case::read(&path);
        let declared = case.steps.iter().flat_map(|step| step.types("resource").chain(step.types("data")));
        for kind in declared {
            match kind.strip_prefix("fixture_") {
                Some(rest) => types.extend(case.versions().iter().map(|it| format!("fixture{it}_{rest}"))),
                None => drop(types.insert(kind.to_owned())),
            }
        }
    }
    assert_eq!(page().into_keys().collect::<BTreeSet<_>>(), types);
}
