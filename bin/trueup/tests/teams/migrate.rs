//! Moving a stack's state between stores.

use trueup_cli_harness::Folder;

use crate::teams::servers::{Place, done_at, run_at};

const TEXT: &str = r#"
resource "std_random_password" "db" {
  length = 20
}

resource "terraform_data" "shown" {
  input = "hello"
}

output "password" {
  value     = std_random_password.db.result
  sensitive = true
}
"#;

fn stack() -> Folder {
    let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
    folder.write("main.tf", TEXT);
    folder
}

/// STATE-14: from a file to a database, to a bucket, and back to a file: nothing changes, and each old store is closed.
#[test]
fn state_goes_from_store_to_store() {
    let (Some(database), Some(bucket)) = (Place::in_postgres(), Place::in_s3()) else { return };
    let folder = stack();
    let route = ["first.db", &database.address, &bucket.address, "last.db"];
    done_at(&folder, route[0], "deploy --yes --stage prod");
    done_at(&folder, route[0], "deploy --yes --stage dev");
    let password = |address: &str| done_at(&folder, address, "output --raw password --stage prod").out;
    let runs = |address: &str| {
        let history = done_at(&folder, address, "history --json --stage prod").out;
        serde_json::from_str::<serde_json::Value>(&history).unwrap()["runs"].as_array().unwrap().len()
    };
    let secret = password(route[0]);
    assert_eq!(secret.len(), 20);
    for (at, way) in route.windows(2).enumerate() {
        let [from, to] = way else { unreachable!() };
        let told = match at {
            // By either end.
            1 => done_at(&folder, to, &format!("state migrate --from {from} --yes --json")),
            _ => done_at(&folder, from, &format!("state migrate --to {to} --yes --json")),
        };
        let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!((&told["version"], &told["kind"]), (&1.into(), &"migrated".into()));
        let stages: Vec<&str> =
            told["stages"].as_array().unwrap().iter().map(|it| it["stage"].as_str().unwrap()).collect();
        assert_eq!(stages, ["dev", "prod"]);
        assert_eq!(password(to), secret);
        for stage in ["dev", "prod"] {
            let plan = done_at(&folder, to, &format!("plan --stage {stage}"));
            assert!(plan.out.contains("No changes"), "{plan:?}");
            let closed = run_at(&folder, from, &format!("deploy --yes --force --stage {stage}"), &[]);
            assert_eq!(closed.code, 1, "{closed:?}");
            assert!(closed.err.contains("the state was moved to"), "{closed:?}");
        }
        assert_eq!(runs(to), runs(from), "the history should go along");
        done_at(&folder, to, "deploy --yes --force --stage prod");
    }
    done_at(&folder, route[3], "destroy --yes --stage prod");
}

#[test]
fn a_person_is_told_what_comes_next() {
    let folder = stack();
    folder.done("deploy --yes --stage prod");
    let told = folder.run("state migrate --to new.db");
    assert_eq!(told.code, 1);
    assert!(told.err.contains("add --yes"), "{told:?}");
    let told = folder.done("state migrate --to new.db --yes");
    assert!(told.err.contains("prod: 2 resources and 1 run moved"), "{told:?}");
    assert!(
        told.err.contains("name the new store in the stack block") && told.err.contains("new.db"),
        "{told:?}"
    );
    assert!(told.err.contains("whoever deploys needs the key"), "{told:?}");
    // Whoever changes their mind takes the old store again.
    let closed = folder.run("deploy --yes --force");
    assert_eq!(closed.code, 1);
    let run = closed.err.split("unlock ").nth(1).unwrap().split('`').next().unwrap();
    folder.done(&format!("unlock {run} --yes"));
    folder.done("deploy --yes --force");
}

/// STATE-14: not to where something else is recorded either.
#[test]
fn what_cannot_be_moved_stays_where_it_is() {
    let folder = stack();
    let refused = |arguments: &str, why: &str| {
        let told = folder.run(arguments);
        assert_eq!(told.code, 1, "{arguments}: {told:?}");
        assert!(told.err.contains(why) && told.err.contains("help:"), "{arguments}: {told:?}");
    };
    refused("state migrate --to new.db --yes", "is recorded at");
    assert!(!folder.has("new.db"), "nothing should be made for nothing");
    folder.done("deploy --yes --stage prod");
    refused("state migrate --to .trueup/state.db --yes", "both the old store and the new one");
    refused("state migrate --to new.db --stage other --yes", "is recorded at");
    refused("state migrate --to postgres://127.0.0.1:1/nowhere --yes", "127.0.0.1:1");
    refused("state migrate --to s3://states?regoin=x --yes", "`regoin`");
    // Another stack of the same name and stage is there.
    let told = folder.run_with("deploy --yes --stage prod", &[("TRUEUP_STATE", "taken.db")]);
    assert_eq!(told.code, 0, "{told:?}");
    refused("state migrate --to taken.db --yes", "is recorded at");
    folder.done("deploy --yes --force");
}
