//! First deploys that begin at once: each makes folder, key and state if nobody else has, and none gets in another's way.

use trueup_cli_harness::{Folder, Started};
use trueup_test_servers::sized;

use crate::binary::stack;

const TEXT: &str = r#"
variable "stage" {
  default = "t"
}

resource "std_random_password" "made" {
  length = 20
}

resource "std_exec" "counted" {
  create = ["sh", "-c", "echo ${var.stage} >> made; echo '{}'"]
}

output "made" {
  value     = std_random_password.made.result
  sensitive = true
}
"#;

const AT_ONCE: usize = 8;

fn all_done(runs: Vec<Started>) {
    for (at, run) in runs.into_iter().enumerate() {
        let told = run.ended();
        assert_eq!(told.code, 0, "run {at}: {told:?}");
        assert!(told.err.contains("Deployed"), "run {at}: {told:?}");
    }
}

/// What a first deploy leaves, and nothing half made beside it.
fn check_folder(folder: &Folder) {
    let names = |of: &str| {
        let entries = std::fs::read_dir(folder.path().join(of)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(".trueup"), [".gitignore", "folder.json", "state.db"]);
    assert_eq!(names(".config/trueup"), ["key"]);
}

/// STATE-4, STATE-13, STATE-15, SECRET-3: of one stage they come one after another, and make each object once.
#[test]
fn eight_first_deploys_at_once_make_one_state() {
    for _ in 0..sized(1, 20) {
        let folder = stack(TEXT);
        all_done((0..AT_ONCE).map(|_| folder.start("deploy --stage t --yes")).collect());
        assert_eq!(folder.read("made"), "t\n", "it was made once");
        assert_eq!(folder.done("output --raw made").out.len(), 20);
        assert!(folder.done("plan").out.contains("No changes"));
        check_folder(&folder);
    }
}

/// STATE-1, STATE-15, SECRET-3: of eight stages they go side by side, in one new file and by one new key.
#[test]
fn first_deploys_of_eight_stages_at_once_share_one_file() {
    for _ in 0..sized(1, 20) {
        let folder = stack(TEXT);
        let deploy = |at: usize| folder.start(&format!("deploy --stage s{at} --yes --var stage=s{at}"));
        all_done((0..AT_ONCE).map(deploy).collect());
        for at in 0..AT_ONCE {
            assert_eq!(folder.done(&format!("output --stage s{at} --raw made")).out.len(), 20);
        }
        assert_eq!(folder.read("made").lines().count(), AT_ONCE);
        check_folder(&folder);
    }
}
