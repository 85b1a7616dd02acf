//! Backups: a store that is put back as it was opens with the key of its time, and the next deploy goes on from there.

use std::path::Path;

use trueup_cli_harness::Folder;

use crate::teams::servers::{Place, run_at};

const TEXT: &str = r#"
stack {
  name = "shop"
}

variable "secret" {
  type      = string
  sensitive = true
}

resource "std_file" "secret" {
  path    = "out/secret.txt"
  content = var.secret
}

output "secret" {
  value     = std_file.secret.content
  sensitive = true
}
"#;

/// SECRET-3, STATE-9.
#[test]
fn a_state_file_is_restored_to_a_point_in_time() {
    let address = Path::new(".trueup/state.db");
    restored(
        address.to_str().unwrap(),
        &|folder, copy| {
            std::fs::create_dir_all(copy).unwrap();
            std::fs::copy(folder.join(address), copy.join("copy.db")).unwrap();
        },
        &|folder, copy| {
            for end in ["", "-wal", "-shm"] {
                // Only the first is sure to be there.
                let _ = std::fs::remove_file(folder.join(format!(".trueup/state.db{end}")));
            }
            std::fs::copy(copy.join("copy.db"), folder.join(address)).unwrap();
        },
    );
}

/// SECRET-3, STATE-9.
#[test]
fn a_database_is_restored_to_a_point_in_time() {
    let Some(place) = Place::in_postgres() else { return };
    restored(&place.address, &|_, copy| place.back_up(copy), &|_, copy| place.restore(copy));
}

/// SECRET-3, STATE-9.
#[test]
fn a_bucket_is_restored_to_a_point_in_time() {
    let Some(place) = Place::in_s3() else { return };
    restored(&place.address, &|_, copy| place.back_up(copy), &|_, copy| place.restore(copy));
}

type Copying<'a> = &'a dyn Fn(&Path, &Path);

fn restored(address: &str, back_up: Copying<'_>, restore: Copying<'_>) {
    let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
    folder.write("main.tu.hcl", TEXT);
    let copy = tempfile::tempdir().unwrap();
    let done = |arguments: &str, secret: &str| {
        let told = run_at(&folder, address, arguments, &[("TF_VAR_secret", secret)]);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told.out
    };
    done("deploy --stage t --yes", "first-secret");
    back_up(folder.path(), copy.path());
    // Other data keys, and another secret.
    done("state rekey --yes", "first-secret");
    done("deploy --yes", "second-secret");
    assert_eq!(done("output --raw secret", ""), "second-secret");

    restore(folder.path(), copy.path());
    assert_eq!(done("state list", ""), "std_file.secret\n");
    assert_eq!(done("output --raw secret", ""), "first-secret");
    // The object is as it was left; the plan sees the difference, and a deploy settles it.
    assert_eq!(folder.read("out/secret.txt"), "second-secret");
    assert!(done("plan", "second-secret").contains("1 to update"));
    done("deploy --yes", "second-secret");
    assert_eq!(done("output --raw secret", ""), "second-secret");
    assert!(done("plan", "second-secret").contains("No changes"));
}
