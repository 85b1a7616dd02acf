//! Both programs through one case.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use trueup_core::Value;

use crate::referee::case::{Case, Step};
use crate::referee::coverage::Seen;
use crate::referee::folder::{Planned, Program};
use crate::referee::providers;

/// Runs a case with both programs and compares what they do, step by step. What was seen; `None` if it was left out.
pub(crate) fn run(case: &Case, version: Option<u8>) -> Option<Seen> {
    run_apart(case, version, &[], &[])
}

/// The same, each with an environment of its own.
#[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
pub(crate) fn run_apart(
    case: &Case,
    version: Option<u8>,
    ours: &[(String, String)],
    theirs: &[(String, String)],
) -> Option<Seen> {
    let Some(terraform) = Program::terraform(theirs) else {
        eprintln!("left out: there is no `terraform` on PATH to compare with");
        return None;
    };
    let ours = Program::ours(ours);
    let mut seen = Seen::default();
    for step in &case.steps {
        let label =
            format!("{} {}: {}", case.name, version.map(|it| it.to_string()).unwrap_or_default(), step.title);
        let step = version.map_or_else(|| step.clone(), |version| completed(step, version));
        let settings = match providers::settings(&step) {
            Ok(settings) => settings,
            Err(kind) => {
                eprintln!("left out: there is no terraform-provider-{kind} to be found");
                return None;
            }
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
    Some(seen)
}

/// Plans the first configuration with both programs, each with an environment of its own, and compares the plans.
/// Nothing is applied.
pub(crate) fn plan_first(case: &Case, ours: &[(String, String)], theirs: &[(String, String)]) {
    let (Some(terraform), Some(step)) = (Program::terraform(theirs), case.steps.first()) else { return };
    let Ok(settings) = providers::settings(step) else { return };
    let ours = Program::ours(ours);
    ours.write(step, &settings);
    terraform.write(step, &settings);
    let (left, right) = (ours.plan(), terraform.plan());
    assert!(left.is_ok(), "{}: {left:?}", case.name);
    assert_eq!(left, right, "{}: trueup on the left, terraform on the right", case.name);
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
                let (left, right) = (ours.outputs(), terraform.outputs());
                let differing = differences("", &left, &right);
                assert!(differing.is_empty(), "{label}: trueup != terraform\n{}", differing.join("\n"));
                ids_are_as_foretold(&left);
            }
            left.is_ok().then_some(planned)
        }
        // Both refuse, each in its own words. In a cloud nothing is meant to be refused.
        (Err(_), Err(_)) if !terraform.is_in_a_cloud() => None,
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

/// Where we say that the id of an object follows from its inputs, it does: what was cut off is looked for by it.
fn ids_are_as_foretold(outputs: &Json) {
    for (name, object) in outputs["all"].as_object().into_iter().flatten() {
        let kind = name.split('.').next().unwrap_or(name);
        let texts = object.as_object().into_iter().flatten();
        let texts = texts.filter_map(|(name, value)| Some((name.as_str(), Value::from(value.as_str()?))));
        let inputs = Value::object(texts.collect::<Vec<_>>());
        if let Some(id) = trueup_terraform::import_id_of("registry.terraform.io/hashicorp/aws", kind, &inputs)
        {
            assert_eq!(object["id"], id, "{name}");
        }
    }
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
