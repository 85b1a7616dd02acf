//! `std_exec` and `std_http` without `update`, when an object is half made or was found: the objects are the judge.

use trueup_core::{Value, value};
use trueup_program::Program;

use crate::bench::{Bench, program, resource};
use crate::exec::sh;
use crate::http::{thing, without};
use crate::server::{Fault, Server};

/// Makes a file with the input in it, in two steps. Between them it ends as a file tells, once.
const CREATE: &str = r#"
    input=$(sed 's/.*"input":\([^,]*\),.*/\1/')
    mkdir -p objects
    echo half > "objects/$TRUEUP_NAME"
    if [ -e ending ]; then . ./ending; fi
    echo "$input" > "objects/$TRUEUP_NAME"
    echo '{}'"#;
const LOOKUP: &str = r#"cat > /dev/null; if [ -e "objects/$TRUEUP_NAME" ]; then echo '{}'; fi"#;
const DELETE: &str = r#"cat > /dev/null; rm -f "objects/$TRUEUP_NAME""#;

/// Makes another object each time, and prints its id before it ends as a file tells.
const CREATE_NUMBERED: &str = r#"
    cat > /dev/null
    echo x >> count
    mkdir -p objects
    id=$(wc -l < count | tr -d ' ')
    echo made > "objects/$id"
    printf '{"id": "%s"}' "$id"
    if [ -e ending ]; then . ./ending; fi"#;
const DELETE_NUMBERED: &str = r#"rm "objects/$(sed 's/.*"id":"\([0-9]*\)".*/\1/')""#;

/// Makes the next command end so, and only that.
fn ending(bench: &Bench, how: &str) {
    std::fs::write(bench.path("ending"), format!("rm ending; {how}")).unwrap();
}

/// What is in each object, as far as it came.
fn objects(bench: &Bench) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(bench.path("objects")) else { return Vec::new() };
    entries.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap().trim().to_owned()).collect()
}

fn found(input: u64) -> Value {
    value!({ create: (sh(CREATE)), lookup: (sh(LOOKUP)), delete: (sh(DELETE)), input: input, consistency_window: 0 })
}

fn numbered() -> Value {
    value!({ create: (sh(CREATE_NUMBERED)), delete: (sh(DELETE_NUMBERED)) })
}

fn exec(inputs: &Value) -> Program {
    program([resource("std_exec.a", inputs.clone())])
}

fn hints(bench: &Bench, program: &Program) -> String {
    format!("{:?}", bench.try_plan(program).unwrap_err())
}

/// CRASH-1, RECONCILE-2: nobody knows how far a create came that was cut off.
#[test]
fn a_half_made_object_without_update_is_replaced() {
    for how in ["kill -9 $$", "exit 75"] {
        let bench = Bench::new();
        ending(&bench, how);
        bench.failed(&exec(&found(1)));
        assert_eq!(objects(&bench), ["half"], "{how}");
        let plan = bench.plan(&exec(&found(1)));
        assert!(plan.contains("1 to replace"), "{how}: {plan}");
        bench.deployed(&exec(&found(1)));
        assert_eq!(objects(&bench), ["1"], "{how}");
        assert!(bench.plan(&exec(&found(1))).ends_with("No changes"));
    }
}

/// ADOPT-5, RECONCILE-2: nobody knows the inputs of an object that was found.
#[test]
fn an_object_that_was_found_is_replaced_without_update() {
    let mut bench = Bench::new();
    bench.deployed(&exec(&found(1)));
    bench.forget();
    let plan = bench.plan(&exec(&found(2)));
    assert!(plan.contains("1 to replace"), "{plan}");
    bench.deployed(&exec(&found(2)));
    assert_eq!(objects(&bench), ["2"]);
    assert!(bench.plan(&exec(&found(2))).ends_with("No changes"));
}

/// CRASH-7: without `delete` a replacement would be a second object.
#[test]
fn an_object_that_can_neither_be_updated_nor_deleted_is_left_to_a_person() {
    let bench = Bench::new();
    let blunt = without(&found(1), &["delete"]);
    ending(&bench, "kill -9 $$");
    bench.failed(&exec(&blunt));
    for program in [
        exec(&blunt),
        // It would not be run: what is deleted is deleted as it was made.
        exec(&found(1)),
    ] {
        let refused = hints(&bench, &program);
        assert!(refused.contains("it has neither `update`") && refused.contains("by hand"), "{refused}");
    }
    assert_eq!(objects(&bench), ["half"]);
    let updated = blunt.with_entry("update", sh(&CREATE.replace("echo half", "true")));
    bench.deployed(&exec(&updated));
    assert_eq!(objects(&bench), ["1"]);
}

