//! What can go wrong: each ends in an error that names the provider and says what to do, and leaves nothing behind.

use std::fs;
use std::time::Duration;

use serde_json::json;
use trueup_terraform_find::{InstallOptions, PackageLimits, Settings};

use crate::publish::{Publisher, body, path, publish};
use crate::server::{Answer, Server};
use crate::stack::Stack;

/// Installs from a registry with something wrong with it, and checks what is told.
fn check(spoil: impl FnOnce(&Server, &Publisher), expected: &[&str]) {
    check_with(|_| {}, spoil, expected);
}

fn check_within(limits: PackageLimits, spoil: impl FnOnce(&Server, &Publisher), expected: &[&str]) {
    check_with(|settings| settings.package_limits = limits, spoil, expected);
}

fn check_with(set: impl FnOnce(&mut Settings), spoil: impl FnOnce(&Server, &Publisher), expected: &[&str]) {
    let server = Server::start();
    let publisher = Publisher::new();
    publish(&server, &publisher, &["1.0.0"]);
    spoil(&server, &publisher);
    let mut stack = Stack::of_registry(&server);
    set(&mut stack.settings);
    stack.require("");
    let told = stack.told(InstallOptions::default());
    for expected in expected.iter().chain(&[&*format!("provider {}/acme/widgets: ", server.host)]) {
        assert!(told.contains(expected), "{expected} is not in: {told}");
    }
    assert!(!stack.lock_file().exists(), "a lock file was written: {told}");
    let left = trueup_terraform_find::Version::new(1, 0, 0);
    let place = stack.cache().join(&server.host).join("acme/widgets").join(left.to_string());
    assert!(!place.exists() || fs::read_dir(&place).unwrap().count() == 0, "a package was kept: {told}");
    let fetched = fs::read_dir(stack.cache()).into_iter().flatten().flatten();
    let left: Vec<_> = fetched.filter(|it| it.file_name().to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "half a package was left: {left:?}");
}

#[test]
fn a_registry_that_is_down_is_told_with_what_to_do() {
    check(
        |server, _| server.answer("/.well-known/terraform.json", Answer::Closed),
        &["cannot reach https://localhost:", "check the network", "filesystem_mirror"],
    );
}

#[test]
fn a_registry_that_is_none_is_told() {
    let well_known = "/.well-known/terraform.json";
    check(|server, _| server.answer(well_known, Answer::Status(404)), &["has no registry of providers"]);
    check(|server, _| server.answer(well_known, Answer::Status(503)), &["answers 503"]);
    check(
        |server, _| server.answer(well_known, Answer::Body(b"<html>".to_vec())),
        &["answers what cannot be understood"],
    );
    check(|server, _| server.answer(well_known, body(&json!({ "modules.v1": "/" }))), &["has no registry"]);
    let plain = json!({ "providers.v1": "http://registry.invalid/" });
    check(
        |server, _| server.answer(well_known, body(&plain)),
        &["http://registry.invalid/", "is not encrypted"],
    );
}

#[test]
fn a_provider_that_nobody_has_is_told() {
    let versions = "/v1/providers/acme/widgets/versions";
    check(
        |server, _| server.answer(versions, Answer::Status(404)),
        &["nobody has it: its registry", "required_providers"],
    );
    check(|server, _| server.answer(versions, Answer::Status(401)), &["it wants a token"]);
    let elsewhere =
        json!({ "versions": [{ "version": "9.0.0", "platforms": [{ "os": "plan9", "arch": "386" }] }] });
    check(
        |server, _| server.answer(versions, body(&elsewhere)),
        &["version 9.0.0 is not published for", "only for plan9_386"],
    );
}

#[test]
fn a_version_that_does_not_exist_is_told_with_those_that_do() {
    let server = Server::start();
    publish(&server, &Publisher::new(), &["1.0.0", "1.1.0"]);
    let mut stack = Stack::of_registry(&server);
    stack.require("~> 2.0");
    let told = stack.told(InstallOptions::default());
    assert!(told.contains("no version meets `~> 2.0`; there are 1.1.0, 1.0.0"), "{told}");
}

