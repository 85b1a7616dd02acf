//! Plugins that are none, are broken, or misbehave: a clear error that names the provider, no hang, no process left.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};

use crate::plugins::bench::{Bench, binaries, unfolded, versions};

const THING: &str = "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n";

/// A stack whose provider is this script.
fn scripted(text: &str) -> Bench {
    let bench = Bench::new(6);
    bench.write_configured(THING);
    let folder = bench.folder.path().join("plugin");
    let program = write_program(&bench, text);
    bench.overriding(&folder);
    assert!(program.starts_with(folder));
    bench
}

/// Writes a program by another process: a child of another test could hold what this one writes to, and then it does not
/// start.
fn write_program(bench: &Bench, text: &str) -> PathBuf {
    bench.folder.write("plugin/source", &format!("#!/bin/sh\n{text}\n"));
    let folder = bench.folder.path().join("plugin");
    std::fs::set_permissions(folder.join("source"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("terraform-provider-fixture6");
    let copied = std::process::Command::new("cp").arg(folder.join("source")).arg(&program).status().unwrap();
    assert!(copied.success());
    program
}

/// The error of a plan whose provider is a script with this start timeout.
fn refused(text: &str, seconds: &str) -> String {
    let bench = scripted(text);
    let told = bench.command("plan").env("TRUEUP_PLUGIN_START_TIMEOUT", seconds).output().unwrap();
    assert_eq!(told.status.code(), Some(1));
    bench.left_alone();
    let told = unfolded(&String::from_utf8_lossy(&told.stderr));
    assert!(told.contains("example.com/trueup/fixture6"), "it names the provider: {told}");
    told
}

#[test]
fn what_is_no_plugin_is_told_by_name() {
    for (script, why) in [
        ("echo Hello", "it printed something else than the handshake of a plugin: `Hello`"),
        ("head -c 100000 /dev/urandom; exec sleep 600", "it printed something else than the handshake"),
        ("echo '1|4|unix|/tmp/x|grpc|'; exec sleep 600", "it speaks version 4 of the plugin protocol"),
        ("echo '2|5|unix|/tmp/x|grpc|'; exec sleep 600", "handshake"),
        ("echo '1|5|unix|/tmp/x|netrpc|'; exec sleep 600", "netrpc"),
        ("exec sleep 600", "it was not ready after 2 s"),
        (
            "echo 'no licence' >&2; exit 3",
            "it ended before it was ready (exit status: 3), saying: no licence",
        ),
        ("echo '1|6|unix|/nowhere/at/all|grpc|'; exec sleep 600", "it cannot be reached"),
        // It listens, and says nothing.
        (
            "exec python3 -c 'import socket,time,os; d=os.environ[\"PLUGIN_UNIX_SOCKET_DIR\"]; s=socket.socket(socket.AF_UNIX); s.bind(d+\"/s\"); s.listen(); print(\"1|6|unix|\"+d+\"/s|grpc|\", flush=True); time.sleep(600)'",
            "did not tell its schemas within 8 s",
        ),
    ] {
        // Only what never starts is waited for to the end; the others take as long as a busy machine does.
        let seconds = match why {
            "it was not ready after 2 s" => "2",
            "did not tell its schemas within 8 s" => "4",
            _ => "20",
        };
        let told = refused(script, seconds);
        assert!(told.contains(why), "{script}: {told}");
    }
}

#[test]
fn a_missing_binary_is_told_with_what_to_do() {
    let bench = Bench::new(6);
    bench.write_configured(THING);
    bench.overriding(&bench.folder.path().join("nothing"));
    let told = bench.failed("plan");
    assert!(told.contains("example.com/trueup/fixture6") && told.contains("dev_overrides"), "{told}");
    bench.folder.write("settings.tfrc", "provider_installation {\n  direct {}\n}\n");
    let told = bench.failed("plan");
    assert!(told.contains("is not on this machine") && told.contains("`trueup init`"), "{told}");
}

/// A plugin that prints to standard output after its handshake, and without end to standard error, works all the same.
#[test]
fn what_a_plugin_prints_is_nobodys_business() {
    let real = binaries().join("terraform-provider-fixture6");
    let noise = "(for i in $(seq 20000); do echo \"noise $i to fill the pipe\" >&2; done) &";
    let bench = scripted(&format!("{noise}\nexec {}", real.display()));
    let told = bench.done("deploy --yes");
    assert!(!told.out.contains("noise") && !told.err.contains("noise"));
    assert_eq!(bench.objects().len(), 1);
}

#[test]
fn a_provider_that_misbehaves_is_told_by_name() {
    for version in versions() {
        let bench = Bench::new(version);
        for (trouble, why) in [
            ("crash-plan", "went away while it was to plan a resource"),
            ("crash-before", "went away while it was to change a resource"),
            ("bad-plan", "its plan does not keep to the program: `note`"),
            ("inconsistent", "it did not do what it planned: `note`"),
            ("unknown-after", "after apply it still does not know `serial`"),
            ("bad-answer", "does not match its own schema: `name`: expected a string, found a number"),
            ("huge", "its answer is larger than 64 MiB"),
        ] {
            bench.write_configured(&format!(
                "resource \"fixture_thing\" \"{trouble}\" {{\n  name = \"{trouble}\"\n  trouble = \"{trouble}\"\n}}\n"
            ));
            let told = bench.failed("deploy --yes");
            assert!(told.contains(why), "{trouble}: {told}");
            assert!(told.contains(&bench.named("example.com/trueup/fixture")), "{trouble}: {told}");
            assert!(told.contains("main.tf:11"), "it tells where: {told}");
            bench.write_configured("");
            // What it left is deleted, or looked for, without asking anyone.
            bench.done("deploy --yes");
            assert!(bench.objects().is_empty(), "{trouble}");
        }
    }
}

/// APPLY-13: an operation that takes too long is stopped, and the plugin with it.
#[test]
fn an_apply_that_hangs_ends_with_its_time() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n  trouble = \"hang\"\n  lifecycle {\n    \
             timeouts {\n      create = \"1s\"\n    }\n  }\n}\n",
        );
        let told = bench.failed("deploy --yes");
        assert!(told.contains("fixture"), "{told}");
        assert!(bench.objects().is_empty());
    }
}

