//! Plans, deploys and destroys.

use trueup_cli_harness::steady;

use crate::commands::{lines, shelf};

const SITE: &str = "stack site\ntest_file a path=a.txt content=hello password=hunter22\n\
                    test_file b path=b.txt content=@test_file.a.size\noutput where @test_file.b.path\n";

/// PLAN-17: both print the same plan, and neither changes anything.
#[test]
fn plan_and_dry_run_are_the_same_and_change_nothing() {
    let folder = lines(SITE);
    let plan = folder.done("plan --stage t");
    assert_eq!(plan.out, folder.done("deploy --dry-run --stage t").out);
    insta::assert_snapshot!(steady(&plan.out));
    assert!(!folder.has("a.txt") && !folder.has(".trueup"), "something was written");
}

#[test]
fn deploy_without_a_terminal_needs_yes_and_says_so() {
    let folder = lines(SITE);
    let told = folder.run("deploy --stage t");
    assert_eq!(told.code, 1);
    insta::assert_snapshot!(told.err);
    assert!(!folder.has("a.txt"));
}

/// APPLY-12, SECRET-1
#[test]
fn deploy_makes_it_so_and_tells_what_was_done() {
    let folder = lines(SITE);
    let told = folder.done("deploy --stage t --yes");
    insta::assert_snapshot!(format!("{}----\n{}", steady(&told.out), steady(&told.err)));
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), ("hello".to_owned(), "5".to_owned()));
    assert_eq!(folder.done("output --raw where").out, "b.txt");
    assert_eq!(folder.read(".trueup/.gitignore"), "*\n");
    assert!(!told.err.contains("hunter22"));
    let again = folder.done("deploy");
    assert!(again.out.contains("No changes") && again.err.contains("2 unchanged"), "{again:?}");
    assert!(!told.out.contains("hunter22") && !told.err.contains("hunter22"));
}

#[test]
fn exit_codes_tell_changes_apart() {
    let folder = lines(SITE);
    assert_eq!(folder.run("plan --detailed-exitcode").code, 2);
    assert_eq!(folder.run("plan").code, 0);
    folder.done("deploy --yes");
    assert_eq!(folder.run("plan --detailed-exitcode").code, 0);
    assert_eq!(folder.run("plan --nonsense --detailed-exitcode").code, 1);
    assert_eq!(folder.run("plan -target test_file.a -detailed-exitcode").code, 0);
}

/// APPLY-4
#[test]
fn a_failure_is_told_with_its_place_what_it_stopped_and_what_to_run_next() {
    let folder = lines(
        "stack site\ntest_file bad path=bad.txt content=forbidden password=hunter22\n\
         test_file after path=after.txt content=@test_file.bad.size\ntest_file fine path=fine.txt\n",
    );
    let told = folder.run("deploy --stage t --yes");
    assert_eq!(told.code, 1);
    let run =
        told.err.split("(run").nth(1).and_then(|rest| rest.split(')').next()).unwrap().trim().to_owned();
    insta::assert_snapshot!(steady(&told.err).replace(&run, "RUN"));
    assert!(folder.has("fine.txt") && !told.err.contains("hunter22"));
    folder.write(
        "stack.lines",
        "stack site\ntest_file bad path=bad.txt content=good\ntest_file fine path=fine.txt\n",
    );
    folder.done("deploy --yes");
}

#[test]
fn events_are_lines_of_json() {
    let folder = lines(SITE);
    let told = folder.done("deploy --yes --json");
    let lines: Vec<serde_json::Value> =
        told.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "plan");
    assert!(lines.iter().any(|line| line["event"] == "reconciler.create.completed"));
    let end = lines.last().unwrap();
    assert_eq!((&end["kind"], &end["succeeded"]), (&"run".into(), &true.into()));
    assert!(!told.out.contains("hunter22"));
}

/// DELETE-4, DELETE-6, DELETE-8
#[test]
fn destroy_deletes_everything_even_when_the_text_is_broken() {
    let folder = lines(SITE);
    folder.done("deploy --stage t --yes");
    folder.write("stack.lines", "stack site\nnonsense\n");
    assert_eq!(folder.run("plan").code, 1);
    assert!(folder.done("plan --destroy").out.contains("Plan: 2 to delete"));
    let unapproved = folder.run("destroy");
    assert!(unapproved.code == 1 && unapproved.out.contains("Plan: 2 to delete"), "{unapproved:?}");
    assert!(folder.has("a.txt") && folder.has("b.txt"));
    let told = folder.done("destroy --yes");
    assert!(told.err.contains("Destroyed site in t"), "{told:?}");
    assert!(!folder.has("a.txt") && !folder.has("b.txt"));
    assert!(folder.done("destroy").out.contains("No changes"));
}

