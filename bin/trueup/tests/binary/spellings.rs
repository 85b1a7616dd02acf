//! One file or directory under several paths: relative, absolute, and through links. None of them costs it.

use std::os::unix::fs::symlink;

use trueup_cli_harness::Folder;

use crate::binary::stack;

const FILE: &str = r#"
    variable "path" { default = "x" }
    resource "std_file" "a" {
      path    = var.path
      content = "A"
    }
"#;

const DIRECTORY: &str = r#"
    variable "path" { default = "dd" }
    resource "std_directory" "a" {
      path  = var.path
      force = true
    }
"#;

const TWO: &str = r#"
    resource "std_file" "a" {
      path    = "x"
      content = "A"
    }
    resource "std_file" "b" {
      path    = "OTHER"
      content = "A"
    }
"#;

fn absolute(folder: &Folder, path: &str) -> String {
    folder.path().join(path).to_str().unwrap().to_owned()
}

/// REPLACE-11
#[test]
fn another_spelling_of_a_path_keeps_the_file() {
    let folder = stack(FILE);
    folder.done("deploy --stage t --yes");
    let path = absolute(&folder, "x");
    let told = folder.done(&format!("deploy --yes --var path={path}"));
    assert_eq!(folder.read("x"), "A", "{told:?}");
    assert!(told.err.contains("1 updated"), "{told:?}");
    assert!(folder.done("state show std_file.a").out.contains(&path), "the record follows the program");
    let told = folder.done(&format!("plan --var path={path}"));
    assert!(told.out.contains("No changes"), "{told:?}");
    // A new content arrives, whatever the spelling.
    folder.write("main.tf", &FILE.replace("\"A\"", "\"B\""));
    folder.done("deploy --yes");
    assert_eq!(folder.read("x"), "B");
    folder.done("destroy --yes");
    assert!(!folder.has("x"));
}

/// REPLACE-11
#[test]
fn a_path_through_a_link_keeps_the_file() {
    let folder = stack(FILE);
    std::fs::create_dir(folder.path().join("r")).unwrap();
    symlink("r", folder.path().join("l")).unwrap();
    folder.done("deploy --stage t --yes --var path=r/x");
    let told = folder.done("deploy --yes --var path=l/x");
    assert_eq!(folder.read("r/x"), "A", "{told:?}");
    // A link that is gone takes nothing with it.
    std::fs::remove_file(folder.path().join("l")).unwrap();
    folder.done("deploy --yes --var path=r/x");
    assert_eq!(folder.read("r/x"), "A");
}

/// REPLACE-11, ADOPT-4
#[test]
fn another_spelling_of_a_path_keeps_the_directory_and_its_content() {
    for flags in ["", "--adopt"] {
        let folder = stack(DIRECTORY);
        folder.done("deploy --stage t --yes");
        folder.write("dd/data", "precious");
        let path = absolute(&folder, "dd");
        let told = folder.done(&format!("deploy --yes {flags} --var path={path}"));
        assert_eq!(folder.read("dd/data"), "precious", "{told:?}");
        assert!(told.err.contains("1 updated"), "{told:?}");
    }
}

/// REPLACE-11, DRIFT-11: the provider's folder and the path change, and together they still name the same directory.
#[test]
fn a_directory_stays_when_its_providers_folder_moves_into_the_path() {
    let block = |folder: &str, path: &str| {
        format!("provider \"std\" {{ folder = \"{folder}\" }}\n{}", DIRECTORY.replace("\"dd\"", path))
    };
    let folder = stack(&block("sub", "\"dd\""));
    folder.done("deploy --stage t --yes");
    folder.write("sub/dd/data", "precious");
    folder.write("main.tf", &block(".", "\"sub/dd\""));
    let told = folder.done("deploy --yes");
    assert_eq!(folder.read("sub/dd/data"), "precious", "{told:?}");
    let told = folder.done("plan");
    assert!(told.out.contains("No changes"), "{told:?}");
}

/// REPLACE-11: a path that is known only at apply.
#[test]
fn a_spelling_that_is_known_only_at_apply_keeps_the_file() {
    let program = |prefix: &str| {
        format!(
            r#"
            resource "std_file" "where" {{
              path    = "where"
              content = "{prefix}"
            }}
            data "std_file" "where" {{
              path       = std_file.where.path
              depends_on = [std_file.where]
            }}
            resource "std_file" "a" {{
              path    = "${{data.std_file.where.content}}x"
              content = "A"
            }}
            "#
        )
    };
    let folder = stack(&program(""));
    folder.done("deploy --stage t --yes");
    folder.write("main.tf", &program(&absolute(&folder, "")));
    let told = folder.done("deploy --yes");
    assert_eq!(folder.read("x"), "A", "{told:?}");
}

