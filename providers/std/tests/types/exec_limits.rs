//! `std_exec` when commands fail, hang, talk too much or are not there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};
use trueup_conformance::Driver;
use trueup_core::{Value, value};
use trueup_provider::{BoxFuture, Clock, Observed};

use crate::bench::{Bench, program, resource, std_in};
use crate::exec::sh;

fn only(create: &str) -> Value {
    value!({ create: (sh(create)) })
}

fn failed(inputs: Value) -> String {
    Bench::new().failed(&program([resource("std_exec.a", inputs)]))
}

/// RETRY-1, RETRY-3
#[test]
fn exit_code_75_is_tried_again_and_others_are_not() {
    let bench = Bench::new();
    let third = "cat > /dev/null; echo x >> tries; [ $(wc -l < tries) -ge 3 ] || exit 75; echo '{}'";
    bench.deployed(&program([resource("std_exec.a", only(third))]));
    assert_eq!(bench.content("tries"), "x\nx\nx\n");
    let never = failed(only("echo busy >&2; exit 75"));
    assert!(never.contains("retryable: `create` asks to be tried again: busy (3 attempts"), "{never}");
    let at_once = failed(only("echo no >&2; exit 1"));
    assert!(at_once.ends_with("fatal: `create` failed with exit code 1: no"), "{at_once}");
    assert!(failed(only("exit 2")).ends_with("exit code 2: it said nothing"));
    assert!(failed(only("kill -9 $$")).contains("indeterminate: `create` was ended by signal 9"));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let missing = failed(value!({ create: ["no-such-program", "x"] }));
    assert!(missing.ends_with("invalid: there is no program `no-such-program`"), "{missing}");
    let missing = failed(value!({ create: ["./not-here"] }));
    assert!(missing.ends_with("invalid: there is no program `./not-here`"), "{missing}");
    let nowhere = failed(value!({ create: ["true"], working_dir: "nowhere" }));
    assert!(nowhere.contains("invalid: there is no folder"), "{nowhere}");
    let bench = Bench::new();
    assert!(bench.refused(&program([resource("std_exec.a", value!({ create: [] }))])).contains("create"));
}

#[test]
fn a_program_that_may_not_be_run_is_told_as_denied() {
    let bench = Bench::new();
    std::fs::write(bench.path("plain"), "").unwrap();
    let failed = bench.failed(&program([resource("std_exec.a", value!({ create: ["./plain"] }))]));
    assert!(failed.contains("denied: `./plain` cannot be run"), "{failed}");
}

#[test]
fn commands_run_in_the_folder_they_are_told() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("sub")).unwrap();
    let inputs = only("cat > /dev/null; pwd > here; echo '{}'").with_entry("working_dir", value!("sub"));
    bench.deployed(&program([resource("std_exec.a", inputs)]));
    assert!(bench.content("sub/here").trim().ends_with("/sub"));
}