#[test]
fn a_protected_stage_is_destroyed_by_its_name_alone() {
    let folder = lines(&format!("protect prod\n{SITE}"));
    folder.done("deploy --stage prod --yes");
    let told = folder.run("destroy --yes");
    assert!(told.code == 1 && told.err.contains("--yes --confirm prod"), "{told:?}");
    assert_eq!(folder.run("destroy --yes --confirm test").code, 1);
    folder.done("destroy --yes --confirm prod");
}

/// TARGET-1, TARGET-5
#[test]
fn targets_and_exclusions_leave_the_rest() {
    let folder = lines(SITE);
    let told = folder.done("deploy --yes --target test_file.a");
    assert!(told.out.contains("Left out of this run: test_file.b"), "{told:?}");
    assert!(folder.has("a.txt") && !folder.has("b.txt"));
    let told = folder.run("plan --target test_file.aa");
    assert!(told.code == 1 && told.err.contains("did you mean `test_file.a`?"), "{told:?}");
    assert!(folder.done("plan --replace test_file.a").out.contains("±"));
}

/// ADOPT-2, ADOPT-7
#[test]
fn what_exists_is_adopted_when_that_is_wanted() {
    let folder = lines("stack site\ntest_file a path=a.txt content=new\n");
    folder.write("a.txt", "old");
    assert!(folder.run("plan").err.contains("a.txt") || folder.run("plan").code == 1);
    let told = folder.done("deploy --adopt --yes");
    assert!(told.out.contains("exists already, is adopted"), "{told:?}");
    assert_eq!(folder.read("a.txt"), "new");
    folder.done("state rm test_file.a --yes");
    folder.write("a.txt", "other");
    let told = folder.done("import test_file.a a.txt --yes");
    assert!(told.out.contains("\"other\" → \"new\""), "{told:?}");
    assert_eq!(folder.read("a.txt"), "new");
    assert!(folder.run("import test_file.a a.txt --yes").err.contains("recorded already"));
}

/// DRIFT-2, DRIFT-8
#[test]
fn drift_is_found_and_repaired() {
    let folder = lines(SITE);
    folder.done("deploy --yes");
    assert_eq!(folder.run("drift").code, 0);
    folder.write("a.txt", "hacked");
    std::fs::remove_file(folder.path().join("b.txt")).unwrap();
    let told = folder.run("drift");
    assert_eq!(told.code, 3, "{told:?}");
    assert!(told.out.contains("removed outside") && told.out.contains("changed outside"), "{told:?}");
    assert_eq!(folder.run("plan --no-drift --detailed-exitcode").code, 0);
    folder.done("drift --repair --yes");
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), ("hello".to_owned(), "5".to_owned()));
    assert_eq!(folder.run("drift").code, 0);
}

/// DRIFT-9
#[test]
fn a_refresh_takes_over_what_is_observed_and_the_next_plan_compares_it() {
    let folder = lines(SITE);
    folder.done("deploy --yes");
    assert!(folder.done("plan --refresh-only").err.contains("Nothing to record"));
    folder.write("a.txt", "hacked");
    std::fs::remove_file(folder.path().join("b.txt")).unwrap();
    assert_eq!(folder.run("plan --refresh-only --detailed-exitcode").code, 2);
    assert_eq!(folder.run("deploy --refresh-only").code, 1);
    let told = folder.done("deploy --refresh-only --yes");
    assert!(
        told.out.contains("content  \"hello\" → \"hacked\"") && told.err.contains("Updated records: 2."),
        "{told:?}"
    );
    assert_eq!((folder.read("a.txt"), folder.has("b.txt")), ("hacked".to_owned(), false));
    let told = folder.done("plan").out;
    assert!(told.contains("\"hacked\" → \"hello\"") && told.contains("1 to create, 1 to update"), "{told}");
    folder.done("deploy --yes");
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), ("hello".to_owned(), "5".to_owned()));
}

