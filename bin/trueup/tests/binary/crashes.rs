//! A run that is killed in its middle, and the one after it.

use trueup_cli_harness::{Folder, Told};

use crate::binary::gate::pipe;
use crate::binary::stack;

/// Something that keeps its objects in `objects` and counts in `calls` how often it was asked to make one. It waits at
/// the gate with the object made and the answer not yet given, the first time alone.
fn keeper(recover: &str, name: &str, lookup: &str) -> Folder {
    let folder = stack(&format!(
        r#"
        resource "std_file" "first" {{
          path    = "first.txt"
          content = "first"
        }}
        resource "std_exec" "slow" {{
          create  = ["sh", "keep.sh"]
          delete  = ["sh", "-c", "rm -r objects"]
          recover = "{recover}"
          {lookup}
        }}
        resource "std_file" "last" {{
          path       = "last.txt"
          content    = std_exec.slow.result.name
        }}
        "#
    ));
    folder.write(
        "keep.sh",
        &format!(
            r#"
            mkdir -p objects/${name}
            echo create >> calls
            if test ! -e crashed; then echo made > reached; cat gate > /dev/null; fi
            echo '{{ "name": "kept" }}'
            "#
        ),
    );
    folder.write("find.sh", "test ! -d objects/$TRUEUP_NAME || echo '{ \"name\": \"kept\" }'");
    pipe(&folder, "gate");
    folder
}

/// Deploys until the object is made, and kills the program before it hears of it. What the program started ends too.
fn killed(folder: &Folder) {
    pipe(folder, "reached");
    let run = folder.start("deploy --stage t --yes");
    assert_eq!(folder.read("reached"), "made\n");
    run.kill();
    folder.write("crashed", "");
}

fn objects(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join("objects")).unwrap().count()
}

fn recovered(folder: &Folder, told: &Told, calls: usize) {
    assert_eq!(told.code, 0, "{told:?}");
    assert!(!told.err.contains("Waiting: stage"), "the lease of a dead process was waited for: {told:?}");
    assert_eq!((objects(folder), folder.read("calls").lines().count()), (1, calls), "{told:?}");
    assert_eq!((folder.read("first.txt"), folder.read("last.txt")), ("first".to_owned(), "kept".to_owned()));
    assert!(folder.done("plan").out.contains("No changes"));
    folder.done("destroy --yes");
    assert!(!folder.has("objects") && !folder.has("first.txt") && !folder.has("last.txt"));
}

/// CRASH-1, CRASH-7, STATE-4
#[test]
fn what_a_killed_run_made_is_looked_up_and_not_made_again() {
    let folder = keeper("lookup", "TRUEUP_NAME", "lookup = [\"sh\", \"find.sh\"]\nupdate = [\"true\"]");
    killed(&folder);
    let told = folder.run("deploy --yes");
    recovered(&folder, &told, 1);
}

/// CRASH-1, CRASH-7, STATE-4
#[test]
fn what_a_killed_run_made_is_made_again_under_the_same_token() {
    let folder = keeper("token", "TRUEUP_TOKEN", "");
    killed(&folder);
    let told = folder.run("deploy --yes");
    recovered(&folder, &told, 2);
}

/// CRASH-1, CRASH-7, STATE-4
#[test]
fn what_a_killed_run_may_have_made_waits_for_a_person() {
    let folder = keeper("blind", "TRUEUP_NAME", "");
    killed(&folder);
    let told = folder.run("deploy --yes");
    assert_eq!((told.code, folder.read("calls").lines().count()), (1, 1), "{told:?}");
    assert!(told.err.contains("state resolve std_exec.slow --absent"), "{told:?}");
    insta::assert_snapshot!(told.err);
    folder.done("state resolve std_exec.slow --absent --yes");
    let told = folder.run("deploy --yes");
    recovered(&folder, &told, 2);
}
