//! Installing providers, from registries and mirrors: with Terraform as referee where it is on the path, and with
//! everything that can go wrong on the way.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod publish;
mod server;
mod stack;
mod trouble;

use std::fs;

use trueup_terraform_find::{Found, InstallOptions, Place, Vouched};

use publish::{Publisher, package, path, publish};
use server::{Answer, Server};
use stack::Stack;

fn served(versions: &[&str]) -> (Server, Stack) {
    let server = Server::start();
    publish(&server, &Publisher::new(), versions);
    let stack = Stack::of_registry(&server);
    (server, stack)
}

const UPGRADE: InstallOptions = InstallOptions { upgrade: true, locked: false };
const LOCKED: InstallOptions = InstallOptions { upgrade: false, locked: true };

#[test]
fn the_newest_version_is_fetched_checked_and_locked() {
    let (server, mut stack) = served(&["1.0.0", "1.2.0", "2.0.0", "1.3.0-beta1"]);
    stack.require("~> 1.0");
    assert!(stack.found().is_err());
    let installed = stack.install().unwrap();
    let [one] = installed.installed.as_slice() else { panic!("{installed:?}") };
    assert_eq!(one.found.version.as_ref().unwrap().to_string(), "1.2.0");
    assert!(matches!(one.vouched, Vouched::Signature(_)) && one.fetched && installed.lock_changed);
    assert_eq!(stack.found().unwrap(), [Found::clone(&one.found)]);
    assert!(server.asked().contains(&path("1.2.0", "package.zip")));

    // Again: nothing is asked for, nothing is written.
    let again = stack.install().unwrap();
    assert!(!again.lock_changed && !again.installed[0].fetched);
    assert_eq!(again.installed[0].vouched, Vouched::Lock);
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[test]
fn another_folder_takes_what_was_fetched_before() {
    let (server, mut stack) = served(&["1.0.0"]);
    stack.require("");
    stack.install().unwrap();
    let lock = stack.lock();
    fs::remove_file(stack.lock_file()).unwrap();
    server.asked();
    let again = stack.install().unwrap();
    assert!(!again.installed[0].fetched && matches!(again.installed[0].vouched, Vouched::Signature(_)));
    assert_eq!(stack.lock(), lock);
    assert!(!server.asked().contains(&path("1.0.0", "package.zip")));
}

#[test]
fn the_lock_file_holds_until_an_upgrade() {
    let (server, mut stack) = served(&["1.0.0"]);
    stack.require(">= 1.0");
    stack.install().unwrap();
    publish(&server, &Publisher::new(), &["1.0.0", "1.1.0"]);
    let version = |stack: &Stack| stack.found().unwrap()[0].version.as_ref().unwrap().to_string();
    stack.install().unwrap();
    assert_eq!(version(&stack), "1.0.0");
    stack.require(">= 1.1");
    let told = stack.told(InstallOptions::default());
    assert!(told.contains("the lock file has version 1.0.0, the program wants >= 1.0.0, >= 1.1.0"), "{told}");
    assert!(told.contains("trueup init --upgrade"), "{told}");
    stack.install_with(UPGRADE).unwrap();
    assert_eq!(version(&stack), "1.1.0");
}

#[test]
fn a_lock_file_that_must_not_change_is_left_alone() {
    let (_server, mut stack) = served(&["1.0.0"]);
    stack.require("");
    assert!(stack.told(LOCKED).contains("is not up to date"));
    assert!(!stack.lock_file().exists());
    stack.install().unwrap();
    stack.install_with(LOCKED).unwrap();
}

/// A colleague's lock file, from another platform, has checksums of all archives and none of what is in ours.
#[test]
fn the_checksum_of_an_archive_in_the_lock_file_is_enough() {
    let (server, mut stack) = served(&["1.0.0"]);
    stack.require("");
    stack.install().unwrap();
    let lock: String = stack.lock().split_inclusive('\n').filter(|line| !line.contains("h1:")).collect();
    fs::write(stack.lock_file(), &lock).unwrap();
    stack.forget_cache();
    assert!(stack.found().is_err());
    assert!(stack.install_with(LOCKED).unwrap().installed[0].fetched);
    assert_eq!(stack.lock(), lock);
    assert_eq!(stack.found().unwrap().len(), 1);
    server.asked();
    // Now it is known what is in that archive.
    assert!(stack.install().unwrap().lock_changed);
    assert!(stack.lock().contains("h1:"));
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[test]
fn terraform_writes_the_same_lock_file_from_the_same_registry() {
    let (server, mut stack) = served(&["1.0.0", "1.2.0", "2.0.0"]);
    stack.require(">= 1.0, < 2");
    stack.install().unwrap();
    let ours = stack.lock();
    if stack.terraform(&server, &["init", "-input=false"]).is_none() {
        return;
    }
    // It took ours as it was; now without it.
    assert_eq!(stack.lock(), ours);
    fs::remove_file(stack.lock_file()).unwrap();
    fs::remove_dir_all(stack.folder().join(".terraform")).unwrap();
    stack.terraform(&server, &["init", "-input=false"]).unwrap();
    assert_eq!(stack.lock(), ours);
    // And what it installed is what we find.
    stack.forget_cache();
    let found = stack.found().unwrap();
    assert_eq!((found.len(), &found[0].place), (1, &Place::Folder));
    let again = stack.install().unwrap();
    assert!(!again.lock_changed && !again.installed[0].fetched);
}

#[test]
fn mirrors_on_disk_are_used_in_both_layouts() {
    let server = Server::start();
    let mut stack = Stack::of_registry(&server);
    let mirror = stack.mirror();
    stack.require("");
    let folder = mirror.join(&server.host).join("acme/widgets");
    let here = trueup_terraform_find::Platform::current().to_string();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(package("1.1.0", &here)), publish::archive("1.1.0")).unwrap();
    let installed = stack.install().unwrap();
    assert_eq!((&installed.installed[0].found.place, installed.installed[0].fetched), (&Place::Cache, true));
    let ours = stack.lock();
    fs::remove_file(stack.lock_file()).unwrap();
    if stack.terraform(&server, &["init", "-input=false"]).is_some() {
        assert_eq!(stack.lock(), ours);
    }

    let unpacked = folder.join("1.2.0").join(&here);
    fs::create_dir_all(&unpacked).unwrap();
    fs::write(unpacked.join("terraform-provider-widgets"), "1.2.0").unwrap();
    let upgraded = stack.install_with(UPGRADE).unwrap();
    assert_eq!(upgraded.installed[0].found.place, Place::Mirror(mirror));
    let ours = stack.lock();
    fs::remove_file(stack.lock_file()).unwrap();
    if stack.terraform(&server, &["init", "-input=false", "-upgrade"]).is_some() {
        assert_eq!(stack.lock(), ours);
    }
    assert_eq!(server.asked(), Vec::<String>::new());
}

#[test]
fn a_mirror_on_a_server_is_used() {
    let server = Server::start();
    let mut stack = Stack::of_registry(&server);
    stack.network_mirror(&format!("https://{}/mirror", server.host));
    // Terraform does not find hosts with a port in mirrors.
    stack.source = "example.com/acme/widgets".to_owned();
    stack.require("");
    let here = trueup_terraform_find::Platform::current().to_string();
    let below = "/mirror/example.com/acme/widgets";
    let json = serde_json::json!({ "versions": { "1.0.0": {} } });
    server.answer(format!("{below}/index.json"), publish::body(&json));
    let json = serde_json::json!({ "archives": { here: { "url": "package.zip" } } });
    server.answer(format!("{below}/1.0.0.json"), publish::body(&json));
    server.answer(format!("{below}/package.zip"), Answer::Body(publish::archive("1.0.0")));
    let installed = stack.install().unwrap();
    assert_eq!(installed.installed[0].vouched, Vouched::Mirror);
    let ours = stack.lock();
    fs::remove_file(stack.lock_file()).unwrap();
    if stack.terraform(&server, &["init", "-input=false"]).is_some() {
        assert_eq!(stack.lock(), ours);
    }
}

#[test]
fn a_lock_file_is_written_for_other_platforms_too() {
    let (server, mut stack) = served(&["1.0.0", "1.1.0"]);
    stack.require("~> 1.0");
    let here = trueup_terraform_find::Platform::current().to_string();
    let locked = stack.lock_for(&[&here, "plan9_386"]).unwrap();
    assert_eq!((locked.len(), locked[0].version.to_string().as_str(), locked[0].added), (1, "1.1.0", 4));
    let ours = stack.lock();
    assert_eq!(ours.matches("h1:").count(), 2, "{ours}");
    assert_eq!(ours.matches("zh:").count(), 2, "{ours}");
    assert!(!stack.cache().join(&server.host).exists(), "nothing is kept");
    assert!(!fs::read_dir(stack.cache()).unwrap().any(|_| true), "nothing is left");
    // Again, and with less: what is there stays.
    assert_eq!(stack.lock_for(&["plan9_386"]).unwrap()[0].added, 0);
    assert_eq!(stack.lock(), ours);
    stack.install_with(LOCKED).unwrap();
    let told = stack.lock_for(&["linux_mips"]).unwrap_err();
    assert!(told[0].to_string().contains("is not published for linux_mips"), "{told:?}");

    fs::remove_file(stack.lock_file()).unwrap();
    let platforms = [format!("-platform={here}"), "-platform=plan9_386".to_owned()];
    if stack.terraform(&server, &["providers", "lock", &platforms[0], &platforms[1]]).is_some() {
        assert_eq!(stack.lock(), ours);
    }
}

#[test]
fn a_mirror_is_made_that_can_be_installed_from() {
    let (server, mut stack) = served(&["1.0.0", "1.1.0"]);
    stack.require("");
    let here = trueup_terraform_find::Platform::current().to_string();
    let folder = tempfile::tempdir().unwrap();
    let platforms = [&*here, "plan9_386"];
    let mirrored = stack.mirror_to(folder.path(), &platforms).unwrap();
    assert_eq!(mirrored.len(), 2);
    let below = folder.path().join(&server.host).join("acme/widgets");
    let names = |below: &std::path::Path| {
        let listed = fs::read_dir(below).unwrap().flatten();
        let mut names: Vec<String> =
            listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(below.join(name)).unwrap()).unwrap()
    };
    let expected = [
        "1.1.0.json".to_owned(),
        "index.json".to_owned(),
        package("1.1.0", &here),
        package("1.1.0", "plan9_386"),
    ];
    let mut sorted = expected.to_vec();
    sorted.sort();
    assert_eq!(names(&below), sorted);
    assert_eq!(json("index.json"), serde_json::json!({ "versions": { "1.1.0": {} } }));
    let ours = json("1.1.0.json");
    assert_eq!(ours["archives"]["plan9_386"]["url"], package("1.1.0", "plan9_386"));

    // Terraform makes the same, but for hosts with a port, whose folders it names otherwise.
    let theirs = tempfile::tempdir().unwrap();
    let mut arguments = vec!["providers".to_owned(), "mirror".to_owned()];
    arguments.extend(platforms.map(|it| format!("-platform={it}")));
    arguments.push(theirs.path().display().to_string());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if stack.terraform(&server, &arguments).is_some() {
        let found =
            fs::read_dir(theirs.path()).unwrap().flatten().next().unwrap().path().join("acme/widgets");
        assert_eq!(names(&found), names(&below));
        let theirs: serde_json::Value =
            serde_json::from_slice(&fs::read(found.join("1.1.0.json")).unwrap()).unwrap();
        assert_eq!(theirs, ours);
    }

    // Another version joins those that are there, and what is locked counts.
    stack.install().unwrap();
    stack.mirror_to(folder.path(), &[&here]).unwrap();
    fs::remove_file(stack.lock_file()).unwrap();
    stack.require("< 1.1");
    stack.mirror_to(folder.path(), &[&here]).unwrap();
    assert_eq!(json("index.json"), serde_json::json!({ "versions": { "1.0.0": {}, "1.1.0": {} } }));
    assert_eq!(json("1.1.0.json"), ours);
    server.asked();
    stack.forget_cache();
    let mirror = stack.mirror();
    fs::rename(folder.path(), &mirror).unwrap();
    assert!(stack.install().unwrap().installed[0].fetched);
    assert_eq!(server.asked(), Vec::<String>::new());
}
