//! Files and umasks that mean no good: each ends with an error that says what is wrong, and in time.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use trueup_test_servers::environment::search_path;

use crate::binary::{empty, stack};

/// What was said, without the breaks of its lines.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// BOUND-2: what is no file is not opened.
#[test]
fn what_is_no_file_is_not_read() {
    let folder = empty();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    folder.write("folder/file", "");
    let resource = |source: &str| {
        format!("resource \"std_file\" \"a\" {{\n  path = \"a.txt\"\n  source = \"{source}\"\n}}\n")
    };
    let data = |path: &str| {
        format!(
            "data \"std_file\" \"a\" {{\n  path = \"{path}\"\n}}\noutput \"a\" {{\n  value = data.std_file.a.size\n}}\n"
        )
    };
    let content = |path: &str| {
        format!("resource \"std_file\" \"a\" {{\n  path = \"a.txt\"\n  content = file(\"{path}\")\n}}\n")
    };
    let rows = [
        (resource("pipe"), "is a socket, pipe or device, not a file"),
        (resource("/dev/zero"), "`/dev/zero` is a socket, pipe or device, not a file"),
        (resource("folder"), "is a directory, not a file"),
        (data("pipe"), "is a socket, pipe or device, not a file"),
        (data("/dev/zero"), "`/dev/zero` is a socket, pipe or device, not a file"),
        (data("folder"), "is a directory, not a file"),
        (content("pipe"), "is a socket, pipe or device, not a file"),
        (content("/dev/zero"), "is a socket, pipe or device, not a file"),
    ];
    for (text, expected) in rows {
        folder.write("main.tf", &text);
        let refused = folder.run("deploy --stage t --yes");
        assert_eq!(refused.code, 1, "{text}: {refused:?}");
        assert!(in_one_line(&refused.err).contains(expected), "{text}: {}", refused.err);
        assert!(!folder.has("a.txt"), "{text}");
    }
    folder.write("main.tf", "");
    let refused = folder.run("plan --stage t --policy pipe");
    assert!(
        in_one_line(&refused.err).contains("it is a socket, pipe or device, not a file"),
        "{}",
        refused.err
    );
}

/// BOUND-2: neither is what belongs to a folder, whatever its name says.
#[test]
fn what_is_no_file_is_no_source() {
    let special = "it is a socket, pipe or device, not a file";
    let names = [
        "x.tf",
        "x.auto.tfvars",
        "module/x.tf",
        "terraform.tfvars",
        "terraform.tfvars.json",
        "stages/t.tfvars",
    ];
    for name in names {
        for make in ["mkfifo", "ln -s /dev/zero"] {
            let folder = stack("module \"m\" {\n  source = \"./module\"\n}\n");
            folder.write("module/main.tf", "");
            folder.write("stages/other.tfvars", "");
            let made = format!("{make} {name}");
            assert!(
                Command::new("sh").args(["-c", &made]).current_dir(folder.path()).status().unwrap().success()
            );
            let refused = folder.run("plan --stage t");
            assert_eq!(refused.code, 1, "{made}: {refused:?}");
            let told = in_one_line(&refused.err);
            assert!(told.contains(special) && told.contains(name), "{made}: {}", refused.err);
            if name == "x.tf" {
                let refused = folder.run("fmt x.tf");
                assert!(in_one_line(&refused.err).contains(special), "{made}: {}", refused.err);
            }
        }
    }
}

/// BOUND-2: what is named on the command line may be a pipe or a device, as long as it ends.
#[test]
fn what_is_named_ends() {
    let folder = stack("variable \"a\" {\n  default = \"\"\n}\noutput \"a\" {\n  value = var.a\n}\n");
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    folder.done("deploy --stage t --yes");
    let rows = [
        ("plan --stage t --var-file /dev/zero", "it is larger than 32 MiB"),
        ("plan --stage t --env-file /dev/zero", "it is larger than 4 MiB"),
        ("state import /dev/zero --stage u", "it is larger than 512 MiB"),
        ("import-state /dev/zero --stage u", "it is larger than 512 MiB"),
        ("show /dev/zero", "it is a socket, pipe or device, not a file"),
        ("deploy /dev/zero", "it is a socket, pipe or device, not a file"),
        ("deploy pipe", "it is a socket, pipe or device, not a file"),
        ("show ./pipe", "it is a socket, pipe or device, not a file"),
        ("plan --stage t --var-file .", "it is a directory, not a file"),
    ];
    for (command, expected) in rows {
        let refused = folder.run(command);
        assert_eq!(refused.code, 1, "{command}: {refused:?}");
        assert!(in_one_line(&refused.err).contains(expected), "{command}: {}", refused.err);
    }
    let piped = |written: &str, arguments: &str| {
        let inner = format!("{written} | '{}' {arguments}", folder.binary().display());
        let mut command = Command::new("sh");
        command.args(["-c", &inner]).current_dir(folder.path()).env_clear().env("HOME", folder.path());
        let output = command.env("PATH", search_path()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments}: {err}");
        err + &String::from_utf8_lossy(&output.stdout)
    };
    assert!(piped("echo 'a = \"piped\"'", "plan --stage t --var-file /dev/stdin").contains("piped"));
    assert!(piped("echo TRUEUP_VAR_a=env", "plan --stage t --env-file /dev/stdin").contains("env"));
    piped("true", "plan --stage t --var-file /dev/null --env-file /dev/null");
    folder.done("state export --stage t --to e.json");
    piped("cat e.json", "state import /dev/stdin --stage copied --yes");
    folder.done("plan --stage t --out p.plan");
    piped("cat p.plan", "deploy /dev/stdin");
    // Named pipes are what `sops exec-file` hands over.
    piped("(echo 'a = \"sops\"' > pipe) & true", "plan --stage t --var-file pipe");
}

