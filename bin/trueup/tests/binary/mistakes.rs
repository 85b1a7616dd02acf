//! What people see when their text is wrong: the place, what is wrong, what to do; and nothing was changed.

use trueup_cli_harness::{Folder, Told};

use crate::binary::{empty, stack};

/// Whatever is done with a text that is wrong says the same, fails, and leaves nothing behind (STATE-13).
fn check(name: &str, text: &str) {
    let folder = stack(text);
    insta::assert_snapshot!(name, refused(&folder));
}

/// What is said of a folder that no command may change.
fn refused(folder: &Folder) -> String {
    let before = files(folder);
    let plan = folder.run("plan --stage t");
    let deploy = folder.run("deploy --stage t --yes");
    assert_eq!((plan.code, deploy.code), (1, 1), "{plan:?} {deploy:?}");
    assert_eq!(plan.err, deploy.err);
    assert_eq!(files(folder), before);
    said(folder, &plan)
}

fn said(folder: &Folder, told: &Told) -> String {
    told.err.replace(folder.path().to_str().unwrap(), "FOLDER")
}

fn files(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn syntax() {
    check("open_string", "resource \"std_file\" \"a\" {\n  path    = \"a.txt\n  content = \"a\"\n}\n");
    check("open_block", "resource \"std_file\" \"a\" {\n  path = \"a.txt\"\n");
}

/// Whatever stands twice says where the first one is.
#[test]
fn repetitions_name_the_first_place() {
    check(
        "twice",
        "resource \"std_file\" \"a\" {\n  path = \"a\"\n  path = \"b\"\n}\n\nresource \"std_file\" \"a\" {}\n\n\
         locals {\n  x = 1\n}\n\nlocals {\n  x = 2\n}\n\nprovider \"std\" {}\n\nprovider \"std\" {}\n",
    );
}

#[test]
fn unknown_words() {
    check(
        "unknown_attribute",
        "resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  contnet = \"hi\"\n}\n",
    );
    check(
        "unknown_type",
        "resource \"std_fiel\" \"a\" {\n  path = \"a.txt\"\n}\n\nresource \"google_storage_bucket\" \"b\" {\n}\n",
    );
    check(
        "unknown_reference",
        "locals {\n  greeting = \"hi\"\n}\n\nresource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = local.greting\n}\n",
    );
}

#[test]
fn wrong_types() {
    check(
        "wrong_type",
        "variable \"replicas\" {\n  type    = number\n  default = \"many\"\n}\n\n\
         resource \"std_file\" \"a\" {\n  path    = [\"a.txt\"]\n  content = \"hi\"\n}\n",
    );
}

#[test]
fn missing_variable() {
    check(
        "missing_variable",
        "variable \"title\" {\n  type = string\n}\n\n\
         resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = var.title\n}\n",
    );
}

/// PLAN-13
#[test]
fn cycles() {
    check(
        "cycle",
        "resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = std_file.b.sha256\n}\n\n\
         resource \"std_file\" \"b\" {\n  path    = \"b.txt\"\n  content = std_file.a.sha256\n}\n",
    );
    check(
        "cycle_of_locals",
        "locals {\n  a = local.b\n  b = local.a\n}\n\noutput \"a\" {\n  value = local.a\n}\n",
    );
}

#[test]
fn a_file_in_another_encoding() {
    let folder = empty();
    std::fs::write(folder.path().join("main.tf"), b"# caf\xe9\noutput \"a\" {\n  value = 1\n}\n").unwrap();
    insta::assert_snapshot!("not_utf8", refused(&folder));
}

/// Whoever runs the tests as root could read everything; so the program runs as nobody.
#[test]
#[cfg(unix)]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let folder = stack("output \"a\" {\n  value = 1\n}\n");
    let allow = |name: &str, mode: u32| {
        std::fs::set_permissions(folder.path().join(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    // Nobody may have no way to where the program was built.
    // Copied by another process: a child of another test could hold what this one writes to, and then it does not start.
    let copied =
        std::process::Command::new("cp").arg(folder.binary()).arg(folder.path().join("trueup")).status();
    assert!(copied.unwrap().success());
    allow("", 0o755);
    allow("trueup", 0o755);
    let root = folder.path().metadata().unwrap().uid() == 0;
    let run = |arguments: &str| {
        let usual = folder.command(arguments);
        let mut command = std::process::Command::new(folder.path().join("trueup"));
        command.args(usual.get_args()).current_dir(folder.path()).env_clear();
        command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Told::by(&mut command)
    };
    assert_eq!(run("plan --stage t").code, 0);
    allow("main.tf", 0o000);
    let told = run("plan --stage t");
    assert_eq!(told.code, 1, "{told:?}");
    insta::assert_snapshot!("unreadable_file", said(&folder, &told));
}

#[test]
fn a_folder_without_a_stack() {
    let folder = empty();
    folder.write("notes.txt", "nothing of ours");
    insta::assert_snapshot!("no_stack", refused(&folder));
    for command in ["destroy --stage t --yes", "dev --stage t --yes", "drift --stage t", "graph --stage t"] {
        let told = folder.run(command);
        assert_eq!(told.code, 1, "{command}: {told:?}");
        assert!(told.err.contains("there is no stack in"), "{command}: {told:?}");
    }
    assert_eq!(files(&folder), ["notes.txt"]);
}

/// A mistake in a module is shown where it stands.
#[test]
fn a_mistake_in_a_module() {
    let folder = stack("module \"page\" {\n  source = \"./page\"\n}\n");
    folder.write("page/main.tf", "output \"a\" {\n  value = upper(1, 2)\n}\n");
    insta::assert_snapshot!("mistake_in_a_module", refused(&folder));
}
