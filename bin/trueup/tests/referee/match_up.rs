//! Both programs through one case.

use crate::case::{Case, Step};
use crate::folder::Program;
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
    for step in &case.steps {
        let label =
            format!("{} {}: {}", case.name, version.map(|it| it.to_string()).unwrap_or_default(), step.title);
        let step = completed(step, version);
        let settings = match providers::settings(step.files.iter().map(|(_, text)| text.as_str())) {
            Ok(settings) => settings,
            Err(kind) => return eprintln!("left out: there is no terraform-provider-{kind} to be found"),
        };
        ours.write(&step, &settings);
        terraform.write(&step, &settings);
        compare(&label, &ours, &terraform);
    }
    let label = format!("{} {version:?}: destroyed", case.name);
    let (left, right) = (ours.destroy(), terraform.destroy());
    assert_eq!(left.is_ok(), right.is_ok(), "{label}\ntrueup: {left:?}\nterraform: {right:?}");
    assert_eq!(ours.objects(), terraform.objects(), "{label}");
}

fn compare(label: &str, ours: &Program, terraform: &Program) {
    match (ours.plan(), terraform.plan()) {
        (Ok(left), Ok(right)) => {
            assert_eq!(left, right, "{label}: trueup on the left, terraform on the right");
            let (left, right) = (ours.apply(), terraform.apply());
            assert_eq!(left.is_ok(), right.is_ok(), "{label}\ntrueup: {left:?}\nterraform: {right:?}");
            if left.is_ok() {
                assert_eq!(ours.outputs(), terraform.outputs(), "{label}");
            }
        }
        // Both refuse, each in its own words.
        (Err(_), Err(_)) => {}
        (left, right) => panic!("{label}\ntrueup: {left:?}\nterraform: {right:?}"),
    }
    assert_eq!(ours.objects(), terraform.objects(), "{label}");
}

/// A step with what all have: the provider with its usual configuration, and an output of all that is declared.
fn completed(step: &Step, version: Option<u8>) -> Step {
    let Some(version) = version else {
        return Step {
            title: step.title.clone(),
            tampered: step.tampered.clone(),
            files: step.files.clone(),
        };
    };
    let mut files = step.files.clone();
    let declared: String = step
        .resources()
        .iter()
        .map(|(kind, name)| format!("    \"{kind}.{name}\" = {kind}.{name}\n"))
        .collect();
    files[0].1 = format!(
        "terraform {{\n  required_providers {{\n    fixture = {{\n      source = \"example.com/trueup/fixture\"\n    }}\n  \
         }}\n}}\nprovider \"fixture\" {{\n  folder = \"objects\"\n}}\n{}output \"all\" {{\n  sensitive = true\n  value = \
         {{\n{declared}  }}\n}}\n",
        files[0].1
    );
    let name = format!("fixture{version}");
    files.iter_mut().for_each(|(_, text)| *text = text.replace("fixture", &name));
    Step { title: step.title.clone(), tampered: step.tampered.clone(), files }
}
