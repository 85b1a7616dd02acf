//! Runs that are killed at any point, and what the next one makes of it.

use std::cell::Cell;

use trueup_core::{Value, value};
use trueup_program::Program;

use crate::bench::{Bench, program, referring, resource, secret};

/// More points than any of these runs waits at.
const WAITS_MAX: usize = 10_000;

/// A folder with files in it, one of them with a random password.
fn site(text: &str) -> Program {
    let folder = resource("std_directory.site", value!({ path: "site" }));
    let inputs = |name: &str| value!({ path: (format!("site/{name}")) });
    let index = resource("std_file.index", inputs("index").with_entry("content", value!(text)));
    let login = referring("std_file.login", &inputs("login"), "content", "std_random_password.p", "result");
    let key = resource("std_file.key", inputs("key").with_entry("content", secret("hunter2")));
    let mut program = program([
        folder,
        index,
        login,
        key,
        resource("std_random_password.p", value!({ length: 12 })),
        resource("terraform_data.t", value!({ input: text })),
    ]);
    for file in program.resources.iter_mut().filter(|it| it.address.type_name() == "std_file") {
        file.depends_on.push(crate::bench::address("std_directory.site"));
    }
    program
}

/// Cuts a deploy off at each point in turn, each on a bench of its own that was made ready, and lets the next run finish.
fn cut_off_anywhere(ready: impl Fn(&Bench), program: &Program, settled: impl Fn(&Bench)) {
    for waits in 1..WAITS_MAX {
        let bench = Bench::new();
        ready(&bench);
        let left = Cell::new(waits);
        let killed = bench.deploy_cut_off_once(program, || {
            left.set(left.get() - 1);
            left.get() == 0
        });
        bench.deployed(program);
        assert!(bench.plan(program).ends_with("No changes"), "cut off at {waits}");
        settled(&bench);
        bench.destroyed();
        assert!(!bench.told().contains("hunter2"), "cut off at {waits}");
        if !killed {
            // A run that never waited would have shown nothing.
            assert!(waits > 2, "only {waits} waits");
            return;
        }
    }
    panic!("it did not end within {WAITS_MAX} waits");
}

/// The names of all that lies in the site.
fn files(bench: &Bench) -> Vec<String> {
    let entries = std::fs::read_dir(bench.path("site")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// CRASH-1, CRASH-7, INV-5
#[test]
fn a_first_deploy_killed_anywhere_is_finished_by_the_next() {
    cut_off_anywhere(
        |_| {},
        &site("one"),
        |bench| {
            assert_eq!(files(bench), ["index", "key", "login"]);
            assert_eq!(bench.content("site/login").len(), 12);
        },
    );
}

/// CRASH-3, CRASH-7, INV-5
#[test]
fn an_update_killed_anywhere_is_finished_by_the_next() {
    let kept = Cell::new(Value::NULL);
    let password = |bench: &Bench| bench.outputs("p").get("result").unwrap().clone();
    let ready = |bench: &Bench| {
        bench.deployed(&site("one"));
        kept.set(password(bench));
    };
    cut_off_anywhere(ready, &site("two"), |bench| {
        assert_eq!(bench.content("site/index"), "two");
        assert_eq!(password(bench), kept.take());
    });
}
