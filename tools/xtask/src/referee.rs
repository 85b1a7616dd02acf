//! Runs Terraform and the program side by side on all configurations, also those that take long, and on a great many drawn
//! expressions, and writes the page of the book that says what was seen to come out alike.
//!
//! Each case leaves a record in the target folder: itself as it was, and what was seen. So one case can be run again without
//! the others, and the page is written as soon as every case has a record of what it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::{self, Repository};

/// The page, and its columns after that of types.
const PAGE: &str = "docs/terraform-coverage.md";
const COLUMNS: [&str; 7] = ["plan", "create", "update", "replace", "import", "data", "destroy"];

/// Where the cases are.
const CASES: &str = "bin/trueup/tests/referee";

/// What the page says before the tables.
const HEAD: &str = "\
# Types held against Terraform

Terraform and trueup go through the same configurations with the same providers: our own, which has every form of schema, and
`hashicorp/aws` on an emulator, a cloud for each program. A mark stands for an operation that both planned and carried out
alike, with the same resulting attributes and outputs. This page is written by the tests (`cargo xtask referee`); the
ordinary ones fail if it lacks what they see, or names a type that no test has.
[What differs](terraform-providers.md#where-both-tools-say-different-things) is listed.
";

/// What to compare beyond what is here: folders, each absolute.
#[derive(Default)]
struct Given {
    cases: Vec<PathBuf>,
    providers: Vec<PathBuf>,
    /// How the names of cases must begin.
    only: Vec<String>,
}

/// `[--cases FOLDER]… [--providers FOLDER]… [NAME]…`
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<(), Failure> {
    let given = read(arguments)?;
    let joined = |folders: &[PathBuf]| {
        std::env::join_paths(folders)
            .map_err(|error| Failure::new(format!("a folder has a strange name: {error}")))
    };
    let mut command = cargo(&repository.root);
    command.args(["test", "--package", "trueup-bin", "--test", "tests", "--"]).args(filters(&given.only));
    command.arg("--nocapture").env(trueup_test_servers::SIZE, "long");
    let records = repository.target_dir().join("referee");
    fs::create_dir_all(&records)
        .map_err(|error| Failure::new(format!("cannot make {}: {error}", records.display())))?;
    command.env("TRUEUP_REFEREE_SEEN", &records);
    command.env("TRUEUP_REFEREE_CASES", joined(&given.cases)?);
    command.env("TRUEUP_REFEREE_PROVIDERS", joined(&given.providers)?);
    cargo::run(&mut command)?;
    if given.only.is_empty() {
        language(repository)?;
    }
    write_page(repository, &records)
}

/// Compares the language: expressions and formatting, those of the tables and drawn ones.
fn language(repository: &Repository) -> Result<(), Failure> {
    let mut command = cargo(&repository.root);
    command.args(["test", "--package", "trueup-lang", "--test", "tests", "--", "referee::", "--nocapture"]);
    cargo::run(command.env(trueup_test_servers::SIZE, "long"))
}

/// The configurations of hashicorp/aws.
pub(crate) fn configurations_of_aws(repository: &Repository) -> Result<Vec<String>, Failure> {
    let files = repository.files_below(&format!("{CASES}/aws"), "case")?;
    Ok(files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect())
}

/// What the names of tests must contain one of: cases lie one or two modules deep.
fn filters(only: &[String]) -> Vec<String> {
    if only.is_empty() {
        return vec!["referee::".to_owned()];
    }
    only.iter().flat_map(|name| [format!("referee::{name}"), format!("referee::aws::{name}")]).collect()
}

/// Writes the page, if every case has been seen as it is now.
fn write_page(repository: &Repository, records: &Path) -> Result<(), Failure> {
    let mut seen = Seen::new();
    let mut unseen = Vec::new();
    for case in repository.files_below(CASES, "case")? {
        let record = records.join(case.file_name().unwrap_or_default());
        let is_current = fs::read(&record).is_ok_and(|kept| fs::read(&case).is_ok_and(|now| now == kept));
        match is_current {
            true => note(&mut seen, &repository::read(&record.with_extension("seen"))?),
            false => unseen.push(format!("`{}`", record.file_stem().unwrap_or_default().display())),
        }
    }
    if !unseen.is_empty() {
        println!("{PAGE} is left as it is: {} were not run since they changed", unseen.join(", "));
        return Ok(());
    }
    let path = repository.root.join(PAGE);
    fs::write(&path, page(&seen)).map_err(|error| Failure::new(format!("cannot write {PAGE}: {error}")))
}

/// By source of the provider and type: the operations.
type Seen = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn note(seen: &mut Seen, record: &str) {
    for line in record.lines() {
        if let [source, kind, operation] = line.split(' ').collect::<Vec<_>>().as_slice() {
            let types = seen.entry((*source).to_owned()).or_default();
            types.entry((*kind).to_owned()).or_default().insert((*operation).to_owned());
        }
    }
}

fn page(seen: &Seen) -> String {
    let mut text = HEAD.to_owned();
    for (source, types) in seen {
        text.push_str(&format!("\n## `{source}`\n\nTypes: {}.\n\n", types.len()));
        text.push_str(&format!("| | {} |\n|{}\n", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len() + 1)));
        for (kind, operations) in types {
            let marks = COLUMNS.map(|column| if operations.contains(column) { " ✓ |" } else { " |" });
            text.push_str(&format!("| `{kind}` |{}\n", marks.concat()));
        }
    }
    text
}

fn read(arguments: &[&str]) -> Result<Given, Failure> {
    let mut given = Given::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let folders = match *argument {
            "--cases" => &mut given.cases,
            "--providers" => &mut given.providers,
            name if !name.starts_with('-') => {
                given.only.push(name.to_owned());
                continue;
            }
            other => return Err(Failure::new(format!("cannot make sense of `{other}`"))),
        };
        let folder = rest.next().ok_or_else(|| Failure::new(format!("`{argument}` needs a folder")))?;
        let absolute = std::path::absolute(Path::new(folder));
        folders.push(absolute.map_err(|error| Failure::new(format!("{folder}: {error}")))?);
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_cases_are_run() {
        assert_eq!(filters(&[]), ["referee::"]);
        assert_eq!(filters(&["moves".to_owned()]), ["referee::moves", "referee::aws::moves"]);
    }

    #[test]
    fn the_page_has_a_row_for_each_type() {
        let mut seen = Seen::new();
        note(
            &mut seen,
            "hashicorp/aws aws_vpc plan\nhashicorp/aws aws_vpc create\nhashicorp/aws aws_region data\n",
        );
        note(&mut seen, "hashicorp/aws aws_vpc destroy\n");
        let page = page(&seen);
        let table = page.strip_prefix(HEAD).unwrap();
        assert_eq!(
            table,
            "\n## `hashicorp/aws`\n\nTypes: 2.\n\n| | plan | create | update | replace | import | data | destroy |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n| `aws_region` | | | | | | ✓ | |\n\
             | `aws_vpc` | ✓ | ✓ | | | | | ✓ |\n"
        );
    }
}
