//! The world changed by hand, and the end of everything.

use trueup_cli_harness::{Folder, steady};

use crate::binary::stack;

fn deployed() -> Folder {
    let folder = stack(
        r#"
        resource "std_directory" "site" { path = "site" }
        resource "std_file" "index" {
          path    = "${std_directory.site.path}/index.html"
          content = "<h1>Hello</h1>\n"
        }
        resource "std_file" "robots" {
          path    = "${std_directory.site.path}/deep/robots.txt"
          content = "User-agent: *\n"
        }
        "#,
    );
    folder.write("unrelated.txt", "");
    folder.done("deploy --stage t --yes");
    folder
}

/// DRIFT-2, DRIFT-3, DRIFT-8, DRIFT-13
#[test]
fn what_was_changed_by_hand_is_seen_and_repaired() {
    let folder = deployed();
    assert_eq!(folder.run("drift").code, 0);
    folder.write("site/index.html", "<h1>Hacked</h1>\n");
    std::fs::remove_file(folder.path().join("site/deep/robots.txt")).unwrap();
    let plan = folder.done("plan");
    insta::assert_snapshot!(steady(&plan.out).replace(&name(&folder), "FOLDER"));
    let drift = folder.run("drift");
    assert_eq!(drift.code, 3, "{drift:?}");
    insta::assert_snapshot!(steady(&drift.out).replace(&name(&folder), "FOLDER"));
    assert_eq!(folder.read("site/index.html"), "<h1>Hacked</h1>\n");
    folder.done("deploy --yes");
    assert_eq!(folder.read("site/index.html"), "<h1>Hello</h1>\n");
    assert!(folder.has("site/deep/robots.txt"));
    assert_eq!(folder.run("drift").code, 0);
}

/// DELETE-1: nothing of the stack is left; folders that came with a file are not its own, and stay.
#[test]
fn destroy_leaves_nothing_of_the_stack() {
    let folder = stack(
        r#"
        resource "std_directory" "site" { path = "site" }
        resource "std_file" "index" {
          path    = "${std_directory.site.path}/index.html"
          content = "<h1>Hello</h1>\n"
        }
        resource "std_file" "deep" {
          path    = "made/on/the/way.txt"
          content = "hello"
        }
        resource "std_exec" "object" {
          create = ["sh", "-c", "touch object; echo '{}'"]
          delete = ["rm", "object"]
        }
        "#,
    );
    folder.done("deploy --stage t --yes");
    assert!(folder.has("object") && folder.has("site/index.html"));
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("4 deleted"), "{told:?}");
    let left: Vec<String> = ["site", "object", "made/on/the/way.txt", "made/on/the"]
        .into_iter()
        .filter(|name| folder.has(name))
        .map(str::to_owned)
        .collect();
    assert_eq!(left, ["made/on/the"]);
    assert_eq!(folder.done("state list").out, "");
    // A folder that came with a file is in the way of the directory above it, and the error says so.
    let folder = deployed();
    let told = folder.run("destroy --yes");
    assert_eq!(told.code, 1);
    assert!(told.err.contains("deep"), "{told:?}");
    std::fs::remove_dir(folder.path().join("site/deep")).unwrap();
    folder.done("destroy --yes");
    assert!(!folder.has("site"));
}

fn name(folder: &Folder) -> String {
    folder.path().file_name().unwrap().to_str().unwrap().to_owned()
}