#[test]
fn a_wrong_package_is_refused() {
    let package = path("1.0.0", "package.zip");
    check(
        |server, _| server.answer(package.clone(), Answer::Body(crate::publish::archive("9.9.9"))),
        &["is not what was published: its SHA-256 is", "do not use it"],
    );
    check(|server, _| server.change(&package, Answer::Truncated), &["cannot reach", "package.zip"]);
    check(|server, _| server.answer(package.clone(), Answer::Status(404)), &["answers 404"]);
}

#[test]
fn what_is_not_signed_by_its_publisher_is_refused() {
    let (sums, signature) = (path("1.0.0", "sums"), path("1.0.0", "sums.sig"));
    let invalid = "the signature of https://";
    check(|server, _| server.answer(signature.clone(), Answer::Body(b"garbage".to_vec())), &[invalid]);
    check(|server, _| server.answer(signature.clone(), Answer::Status(404)), &["that there is nothing"]);
    // Someone else publishes the same, signed by a key of their own: the registry still names the first one's.
    check(
        |server, _| {
            let other = Server::start();
            publish(&other, &Publisher::new(), &["1.0.0"]);
            server.answer(signature.clone(), other_answer(&other, &signature));
        },
        &[invalid, "signed by none of the publisher's keys"],
    );
    check(
        |server, _| server.change(&sums, |sums| Answer::Body([sums, b"more".to_vec()].concat())),
        &[invalid, "do not use it"],
    );
}

/// BOUND-4
#[test]
fn a_package_beyond_the_limits_is_refused() {
    let package = path("1.0.0", "package.zip");
    let limits = PackageLimits::default();
    let packed = PackageLimits { packed_bytes_max: 100, ..limits };
    let too_large = "more than the 100 bytes that a package may have";
    check_within(packed, |_, _| {}, &["package.zip answers", too_large]);
    check_within(packed, |server, _| server.change(&package, Answer::Unmeasured), &[too_large]);
    let unpacked = PackageLimits { unpacked_bytes_max: 100, ..limits };
    check_within(unpacked, |_, _| {}, &["the archive holds more than the 100 bytes that a package may have"]);
    let files = PackageLimits { files_max: 1, ..limits };
    check_within(files, |_, _| {}, &["the archive holds more than 1 files"]);
}

/// BOUND-1: a server that keeps sending a byte now and then is never silent, and does not hold us.
#[test]
fn a_registry_that_drips_is_left_in_time() {
    let places = ["/.well-known/terraform.json", "/v1/providers/acme/widgets/versions"].map(str::to_owned);
    let places = places.into_iter().chain([path("1.0.0", "sums"), path("1.0.0", "package.zip")]);
    let slow = [Answer::Slow, |_| Answer::SlowHead];
    std::thread::scope(|scope| {
        for (place, slow) in places.flat_map(|place| slow.map(|slow| (place.clone(), slow))) {
            scope.spawn(move || {
                check_with(
                    |settings| settings.patience = Duration::from_secs(2),
                    |server, _| server.change(&place, slow),
                    &[&format!("{place} answers too slowly")],
                );
            });
        }
    });
}

fn other_answer(server: &Server, path: &str) -> Answer {
    let mut found = None;
    server.change(path, |body| {
        found = Some(body.clone());
        Answer::Body(body)
    });
    Answer::Body(found.unwrap())
}

