//! The programs on the other pages of the book: they are laid out as `trueup fmt` does, and so have no mistake in their
//! syntax. What a page calls a folder is one, and what it calls a cycle is deployed.

use std::process::Command;

use super::root;

/// The blocks of a language on a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let bodies = page.split(&opening).skip(1).filter_map(|rest| rest.split_once("```\n"));
    bodies.map(|(body, _)| body.to_owned()).collect()
}

#[test]
fn programs_on_pages_are_laid_out_as_ours_are() {
    let mut found = 0;
    for name in ["tutorial.md", "language.md", "terraform.md"] {
        let page = std::fs::read_to_string(root().join("docs").join(name)).unwrap();
        for program in blocks(&page, "hcl") {
            let laid_out = trueup_lang::format::format(&program);
            assert_eq!(laid_out.map_err(|told| format!("{name}: {told:?}")).as_ref(), Ok(&program), "{name}");
            found += 1;
        }
    }
    assert!(found > 10, "{found}");
}

/// The folder for both tools, under ours.
#[test]
fn a_folder_for_terraform_and_us_is_deployed() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(root().join("docs/terraform.md")).unwrap();
    for file in blocks(&page, "hcl") {
        let name = file.lines().next().unwrap().trim_start_matches("# ");
        std::fs::write(folder.path().join(name), &file).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(["apply", "-auto-approve", "--stage", "default"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && told.ends_with("hello = \"Hello from default\"\n"), "{told}");
}

/// BIND-4: the cycle of the language's page, on a new stage and on the live one.
#[test]
fn the_cycle_of_the_language_page_is_deployed() {
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string(root().join("docs/language.md")).unwrap();
    let cycle = blocks(&page, "hcl").into_iter().find(|it| it.contains("precreate")).unwrap();
    std::fs::write(folder.path().join("main.tu.hcl"), cycle).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        let command = command.args(arguments).current_dir(folder.path()).env("HOME", folder.path());
        let output = command.output().unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{told}");
        told
    };
    let objects = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().ends_with(".json")).count()
    };
    run(&["deploy", "--stage", "t", "--yes"]);
    assert_eq!(objects(), 2);
    assert!(run(&["deploy", "--stage", "t", "--yes"]).contains("No changes"));
    assert_eq!(objects(), 2);
    run(&["destroy", "--stage", "t", "--yes"]);
    assert_eq!(objects(), 0);
}