/// BOUND-2: a key is read again and again, and a pipe gives it once.
#[test]
fn a_key_file_is_no_pipe() {
    let text = "variable \"s\" {\n  default = \"secret\"\n  sensitive = true\n}\n\
                resource \"terraform_data\" \"a\" {\n  input = var.s\n}\n";
    let folder = stack(text);
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    for file in ["pipe", "/dev/zero"] {
        let mut command = folder.command("deploy --stage t --yes");
        let told = trueup_cli_harness::Told::by(command.env("TRUEUP_KEY_FILE", file));
        assert_eq!(told.code, 1, "{file}: {told:?}");
        let special = "it is a socket, pipe or device, not a file";
        assert!(in_one_line(&told.err).contains(special), "{file}: {told:?}");
    }
}

/// BOUND-2
#[test]
fn the_console_reads_no_endless_line() {
    let folder = stack("");
    let mut command = folder.command("console --stage t");
    let endless = fs::File::open("/dev/zero").unwrap();
    let told = trueup_cli_harness::Told::by(command.stdin(endless));
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("a line of standard input has more than 1 MiB"), "{told:?}");
}

/// BOUND-3: a few names that double each other are an error, whichever command comes across them.
#[test]
fn names_that_double_each_other_are_refused() {
    let locals: String = (1..60).map(|at| format!("  a{at} = [local.a{0}, local.a{0}]\n", at - 1)).collect();
    let text = format!("locals {{\n  a0 = [\"x\"]\n{locals}}}\noutput \"a\" {{\n  value = local.a59\n}}\n");
    let folder = stack(&text);
    for command in ["validate", "plan --stage t", "deploy --stage t --yes"] {
        let refused = folder.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.err.contains("this value holds more than 4000000 values"),
            "{command}: {}",
            refused.err
        );
    }
}

/// The paths below a folder that others may look into.
fn open_to_others(path: &Path) -> Vec<String> {
    let mode = fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut open: Vec<String> = Vec::new();
    if mode & 0o077 != 0 {
        open.push(format!("{} {mode:o}", path.display()));
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        open.extend(open_to_others(&entry.path()));
    }
    open
}

/// BOUND-5: whatever the umask, nobody else looks into our folder, and one that earlier versions left open is closed.
#[test]
fn our_folder_is_for_its_owner_alone() {
    let text = "variable \"s\" {\n  default = \"x\"\n  sensitive = true\n}\n\
                resource \"std_file\" \"a\" {\n  path = \"a.txt\"\n  content = var.s\n}\n";
    for umask in ["000", "022", "077"] {
        let folder = stack(text);
        let run = |arguments: &str| {
            let inner = format!("umask {umask}; exec '{}' {arguments}", folder.binary().display());
            let mut command = Command::new("sh");
            command.args(["-c", &inner]).current_dir(folder.path()).env_clear().env("HOME", folder.path());
            let output = command.env("PATH", search_path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run("plan --stage t --out p.plan --log-file trueup.log");
        run("deploy p.plan");
        let own = folder.path().join(".trueup");
        assert_eq!(open_to_others(&own), Vec::<String>::new(), "umask {umask}");
        for file in ["p.plan", "trueup.log"] {
            assert_eq!(open_to_others(&folder.path().join(file)), Vec::<String>::new(), "umask {umask}");
        }
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        run("deploy --stage t --yes");
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700, "umask {umask}");
    }
}

/// BOUND-5: what a link in the folder leads to is not ours to close.
#[test]
fn a_link_in_place_of_our_folder_closes_nothing() {
    let folder = stack("resource \"terraform_data\" \"a\" {\n}\n");
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("elsewhere", folder.path().join(".trueup")).unwrap();
    folder.done("deploy --stage t --yes");
    folder.done("plan");
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o755);
    for entry in fs::read_dir(&elsewhere).unwrap() {
        assert_eq!(open_to_others(&entry.unwrap().path()), Vec::<String>::new());
    }
}
