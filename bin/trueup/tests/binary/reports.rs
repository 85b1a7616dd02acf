//! Reports of plans and runs: each thing is counted as it was planned, told once, and where it is.

use serde_json::{Value as Json, json};
use trueup_cli_harness::Folder;

use crate::binary::stack;

const FILES: &str = r#"
    terraform {
      backend "s3" {}
    }
    resource "std_file" "kept" {
      path    = "kept.txt"
      content = "kept"
      lifecycle { retain = true }
    }
    resource "std_file" "found" {
      path    = "found.txt"
      content = "found"
    }
"#;

/// The counts of a plan, and of the run that carries it out.
fn counted(folder: &Folder, arguments: &str) -> (Json, Json) {
    let told = folder.done(&format!("{arguments} --yes --json"));
    let of = |kind: &str| {
        let lines = told.out.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let found: Vec<Json> = lines.filter(|line| line["kind"] == kind).collect();
        assert_eq!(found.len(), 1, "{arguments}: one {kind}: {told:?}");
        found[0]["counts"].clone()
    };
    (of("plan"), of("run"))
}

/// OUTPUT-9, ADOPT-10
#[test]
fn plans_and_runs_count_alike() {
    let folder = stack(FILES);
    folder.write("found.txt", "found");
    let adopted = counted(&folder, "import std_file.found found.txt --stage t");
    assert_eq!(adopted, (json!({ "adopt": 1 }), json!({ "adopted": 1 })));
    let created = counted(&folder, "deploy");
    assert_eq!(created, (json!({ "create": 1 }), json!({ "created": 1, "unchanged": 1 })));
    folder.write("found.txt", "drifted");
    let repaired = counted(&folder, "drift --repair");
    assert_eq!(repaired, (json!({ "update": 1 }), json!({ "updated": 1 })));
    let moved = format!(
        "{}\nmoved {{\n from = std_file.found\n to = std_file.here\n}}",
        FILES.replace("\"found\" {", "\"here\" {")
    );
    folder.write("main.tf", &moved);
    assert_eq!(counted(&folder, "deploy"), (json!({ "move": 1 }), json!({ "moved": 1, "unchanged": 2 })));
    let destroyed = counted(&folder, "destroy");
    assert_eq!(destroyed, (json!({ "delete": 1, "forget": 1 }), json!({ "deleted": 1, "forgotten": 1 })));
    assert!(folder.has("kept.txt") && !folder.has("found.txt"));
}

/// BIND-5, OUTPUT-9: the members of a cycle.
#[test]
fn a_cycle_is_counted_as_it_was_planned() {
    let folder = stack(
        r#"
        resource "std_exec" "left" {
          precreate = ["sh", "-c", "cat > /dev/null; echo '{ \"id\": \"l\" }'"]
          create    = ["sh", "-c", "cat > /dev/null; echo '{ \"id\": \"l\" }'"]
          update    = ["sh", "-c", "cat > /dev/null; echo '{ \"id\": \"l\" }'"]
        }
        resource "std_exec" "right" {
          create = ["sh", "-c", "cat > /dev/null; echo '{ \"id\": \"r\" }'"]
          input  = { peer = std_exec.left.result.id }
          bind "peer" {
            to      = std_exec.left
            payload = { id = self.result.id }
          }
        }
        "#,
    );
    let created = counted(&folder, "deploy --stage t");
    assert_eq!(created, (json!({ "create": 2 }), json!({ "created": 2 })));
    assert!(folder.done("plan").out.contains("No changes"));
}

/// A warning of the text is told once, however often the program is built.
#[test]
fn a_warning_of_the_text_is_told_once() {
    let folder = stack(FILES);
    let warned = |arguments: &str| folder.done(arguments).err.matches("`backend` is not used").count();
    assert_eq!(warned("plan --stage t"), 1);
    assert_eq!(warned("deploy --stage t --yes"), 1);
    folder.write("found.txt", "drifted");
    assert_eq!(warned("drift --repair --yes"), 1);
}

