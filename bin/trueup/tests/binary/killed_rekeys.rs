//! Changes of keys that are killed or interrupted: the same command, run again, finishes them.
#![allow(clippy::disallowed_methods, reason = "a test that waits for another process gives up at some time")]

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;
use trueup_cli_harness::{Folder, Started};
use trueup_test_servers::sized;

use crate::binary::gate::{open, pipe};
use crate::binary::stack;

/// Longer than anything that ends takes to end.
const PATIENCE: Duration = Duration::from_secs(60);

const TEXT: &str = r#"
resource "std_random_password" "made" {
  count  = 20
  length = 20
}

output "first" {
  value     = std_random_password.made[0].result
  sensitive = true
}
"#;

/// Keeps a key by reversing it, or by turning it around a little, which the other does not undo. `stop-at` says at which
/// of its calls a keeper waits at the gate.
const KEEPER: &str = r#"
cd "$(dirname "$0")"
echo >> calls
if test "$(wc -l < calls)" = "$(cat stop-at 2> /dev/null)"; then echo here > reached; cat gate > /dev/null; fi
read line
case $1 in
  old) echo "$line" | rev ;;
  new) echo "$line" | tr 'A-Za-z' 'N-ZA-Mn-za-m' ;;
esac
"#;

/// A command, with the keys that it has in its environment.
type Keys<'a> = [(&'a str, &'a str)];

fn done(folder: &Folder, arguments: &str, keys: &Keys<'_>) -> String {
    let told = folder.run_with(arguments, keys);
    assert_eq!(told.code, 0, "{arguments}: {told:?}");
    told.out
}

/// All secrets of the records, then that of the outputs.
fn secrets_of(folder: &Folder, keys: &Keys<'_>) -> Vec<String> {
    let export: Value = serde_json::from_str(&done(folder, "state export --show-secrets", keys)).unwrap();
    let mut found = Vec::new();
    passwords(&export["records"], &mut found);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 20, "{export}");
    found.push(done(folder, "output --raw first", keys));
    found
}

/// The texts that are secret.
fn passwords(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$value").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| passwords(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| passwords(item, found)),
        _ => {}
    }
}

