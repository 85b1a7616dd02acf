//! `std_exec`, through its life: objects are files in a folder, made by shell commands.

use std::fs;

use trueup_conformance::{Kit, Outcome};
use trueup_core::{Value, value};

use crate::bench::{Bench, program, reference, referring, resource, secret, std_in};

/// Makes, or makes again, the file named after the object, with the size that the input names. Whole or not at all.
const WRITE: &str = r#"
    size=$(sed 's/.*"input":{"size":\([0-9]*\).*/\1/')
    printf '{"size": %s, "name": "%s"}' "$size" "$TRUEUP_NAME" > "$TRUEUP_NAME.new"
    mv "$TRUEUP_NAME.new" "$TRUEUP_NAME.json"
    cat "$TRUEUP_NAME.json""#;
const RESERVE: &str =
    r#"cat > /dev/null; printf '{"size": 0}' > "$TRUEUP_NAME.json"; cat "$TRUEUP_NAME.json""#;
const READ: &str = r#"cat > /dev/null; cat "$TRUEUP_NAME.json" 2> /dev/null || true"#;
const DELETE: &str = r#"cat > /dev/null; rm -f "$TRUEUP_NAME.json" "$TRUEUP_NAME.new""#;

/// A shell command.
pub(crate) fn sh(script: &str) -> Value {
    value!(["sh", "-c", script])
}

fn thing(size: u64) -> Value {
    value!({
        create: (sh(WRITE)),
        read: (sh(READ)),
        update: (sh(WRITE)),
        delete: (sh(DELETE)),
        recover: "lookup",
        input: { size: size },
        consistency_window: 0,
    })
}

fn without(inputs: &Value, names: &[&str]) -> Value {
    let entries = inputs.as_entries().unwrap().iter();
    Value::object(
        entries
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, it)| (name.clone(), it.clone())),
    )
}

fn objects(bench: &Bench) -> Vec<String> {
    bench.files().into_iter().filter(|name| name.ends_with(".json")).collect()
}

/// CRUD-2, DRIFT-2, CRASH-1, CRASH-7, SECRET-5
#[test]
fn commands_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let path_of = |folder: std::path::PathBuf| {
        move |state: &trueup_provider::State| {
            folder.join(format!("{}.json", state.outputs.get("name").unwrap().as_str().unwrap()))
        }
    };
    let (tampered, removed) = (path_of(at.clone()), path_of(at.clone()));
    let counted = at.clone();
    let report =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let with_secret =
                |inputs: Value| inputs.with_entry("environment", value!({ PASSWORD: (secret("canary-1")) }));
            let with_secret = |inputs: Value| with_secret(inputs.with_entry("precreate", sh(RESERVE)));
            let kit = Kit::new(std_in(&at), "std_exec", with_secret(thing(1))).await.unwrap();
            kit.updated(with_secret(thing(2)))
                .replaced(with_secret(thing(1).with_entry("triggers", value!("other"))))
                .tampered_by(move |state| {
                    let path = tampered(&state);
                    async move { fs::write(path, r#"{"size": 99}"#).unwrap() }
                })
                .removed_by(move |state| {
                    let path = removed(&state);
                    async move { fs::remove_file(path).unwrap() }
                })
                .counted_by(move || {
                    let folder = counted.clone();
                    async move {
                        let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
                        names.filter(|name| name.to_str().unwrap().ends_with(".json")).count()
                    }
                })
                .secret("canary-1")
                .run()
                .await
        });
    report.assert_passed();
    let unchecked: Vec<_> =
        report.checks.iter().filter(|(_, it)| matches!(it, Outcome::Skipped(_))).collect();
    let expected = |name: &str| name.contains("foreign") || name.contains("imported");
    assert!(unchecked.iter().all(|(name, _)| expected(name)), "{report}");
}

