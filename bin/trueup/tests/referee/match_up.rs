//! Both programs through one case.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::case::{Case, Step};
use crate::coverage::Seen;
use crate::folder::{Planned, Program};
use crate::providers;

/// Runs a case with both programs and compares what they do, step by step.
pub(crate) fn run(case: &Case, version: Option<u8>) {
    run_apart(case, version, &[], &[]);
}

/// The same, each with an environment of its own.
#[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
pub(crate) fn run_apart(
    case: &Case,
    version: Option<u8>,
    ours: &[(String, String)],
    theirs: &[(String, String)],
) {
    let Some(terraform) = Program::terraform(theirs) else {
        return eprintln!("left out: there is no `terraform` on PATH to compare with");
    };
    let ours = Program::ours(ours);
    let mut seen = Seen::default();
    for step in &case.steps {
        let label =
            format!("{} {}: {}", case.name, version.map(|it| it.to_string()).unwrap_or_default(), step.title);
        let step = version.map_or_else(|| step.clone(), |version| completed(step, version));
        let settings = match providers::settings(&step) {
            Ok(settings) => settings,
            Err(kind) => return eprintln!("left out: there is no terraform-provider-{kind} to be found"),
        };
        ours.write(&step, &settings);
        terraform.write(&step, &settings);
        if let Some(planned) = compare(&label, &ours, &terraform) {
            seen.carried_out(&step, &planned);
        }
    }
    let label = format!("{} {version:?}: destroyed", case.name);
    let (left, right) = (ours.destroy(), terraform.destroy());
    assert_eq!(left.is_ok(), right.is_ok(), "{label}\ntrueup: {left:?}\nterraform: {right:?}");
    assert_eq!(ours.objects(), terraform.objects(), "{label}");
    if left.is_ok() {
        seen.destroyed();
    }
    seen.tell(&format!("{}{}", case.name, version.map(|it| it.to_string()).unwrap_or_default()));
}

/// What both programs planned and carried out alike, if they did.
fn compare(label: &str, ours: &Program, terraform: &Program) -> Option<Planned> {
    let carried_out = match (ours.plan(), terraform.plan()) {
        (Ok(left), Ok(right)) => {
            assert_eq!(left, right, "{label}: trueup on the left, terraform on the right");
            let planned = left;
            let (left, right) = (ours.apply(), terraform.apply());
            assert_eq!(left.is_ok(), right.is_ok(), "{label}\ntrueup: {left:?}\nterraform: {right:?}");
            if left.is_ok() {
                let differing = differences("", &ours.outputs(), &terraform.outputs());
                assert!(differing.is_empty(), "{label}: trueup != terraform\n{}", differing.join("\n"));
            }
            left.is_ok().then_some(planned)
        }
        // Both refuse, each in its own words.
        (Err(_), Err(_)) => None,
        (left, right) => panic!("{label}\ntrueup: {left:?}\nterraform: {right:?}"),
    };
    assert_eq!(ours.objects(), terraform.objects(), "{label}");
    carried_out
}

/// A step with what all of our own provider have: its usual configuration, and an output of all that is declared.
fn completed(step: &Step, version: u8) -> Step {
    let mut step = step.clone();
    let (name, all) = (format!("fixture{version}"), step.output_of_all());
    step.files[0].1 = format!(
        "terraform {{\n  required_providers {{\n    fixture = {{\n      source = \"example.com/trueup/fixture\"\n    }}\n  \
         }}\n}}\nprovider \"fixture\" {{\n  folder = \"objects\"\n}}\n{}{all}",
        step.files[0].1
    );
    step.files.iter_mut().for_each(|(_, text)| *text = text.replace("fixture", &name));
    step
}

/// Where two values differ, a line each.
fn differences(path: &str, left: &Json, right: &Json) -> Vec<String> {
    match (left, right) {
        (Json::Object(left), Json::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            let item = |entries: &serde_json::Map<String, Json>, name: &str| {
                entries.get(name).cloned().unwrap_or_default()
            };
            names
                .into_iter()
                .flat_map(|name| {
                    differences(&format!("{path}/{name}"), &item(left, name), &item(right, name))
                })
                .collect()
        }
        _ if left == right => Vec::new(),
        _ => vec![format!("{path}: {left} != {right}")],
    }
}
