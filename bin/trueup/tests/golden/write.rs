//! Writes a folder of golden files with the current binary, or derives expectations anew.
//!
//! `TRUEUP_GOLDEN=2027-03` writes the folder of that name, which must not exist. `TRUEUP_GOLDEN=expected` writes what
//! commands say now about the files of all folders, for a change that is meant; review the difference.
//!
//! State comes from real runs. Some are killed by a command of their own (`stacks/cut/keep.sh`). Records that no
//! built-in type leaves behind are edited in a database, sealed by `state rekey`, and moved into the stores.

use trueup_test_servers::environment::text_variable;

use crate::golden::place::Place;
use crate::golden::workplace::{STATE_FILE, Workplace};
use crate::golden::{
    Golden, STACKS, digests, events, expectation, exports, files, home, intents, plans, rare, states,
};

/// The variable that says what to write.
const ASKED: &str = "TRUEUP_GOLDEN";

#[test]
fn golden_files_are_written_on_request() {
    match text_variable(ASKED).as_deref() {
        None => {}
        Some("expected") => Golden::all().for_each(|golden| write_expectations(&golden)),
        Some(name) => {
            let golden = Golden::named(name);
            assert!(!golden.path("").exists(), "{name} exists: golden files never change");
            write_inputs(&golden);
            check_anonymous(&golden);
            digests::write(&golden);
            write_expectations(&golden);
        }
    }
}

fn write_inputs(golden: &Golden) {
    let (Some(postgres), Some(s3)) = (Place::in_postgres(), Place::in_s3()) else {
        panic!("golden files need all stores");
    };
    let file = Workplace::to_write(STATE_FILE);
    write_shop(&file, Some(golden));
    golden.write("key", std::fs::read(file.path("key/key")).unwrap());
    write_cut(&file);
    golden.write("exports/cut.json", file.done("state export").out);
    keep_stack(golden, "cut", &file);
    let servers = [&postgres, &s3].map(|place| {
        let workplace = Workplace::to_write(&place.address);
        workplace.put("key/key", golden.text("key"), 0o600);
        write_shop(&workplace, None);
        write_cut(&workplace);
        workplace
    });
    let stores =
        [file.path("state/state.db").display().to_string(), postgres.address.clone(), s3.address.clone()];
    keep_stack(golden, "rare", &rare::write(golden, &stores));
    for workplace in servers.iter().chain([&file]) {
        take_stack(workplace, "rare");
        // Its lease takes the place of the one that names the store it was moved from.
        workplace.done("deploy --yes --force --target std_exec.plain");
    }
    write_plans(golden, &file);
    assert!(!file.path("state/state.db-wal").exists(), "the log must be part of the file");
    golden.write("sqlite/state.db", std::fs::read(file.path("state/state.db")).unwrap());
    postgres.save(golden);
    s3.save(golden);
    write_keys(golden);
    write_events(golden);
}

/// Replaces the stack of a workplace.
pub(crate) fn take_stack(workplace: &Workplace, name: &str) {
    std::fs::remove_dir_all(workplace.path("stack")).unwrap();
    workplace.lay_out(&files(&home().join("stacks").join(name)));
}

/// Keeps the stack of a workplace with the files that it deployed.
fn keep_stack(golden: &Golden, name: &str, workplace: &Workplace) {
    for (file, bytes) in workplace.stack_files() {
        golden.write(&format!("stacks/{name}/{file}"), bytes);
    }
}

/// Two deploys: the second one updates, replaces, deletes and moves, and cannot delete an old generation.
fn write_shop(workplace: &Workplace, golden: Option<&Golden>) {
    take_stack(workplace, "shop");
    let moved = std::fs::read_to_string(workplace.path("stack/moved.tf")).unwrap();
    workplace.write("moved.tf", moved.replace("\"moved\"", "\"first\"").split("\nmoved {").next().unwrap());
    workplace.done("deploy --yes --var edition=1");
    if let Some(golden) = golden {
        golden.write("exports/shop-sealed.json", workplace.done("state export").out);
        golden.write("exports/shop-open.json", workplace.done("state export --show-secrets").out);
    }
    workplace.write("moved.tf", &moved);
    workplace.refused("deploy --yes", "`delete` failed with exit code 1");
    if let Some(golden) = golden {
        keep_stack(golden, "shop", workplace);
    }
}

/// Runs that are killed in the middle of an operation. The last one leaves its lease behind.
fn write_cut(workplace: &Workplace) {
    take_stack(workplace, "cut");
    let before =
        ["updating", "replacing", "deleting", "declared_again"].map(|it| format!("--target std_exec.{it} "));
    workplace.done(&format!("deploy --yes --var edition=1 {}", before.concat()));
    workplace.write("fatal", "");
    let targets =
        ["half_made", "looked_up", "missing", "repeated", "blind", "updating", "replacing", "deleting"];
    for target in targets {
        let told = workplace.run(&format!("deploy --yes --target std_exec.{target}"));
        assert_eq!(told.code, if target == "half_made" { 1 } else { -1 }, "{target}: {told:?}");
        if told.code == -1 {
            unlock(workplace);
        }
    }
    let told = workplace.run("deploy --yes --target std_exec.declared_again --var edition=3");
    assert_eq!(told.code, -1, "{told:?}");
    workplace.remove("stack/fatal");
}