/// PLAN-1, PLAN-2, PLAN-3, DRIFT-2: from nothing to nothing.
#[test]
fn an_object_is_made_changed_repaired_and_deleted() {
    let bench = Bench::new();
    let of = |size| program([resource("std_exec.a", thing(size))]);
    bench.deployed(&of(1));
    assert_eq!(objects(&bench).len(), 1);
    assert!(bench.plan(&of(1)).ends_with("No changes"));
    insta::assert_snapshot!(bench.plan(&of(2)), @r"
    ~ std_exec.a (inputs)
        input.size: 1 -> 2
    Plan: 1 to update
    ");
    bench.deployed(&of(2));
    assert_eq!(bench.outputs("a").get("result").unwrap().get("size").unwrap().to_string(), "2");
    let object = bench.path(&objects(&bench)[0]);
    fs::write(&object, r#"{"size": 7, "name": "x"}"#).unwrap();
    assert!(bench.plan(&of(2)).contains("~ std_exec.a (drift)"));
    bench.deployed(&of(2));
    assert!(fs::read_to_string(&object).unwrap().contains(r#""size": 2"#));
    fs::remove_file(&object).unwrap();
    let plan = bench.try_plan(&of(2)).unwrap();
    assert_eq!(plan.action("std_exec.a").unwrap().decision(), "drift-recreate");
    bench.deployed(&of(2));
    bench.destroyed();
    assert!(bench.files().is_empty(), "{:?}", bench.files());
}

/// PLAN-4, UNKNOWN-8, REPLACE-1: without `update`, what the object should be replaces; how it is handled never does.
#[test]
fn without_update_a_change_replaces() {
    let bench = Bench::new();
    let of = |size| without(&thing(size), &["update"]);
    bench.deployed(&program([resource("std_exec.a", of(1))]));
    let before = objects(&bench);
    let plan = bench.plan(&program([resource("std_exec.a", of(2))]));
    assert!(plan.contains("Plan: 1 to replace"), "{plan}");
    bench.deployed(&program([resource("std_exec.a", of(2))]));
    assert_eq!((objects(&bench).len(), objects(&bench) == before), (1, false));
    // Drift cannot be repaired in place either.
    fs::write(bench.path(&objects(&bench)[0]), "{}").unwrap();
    assert!(bench.plan(&program([resource("std_exec.a", of(2))])).contains("Plan: 1 to replace"));
    bench.deployed(&program([resource("std_exec.a", of(2))]));
    let kept = objects(&bench);
    let handled = program([resource("std_exec.a", of(2).with_entry("timeout", value!(5)))]);
    bench.deployed(&handled);
    assert_eq!(objects(&bench), kept);
    assert!(bench.plan(&handled).ends_with("No changes"));
    let unknown = resource("std_exec.b", thing(3));
    let fed = referring("std_exec.a", &without(&of(2), &["input"]), "input", "std_exec.b", "result");
    let plan = bench.plan(&program([fed, unknown]));
    assert!(plan.contains("1 may replace"), "{plan}");
}

/// A change in how the object is handled is noted without running `update`.
#[test]
fn how_an_object_is_handled_is_only_noted() {
    let bench = Bench::new();
    let counting = thing(1).with_entry("update", sh("echo x >> updates; cat > /dev/null; echo '{}'"));
    bench.deployed(&program([resource("std_exec.a", counting.clone())]));
    let noted = counting.with_entry("environment", value!({ A: "b" }));
    bench.deployed(&program([resource("std_exec.a", noted.clone())]));
    assert!(!bench.path("updates").exists());
    assert!(bench.plan(&program([resource("std_exec.a", noted.clone())])).ends_with("No changes"));
    // With drift beside it, the object is repaired all the same.
    fs::write(bench.path(&objects(&bench)[0]), "{}").unwrap();
    bench.deployed(&program([resource("std_exec.a", noted.with_entry("timeout", value!(9)))]));
    assert!(bench.path("updates").exists());
}

/// CRASH-1: a create that was cut off after it went through is found by its name, and not made twice.
#[test]
fn an_interrupted_create_is_recovered_by_lookup() {
    let bench = Bench::new();
    // Makes the object, then waits for something that never comes.
    let hanging = format!("{WRITE}; exec tail -f /dev/null");
    let of = |create: &str| program([resource("std_exec.a", thing(1).with_entry("create", sh(create)))]);
    assert!(bench.deploy_cut_off_once(&of(&hanging), || objects(&bench).len() == 1));
    let made = objects(&bench);
    let plan = bench.try_plan(&of(WRITE)).unwrap();
    assert!(plan.to_string().contains("recovered") || plan.to_string().contains("adopted"), "{plan}");
    bench.deployed(&of(WRITE));
    assert_eq!(objects(&bench), made);
    bench.destroyed();
    assert!(objects(&bench).is_empty());
}

/// CRASH-1: the same without a way to look.
#[test]
fn an_interrupted_create_of_a_blind_resource_is_left_to_a_person() {
    let bench = Bench::new();
    let hanging = format!("{WRITE}; exec tail -f /dev/null");
    let blind = without(&thing(1), &["recover"]).with_entry("create", sh(&hanging));
    let blind = program([resource("std_exec.a", blind)]);
    assert!(bench.deploy_cut_off_once(&blind, || objects(&bench).len() == 1));
    assert!(bench.refused(&blind).contains("the outcome of an earlier create is unknown"));
}

/// ADOPT-1: state that was lost is rebuilt.
#[test]
fn an_object_is_found_again_after_lost_state() {
    let mut bench = Bench::new();
    let looked_up = without(&thing(1), &["recover"]).with_entry("lookup", sh(READ));
    let program = program([resource("std_exec.a", looked_up)]);
    bench.deployed(&program);
    let made = objects(&bench);
    bench.forget();
    bench.deployed(&program);
    assert_eq!(objects(&bench), made);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// RECONCILE-4: what every command is told.
#[test]
fn commands_are_told_who_they_are() {
    let bench = Bench::new();
    let script = r#"cat > stdin; printf '{"name": "%s", "token": "%s", "who": "%s %s %s %s", "hi": "%s%s"}' \
        "$TRUEUP_NAME" "$TRUEUP_TOKEN" "$TRUEUP_ADDRESS" "$TRUEUP_STACK" "$TRUEUP_STAGE" "$TRUEUP_OPERATION" \
        "$GREETING" "$MORE""#;
    let inputs = value!({ create: (sh(script)), input: { a: [1, "b", null] }, environment: { MORE: "!" } });
    bench.deployed(&program([resource("std_exec.a", inputs)]));
    let result = bench.outputs("a").get("result").unwrap().clone();
    let text = |name: &str| result.get(name).unwrap().as_str().unwrap().to_owned();
    assert!(text("name").starts_with("stack-test-a-"), "{result}");
    assert_eq!(text("token").len(), 32);
    assert_eq!(text("who"), "std_exec.a stack test create");
    assert_eq!(text("hi"), "hello!");
    insta::assert_snapshot!(bench.content("stdin"), @r#"{"bindings":{},"input":{"a":[1,"b",null]},"operation":"create","prior_input":null,"result":null,"triggers":null}"#);
}

/// Results are there for others, by name.
#[test]
fn results_are_reached_by_name() {
    let bench = Bench::new();
    let mut program = program([resource("std_exec.a", thing(4))]);
    program.outputs.push(trueup_program::OutputDeclaration {
        name: "size".into(),
        value: reference("std_exec.a", "result.size"),
        secret: false,
    });
    let report = bench.deployed(&program);
    assert_eq!(report.outputs.unwrap().to_string(), "{ size = 4 }");
}

/// SECRET-1, SECRET-5: neither in what a command prints nor in what it complains about.
#[test]
fn secrets_stay_secret_whatever_a_command_says() {
    let bench = Bench::new();
    let inputs = |create: &str| {
        value!({
            create: (sh(create)),
            input: { password: (secret("hunter2-of-input")) },
            environment: { TOKEN: (secret("hunter2-of-environment")) },
            secret_results: ["key"],
        })
    };
    let argument = value!(["sh", "-c", "echo $0 >&2; exit 3", (secret("hunter2-of-argument"))]);
    let failed = bench.failed(&program([resource("std_exec.a", value!({ create: argument }))]));
    assert!(failed.ends_with("exit code 3: (secret)"), "{failed}");
    let talkative = r#"cat >&2; echo "and $TOKEN" >&2; exit 3"#;
    let failed = bench.failed(&program([resource("std_exec.a", inputs(talkative))]));
    assert!(failed.contains("exit code 3") && failed.contains("and (secret)"), "{failed}");
    let printing =
        r#"cat > /dev/null; printf '{"key": "%s2-made", "echo": "x%sx", "open": 1}' hunter "$TOKEN""#;
    bench.deployed(&program([resource("std_exec.a", inputs(printing))]));
    let result = bench.outputs("a").get("result").unwrap().clone();
    assert_eq!(result.to_string(), "{ echo = (secret), key = (secret), open = 1 }");
    assert!(bench.plan(&program([resource("std_exec.a", inputs(printing))])).ends_with("No changes"));
    bench.destroyed();
    assert!(!bench.told().contains("hunter2"));
}
