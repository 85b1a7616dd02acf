//! A shell in a terminal that does what a page says.
//!
//! All parts form one script, so that folders and variables carry over. A mark after each part tells what stood on the
//! screen before it; a part that fails ends the script.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tempfile::TempDir;
use trueup_cli_harness::Told;
use trueup_test_servers::environment::{self, variable};

use super::page::{Page, Part};

/// After so long a page is given up.
const PATIENCE: Duration = Duration::from_secs(180);

/// High enough that nothing scrolls away.
const ROWS: u16 = 1_500;
const COLUMNS: u16 = 80;

const MARK: &str = "== end of part ==";

/// A page that was run.
pub(crate) struct Ran {
    /// What each part left on the screen.
    pub(crate) screens: Vec<String>,
    /// Where that was; gone when this is.
    _home: TempDir,
}

/// Does all that the page says, in an empty home beside a copy of the examples. The shell knows these definitions.
pub(crate) fn run(page: &Page, definitions: &str) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let checkout = home.path().join("trueup");
    copy(&super::root().join("examples"), &checkout.join("examples"));
    // What `cargo run` would have built.
    let built = checkout.join("target/debug");
    std::fs::create_dir_all(&built).unwrap();
    let documents = home.path().join("documents");
    std::fs::create_dir(&documents).unwrap();
    let trueup = built.join("trueup");
    std::fs::write(&trueup, listening(&documents)).unwrap();
    std::fs::set_permissions(&trueup, PermissionsExt::from_mode(0o755)).unwrap();
    let script = home.path().join("page.sh");
    std::fs::write(&script, script_of(page, definitions)).unwrap();

    let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new("sh");
    command.arg(&script);
    command.cwd(&checkout);
    command.env_clear();
    environment(home.path()).into_iter().for_each(|(name, value)| command.env(name, value));
    // A reader has put it there.
    let search_path = environment::search_path();
    let path = std::env::join_paths([built].into_iter().chain(std::env::split_paths(&search_path))).unwrap();
    command.env("PATH", path);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (sender, written) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
        // A terminal that everyone left answers with an error.
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            all.extend_from_slice(&bytes[..count]);
        }
        sender.send(all)
    });
    let Ok(written) = written.recv_timeout(PATIENCE) else {
        child.kill().unwrap();
        panic!("the page did not end");
    };
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    terminal.process(&written);
    let screen = terminal.screen().contents();
    let mut screens: Vec<String> = screen.split(MARK).map(str::to_owned).collect();
    let rest = screens.pop().unwrap();
    assert!(child.wait().unwrap().success() && screens.len() == page.parts.len(), "a part failed:\n{rest}");
    check(&documents);
    Ran { screens, _home: home }
}

/// A script in place of the binary, which keeps a copy of the JSON that readers get.
fn listening(documents: &Path) -> String {
    format!(
        r#"#!/bin/bash
case " $* " in
*" --json"* | *" -json"*)
    kept=$(mktemp -d '{documents}/XXXXXX')
    echo "$*" > "$kept/arguments"
    '{binary}' "$@" | tee "$kept/out"
    code=${{PIPESTATUS[0]}}
    echo "$code" > "$kept/code"
    exit "$code" ;;
esac
exec '{binary}' "$@"
"#,
        documents = documents.display(),
        binary = env!("CARGO_BIN_EXE_trueup"),
    )
}

/// Holds what was kept against the schemas of the book.
fn check(documents: &Path) {
    for kept in std::fs::read_dir(documents).unwrap() {
        let read = |name: &str| std::fs::read_to_string(kept.as_ref().unwrap().path().join(name)).unwrap();
        let told = Told { code: read("code").trim().parse().unwrap(), out: read("out"), err: String::new() };
        told.check(read("arguments").trim());
    }
}

fn script_of(page: &Page, definitions: &str) -> String {
    let mut script = format!("set -eu\n{definitions}");
    for part in &page.parts {
        match part {
            Part::Commands { script: commands, .. } => {
                script.push_str(commands);
            }
            Part::File { name, text } => {
                script.push_str(&format!("cat > {name} <<'END OF FILE'\n{text}END OF FILE\n"));
            }
        }
        script.push_str(&format!("echo '{MARK}'\n"));
    }
    script
}

/// An empty home, and the compiler where it is.
fn environment(home: &Path) -> Vec<(&'static str, OsString)> {
    let given = |name: &'static str| variable(name).map(|value| (name, value));
    let toolchains = environment::home().map(|home| ("RUSTUP_HOME", home.join(".rustup").into_os_string()));
    let toolchains = given("RUSTUP_HOME").or(toolchains);
    let own = [("HOME", home.into()), ("LANG", "C.UTF-8".into()), ("TERM", "xterm-256color".into())];
    own.into_iter().chain(given("PATH")).chain(given("RUSTUP_TOOLCHAIN")).chain(toolchains).collect()
}

/// Copies a folder, without what people have deployed in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, name) = (from.join(entry.as_ref().unwrap().file_name()), entry.unwrap().file_name());
        match from.is_dir() {
            true if [".trueup", "target", "out"].iter().any(|own| name == *own) => {}
            true => copy(&from, &to.join(name)),
            false => drop(std::fs::copy(&from, to.join(name)).unwrap()),
        }
    }
}
