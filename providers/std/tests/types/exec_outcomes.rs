//! `std_exec` when a command fails after its effect: the number of objects is the judge.

use trueup_core::{Value, value};

use crate::bench::{Bench, program, resource};
use crate::exec::sh;

/// Adds an object to a list, and ends as told by a file the first time.
const CREATE: &str = r#"
    cat > /dev/null
    grep -q "token $TRUEUP_TOKEN" objects 2> /dev/null || echo "$TRUEUP_NAME token $TRUEUP_TOKEN" >> objects
    if [ -e ending ]; then . ./ending; fi
    echo '{}'"#;

/// The same, and a second time it is another object.
const CREATE_ANOTHER: &str = r#"
    cat > /dev/null
    echo "$TRUEUP_NAME" >> objects
    if [ -e ending ]; then . ./ending; fi
    echo '{}'"#;
const LOOKUP: &str =
    r#"cat > /dev/null; if grep -q "^$TRUEUP_NAME" objects 2> /dev/null; then echo '{}'; fi"#;

/// How commands end that may have had an effect.
const UNKNOWN: [&str; 7] =
    ["exit 124", "exit 126", "exit 127", "exit 137", "exit 143", "kill -9 $$", "kill -TERM $$"];

fn objects(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path("objects")).map_or(0, |text| text.lines().count())
}

/// Makes the next command end so, and only that.
fn ending(bench: &Bench, how: &str) {
    std::fs::write(bench.path("ending"), format!("rm ending; {how}")).unwrap();
}

fn deploy_twice_at_most(bench: &Bench, inputs: &Value) {
    let program = program([resource("std_exec.a", inputs.clone())]);
    if !bench.deploy(&program).succeeded() {
        bench.deployed(&program);
    }
}

/// CRASH-1
#[test]
fn a_command_that_fails_after_its_effect_makes_no_second_object_if_it_can_be_looked_up() {
    // 75 is a promise that nothing happened; whoever can look does so all the same (RETRY-7).
    for how in UNKNOWN.into_iter().chain(["exit 75"]) {
        let bench = Bench::new();
        ending(&bench, how);
        let inputs = value!({ create: (sh(CREATE_ANOTHER)), lookup: (sh(LOOKUP)), consistency_window: 0 });
        deploy_twice_at_most(&bench, &inputs.with_entry("update", value!(["true"])));
        assert_eq!(objects(&bench), 1, "{how}");
    }
}

/// CRASH-1
#[test]
fn a_command_that_fails_after_its_effect_is_repeated_with_the_token() {
    for how in UNKNOWN.into_iter().chain(["exit 75"]) {
        let bench = Bench::new();
        ending(&bench, how);
        deploy_twice_at_most(&bench, &value!({ create: (sh(CREATE)), recover: "token" }));
        assert_eq!(objects(&bench), 1, "{how}");
    }
}

/// CRASH-1: a blind resource stops and asks.
#[test]
fn a_command_that_fails_after_its_effect_leaves_a_blind_resource_to_a_person() {
    for how in UNKNOWN {
        let bench = Bench::new();
        ending(&bench, how);
        let program = program([resource("std_exec.a", value!({ create: (sh(CREATE_ANOTHER)) }))]);
        let failed = bench.failed(&program);
        assert!(failed.contains("indeterminate: `create`"), "{how}: {failed}");
        assert!(bench.refused(&program).contains("the outcome of an earlier create is unknown"), "{how}");
        assert_eq!(objects(&bench), 1, "{how}");
    }
}

/// RETRY-3: the program's own exit codes say that nothing happened.
#[test]
fn a_failure_without_effect_can_be_deployed_again() {
    for code in [1, 2, 74, 76, 123] {
        let bench = Bench::new();
        let create = format!("[ -e second ] && exec echo '{{}}'; touch second; exit {code}");
        let program = program([resource("std_exec.a", value!({ create: (sh(&create)) }))]);
        assert!(bench.failed(&program).contains(&format!("fatal: `create` failed with exit code {code}")));
        bench.deployed(&program);
    }
}

/// RETRY-1: what a command means by an exit code is the program's word.
#[test]
fn outcomes_are_declared_per_resource() {
    let with = |code: &str, outcome: &str| {
        let outcomes = Value::object([(code, Value::from(outcome))]);
        program([resource("std_exec.a", value!({ create: (sh(CREATE_ANOTHER)), outcomes: (outcomes) }))])
    };
    let bench = Bench::new();
    ending(&bench, "exit 3");
    assert!(bench.failed(&with("3", "unknown")).contains("indeterminate: `create` failed with exit code 3"));
    assert!(bench.refused(&with("3", "unknown")).contains("the outcome of an earlier create is unknown"));
    let bench = Bench::new();
    ending(&bench, "kill -9 $$");
    assert!(bench.failed(&with("137", "failed")).contains("fatal: `create` was ended by signal 9"));
    bench.deployed(&with("137", "failed"));
    let bench = Bench::new();
    ending(&bench, "exit 4");
    bench.deployed(&with("4", "retry"));
    assert_eq!(objects(&bench), 2);
    let refused = bench.refused(&with("0", "failed"));
    assert!(refused.contains("`0` is not a number from 1 to 255"), "{refused}");
}
