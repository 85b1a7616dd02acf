//! Commands that only look.

use trueup_cli_harness::{Folder, steady};

use crate::commands::{lines, no_lines};

fn deployed() -> Folder {
    let folder = lines(
        "stack site\ntest_file a path=a.txt content=hello password=hunter22\n\
         test_file b path=b.txt content=@test_file.a.size\noutput a @test_file.a.path\noutput size @test_file.a.size\n",
    );
    folder.done("deploy --stage t --yes");
    folder
}

/// SECRET-1
#[test]
fn show_tells_what_is_recorded() {
    let folder = deployed();
    insta::assert_snapshot!(folder.done("show test_file.a").out);
    let told = folder.run("show test_file.c");
    assert!(told.code == 1 && told.err.contains("did you mean"), "{told:?}");
}

#[test]
fn why_tells_what_would_change_and_what_depends_on_it() {
    let folder = deployed();
    assert!(folder.done("why test_file.a").out.contains("would not change"));
    folder.write("a.txt", "hacked");
    let told = folder.done("why test_file.a").out;
    assert!(
        told.contains("drift: changed outside trueup") && told.contains("needed by:\n  test_file.b"),
        "{told}"
    );
}

#[test]
fn outputs_come_bare_for_scripts() {
    let folder = deployed();
    assert_eq!(folder.done("output").out, "a    = \"a.txt\"\nsize = 5\n");
    assert_eq!(folder.done("output a --raw").out, "a.txt");
    assert_eq!(folder.done("output size --raw").out, "5");
    assert_eq!(folder.json("output a --json"), "a.txt");
    assert!(folder.run("output siz").err.contains("did you mean `size`?"));
    assert!(folder.run("output --stage none").err.contains("has no stage `none`"));
}

/// STATE-8
#[test]
fn history_lists_runs_and_their_events() {
    let folder = deployed();
    folder.done("destroy --yes");
    let told = folder.done("history").out;
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.len() == 4 && lines[0].contains("destroy  succeeded, 2 operations"), "{told}");
    let run = &lines[0][..6];
    assert!(folder.done(&format!("history {run}")).out.contains("delete completed"));
    let told = folder.run("history zzz").err;
    assert!(told.contains("there is no run zzz") && told.contains("`lines history` lists them"), "{told}");
    folder.done("history --prune 1");
    assert_eq!(folder.done("history").out.lines().count(), 2);
}

#[test]
fn graphs_are_drawn_in_each_form() {
    let folder = deployed();
    insta::assert_snapshot!(folder.done("graph").out);
    assert!(folder.done("graph --format mermaid").out.contains("n1 --> n0"));
    let svg = folder.done("graph --format svg").out;
    assert!(
        svg.starts_with("<svg") && svg.contains(">test_file.b</text>") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
}

#[test]
fn schemas_document_types() {
    let folder = no_lines();
    assert_eq!(folder.done("schema").out, "test_file\ntest_gate\n");
    insta::assert_snapshot!(folder.done("schema test_file").out);
    assert!(folder.run("schema test_fiel").err.contains("did you mean `test_file`?"));
}

#[test]
fn console_knows_what_is_recorded() {
    use std::io::Write;
    let folder = deployed();
    assert_eq!(folder.done("console @test_file.a.size").out, "5\n");
    assert_eq!(folder.done("console @test_file.zzz.size").out, "(known after apply)\n");
    let mut command = folder.command("console");
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"@test_file.a.path\n\n@nonsense\nword\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b"\"a.txt\"\n\"word\"\n"[..]));
}

#[test]
fn help_and_manual_come_from_the_same_place() {
    let folder = no_lines();
    let help = folder.done("--help").out;
    for command in ["init", "plan", "deploy", "state", "completions"] {
        assert!(help.contains(command), "{help}");
    }
    folder.done("man pages");
    assert!(folder.read("pages/lines-plan.1").contains("detailed"));
    assert!(folder.has("pages/lines-state-mv.1"));
}

#[test]
fn shells_complete_addresses_and_stages() {
    let folder = deployed();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(folder.done(&format!("completions {shell}")).out.contains("lines"), "{shell}");
    }
    let complete = |words: &str, at: &str| {
        let environment = [("COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", at), ("_CLAP_IFS", " ")];
        folder.run_with(&format!("-- {words}"), &environment).out
    };
    assert_eq!(complete("lines show test", "2"), "test_file.a test_file.b");
    assert_eq!(complete("lines plan --stage t", "3"), "t");
    assert!(complete("lines his", "1").contains("history"));
}

#[test]
fn what_others_say_is_steady() {
    let text = "12:34:56 x created in 12 ms\nDeployed in 3.2 s: 1 created";
    assert_eq!(steady(text), "HH:MM:SS x created in TIME\nDeployed in TIME: 1 created\n");
}

/// STATE-8: who, where, how and in which job, without secrets; runs of before say what they say.
#[test]
fn history_says_who_started_a_run_and_how() {
    let folder = lines("stack site\ntest_file a path=a.txt content=$text\n");
    let ci = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_REPOSITORY", "ada/shop"),
        ("GITHUB_RUN_ID", "17"),
        ("GITHUB_ACTOR", "ada"),
    ];
    let told = folder.run_with("deploy --stage t --yes --var text=hunter2", &ci);
    assert_eq!(told.code, 0, "{told:?}");
    let runs = folder.json("history --json");
    let run = &runs["runs"][0];
    assert_eq!(run["command"], "lines deploy --stage t --yes --var text=…");
    assert!(!run["user"].as_str().unwrap().is_empty() && !run["host"].as_str().unwrap().is_empty(), "{run}");
    assert_eq!(run["ci"]["service"], "GitHub Actions");
    let who = format!("{}@{}", run["user"].as_str().unwrap(), run["host"].as_str().unwrap());
    let id = run["run"].as_str().unwrap();
    for told in [folder.done("history").out, folder.done(&format!("history {id}")).out] {
        assert!(told.contains(&format!("{who}: lines deploy --stage t --yes --var text=…\n")), "{told}");
        let job = "GitHub Actions, started by ada: https://github.com/ada/shop/actions/runs/17\n";
        assert!(told.contains(job) && !told.contains("hunter2"), "{told}");
    }
    let first = folder.done(&format!("history {id} --json")).out;
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(first["data"]["command"], run["command"]);
}
