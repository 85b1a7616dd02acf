//! What a plan of Terraform makes of many expressions at once: each an element of the input of a resource, so that the
//! plan says of every position in it if it is known and if it is sensitive.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// What Terraform makes of an expression.
pub(super) enum Answer {
    Refused,
    /// The value, and where in it something is unknown or sensitive.
    Planned {
        value: Json,
        unknown: Json,
        sensitive: Json,
    },
}

/// How many expressions stand in one file: Terraform reads the whole file again for each error in it.
const OF_FILE: usize = 100;

/// The line of the first expression in a file.
const FIRST_LINE: usize = 3;

/// The answers to expressions in a folder with these files and this program; `None` without Terraform.
pub(super) fn answers(files: &Path, program: &str, expressions: &[String]) -> Option<Vec<Answer>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    super::copy(files, folder.path());
    std::fs::write(folder.path().join("main.tf"), program).expect("a file");
    let mut refused = BTreeSet::new();
    write_all(folder.path(), expressions, &refused);
    terraform(folder.path(), &["init", "-no-color"])?;
    // Terraform plans only what it did not refuse when it validated, and reports that alone.
    loop {
        let output = terraform(folder.path(), &["plan", "-json", "-lock=false", "-out=plan"])?;
        let found = refused_positions(&output);
        if found.is_empty() {
            break;
        }
        assert!(found.is_disjoint(&refused), "refused though it is no longer there");
        refused.extend(found);
        write_all(folder.path(), expressions, &refused);
    }
    let plan: Json =
        serde_json::from_str(&terraform(folder.path(), &["show", "-json", "plan"])?).expect("JSON");
    let changes = plan["resource_changes"].as_array().expect("changes");
    let planned = |number: usize| {
        let address = format!("terraform_data.all_{number}");
        changes.iter().find(|change| change["address"] == *address).expect("the resource").clone()
    };
    let files: Vec<Json> = (0..expressions.len().div_ceil(OF_FILE)).map(planned).collect();
    Some((0..expressions.len()).map(|at| answer(&files[at / OF_FILE]["change"], at, &refused)).collect())
}

fn answer(change: &Json, at: usize, refused: &BTreeSet<usize>) -> Answer {
    if refused.contains(&at) {
        return Answer::Refused;
    }
    let part = |key: &str| match &change[key]["input"] {
        Json::Array(items) => items.get(at % OF_FILE).cloned().unwrap_or(Json::Null),
        whole => whole.clone(),
    };
    Answer::Planned {
        value: part("after"),
        unknown: part("after_unknown"),
        sensitive: part("after_sensitive"),
    }
}

/// A file for some expressions each, a line for an expression. Null takes the place of one that was refused.
fn write_all(folder: &Path, expressions: &[String], refused: &BTreeSet<usize>) {
    for (number, of_file) in expressions.chunks(OF_FILE).enumerate() {
        let line = |(at, expression): (usize, &String)| match refused.contains(&(number * OF_FILE + at)) {
            true => "null,\n".to_owned(),
            false => format!("{expression},\n"),
        };
        let lines: String = of_file.iter().enumerate().map(line).collect();
        let text = format!("resource \"terraform_data\" \"all_{number}\" {{\ninput = [\n{lines}]\n}}\n");
        std::fs::write(folder.join(format!("all_{number}.tf")), text).expect("a file");
    }
}

/// The positions of the expressions that errors are about.
fn refused_positions(output: &str) -> BTreeSet<usize> {
    let events = output.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let diagnostics = events.map(|event| event["diagnostic"].clone()).filter(|it| it["severity"] == "error");
    let position = |diagnostic: Json| {
        let range = &diagnostic["range"];
        let file = range["filename"].as_str().unwrap_or_default();
        let number = file.strip_prefix("all_").and_then(|file| file.strip_suffix(".tf"));
        let number: usize = number.and_then(|number| number.parse().ok())?;
        let line = usize::try_from(range["start"]["line"].as_u64()?).ok()?;
        Some(number * OF_FILE + line.checked_sub(FIRST_LINE)?)
    };
    let position = |diagnostic: Json| {
        position(diagnostic.clone()).unwrap_or_else(|| panic!("an error elsewhere: {diagnostic}"))
    };
    diagnostics.map(position).collect()
}

fn terraform(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("terraform");
    command.args(arguments).current_dir(folder).env("CHECKPOINT_DISABLE", "1");
    command.env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" });
    let output = command.output().ok()?;
    Some(String::from_utf8(output.stdout).expect("text"))
}
