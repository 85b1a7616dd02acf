//! Golden plan files are shown, and carried out or refused.
//!
//! A plan is bound to the version of trueup, so a later binary may refuse to carry it out; a later format may refuse to
//! read it. Both have a documented message (PLANFILE-2, PLANFILE-4).

use serde_json::{Value as Json, json};

use crate::golden::Golden;
use crate::golden::expectation::assert_expected;
use crate::golden::workplace::Workplace;

/// The plan files of a folder.
pub(crate) fn names(golden: &Golden) -> Vec<String> {
    golden.files("plans").into_keys().collect()
}

/// The stack as it was planned, with the plan file in it.
pub(crate) fn workplace(golden: &Golden, name: &str) -> Workplace {
    let bytes = std::fs::read(golden.path(&format!("plans/{name}"))).unwrap();
    let workplace = Workplace::with_state_file(golden, header(&bytes)["stack"].as_str().unwrap());
    workplace.put("stack/golden.plan", bytes, 0o600);
    workplace
}

/// The contents of a plan file, and the outcome of deploying it.
pub(crate) fn carry_out(golden: &Golden, name: &str) -> Json {
    let workplace = workplace(golden, name);
    let shown = workplace.json("show golden.plan --json");
    let mut run = workplace.lines("deploy golden.plan --json").pop().unwrap();
    assert_eq!(run["kind"], "run", "{run}");
    for name in ["run", "took_ms"] {
        run.as_object_mut().unwrap().remove(name);
    }
    workplace.refused("deploy golden.plan", "carried out already");
    json!({ "show": shown, "deploy": run })
}

/// The expectation of a plan file.
pub(crate) fn expected(name: &str) -> String {
    format!("expected/plans/{name}.json")
}

/// The readable header of a plan file.
pub(crate) fn header(bytes: &[u8]) -> Json {
    serde_json::from_slice(bytes.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap()
}

/// The first line of a plan file, and the version of what made it.
fn origin(bytes: &[u8]) -> (String, String) {
    let format = bytes.split(|byte| *byte == b'\n').next().unwrap();
    (String::from_utf8(format.to_vec()).unwrap(), header(bytes)["made_by"].as_str().unwrap().to_owned())
}

/// The format that this binary writes.
fn current(golden: &Golden) -> (String, String) {
    let workplace = Workplace::with_state_file(golden, "site");
    workplace.done("plan --out new.plan");
    origin(&std::fs::read(workplace.path("stack/new.plan")).unwrap())
}

/// PLANFILE-1, PLANFILE-2, PLANFILE-4
#[test]
fn golden_plan_files_are_carried_out_or_refused() {
    for golden in Golden::all() {
        let (format_now, version_now) = current(&golden);
        for (name, bytes) in golden.files("plans") {
            let (format, version) = origin(&bytes);
            if format != format_now {
                let found = format.rsplit(' ').next().unwrap();
                let why = format!("it has format {found}, and this program reads format");
                workplace(&golden, &name).refused("show golden.plan", &why);
                workplace(&golden, &name).refused("deploy golden.plan", &why);
            } else if version != version_now {
                workplace(&golden, &name).done("show golden.plan");
                workplace(&golden, &name).refused("deploy golden.plan", "the plan was made with trueup");
            } else {
                assert_expected(&golden, &expected(&name), &carry_out(&golden, &name));
            }
        }
    }
}

/// PLANFILE-2: the plan files of this binary are refused by the next version in this way.
#[test]
fn a_plan_file_of_another_version_is_shown_and_not_carried_out() {
    let golden = Golden::all().last().unwrap();
    let workplace = Workplace::with_state_file(&golden, "site");
    workplace.done("plan --stage fresh --adopt --out golden.plan");
    let bytes = std::fs::read(workplace.path("stack/golden.plan")).unwrap();
    assert_eq!(header(&bytes)["protection"], "digest");
    let (_, version) = origin(&bytes);
    let text = std::str::from_utf8(&bytes[..bytes.len() - blake3::OUT_LEN]).unwrap();
    let text = text.replace(&format!("\"{version}\""), "\"0.0.1\"");
    let digest = blake3::hash(text.as_bytes());
    workplace.put("stack/golden.plan", [text.as_bytes(), digest.as_bytes()].concat(), 0o600);
    workplace.done("show golden.plan");
    let why = format!("the plan was made with trueup 0.0.1, and this is {version}");
    workplace.refused("deploy golden.plan", &why);
}

/// PLANFILE-4: formats from before the first golden one.
#[test]
fn a_plan_file_of_an_older_format_is_refused() {
    let golden = Golden::all().next().unwrap();
    for (name, bytes) in golden.files("plans") {
        let workplace = workplace(&golden, &name);
        let older = [b"trueup-plan 1\n", &bytes[b"trueup-plan 2\n".len()..]].concat();
        workplace.put("stack/golden.plan", older, 0o600);
        for command in ["show golden.plan", "deploy golden.plan"] {
            workplace.refused(command, "it has format 1, and this program reads format");
        }
    }
}
