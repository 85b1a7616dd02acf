//! Plugins as processes: what is no plugin, what ends, what hangs, and that nothing is left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trueup_core::value;
use trueup_provider::Provider;
use trueup_terraform::{Launch, Plugin, Pool, StartError};

use crate::bench::{Bench, Fixture, VERSIONS, environment};

/// A folder with a program that is no plugin.
struct Script {
    folder: tempfile::TempDir,
    program: PathBuf,
}

fn script(text: &str) -> Script {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("terraform-provider-script");
    let source = folder.path().join("source");
    std::fs::write(&source, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&source, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy(&source, &program);
    Script { folder, program }
}

/// Copies a program by another process: a child of another test could hold what this one writes to, and then it does not
/// start.
fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

async fn refused(text: &str) -> String {
    let script = script(text);
    let mut launch = Launch::new(&script.program, environment());
    launch.start_timeout = Duration::from_secs(2);
    let Err(error) = Plugin::start("script", &launch).await else { panic!("it started") };
    drop(script.folder);
    error.to_string()
}

#[tokio::test]
async fn what_is_no_plugin_is_told_from_one_that_is_not_understood() {
    let missing = Plugin::start("x", &Launch::new("/nowhere/terraform-provider-x", environment())).await;
    assert!(matches!(missing, Err(StartError::Missing(_))));
    assert_eq!(
        refused("echo Hello").await,
        "it printed something else than the handshake of a plugin: `Hello`"
    );
    assert_eq!(
        refused("echo '1|4|unix|/tmp/x|grpc|'; sleep 60").await,
        "it speaks version 4 of the plugin protocol; versions 5 and 6 are spoken here"
    );
    assert_eq!(
        refused("echo 'no cookie' >&2; exit 3").await,
        "it ended before it was ready (exit status: 3), saying:\nno cookie"
    );
    assert_eq!(refused("sleep 60").await, "it was not ready after 2 s");
    assert!(refused("head -c 1000000 /dev/zero; sleep 60").await.starts_with("it printed something else"));
    assert!(refused("echo '1|5|tcp|127.0.0.1:1|grpc|'; sleep 60").await.contains("without encryption"));
    assert!(refused("echo '1|5|unix|/nowhere|grpc|'; sleep 60").await.starts_with("it cannot be reached"));
}

/// Whatever a plugin prints is read: otherwise it would hang on a full pipe.
#[tokio::test]
async fn a_plugin_that_prints_much_does_not_hang() {
    let real = Fixture(6).program();
    let text = format!(
        "(for i in $(seq 20000); do echo \"noise $i to fill the pipe\" >&2; done) & exec {}",
        real.display()
    );
    let script = script(&text);
    let plugin = Plugin::start("noisy", &Launch::new(&script.program, environment())).await.unwrap();
    let schema = plugin.client().schema(trueup_terraform::protocol::Empty {}).await.unwrap();
    assert!(schema.resource_schemas.contains_key("fixture6_thing"));
    plugin.shut_down().await;
}

/// A plugin that prints to its standard output before the handshake says something else than one.
#[tokio::test]
async fn a_plugin_that_prints_before_its_handshake_is_refused() {
    let text = format!("echo starting up; exec {}", Fixture(6).program().display());
    assert_eq!(
        refused(&text).await,
        "it printed something else than the handshake of a plugin: `starting up`"
    );
}

/// The processes whose command line holds a text.
fn processes(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|it| it.contains(text))
        .collect()
}

/// Whether there is no such process any more, or will be none shortly.
fn gone(text: &str) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let going = async {
        while !processes(text).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), going).await }).is_ok()
}

#[test]
fn no_process_outlives_its_handle() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A plugin that started something else, and one that never comes to the handshake.
    let stubborn = script("trap '' TERM; sleep 1234567 & sleep 1234567");
    let name = stubborn.program.to_str().unwrap().to_owned();
    let mut launch = Launch::new(&stubborn.program, environment());
    launch.start_timeout = Duration::from_millis(300);
    assert!(runtime.block_on(Plugin::start("stubborn", &launch)).is_err());
    runtime.block_on(async { tokio::task::spawn_blocking(move || assert!(gone(&name))).await.unwrap() });
    runtime.block_on(async { tokio::task::spawn_blocking(|| assert!(gone("1234567"))).await.unwrap() });
    let copied = tempfile::tempdir().unwrap();
    let program = copied.path().join("terraform-provider-fixture6");
    copy(&Fixture(6).program(), &program);
    let name = program.to_str().unwrap().to_owned();
    let started = runtime.block_on(Plugin::start("copied", &Launch::new(&program, environment()))).unwrap();
    assert_eq!(processes(&name).len(), 1);
    drop(started);
    drop(runtime);
    assert!(gone(&name));
}

/// Each configuration has a process of its own, and there are never more than may be.
#[tokio::test]
async fn processes_are_bounded_and_make_room_for_each_other() {
    for version in VERSIONS {
        let pool = Pool::new(2);
        let folder = tempfile::tempdir().unwrap();
        let provider = version.provider(Some(folder.path().join("cache")), pool.clone());
        let handler = provider.resource(&format!("{}_thing", version.name())).await.unwrap().unwrap();
        let mut configured = Vec::new();
        for prefix in ["a-", "b-", "c-", "d-"] {
            let config = value!({ folder: (folder.path().to_str().unwrap()), prefix: prefix });
            configured.push(provider.configure(&config).await.unwrap());
            assert!(pool.running() <= 2);
        }
        // Every one of them still answers, started anew where it had to make room.
        for config in &configured {
            let inputs = value!({ name: "one" });
            let inputs = trueup_provider::InputValues { written: inputs.clone(), effective: inputs };
            let request = trueup_provider::ValidateRequest { config: Some(config), inputs: &inputs };
            assert!(handler.validate(request).await.is_empty());
            assert!(pool.running() <= 2);
        }
        pool.shut_down().await;
        assert_eq!(pool.running(), 0);
    }
}

/// A second run asks nothing that the disk can tell.
#[test]
fn schemas_are_asked_for_once() {
    let bench = Bench::new(Fixture(6));
    let types = |bench: &Bench| {
        bench.runtime.block_on(async {
            let provider = bench.fixture.provider(Some(bench.cache()), bench.pool.clone());
            let types = provider.resource_types().await.unwrap();
            assert!(provider.resource("fixture6_nest").await.unwrap().is_some());
            assert!(provider.resource("fixture6_nothing").await.unwrap().is_none());
            types
        })
    };
    let first = types(&bench);
    bench.runtime.block_on(bench.pool.shut_down());
    assert_eq!(types(&bench), first);
    assert_eq!(bench.pool.running(), 0, "no process was needed");
    // A damaged file is made anew.
    let kept = std::fs::read_dir(bench.cache()).unwrap().flatten();
    let kept = kept.map(|entry| entry.path()).find(|path| path.extension().unwrap() == "schemas").unwrap();
    let text = std::fs::read(&kept).unwrap();
    std::fs::write(&kept, &text[..text.len() - 1]).unwrap();
    assert_eq!(types(&bench), first);
    assert_eq!(std::fs::read(&kept).unwrap(), text);
}
