//! A secret that is recorded on a server is of no use to who reads the server (SECRET-5).

use trueup_cli_harness::Folder;

use crate::teams::servers::{Place, holds, run_at};

const CANARY: &str = "canary-51be7a-hush";

const TEXT: &str = r#"
variable "secret" {
  type      = string
  sensitive = true
}

variable "fail" {
  default = false
}

resource "std_exec" "secret" {
  create      = ["sh", "-c", "echo \"using $SECRET\" >&2; echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\"; test $FAIL = false"]
  update      = ["sh", "-c", "echo \"using $SECRET\" >&2; echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\"; test $FAIL = false"]
  read        = ["sh", "-c", "echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\""]
  input       = { length = length(var.secret), fail = var.fail, key = var.secret }
  environment = { SECRET = var.secret, FAIL = tostring(var.fail) }
}

output "secret" {
  value     = std_exec.secret.result.got
  sensitive = true
}
"#;

#[test]
fn a_database_holds_no_secret_in_the_clear() {
    let Some(place) = Place::in_postgres() else { return };
    lives_without_telling(&place);
}

#[test]
fn a_bucket_holds_no_secret_in_the_clear() {
    let Some(place) = Place::in_s3() else { return };
    lives_without_telling(&place);
}

/// A life with failures, a change of keys and an end, after each part of which all that is written anywhere is looked at.
fn lives_without_telling(place: &Place) {
    let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
    folder.write("main.tf", TEXT);
    let secret = [("TF_VAR_secret", CANARY), ("TRUEUP_LOG", "trace")];
    let failing = [secret[0], secret[1], ("TF_VAR_fail", "true")];
    let life = [
        ("plan --stage t --out it.plan", &secret[..], 0),
        ("deploy --stage t --yes --json", &failing, 1),
        ("deploy --yes", &secret, 0),
        ("deploy --yes --force --json", &failing, 1),
        ("plan --full --unchanged --json", &secret, 0),
        ("deploy --yes", &secret, 0),
        ("state rekey --yes", &secret, 0),
        ("state export --to copy.json", &secret, 0),
        ("history --json", &secret, 0),
        ("show std_exec.secret --json", &secret, 0),
        ("destroy --yes --json", &secret, 0),
    ];
    for (arguments, environment, code) in life {
        let told = run_at(&folder, &place.address, &format!("{arguments} --log-file log.txt"), environment);
        assert_eq!(told.code, code, "{arguments}: {told:?}");
        assert!(
            !holds(told.out.as_bytes(), CANARY) && !holds(told.err.as_bytes(), CANARY),
            "{arguments}: {told:?}"
        );
        let contents = place.contents();
        assert!(code != 0 || arguments.starts_with("plan") || holds(&contents, "std_exec"), "{arguments}");
        assert!(!holds(&contents, CANARY), "{arguments} leaves the secret on the server");
        for file in ["log.txt", "it.plan", "copy.json"].into_iter().filter(|file| folder.has(file)) {
            let bytes = std::fs::read(folder.path().join(file)).unwrap();
            assert!(!holds(&bytes, CANARY), "{arguments} leaves the secret in {file}");
        }
        if arguments == "deploy --yes" {
            let output = run_at(&folder, &place.address, "output --raw secret", &[]);
            assert_eq!((output.code, output.out.as_str()), (0, CANARY), "{output:?}");
        }
    }
    let disk = place.disk();
    assert!(holds(&disk, "std_exec") && !holds(&disk, CANARY), "the secret is on the server's disk");
}
