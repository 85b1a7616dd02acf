//! The tables: `=== name`, the text, `---`, its canonical form. Before the first case stands what the table is about.
//! `ours:` before a name says that Terraform does otherwise.

use trueup_lang::format::is_formattable;

use crate::format::formatted;
use crate::format::meaning::meaning;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) before: String,
    pub(crate) after: String,
    /// Whether Terraform is known to do otherwise.
    pub(crate) ours: bool,
}

/// All cases of all tables.
pub(crate) fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/cases");
    let mut tables: Vec<_> = std::fs::read_dir(folder)
        .expect("the tables are there")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    tables.sort();
    let read = |table| std::fs::read_to_string(table).expect("a readable table");
    tables
        .iter()
        .map(read)
        .flat_map(|table| table.split("\n=== ").skip(1).map(case).collect::<Vec<_>>())
        .collect()
}

fn case(text: &str) -> Case {
    let (name, text) = text.split_once('\n').expect("a name");
    let (before, after) = text.split_once("\n---\n").unwrap_or_else(|| panic!("{name}: no `---`"));
    let ours = name.strip_prefix("ours: ");
    Case {
        name: ours.unwrap_or(name).to_owned(),
        before: format!("{before}\n"),
        after: after.to_owned(),
        ours: ours.is_some(),
    }
}

/// What both forms are, for a person who has to find the difference.
pub(crate) fn difference(name: &str, expected: &str, found: &str) -> String {
    format!("=== {name}\n--- expected\n{expected}--- found\n{found}")
}

#[test]
fn every_case_of_the_tables_holds() {
    let cases = cases();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let found = formatted(&case.before);
            (found != case.after).then(|| difference(&case.name, &case.after, &found))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
    println!("{} cases hold", cases.len());
}

#[test]
fn the_cases_keep_their_meaning_and_stay_as_they_are() {
    for case in cases() {
        assert_eq!(meaning(&case.before), meaning(&case.after), "{}", case.name);
        assert_eq!(formatted(&case.after), case.after, "{}", case.name);
    }
}

#[test]
fn line_ends_stay_as_they_are() {
    assert_eq!(formatted("a=1\r\nbb=<<EOT\r\n x\r\nEOT\r\n"), "a  = 1\r\nbb = <<EOT\r\n x\r\nEOT\r\n");
    assert_eq!(formatted("a=1#b\r\n\r\nc=[\r\n1]\n"), "a = 1 #b\r\n\r\nc = [\r\n1]\n");
}

#[test]
fn the_end_of_the_text_stays_as_it_is() {
    for (before, after) in [
        ("", ""),
        ("a=1", "a = 1"),
        ("a=1#b", "a = 1 #b"),
        ("a{}", "a {}"),
        ("a=1\n \t", "a = 1\n  "),
        ("\n", "\n"),
        ("a=<<EOT\nx\nEOT", "a = <<EOT\nx\nEOT"),
    ] {
        assert_eq!(formatted(before), after);
    }
}

#[test]
fn a_byte_order_mark_goes() {
    assert_eq!(formatted("\u{feff}a=1\n"), "a = 1\n");
}

#[test]
fn what_cannot_be_read_is_not_formatted() {
    let diagnostics = trueup_lang::format::format("a = \nb=1\n").unwrap_err();
    assert!(diagnostics.has_errors());
    let origin = diagnostics.iter().next().and_then(|diagnostic| diagnostic.origin).expect("a place");
    assert_eq!((origin.start, origin.end), (4, 4));
}

#[test]
fn files_in_native_syntax_can_be_formatted() {
    for name in ["main.tf", "terraform.tfvars", "a.auto.tfvars", "a.tftest.hcl", "a.tfmock.hcl"] {
        assert!(is_formattable(name), "{name}");
    }
    for name in ["main.tf.json", "terraform.tfvars.json", "a.hcl", "tf", "main.tf~"] {
        assert!(!is_formattable(name), "{name}");
    }
}