/// Takes the lease away from the run that was killed last.
fn unlock(workplace: &Workplace) {
    let history = workplace.json("history --json --last 1");
    workplace.done(&format!("unlock {} --yes", history["runs"][0]["run"].as_str().unwrap()));
}

/// Plans of every protection. The stack `site` has no secrets, but had one, so its stage has a key.
fn write_plans(golden: &Golden, workplace: &Workplace) {
    take_stack(workplace, "site");
    let finally = workplace.stack_files();
    workplace.write("motd.txt", "be quiet\n");
    workplace.write("names.txt", "ada,eve\n");
    workplace.write("secret.tf", "resource \"std_random_password\" \"secret\" {\n  length = 20\n}\n");
    workplace.done("deploy --yes --var title=Silver");
    workplace.remove("stack/secret.tf");
    workplace.done("deploy --yes --var title=Silver");
    workplace.lay_out(&finally);
    workplace.write("out/drifted.txt", "changed from outside");
    let targets = "--target std_file.index --target std_file.named";
    write_plan(golden, workplace, "clear", &format!("--stage fresh --adopt {targets}"), "digest");
    write_plan(golden, workplace, "signed", "", "signed");
    write_plan(golden, workplace, "destroy", "--destroy", "signed");
    keep_stack(golden, "site", workplace);
    take_stack(workplace, "vault");
    workplace.done("deploy --yes --var edition=1");
    write_plan(golden, workplace, "sealed", "", "sealed");
    keep_stack(golden, "vault", workplace);
}

fn write_plan(golden: &Golden, workplace: &Workplace, name: &str, options: &str, protection: &str) {
    workplace.done(&format!("plan --out it.plan {options}"));
    let bytes = std::fs::read(workplace.path("stack/it.plan")).unwrap();
    workplace.remove("stack/it.plan");
    assert_eq!(plans::header(&bytes)["protection"], protection, "{name}");
    golden.write(&format!("plans/{name}.plan"), bytes);
}

/// An export for each kind of key.
fn write_keys(golden: &Golden) {
    for (export, variable, key) in exports::KEYS {
        let workplace = Workplace::to_write(STATE_FILE).with_key(variable, key);
        take_stack(&workplace, "keys");
        workplace.done("deploy --yes");
        golden.write(&format!("exports/{export}"), workplace.done("state export").out);
        keep_stack(golden, "keys", &workplace);
    }
}

/// Everything that can happen to a resource without a kill, one after the other.
const EVENTS: &str = "deploy --yes --json --parallelism 1
drift
deploy --yes --json --parallelism 1 --var edition=2
deploy --yes --json --parallelism 1 --var edition=3
destroy --yes --json --parallelism 1
";

fn write_events(golden: &Golden) {
    let workplace = Workplace::to_write(STATE_FILE);
    workplace.put("key/key", golden.text("key"), 0o600);
    take_stack(&workplace, "events");
    keep_stack(golden, "events", &workplace);
    golden.write(events::COMMANDS, EVENTS);
    golden.write(events::STREAM, events::stream(&workplace, EVENTS));
}

/// Golden files tell nothing of the machine on which they were written.
fn check_anonymous(golden: &Golden) {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim();
    let temporary = tempfile::env::temp_dir().display().to_string();
    for text in [format!("\"host\":\"{host}\""), format!("@{host} "), temporary, "127.0.0.1".to_owned()] {
        for (name, bytes) in golden.files("") {
            let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!found, "{name} contains {text}");
        }
    }
}

fn write_expectations(golden: &Golden) {
    let write = |file: &str, json| golden.write(file, expectation::text(&json));
    for stack in STACKS {
        let workplace = Workplace::with_state_file(golden, stack);
        write(&states::expected("sqlite", stack), states::report(&workplace));
        write(&intents::expected(stack), intents::plan(&workplace));
    }
    for place in [Place::in_postgres(), Place::in_s3()].into_iter().flatten() {
        place.restore(golden);
        for stack in STACKS {
            let report = states::report(&place.workplace(golden, stack));
            write(&states::expected(place.name(), stack), report);
        }
    }
    write(exports::EXPECTED, exports::import(golden, exports::IMPORTED[0]));
    write(exports::SECRETS, exports::open_secrets(golden));
    for name in plans::names(golden) {
        write(&plans::expected(&name), plans::carry_out(golden, &name));
    }
}