#[test]
fn a_package_that_is_not_the_locked_one_is_refused() {
    let server = Server::start();
    publish(&server, &Publisher::new(), &["1.0.0"]);
    let mut stack = Stack::of_registry(&server);
    stack.require("");
    stack.install().unwrap();
    let lock = stack.lock();
    // The lock file of someone who got another package.
    let other = lock.lines().filter(|line| !line.contains("zh:") && !line.contains("h1:"));
    let mut other: Vec<String> = other.map(str::to_owned).collect();
    let at = other.iter().position(|line| line.contains("hashes")).unwrap();
    other.insert(at + 1, "    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",".to_owned());
    fs::write(stack.lock_file(), other.join("\n")).unwrap();
    let told = stack.told(InstallOptions::default());
    assert!(told.contains("/acme/widgets: ") && told.contains("has the checksum h1:"), "{told}");
    let found = stack.found().unwrap_err();
    assert!(found[0].to_string().contains("has the checksum h1:"), "{}", found[0]);

    // The lock file is right, and the package was changed on disk.
    fs::write(stack.lock_file(), &lock).unwrap();
    let program = stack.found().unwrap().remove(0).program;
    fs::write(&program, "something else").unwrap();
    let found = stack.found().unwrap_err();
    assert!(found[0].hints()[0].contains("trueup init"), "{:?}", found[0].hints());
    // An installation brings it back.
    assert!(stack.install().unwrap().installed[0].fetched);
    assert_eq!(stack.lock(), lock);
    stack.found().unwrap();
}

#[test]
fn a_lock_file_that_is_none_is_told_and_kept() {
    let server = Server::start();
    let mut stack = Stack::of_registry(&server);
    stack.require("");
    fs::write(stack.lock_file(), "provider {").unwrap();
    let told = stack.told(InstallOptions::default());
    assert!(told.contains(".terraform.lock.hcl: line 1") && told.contains("version control"), "{told}");
    assert_eq!(stack.lock(), "provider {");
}

#[test]
fn a_provider_that_is_not_here_is_told_with_where_it_was_looked_for() {
    let server = Server::start();
    let mut stack = Stack::of_registry(&server);
    stack.require("~> 1.0");
    let problem = stack.found().unwrap_err().remove(0);
    let told = trueup_core::Diagnostic::from(&problem);
    assert!(
        told.summary.contains("a version that meets `~> 1.0` is not on this machine"),
        "{}",
        told.summary
    );
    assert!(told.detail.unwrap().contains(".terraform/providers"));
    assert_eq!(told.hints, ["install it with `trueup init`"]);
}

/// What fails in passing is asked for again, and that is said; what goes on failing is told after a while.
#[test]
fn a_server_that_fails_in_passing_is_asked_again() {
    let server = Server::start();
    publish(&server, &Publisher::new(), &["1.0.0"]);
    let package = path("1.0.0", "package.zip");
    let versions = "/v1/providers/acme/widgets/versions";
    let fails = |path: &str, answers: Vec<Answer>| {
        server.change(path, |body| Answer::Each([answers, vec![Answer::Body(body)]].concat()));
    };
    fails("/.well-known/terraform.json", vec![Answer::Closed, Answer::Status(502)]);
    fails(versions, vec![Answer::Status(429)]);
    let whole = crate::publish::archive("1.0.0");
    fails(&package, vec![Answer::Truncated(whole), Answer::Status(503)]);
    let mut stack = Stack::of_registry(&server);
    stack.require("");
    assert!(stack.install().unwrap().installed[0].fetched);
    let told = stack.told.lock().unwrap().clone();
    let retries: Vec<&String> = told.iter().filter(|it| it.starts_with("Retrying")).collect();
    assert_eq!(retries.len(), 5, "{told:?}");
    assert!(retries.iter().any(|it| it.contains("429")), "{told:?}");
    assert_eq!(server.asked().iter().filter(|it| **it == package).count(), 3);

    server.answer(versions, Answer::Status(500));
    stack.settings.folder = stack.folder().join("another");
    fs::create_dir_all(stack.folder()).unwrap();
    assert!(stack.told(InstallOptions::default()).contains("answers 500"));
    assert_eq!(server.asked().iter().filter(|it| **it == versions).count(), 3, "and no more");
    // What is not there is not there.
    server.answer(versions, Answer::Status(404));
    stack.told(InstallOptions::default());
    assert_eq!(server.asked().iter().filter(|it| **it == versions).count(), 1);
}