/// APPLY-13: while planning, too, and the lease is free for the next run.
#[test]
fn a_plugin_that_hangs_in_a_plan_or_read_ends_with_its_time() {
    for version in versions() {
        let bench = Bench::new(version);
        let thing = |name: &str, trouble: &str| {
            format!(
                "resource \"fixture_thing\" \"{name}\" {{\n  name = \"{name}\"\n  trouble = \"{trouble}\"\n  lifecycle {{\n    \
                 timeouts {{\n      read = \"1s\"\n    }}\n  }}\n}}\n"
            )
        };
        bench.write_configured(&thing("a", "hang-read"));
        bench.done("deploy --yes");
        for (name, trouble) in [("a", "hang-read"), ("b", "hang-plan")] {
            bench.write_configured(&thing(name, trouble));
            for command in ["plan", "deploy --yes --no-wait"] {
                let told = bench.failed(command);
                assert!(told.contains("no answer within 1 s"), "{trouble}, {command}: {told}");
            }
        }
    }
}

/// A resource whose note is what a function gives that never answers. Only apply calls it.
const HUNG: &str = "resource \"fixture_thing\" \"first\" {\n  name = \"first\"\n}\n\n\
                    resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n  \
                    note = provider::fixture::hang(\"objects/called-${fixture_thing.first.serial}\")\n}\n";

/// UNKNOWN-15, APPLY-13: while planning, too, and the lease is free for the next run.
#[test]
fn a_function_that_hangs_ends_with_its_time() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(&format!("stack {{\n  timeout = \"5s\"\n}}\n\n{HUNG}"));
        for _ in ["apply", "plan"] {
            let told = bench.failed("deploy --yes --no-wait");
            assert!(told.contains("`provider::fixture") && told.contains("no answer within 5 s"), "{told}");
        }
        assert_eq!(bench.objects().len(), 1);
    }
}

/// UNKNOWN-15: the same where the number of resources depends on it, before anything can be planned.
#[test]
fn a_function_that_hangs_ends_the_build_with_its_time() {
    let bench = Bench::new(6);
    let counted = "resource \"fixture_thing\" \"a\" {\n  count = length(provider::fixture::hang(\"objects/called\"))\n  \
                   name = \"a\"\n}\n";
    bench.write_configured(&format!("stack {{\n  timeout = \"1s\"\n}}\n\n{counted}"));
    let console = bench.named("console provider::fixture::hang(\"objects/called\")");
    for command in ["validate", "plan", "deploy --yes", &console] {
        let told = bench.failed(command);
        assert!(told.contains("`provider::fixture") && told.contains("no answer within 1 s"), "{told}");
    }
}

/// UNKNOWN-15, APPLY-11: what is in flight ends, what depends on it begins, and the run can be stopped.
#[test]
fn a_run_goes_on_while_a_function_hangs() {
    for version in versions() {
        let bench = Bench::new(version);
        let slow =
            "resource \"fixture_thing\" \"slow\" {\n  name = \"slow\"\n  trouble = \"wait-after\"\n}\n\n";
        let after = "resource \"fixture_thing\" \"after\" {\n  name = \"after\"\n  depends_on = [fixture_thing.slow]\n}\n";
        let [reached, go, called] = ["reached", "go", "called-1"].map(|name| bench.pipe(name));
        bench.write_configured(&format!("{slow}{after}\n{HUNG}"));
        let run = bench.start("deploy --yes");
        assert_eq!(std::fs::read_to_string(reached).unwrap(), "reached\n");
        assert_eq!(std::fs::read_to_string(called).unwrap(), "called\n");
        std::fs::write(go, "go\n").unwrap();
        while !bench.folder.path().join("objects/thing/after.json").exists() {
            std::thread::yield_now();
        }
        kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap(), Signal::INT).unwrap();
        let told = run.wait_with_output().unwrap();
        assert_eq!(told.status.code(), Some(130), "{}", unfolded(&String::from_utf8_lossy(&told.stderr)));
        bench.left_alone();
        bench.write_configured(&format!("{slow}{after}"));
        bench.done("deploy --yes --no-wait");
        assert_eq!(bench.objects().len(), 2);
    }
}
