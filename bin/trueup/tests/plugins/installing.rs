//! `init` and `providers`: finding, installing and locking Terraform's providers.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::plugins::bench::{Bench, binaries};

const PROGRAM: &str = "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n";

/// A bench whose provider lies in a mirror.
fn mirrored(versions: &[&str]) -> Bench {
    let bench = Bench::new(6);
    let mirror = bench.folder.path().join("mirror");
    for version in versions {
        let package = package(&bench, version);
        std::fs::create_dir_all(&package).unwrap();
        // By another process, so that none is busy when it starts.
        let from = binaries().join("terraform-provider-fixture6");
        let copied = std::process::Command::new("cp").arg(from).arg(&package).status();
        assert!(copied.unwrap().success());
    }
    let text = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
        mirror.display()
    );
    bench.folder.write("settings.tfrc", &text);
    bench.write_configured(PROGRAM);
    bench
}

fn package(bench: &Bench, version: &str) -> PathBuf {
    let platform = trueup_terraform_find::Platform::current().to_string();
    bench.folder.path().join("mirror/example.com/trueup/fixture6").join(version).join(platform)
}

#[test]
fn what_is_on_the_machine_needs_no_init() {
    let bench = mirrored(&["1.0.0", "1.2.0"]);
    bench.done("deploy --yes");
    assert!(!bench.folder.has(".terraform.lock.hcl"));
    let told = bench.done("providers --json");
    let told: Json = serde_json::from_str(&told.out).unwrap();
    let provider = &told["providers"][0];
    assert_eq!((&provider["version"], &provider["place"]), (&"1.2.0".into(), &"mirror".into()));
    assert_eq!(provider["required_by"][0]["at"], "main.tf:3");
}

#[test]
fn init_locks_what_it_finds_and_again_changes_nothing() {
    let bench = mirrored(&["1.0.0"]);
    let told = bench.done("init --json");
    let told: Json = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["lock_changed"], &told["providers"][0]["version"]), (&true.into(), &"1.0.0".into()));
    let lock = bench.folder.read(".terraform.lock.hcl");
    assert!(lock.contains("provider \"example.com/trueup/fixture6\"") && lock.contains("\"h1:"), "{lock}");
    let told = bench.done("init");
    assert!(told.err.contains("1.0.0") && told.err.contains("as the lock file says"), "{}", told.err);
    assert!(!told.err.contains("Wrote"), "{}", told.err);
    assert_eq!(bench.folder.read(".terraform.lock.hcl"), lock);
    // A later version changes nothing, until an upgrade.
    std::fs::create_dir_all(package(&bench, "1.1.0").parent().unwrap()).unwrap();
    std::fs::rename(package(&bench, "1.0.0"), package(&bench, "1.1.0")).unwrap();
    let told = bench.failed("plan");
    assert!(told.contains("version 1.0.0 of the lock file is not on this machine"), "{told}");
    assert!(told.contains("there are only 1.1.0") && told.contains("`trueup init`"), "{told}");
    bench.failed("init");
    bench.failed("init --locked");
    bench.done("init --upgrade");
    bench.done("init --locked");
    bench.done("deploy --yes");
}

#[test]
fn a_package_that_was_exchanged_is_not_started() {
    let bench = mirrored(&["1.0.0"]);
    bench.done("init");
    let program = package(&bench, "1.0.0").join("terraform-provider-fixture6");
    std::fs::remove_file(&program).unwrap();
    std::fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for command in ["plan", "init"] {
        let told = bench.failed(command);
        assert!(told.contains("provider example.com/trueup/fixture6: the package"), "{told}");
        assert!(told.contains("has the checksum h1:"), "{told}");
    }
    assert!(!bench.folder.has("started"));
}

#[test]
fn a_provider_that_is_nowhere_is_told_with_what_to_do() {
    let bench = mirrored(&[]);
    let told = bench.failed("plan");
    assert!(told.contains("provider example.com/trueup/fixture6: it is not on this machine"), "{told}");
    assert!(told.contains("install it with `trueup init`") && told.contains("main.tf"), "{told}");
    let told = bench.failed("init");
    assert!(told.contains("nobody has it: the mirror") && told.contains("provider_installation"), "{told}");
    let told = bench.done("providers");
    assert!(told.out.contains("it is not on this machine") && told.err.contains("trueup init"), "{told:?}");
    bench.folder.write(".terraform.lock.hcl", "garbage");
    let told = bench.failed("init");
    assert!(told.contains("cannot read the lock file") && told.contains("version control"), "{told}");
}