/// Runs the change of keys again after a kill: it finishes, nothing is lost, and only the new key opens the secrets.
fn finish(
    folder: &Folder,
    at: &str,
    change: &Keys<'_>,
    (old, new): (&Keys<'_>, &Keys<'_>),
    secrets: &[String],
) {
    let again = folder.run_with("state rekey --yes --json", change);
    assert_eq!(again.code, 0, "killed {at}: {again:?}");
    assert!(again.out.contains(r#""old_keys_kept":false"#), "killed {at}: {again:?}");
    assert_eq!(secrets_of(folder, new), secrets, "killed {at}");
    assert_eq!(folder.run_with("output --raw first", old).code, 1, "killed {at}: the old key opens nothing");
    assert!(done(folder, "plan", new).contains("No changes"), "killed {at}");
}

/// Stops a change of keys wherever a command that keeps keys is asked, and finishes it. The keyring is wrapped by the new
/// key after the second call; at the fourth all records are sealed by it.
fn stop_at_every_call(stop: impl Fn(Started, &Folder)) {
    for call in 1..=4 {
        let folder = stack(TEXT);
        folder.write("keeper.sh", KEEPER);
        let [old, new] =
            ["old", "new"].map(|it| format!("sh {} {it}", folder.path().join("keeper.sh").display()));
        let old_keys = [("TRUEUP_KEY_COMMAND", &*old)];
        let new_keys = [("TRUEUP_KEY_COMMAND", &*new)];
        let change = [old_keys[0], ("TRUEUP_NEW_KEY_COMMAND", &*new)];
        done(&folder, "deploy --stage t --yes", &old_keys);
        let secrets = secrets_of(&folder, &old_keys);
        pipe(&folder, "gate");
        pipe(&folder, "reached");
        folder.write("calls", "");
        folder.write("stop-at", &call.to_string());
        let run = folder.start_with("state rekey --yes", &change);
        assert_eq!(folder.read("reached"), "here\n", "call {call}");
        folder.write("stop-at", "");
        stop(run, &folder);
        finish(&folder, &format!("at call {call}"), &change, (&old_keys, &new_keys), &secrets);
    }
}

/// SECRET-3
#[test]
fn a_change_of_keys_that_is_killed_at_a_call_is_finished_by_the_same_command() {
    stop_at_every_call(|run, folder| {
        run.kill();
        // The keeper outlives the run: it is let go.
        open(folder);
    });
}

/// SECRET-3: an interruption ends it at once, though the keeper never answers, and nobody waits for its lease.
#[test]
fn a_change_of_keys_that_is_interrupted_is_finished_by_the_same_command() {
    stop_at_every_call(|run, folder| {
        run.signal("INT");
        let told = run.ended();
        // The keeper ended with the run, but not what it may have started.
        let gate = File::options().read(true).write(true).open(folder.path().join("gate"));
        gate.unwrap().write_all(b"{}\n").unwrap();
        assert_eq!(told.code, 130, "{told:?}");
        assert!(told.err.contains("run the same command again"), "{told:?}");
    });
}

/// SECRET-3: killed after any number of writes to the database.
#[test]
fn a_change_of_keys_that_is_killed_at_a_write_is_finished_by_the_same_command() {
    let folder = stack(TEXT);
    let mut old = "0a".repeat(32);
    done(&folder, "deploy --stage t --yes", &[("TRUEUP_KEY", &old)]);
    let secrets = secrets_of(&folder, &[("TRUEUP_KEY", &old)]);
    let mut killed = 0;
    for trial in 0..sized(6, 120) {
        let new = format!("{:02x}", trial % 200 + 20).repeat(32);
        let change = [("TRUEUP_KEY", old.as_str()), ("TRUEUP_NEW_KEY", new.as_str())];
        let mut run = folder.start_with("state rekey --yes", &change);
        let ended = wait_for_writes(&folder, &mut run, trial % 12);
        run.kill();
        killed += usize::from(!ended);
        let at = format!("after {} writes", trial % 12);
        finish(&folder, &at, &change, (&[("TRUEUP_KEY", &old)], &[("TRUEUP_KEY", &new)]), &secrets);
        old = new;
    }
    println!("{killed} changes of keys were killed");
    assert!(killed > 0, "some run must have been at work");
}

/// Waits until the log of the database has changed so often; whether the run has ended by then.
fn wait_for_writes(folder: &Folder, run: &mut Started, writes: usize) -> bool {
    let began = Instant::now();
    let log = folder.path().join(".trueup/state.db-wal");
    let (mut seen, mut changes) = (None, 0);
    while changes <= writes {
        assert!(began.elapsed() < PATIENCE, "it writes or ends");
        if run.has_ended() {
            return true;
        }
        let now = std::fs::metadata(&log).ok().map(|it| (it.len(), it.modified().ok()));
        if now.is_some() && now != seen {
            seen = now;
            changes += 1;
        }
        std::thread::yield_now();
    }
    false
}

/// STATE-4: two at once come one after the other.
#[test]
fn a_change_of_keys_waits_for_another() {
    let folder = stack(TEXT);
    folder.write("keeper.sh", KEEPER);
    let [old, new] =
        ["old", "new"].map(|it| format!("sh {} {it}", folder.path().join("keeper.sh").display()));
    let change = [("TRUEUP_KEY_COMMAND", &*old), ("TRUEUP_NEW_KEY_COMMAND", &*new)];
    done(&folder, "deploy --stage t --yes", &change[..1]);
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder.write("calls", "");
    folder.write("stop-at", "2");
    let first = folder.start_with("state rekey --yes", &change);
    assert_eq!(folder.read("reached"), "here\n");
    let said = folder.path().join("said");
    let mut second = folder.command("state rekey --yes");
    let mut second = second.envs(change).stderr(File::create(&said).unwrap()).spawn().unwrap();
    let began = Instant::now();
    while !std::fs::read_to_string(&said).unwrap().contains("Waiting: stage t is held by") {
        assert!(
            began.elapsed() < PATIENCE && second.try_wait().unwrap().is_none(),
            "{}",
            folder.read("said")
        );
        std::thread::yield_now();
    }
    open(&folder);
    let first = first.ended();
    assert_eq!(first.code, 0, "{first:?}");
    assert!(second.wait().unwrap().success(), "{}", folder.read("said"));
    assert!(done(&folder, "plan", &[("TRUEUP_KEY_COMMAND", &new)]).contains("No changes"));
}