/// CRASH-2: what a failed create printed is known, and is not made again beside it.
#[test]
fn a_failed_create_that_printed_its_object_is_replaced() {
    for how in ["exit 1", "exit 75", "exit 137", "kill -9 $$"] {
        for recovery in ["blind", "token"] {
            let bench = Bench::new();
            let inputs = numbered().with_entry("recover", value!(recovery));
            ending(&bench, how);
            if recovery == "token" && how != "exit 1" {
                // Repeated with its token, it is the same create.
                continue;
            }
            let failed = bench.failed(&exec(&inputs));
            assert!(failed.contains("`create`"), "{how}: {failed}");
            let plan = bench.plan(&exec(&inputs));
            assert!(plan.contains("1 to replace"), "{how}: {plan}");
            bench.deployed(&exec(&inputs));
            assert_eq!(objects(&bench), ["made"], "{how}");
            assert!(bench.plan(&exec(&inputs)).ends_with("No changes"), "{how}");
            bench.destroyed();
            assert!(objects(&bench).is_empty(), "{how}");
        }
    }
}

/// CRASH-2: nor is it forgotten.
#[test]
fn a_failed_create_that_printed_its_object_is_destroyed() {
    for how in ["exit 1", "exit 75", "exit 137"] {
        let bench = Bench::new();
        ending(&bench, how);
        bench.failed(&exec(&numbered()));
        bench.destroyed();
        assert!(objects(&bench).is_empty(), "{how}");
    }
}

/// CRASH-2: without a way to remove it, it stays on record.
#[test]
fn a_failed_create_that_printed_its_object_is_kept_on_record() {
    let bench = Bench::new();
    let program = exec(&without(&numbered(), &["delete"]));
    ending(&bench, "exit 1");
    bench.failed(&program);
    let refused = hints(&bench, &program);
    assert!(refused.contains("it has neither `update`") && refused.contains("state rm"), "{refused}");
    assert_eq!(objects(&bench), ["made"]);
}

fn http(inputs: &Value) -> Program {
    program([resource("std_http.a", inputs.clone())])
}

/// ADOPT-5, RECONCILE-2
#[test]
fn a_web_object_that_was_found_is_replaced_without_update() {
    let (mut bench, server) = (Bench::new(), Server::start());
    let sized = |size| http(&without(&thing(&server, size), &["update"]));
    bench.deployed(&sized(1));
    bench.forget();
    let plan = bench.plan(&sized(2));
    assert!(plan.contains("1 to replace"), "{plan}");
    bench.deployed(&sized(2));
    assert_eq!(server.sizes(), ["2"]);
    assert!(bench.plan(&sized(2)).ends_with("No changes"));
}

/// CRASH-1, RETRY-7, RECONCILE-2: whether it is whole, an error does not tell.
#[test]
fn a_web_object_of_an_unknown_create_is_replaced_without_update() {
    for fault in [Fault::Refused(503, ""), Fault::LostAnswer] {
        let (bench, server) = (Bench::new(), Server::start());
        let program = http(&without(&thing(&server, 1), &["update"]));
        server.fault("POST", fault);
        bench.failed(&program);
        assert!(bench.plan(&program).contains("1 to replace"));
        bench.deployed(&program);
        assert_eq!(server.sizes(), ["1"]);
        assert!(bench.plan(&program).ends_with("No changes"));
    }
}

/// RETRY-4: an object that was made and is not ready yet is waited for, and not made again.
#[test]
fn a_web_object_that_is_not_ready_is_waited_for_without_update() {
    let (bench, server) = (Bench::new(), Server::start());
    server.api().reads_until_ready = 4;
    let wait = value!({ pointer: "/status", values: ["ready"], interval: 1 });
    let ignore = value!(["/reads_left", "/status"]);
    let unready =
        |size| thing(&server, size).with_entry("wait", wait.clone()).with_entry("ignore", ignore.clone());
    let inputs = |size| without(&unready(size), &["update"]);
    let waiting = || server.api().requests.iter().filter(|it| it.starts_with("GET /things/")).count() > 1;
    assert!(bench.deploy_cut_off_once(&http(&inputs(1)), waiting));
    assert!(bench.plan(&http(&inputs(2))).contains("1 to replace"));
    bench.deployed(&http(&inputs(1)));
    let posts = server.requests().iter().filter(|it| it.starts_with("POST")).count();
    assert_eq!((server.sizes().as_slice(), posts), (&["1".to_owned()][..], 1));
}
