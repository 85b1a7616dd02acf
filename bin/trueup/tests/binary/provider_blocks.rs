//! Provider blocks that change or go while their objects stay: nothing is left behind, and nothing is said to be deleted
//! that is still there.

use crate::binary::stack;

const FILE: &str = "resource \"std_file\" \"a\" {\n  path = \"a.txt\"\n  content = \"hello\"\n}\n";

fn in_folder(folder: &str) -> String {
    format!("provider \"std\" {{\n  folder = \"{folder}\"\n}}\n")
}

/// DELETE-11
#[test]
fn a_destroy_without_the_block_deletes_what_it_made() {
    let folder = stack(&(in_folder("sub") + FILE));
    folder.done("deploy --yes");
    folder.write("a.txt", "somebody else's");
    folder.write("main.tf", "");
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("1 deleted"), "{told:?}");
    assert!(!folder.has("sub/a.txt"), "it should be gone from where it was made");
    assert_eq!(folder.read("a.txt"), "somebody else's");
    assert!(folder.done("destroy --yes").out.contains("No changes"));
}

/// DELETE-11, DRIFT-11
#[test]
fn a_changed_block_leaves_nothing_behind() {
    let folder = stack(&(in_folder("old") + FILE));
    folder.done("deploy --yes");
    folder.write("main.tf", &(in_folder("new") + FILE));
    let told = folder.done("plan");
    assert!(told.out.contains("its provider is configured for another place"), "{told:?}");
    folder.done("deploy --yes");
    assert!(folder.has("new/a.txt") && !folder.has("old/a.txt"));
    folder.write("main.tf", &in_folder("elsewhere"));
    folder.done("deploy --yes");
    assert!(!folder.has("new/a.txt"));
}

/// DELETE-8
#[test]
fn a_destroy_needs_no_variables_that_only_a_provider_block_uses() {
    let text = "variable \"folder\" {}\nprovider \"std\" {\n  folder = var.folder\n}\n".to_owned() + FILE;
    let folder = stack(&text);
    folder.done("deploy --yes --var folder=sub");
    assert!(folder.has("sub/a.txt"));
    folder.done("destroy --yes");
    assert!(!folder.has("sub/a.txt"));
}

/// DELETE-11, SECRET-1: what comes from the environment is not recorded, and secrets are sealed.
#[test]
fn a_recorded_configuration_holds_no_secret_in_the_clear() {
    let text = "variable \"folder\" {\n  sensitive = true\n}\nprovider \"std\" {\n  folder = var.folder\n}\n";
    let folder = stack(&(text.to_owned() + FILE));
    folder.done("deploy --yes --var folder=hidden-folder-17");
    let exported = folder.done("state export").out;
    assert!(exported.contains("\"configurations\""), "{exported}");
    assert!(!exported.contains("hidden-folder-17"), "{exported}");
    folder.write("main.tf", "");
    folder.done("destroy --yes");
    assert!(!folder.has("hidden-folder-17/a.txt"));
}

/// DRIFT-11, ADOPT-3: a block that leads to somebody else's file takes nothing over, and a detour is no other place.
#[test]
fn a_changed_block_touches_nothing_of_somebody_else() {
    let folder = stack(&(in_folder("old") + FILE));
    folder.done("deploy --yes");
    folder.write("main.tf", &(in_folder("old/../old/.") + FILE));
    assert!(folder.done("plan").out.contains("No changes"));
    folder.write("new/a.txt", "somebody else's");
    folder.write("main.tf", &(in_folder("new") + FILE));
    let told = folder.run("deploy --yes");
    assert!(told.code != 0 && told.err.contains("not managed by this stack"), "{told:?}");
    assert_eq!(
        (folder.read("old/a.txt"), folder.read("new/a.txt")),
        ("hello".into(), "somebody else's".into())
    );
    folder.done("destroy --yes");
    assert!(!folder.has("old/a.txt"));
    assert_eq!(folder.read("new/a.txt"), "somebody else's");
}

/// DELETE-11: a command that deletes runs where the one that created did, also if nothing can be read.
#[test]
fn what_cannot_be_read_is_deleted_where_it_was_made() {
    let text = |version: u64| {
        let run = |command: &str| format!("[\"sh\", \"-c\", \"{command}\"]");
        let (create, delete) = (run("touch made; echo '{}'"), run("rm made"));
        let input = format!("input = {{ version = {version} }}");
        format!(
            "resource \"std_exec\" \"x\" {{\n create = {create}\n update = {create}\n delete = {delete}\n {input}\n}}\n"
        )
    };
    let folder = stack(&(in_folder("old") + &text(1)));
    for name in ["old", "new"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder.done("deploy --yes");
    folder.write("main.tf", &(in_folder("new") + &text(1)));
    assert!(folder.done("plan").out.contains("No changes"));
    folder.write("main.tf", &(in_folder("new") + &text(2)));
    folder.done("deploy --yes");
    assert!(folder.has("new/made") && !folder.has("old/made"));
    folder.write("main.tf", &(in_folder("old") + &text(2)));
    folder.done("destroy --yes");
    assert!(!folder.has("new/made"));
}