/// A stack's folder may be given as it is seen from where the process is.
#[test]
fn a_program_in_a_relative_folder_is_found() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let relative = folder.path().file_name().unwrap();
    let script = folder.path().join("script");
    std::os::unix::fs::symlink("/bin/echo", &script).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let state = runtime.block_on(async {
        let driver = Driver::new(std_in(relative), "std_exec", &value!({})).await.unwrap();
        let desired = driver.inputs(&value!({ create: ["./script", r#"{"a": 1}"#] })).unwrap();
        driver.apply(&desired, None, None).await.unwrap()
    });
    assert_eq!(state.outputs.get("result").unwrap().to_string(), "{ a = 1 }");
}

/// A clock on which any time is over as soon as a file exists.
struct UntilFile(PathBuf);

impl Clock for UntilFile {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        let file = self.0.clone();
        Box::pin(async move {
            while !file.exists() {
                tokio::task::yield_now().await;
            }
        })
    }
}

/// APPLY-13: past its time a command is killed with everything it started, and nobody knows how far it came.
#[test]
fn a_command_out_of_time_is_killed_with_its_whole_group() {
    let bench = Bench::new();
    let script = "tail -f /dev/null & echo $! > child; echo $$ > parent; mv parent started; wait";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let failure = runtime.block_on(async {
        let mut driver = Driver::new(std_in(bench.path("")), "std_exec", &value!({})).await.unwrap();
        driver.context.clock = Arc::new(UntilFile(bench.path("started")));
        let desired = driver.inputs(&only(script).with_entry("timeout", value!(90))).unwrap();
        driver.apply(&desired, None, None).await.unwrap_err().failure
    });
    assert_eq!(failure.to_string(), "indeterminate: `create` did not end within 90 s and was killed");
    for file in ["child", "started"] {
        wait_until_gone(&bench, file);
    }
}

/// Dropping the call, as an engine does that is out of patience, ends the group too.
#[test]
fn a_command_whose_call_is_dropped_is_killed() {
    let bench = Bench::new();
    let script = "tail -f /dev/null & echo $! > child; mv child started; wait";
    let program = program([resource("std_exec.a", only(script))]);
    assert!(bench.deploy_cut_off_once(&program, || bench.path("started").exists()));
    wait_until_gone(&bench, "started");
}

/// INV-16
#[test]
fn a_cancelled_command_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let failure = runtime.block_on(async {
        let driver = Driver::new(std_in(folder.path()), "std_exec", &value!({})).await.unwrap();
        let desired = driver.inputs(&only("touch started; exec tail -f /dev/null")).unwrap();
        let started = folder.path().join("started");
        let cancel = async {
            while !started.exists() {
                tokio::task::yield_now().await;
            }
            driver.context.cancellation.cancel();
        };
        tokio::join!(driver.apply(&desired, None, None), cancel).0.unwrap_err().failure
    });
    assert_eq!(failure.to_string(), "indeterminate: `create` was killed, because the run is being ended");
}

/// What ignores its input or closes it early is not at fault; what it left running on purpose stays.
#[test]
fn input_need_not_be_read_and_a_service_may_stay() {
    let bench = Bench::new();
    let large = "x".repeat(500_000);
    let inputs = only("exec < /dev/null; tail -f /dev/null > /dev/null 2>&1 & echo $! > service; echo '{}'");
    let inputs = inputs.with_entry("input", value!(large.as_str()));
    bench.deployed(&program([resource("std_exec.a", inputs)]));
    let service = pid(&bench, "service");
    assert!(test_kill_process(service).is_ok());
    rustix::process::kill_process(service, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn endless_output_is_cut_off() {
    let failed = failed(only("yes"));
    assert!(failed.contains("indeterminate: `create` printed more than 4 MiB and was killed"), "{failed}");
}

/// SECRET-1, bounded: the end of what a command complains about is shown.
#[test]
fn endless_complaints_are_shown_by_their_end() {
    let failed = failed(only("yes complaint | head -c 1000000 >&2; echo the end >&2; exit 1"));
    assert!(failed.ends_with("the end") && failed.len() < 5_000, "{}", failed.len());
}

/// APPLY-8: an object may exist whose outputs nobody can read.
#[test]
fn an_answer_that_is_no_object_is_told() {
    let said = |create: &str| failed(only(create));
    assert!(said(r"printf '\377\376'").contains("indeterminate: what `create` printed is not valid UTF-8"));
    assert!(said("echo hello").contains("is not a JSON object: expected value"));
    assert!(said("echo '[1]'").contains("`create` printed a list, and a JSON object was expected"));
    assert!(said("echo '{}{}'").contains("is not a JSON object: trailing"));
    assert!(said(r#"printf '{"a":'; yes '[' | head -500 | tr -d '\n'"#).contains("nests deeper"));
    // A complaint may be anything.
    assert!(said(r"printf '\377' >&2; exit 1").ends_with('\u{fffd}'));
}

/// DRIFT-4, DRIFT-5, CRUD-2: gone, unreadable and broken are three things.
#[test]
fn gone_is_told_from_unreadable_and_from_broken() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = |read: Option<&str>| {
        let inputs = only("echo '{}'");
        let inputs = read.map_or(inputs.clone(), |read| inputs.with_entry("read", sh(read)));
        runtime.block_on(async {
            let driver = Driver::new(std_in(folder.path()), "std_exec", &value!({})).await.unwrap();
            let desired = driver.inputs(&inputs).unwrap();
            let state = driver.apply(&desired, None, None).await.unwrap();
            driver.read(&desired, &state).await.map_err(|failure| failure.to_string())
        })
    };
    assert_eq!(read(Some("true")), Ok(Observed::Absent));
    assert_eq!(read(Some("echo null")), Ok(Observed::Absent));
    assert_eq!(read(None), Ok(Observed::Unreadable));
    assert!(matches!(read(Some("echo '{}'")), Ok(Observed::Present(_))));
    assert_eq!(
        read(Some("exit 4")),
        Err("fatal: `read` failed with exit code 4: it said nothing".to_owned())
    );
}

/// CRASH-2: what a failed create made so far is kept, and finished by `update`.
#[test]
fn a_half_made_object_is_finished_by_update() {
    let bench = Bench::new();
    let create = r#"cat > /dev/null; echo '{"id": 7}'; echo half >&2; exit 1"#;
    let update = r#"cat > given; echo '{"id": 7, "ready": true}'"#;
    let of = |inputs: Value| program([resource("std_exec.a", inputs)]);
    let resumable = only(create).with_entry("update", sh(update));
    assert!(bench.failed(&of(resumable.clone())).contains("half"));
    bench.deployed(&of(resumable));
    assert!(bench.content("given").contains(r#""result":{"id":7}"#), "{}", bench.content("given"));
    assert_eq!(bench.outputs("a").get("result").unwrap().to_string(), "{ id = 7, ready = true }");
}

/// What is known of an object is needed to delete it.
#[test]
fn an_update_that_prints_nothing_keeps_what_is_known() {
    let bench = Bench::new();
    let of = |size: u64| {
        let inputs = only(r#"echo '{"id": 7}'"#).with_entry("update", sh("true"));
        program([resource("std_exec.a", inputs.with_entry("input", value!(size)))])
    };
    bench.deployed(&of(1));
    bench.deployed(&of(2));
    assert_eq!(bench.outputs("a").get("result").unwrap().to_string(), "{ id = 7 }");
}

/// CRASH-1
#[test]
fn recovery_by_lookup_needs_something_to_look_with() {
    let inputs = only("true").with_entry("recover", value!("lookup"));
    let refused = Bench::new().refused(&program([resource("std_exec.a", inputs)]));
    assert!(refused.contains("neither a `lookup` nor a `read`"), "{refused}");
}

fn pid(bench: &Bench, file: &str) -> Pid {
    Pid::from_raw(bench.content(file).trim().parse().unwrap()).unwrap()
}

/// A killed process is gone once it is reaped: by us, or by whoever takes in orphans.
fn wait_until_gone(bench: &Bench, file: &str) {
    let pid = pid(bench, file);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gone = async {
        while !is_dead(pid) {
            tokio::task::yield_now().await;
        }
    };
    let bounded = async { tokio::time::timeout(Duration::from_secs(20), gone).await };
    runtime.block_on(bounded).expect("it is killed");
}

/// Whether a process runs no more; one that nobody has reaped yet does not.
fn is_dead(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let zombie = stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')));
    zombie || test_kill_process(pid).is_err()
}