/// A program that must know outputs to say what else there is.
#[test]
fn a_program_is_built_in_rounds() {
    let folder = lines(
        "stack site\ntest_file a path=a.txt content=x\npreviewed test_file.a\ntest_file b path=b.txt content=y\n",
    );
    assert!(folder.done("plan").out.contains("Plan: 2 to create"));
    folder.done("deploy --yes");
    assert!(folder.has("b.txt"));
    assert!(folder.done("plan").out.contains("No changes"));
}

#[test]
fn a_closed_reader_is_no_panic() {
    use std::io::Read;
    let text: String = (0..2000).map(|at| format!("test_file f{at} path=f{at}.txt content=x\n")).collect();
    let folder = lines(&format!("stack site\n{text}"));
    let mut command = folder.command("plan");
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn a_stack_in_rust_has_the_same_command_line() {
    let folder = shelf();
    assert!(folder.done("plan").out.starts_with("shelf · stage dev_"));
    let advice = &folder.json("output --stage none --json")["diagnostics"][0]["hints"];
    assert!(advice.to_string().contains("`shelf deploy`"), "{advice}");
    folder.done("deploy --yes --var greeting=hi");
    assert_eq!(folder.read("about.txt"), "hi");
    assert!(folder.done("plan").out.contains("\"hi\" → \"hello\""));
    assert!(folder.run("init").err.contains("brings its own stack"));
    assert!(folder.done("plan --help").out.contains("shelf plan"));
}

/// PLANFILE-2: of a stack in Rust, what counts is the binary, and what it asked for.
#[test]
fn a_stack_in_rust_saves_plans_too() {
    let folder = shelf();
    folder.done("plan --stage t --var greeting=hi --out shelf.plan");
    let told = folder.run("deploy shelf.plan");
    assert!(told.code == 1 && told.err.contains("the variable `greeting`"), "{told:?}");
    assert!(!folder.has("index.txt"));
    folder.run_with("deploy shelf.plan --var greeting=hi", &[("TRUEUP_VAR_unasked", "1")]);
    assert_eq!(folder.read("about.txt"), "hi");
    // Another build of the same program.
    folder.done("plan --var greeting=ho --out shelf.plan");
    let rebuilt = folder.path().join("rebuilt");
    let mut bytes = std::fs::read(folder.binary()).unwrap();
    bytes.push(0);
    std::fs::write(&rebuilt, bytes).unwrap();
    std::fs::set_permissions(&rebuilt, std::fs::metadata(folder.binary()).unwrap().permissions()).unwrap();
    let usual = folder.command("deploy shelf.plan --var greeting=ho");
    let mut command = std::process::Command::new("sh");
    // By the time a shell runs, no child of another test holds the new file open for writing any more.
    command.args(["-c", "exec ./rebuilt \"$@\"", "sh"]).args(usual.get_args()).current_dir(folder.path());
    command.env_clear().envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let told = trueup_cli_harness::Told::by(&mut command);
    assert!(told.code == 1 && told.err.contains("another build"), "{told:?}");
}

/// CRUD-12, SECRET-5: whether or not someone asks for backtraces, in which panics are quoted.
#[test]
fn a_panic_of_a_provider_tells_no_secret() {
    let folder = lines(
        "stack site\ntest_file bad path=bad.txt content=panic password=hunter22\"&/%41\ntest_file good path=good.txt\n",
    );
    for backtrace in ["0", "1", "full"] {
        let environment = [("TRUEUP_LOG", "trace"), ("RUST_BACKTRACE", backtrace)];
        for command in ["deploy --stage t --yes", "deploy --stage t --yes --json"] {
            let told = folder.run_with(&format!("{command} --log-file log.txt"), &environment);
            assert_eq!(told.code, 1, "{told:?}");
            let all = format!("{}{}", told.out, told.err);
            assert!(all.contains("file.rs:") && all.contains("the provider panicked"), "{told:?}");
            for text in [&told.out, &told.err, &folder.read("log.txt")] {
                assert!(!text.contains("hunter22"), "{backtrace}: {text}");
            }
        }
    }
    assert!(folder.has("good.txt"), "the run should go on");
    let told = folder.run_with("deploy --stage t --yes", &[("RUST_BACKTRACE", "0")]);
    assert!(told.err.contains("RUST_BACKTRACE=1"), "{told:?}");
    let told = folder.run_with("deploy --stage t --yes", &[("RUST_BACKTRACE", "1")]);
    assert!(told.err.contains("asked to panic with Some(\"(secret)\")"), "{told:?}");
}