/// OUTPUT-11, OUTPUT-14: machines are warned, too.
#[test]
fn a_warning_of_the_text_is_in_the_json() {
    let folder = stack(FILES);
    let warned = |document: &Json, name: &str| {
        let warnings = document[name].as_array().unwrap();
        let of_backend =
            warnings.iter().filter(|it| it["summary"].as_str().unwrap().contains("`backend` is not used"));
        let places: Vec<_> =
            of_backend.map(|it| format!("{}:{}:{}", it["file"], it["line"], it["column"])).collect();
        assert_eq!(places, ["\"main.tf\":3:7"], "{document}");
    };
    warned(&folder.json("validate --json"), "diagnostics");
    warned(&folder.json("plan --stage t --json"), "warnings");
    folder.done("deploy --stage t --yes");
    warned(&folder.json("drift --json"), "warnings");
}

/// OUTPUT-14: there is a document, too, if there was nothing to do.
#[test]
fn nothing_to_do_is_json_for_machines() {
    let begun = crate::binary::empty().json("init site --json");
    assert!(begun["files"].as_array().is_some_and(|files| !files.is_empty()), "{begun}");
    let folder = stack(FILES);
    folder.done("deploy --stage t --yes");
    let rekeyed = folder.json("state rekey --json --yes");
    assert_eq!((&rekeyed["key"], &rekeyed["records"]), (&Json::Null, &0.into()));
    assert_eq!(folder.json("state rekey --forget --json --yes")["kind"], "forgotten");
    let runs = folder.json("history --prune 1 --json");
    let [run] = &runs["runs"].as_array().unwrap()[..] else { panic!("{runs}") };
    assert_eq!((&run["outcome"], &run["ended"]), (&"succeeded".into(), &"succeeded, 2 operations".into()));
    assert!(run["started_ms"].as_u64().is_some_and(|at| at > 1_700_000_000_000), "{run}");
    assert_eq!(folder.json("init --json")["providers"], json!([]));
    assert_eq!(folder.json("state unprotect std_file.found --json --yes")["steps"], json!([]));
    let forgotten = folder.json("state rm std_file.found --json --yes");
    assert_eq!(forgotten["steps"][0]["step"], "std_file.found is forgotten; its object stays");
}

/// DRIFT-8: the plan is shown once, as it is carried out.
#[test]
fn a_repair_shows_one_plan() {
    let folder = stack(FILES);
    folder.done("deploy --stage t --yes");
    folder.write("found.txt", "drifted");
    let told = folder.done("drift --repair --yes");
    assert_eq!(told.out.matches("std_file.found").count(), 1, "{told:?}");
    assert_eq!(told.out.matches(" · stage t · ").count(), 1, "{told:?}");
}

/// STATE-9: what was done is told in the words in which it was announced.
#[test]
fn what_was_forgotten_is_named() {
    let folder = stack(FILES);
    folder.done("deploy --stage t --yes");
    let told = folder.done("state rm std_file.found --yes");
    assert!(told.out.contains("std_file.found is forgotten; its object stays"), "{told:?}");
    assert_eq!(told.err.trim(), "Forgotten: std_file.found. Its object stays.");
}

/// OUTPUT-8, RETRY-9
#[test]
fn a_failure_points_at_the_attribute_at_fault() {
    let folder = stack("resource \"std_exec\" \"a\" {\n  input  = 1\n  create = [\"no-such-program\"]\n}\n");
    let told = folder.run("deploy --stage t --yes");
    assert!(
        told.err.contains("error: cannot create std_exec.a: there is no program `no-such-program`"),
        "{told:?}"
    );
    assert!(told.err.contains(" --> main.tf:3:12\n") && told.err.contains("^^^ `create`"), "{told:?}");
    assert!(!told.err.contains("invalid"), "the class is for machines: {told:?}");
    let json = folder.run("deploy --yes --json").out;
    let run: Json = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(run["outcomes"][0]["error"]["class"], "invalid");
}

/// OUTPUT-8, CRASH-1: a create without an answer that can be read was not interrupted.
#[test]
fn a_create_that_prints_no_object_says_what_to_print() {
    let folder = stack("resource \"std_exec\" \"a\" {\n  create = [\"echo\", \"done\"]\n}\n");
    let told = folder.run("deploy --stage t --yes");
    assert!(told.err.contains("what `create` printed is not a JSON object"), "{told:?}");
    assert!(told.err.contains("help: print the outputs as one JSON object"), "{told:?}");
    assert!(told.err.contains("It is not known whether this took effect."), "{told:?}");
    let next = folder.run("plan");
    assert!(
        next.err.contains("the outcome of an earlier create is unknown") && !next.err.contains("interrupted"),
        "{next:?}"
    );
}