#[test]
fn a_stack_without_such_providers_needs_none() {
    let bench = Bench::new(6);
    bench.folder.write("main.tf", "resource \"terraform_data\" \"a\" {}\n");
    let told = bench.done("init");
    assert!(told.err.contains("nothing to install"), "{}", told.err);
    assert!(!bench.folder.has(".terraform.lock.hcl"));
    let told = bench.done("providers");
    assert_eq!(told.out, "terraform  built in\n");
}

/// How far a download is stands on the screen while it lasts, and is gone afterwards.
#[test]
fn a_download_is_shown_while_it_lasts() {
    let bench = Bench::new(6);
    bench.write_configured(PROGRAM);
    let (server, go_on) = slow_mirror(&archive());
    // On this very machine, nothing needs to be encrypted.
    bench.folder.write(
        ".terraformrc",
        &format!("provider_installation {{\n  network_mirror {{\n    url = \"http://{server}/\"\n  }}\n}}\n"),
    );
    let mut screen = trueup_cli_harness::Screen::run(&bench.folder, "init");
    screen.wait_for("example.com/trueup/fixture6 1.0.0  fetched 1.5 MB of 3.0 MB");
    go_on.send(()).unwrap();
    screen.wait_for("Next: trueup plan");
    assert_eq!(screen.ended(), 0);
    let text = screen.text();
    assert!(text.contains("fetched, from a mirror, not signed") && !text.contains("MB"), "{text}");
    assert!(screen.cursor_is_shown());
    assert!(bench.folder.read(".terraform.lock.hcl").contains("fixture6"));
}

/// A package of three megabytes.
fn archive() -> Vec<u8> {
    use std::io::Write;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .unix_permissions(0o755);
    writer.start_file("terraform-provider-fixture6_v1.0.0", options).unwrap();
    writer.write_all(&vec![b'#'; 3_000_000]).unwrap();
    writer.finish().unwrap().into_inner()
}

/// A mirror that stops in the middle of the package until it is told to go on.
fn slow_mirror(archive: &[u8]) -> (std::net::SocketAddr, std::sync::mpsc::Sender<()>) {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (go_on, told) = std::sync::mpsc::channel();
    let platform = trueup_terraform_find::Platform::current().to_string();
    let archive = archive.to_vec();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut request = String::new();
            stream.read_line(&mut request).unwrap();
            let mut header = String::new();
            while stream.read_line(&mut header).unwrap() > 2 {
                header.clear();
            }
            let body = match request.split(' ').nth(1).unwrap_or_default() {
                path if path.ends_with("/index.json") => br#"{"versions":{"1.0.0":{}}}"#.to_vec(),
                path if path.ends_with("/1.0.0.json") => {
                    format!(r#"{{"archives":{{"{platform}":{{"url":"package.zip"}}}}}}"#).into_bytes()
                }
                _ => archive.clone(),
            };
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let stream = stream.get_mut();
            stream.write_all(head.as_bytes()).unwrap();
            if body.len() < 1_000_000 {
                stream.write_all(&body).unwrap();
                continue;
            }
            stream.write_all(&body[..1_500_000]).unwrap();
            stream.flush().unwrap();
            told.recv().unwrap();
            stream.write_all(&body[1_500_000..]).unwrap();
        }
    });
    (address, go_on)
}

#[test]
fn a_lock_file_is_written_from_a_mirror_and_failures_are_told_to_machines() {
    let bench = mirrored(&["1.0.0"]);
    let json =
        |out: &str| -> Json { serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}")) };
    let told = json(&bench.done("providers lock --fs-mirror mirror --json").out);
    assert_eq!(
        (&told["kind"], &told["providers"][0]["checksums_added"]),
        (&"providers-lock".into(), &1.into())
    );
    bench.done("init --locked");
    let told = bench.done("providers lock --fs-mirror mirror");
    assert!(told.err.contains("has all of it already"), "{}", told.err);
    let told = bench.run("providers lock --fs-mirror mirror --platform plan9_386 --json");
    assert_eq!(told.code, 1);
    let error = json(&told.out);
    assert_eq!(error["kind"], "error");
    assert!(error["error"].as_str().unwrap().contains("has no version 1.0.0"), "{error}");
    assert_eq!(error["diagnostics"].as_array().unwrap().len(), 1);
    assert!(told.err.contains("error"), "people are told too: {}", told.err);
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  nam = \"a\"\n}\n");
    for command in ["plan --json", "deploy --json --yes", "graph --json"] {
        let told = bench.run(command);
        let last = told.out.lines().last().map_or_else(|| panic!("{command}: {}", told.err), json);
        assert_eq!((told.code, &last["kind"]), (1, &"error".into()), "{command}: {last}");
    }
}