/// REPLACE-11: the plan cannot know yet that both paths lead to one file.
#[test]
fn a_link_that_the_run_makes_keeps_the_file() {
    let folder = stack(FILE);
    folder.done("deploy --stage t --yes --var path=r/x");
    let link = r#"
        resource "std_exec" "link" {
          create = ["sh", "-c", "ln -s r l; echo '{}'"]
          delete = ["rm", "l"]
        }
    "#;
    let after = FILE.replace("content = \"A\"", "content = \"A\"\n      depends_on = [std_exec.link]");
    folder.write("main.tf", &format!("{link}{after}"));
    let told = folder.done("deploy --yes --var path=l/x");
    assert_eq!(folder.read("r/x"), "A", "{told:?}");
    let told = folder.done("plan --var path=l/x");
    assert!(told.out.contains("No changes"), "{told:?}");
}

/// REPLACE-10, REPLACE-11: what is replaced all the same is deleted first.
#[test]
fn a_forced_replacement_under_another_spelling_leaves_a_file() {
    let folder = stack(FILE);
    folder.done("deploy --stage t --yes");
    let path = absolute(&folder, "x");
    let told = folder.done(&format!("deploy --yes --replace std_file.a --var path={path}"));
    assert_eq!(folder.read("x"), "A", "{told:?}");
}

/// REPLACE-10, DELETE-9
#[test]
fn two_resources_on_one_file_are_refused() {
    for other in ["./x", "ABSOLUTE", "sub/../x"] {
        let folder = stack("");
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let other = other.replace("ABSOLUTE", &absolute(&folder, "x"));
        folder.write("main.tf", &TWO.replace("OTHER", &other));
        let told = folder.run("deploy --stage t --yes");
        assert_eq!(told.code, 1, "{told:?}");
        assert!(told.err.contains("std_file.a and std_file.b are one object"), "{told:?}");
        assert!(!folder.has("x"));
    }
}

/// REPLACE-10
#[test]
fn two_resources_on_one_file_through_a_link_or_a_provider_are_refused() {
    let folder = stack("");
    std::fs::create_dir(folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    let linked = TWO.replace("\"x\"", "\"real/x\"").replace("OTHER", "link/x");
    let aliased = format!(
        r#"
        provider "std" {{
          alias  = "sub"
          folder = "sub"
        }}
        {}
        "#,
        TWO.replace("\"x\"", "\"sub/x\"").replace("path    = \"OTHER\"", "path = \"x\"\nprovider = std.sub")
    );
    for program in [linked, aliased] {
        folder.write("main.tf", &program);
        let told = folder.run("deploy --stage t --yes");
        assert_eq!(told.code, 1, "{told:?}");
        assert!(told.err.contains("std_file.a and std_file.b are one object"), "{told:?}");
    }
}

/// REPLACE-10, ADOPT-4
#[test]
fn one_file_is_not_imported_twice() {
    let folder = stack(&format!(
        r#"
        {}
        import {{
          to = std_file.a
          id = "x"
        }}
        import {{
          to = std_file.b
          id = "./x"
        }}
        "#,
        TWO.replace("OTHER", "./x")
    ));
    folder.write("x", "A");
    let told = folder.run("deploy --stage t --yes");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("std_file.a and std_file.b"), "{told:?}");
    assert_eq!(folder.read("x"), "A");
}

/// REPLACE-11, ADOPT-7
#[test]
fn what_is_imported_under_another_spelling_stays() {
    let folder = stack("");
    let path = absolute(&folder, "x");
    folder.write("main.tf", &format!("{FILE}\nimport {{\n  to = std_file.a\n  id = \"{path}\"\n}}\n"));
    folder.write("x", "A");
    let told = folder.done("deploy --stage t --yes");
    assert_eq!(folder.read("x"), "A", "{told:?}");
    assert!(!told.err.contains("replaced"), "{told:?}");
}

/// ADOPT-4: the message names the resource that holds the file, and does not advise to adopt it.
#[test]
fn a_file_that_another_resource_gives_up_is_still_held() {
    let folder = stack(FILE);
    folder.done("deploy --stage t --yes");
    folder.write(
        "main.tf",
        r#"
        resource "std_file" "a" {
          path    = "y"
          content = "A"
        }
        resource "std_file" "b" {
          path    = "x"
          content = "B"
        }
        "#,
    );
    let told = folder.run("deploy --yes");
    assert_eq!(told.code, 1, "{told:?}");
    let error = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(error.contains("is held by std_file.a"), "{told:?}");
    assert!(error.contains("deploy the change by which std_file.a gives it up first"), "{told:?}");
    assert!(!told.err.contains("--adopt"), "{told:?}");
    assert_eq!(folder.read("x"), "A");
}
