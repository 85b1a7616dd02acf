//! Files, servers and umasks that mean no good: each ends with an error that says what is wrong, and in time.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
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

/// BOUND-2: the same question has the same answer, so that it is asked once.
#[test]
fn an_answer_that_is_too_large_is_not_asked_for_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = asked.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let size = 5 * 1024 * 1024;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b'x'; size]));
        }
    });
    let folder = stack(&format!(
        "data \"std_http\" \"a\" {{\n  url = \"{url}\"\n}}\noutput \"a\" {{\n  value = data.std_http.a.body\n}}\n"
    ));
    let told = folder.run("plan --stage t");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(in_one_line(&told.err).contains("the answer has more than 4 MiB"), "{told:?}");
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
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

/// A server that is busy for a day.
fn busy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let answer =
                "HTTP/1.1 429 busy\r\nretry-after: 100000\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// BOUND-1
#[test]
fn a_server_that_asks_for_a_day_does_not_get_it() {
    let url = busy();
    let text = format!(
        "resource \"std_http\" \"a\" {{\n  create {{\n    url = \"{url}\"\n  }}\n  lifecycle {{\n    timeout = \"5s\"\n  }}\n}}\n\
         data \"std_http\" \"b\" {{\n  url = \"{url}\"\n}}\n"
    );
    let (resource, data) = text.split_once("data ").unwrap();
    let folder = stack(resource);
    let refused = folder.run("deploy --stage t --yes");
    assert_eq!(refused.code, 1, "{refused:?}");
    let told = "it is to be tried again in 100000 s, past the timeout of 5 s";
    assert!(in_one_line(&refused.err).contains(told), "{}", refused.err);
    let folder = stack(&format!("data {data}"));
    let refused = folder.run("plan --stage t");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(in_one_line(&refused.err).contains("it is to be tried again in 100000 s"), "{}", refused.err);
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

/// BOUND-2: a bucket whose answer is said to be larger than any memory.
#[test]
fn a_bucket_cannot_make_us_reserve_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("s3://states/team?endpoint=http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let head = "HTTP/1.1 200 OK\r\netag: \"a\"\r\nlast-modified: Thu, 19 Nov 2026 20:00:00 GMT\r\n\
                        content-length: 9000000000000000000\r\n\r\n";
            // An answer to what was not asked yet would be no answer.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(head.as_bytes());
        }
    });
    let folder = stack("resource \"terraform_data\" \"a\" {\n}\n");
    let environment =
        [("TRUEUP_STATE", &*address), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let refused = folder.run_with("plan --stage t", &environment);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(in_one_line(&refused.err).contains("the answer has more than 1024 MiB"), "{}", refused.err);
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

/// BOUND-1: the same request has the same answer.
#[test]
fn a_server_that_redirects_in_a_circle_is_asked_once() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            if trueup_test_servers::http::Request::read(&mut stream).is_ok() {
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let _ = trueup_test_servers::http::write_json(stream.get_mut(), 302, "Location: /\r\n", "");
            }
        }
    });
    let folder = stack(&format!("data \"std_http\" \"a\" {{\n  url = \"{url}\"\n}}\n"));
    let refused = folder.run("plan --stage t");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(in_one_line(&refused.err).contains("it redirects too often"), "{}", refused.err);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 11);
}
