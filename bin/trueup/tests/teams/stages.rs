//! Stages and keys of shared state.

use serde_json::Value as Json;
use trueup_cli_harness::{Folder, Told};

use crate::teams::servers::{CREDENTIALS, Place, done_at, run_at};

fn stack() -> Folder {
    let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
    folder.write("main.tf", "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    folder
}

fn listed(told: &Told) -> Json {
    serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{told:?}"))
}

/// STATE-19, STATE-20: on servers as in a file.
#[test]
fn stages_on_servers_are_listed_refused_and_deleted() {
    for place in [Place::in_postgres(), Place::in_s3()].into_iter().flatten() {
        let folder = stack();
        let at = &place.address;
        done_at(&folder, at, "deploy --stage prod --yes");
        done_at(&folder, at, "deploy --stage dev --yes");
        let told = run_at(&folder, at, "destroy --stage prdo --yes", &[]);
        assert!(told.code == 1 && told.err.contains("did you mean `prod`?"), "{told:?}");
        let told = run_at(&folder, at, "stage delete dev --yes", &[]);
        assert!(told.code == 1 && told.err.contains("still has 1 resource"), "{told:?}");
        done_at(&folder, at, "destroy --stage dev --yes");
        done_at(&folder, at, "stage delete dev --yes");
        let stages = &listed(&done_at(&folder, at, "stage list --json"))["stages"];
        let names: Vec<&str> =
            stages.as_array().unwrap().iter().filter_map(|it| it["stage"].as_str()).collect();
        assert_eq!(names, ["prod"]);
        assert_eq!((&stages[0]["records"], &stages[0]["last_run"]["reason"]), (&1.into(), &"deploy".into()));
    }
}

/// SECRET-14: what is shared is not sealed by a key that nobody knows of; nothing is changed before there is one.
#[test]
fn a_key_for_shared_state_is_made_on_purpose_alone() {
    for place in [Place::in_postgres(), Place::in_s3()].into_iter().flatten() {
        let folder = stack();
        let environment = [&CREDENTIALS[..], &[("TRUEUP_STATE", place.address.as_str())]].concat();
        let told = folder.run_with("deploy --stage prod --yes", &environment);
        assert_eq!(told.code, 1, "{told:?}");
        let said = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["there is no key in", "TRUEUP_KEY_FILE", "`trueup key new`"] {
            assert!(said.contains(part), "{said}");
        }
        assert!(!folder.has(".config/trueup/key"));
        let stages = listed(&folder.run_with("stage list --json", &environment));
        assert_eq!(stages["stages"], Json::Array(vec![]), "nothing is recorded");
        assert!(
            folder.done("key new").err.contains("Created a key for the secrets in your state: ~/.config")
        );
        let told = folder.run_with("deploy --stage prod --yes", &environment);
        assert!(told.code == 0 && !told.err.contains("Created a key"), "{told:?}");
    }
}
