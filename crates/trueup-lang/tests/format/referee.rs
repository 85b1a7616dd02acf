//! Terraform as the referee: it formats a folder of all texts in one go.

use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::format::author::Author;
use crate::format::cases::{cases, difference};
use crate::format::formatted;

#[test]
fn terraform_agrees_with_the_tables() {
    let cases: Vec<_> = cases().into_iter().filter(|case| !case.ours).collect();
    let Some(answers) = ask(cases.iter().map(|case| case.before.as_str())) else {
        println!("left out: there is no `terraform` to ask");
        return;
    };
    let disagreements: Vec<String> = cases
        .iter()
        .zip(answers)
        .filter_map(|(case, answer)| {
            let answer = answer.unwrap_or_else(|| panic!("terraform refuses {}", case.name));
            (answer != case.after).then(|| difference(&case.name, &answer, &case.after))
        })
        .collect();
    assert!(disagreements.is_empty(), "{} cases:\n{}", disagreements.len(), disagreements.join("\n"));
    println!("terraform agrees in {} cases", cases.len());
}

#[test]
fn terraform_agrees_about_generated_programs() {
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(any::<u8>(), 0..250);
    let programs: Vec<String> = (0..400)
        .map(|_| Author::program(&strategy.new_tree(&mut runner).expect("bytes").current(), false))
        .filter(|program| trueup_lang::format::format(program).is_ok())
        .collect();
    let Some(answers) = ask(programs.iter().map(String::as_str)) else {
        println!("left out: there is no `terraform` to ask");
        return;
    };
    let (mut agreed, mut disagreements) = (0, Vec::new());
    for (program, answer) in programs.iter().zip(answers) {
        let Some(answer) = answer else { continue };
        let found = formatted(program);
        if found == answer {
            agreed += 1;
        } else {
            disagreements.push(difference(program, &answer, &found));
        }
    }
    assert!(disagreements.is_empty(), "{} programs:\n{}", disagreements.len(), disagreements.join("\n"));
    assert!(agreed > 200, "terraform refuses too many: only {agreed} of {} are left", programs.len());
    println!("terraform agrees about {agreed} of {} programs and refuses the others", programs.len());
}

/// What Terraform makes of each text, nothing where it refuses one; nothing at all where there is no Terraform.
fn ask<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Vec<Option<String>>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files: Vec<_> = texts
        .enumerate()
        .map(|(at, text)| {
            let file = folder.path().join(format!("case-{at}.{}", if at % 2 == 0 { "tf" } else { "tfvars" }));
            std::fs::write(&file, text).expect("a file");
            file
        })
        .collect();
    let output = Command::new("terraform")
        .args(["fmt", "-no-color", "-list=false"])
        .current_dir(folder.path())
        .env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let answer = |file: &std::path::PathBuf| {
        let name = file.file_name().expect("a name").to_string_lossy();
        // Terraform leaves what it refuses as it was, and says so.
        let refused = told.contains(&format!("on {name} line"));
        (!refused).then(|| std::fs::read_to_string(file).expect("a file"))
    };
    Some(files.iter().map(answer).collect())
}
