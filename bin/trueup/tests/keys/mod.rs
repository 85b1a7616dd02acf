//! Data keys wrapped by key services, through the whole program: SECRET-10.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod kms;
mod vault;

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use trueup_cli_harness::{Folder, Told};

const CANARY: &str = "canary-4e2b71-hush";

/// The file with all that commands said, to be searched with the others.
const OUTPUTS: &str = "outputs.txt";

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
  content = "key=${var.secret}"
}

output "secret" {
  value     = std_file.secret.content
  sensitive = true
}
"#;

/// A stack in a folder of its own, and the environment that names a key of a service.
struct Place {
    folder: Folder,
    environment: Vec<(String, String)>,
}

impl Place {
    fn new(environment: &[(&str, &str)]) -> Self {
        let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
        folder.write("main.tu.hcl", TEXT);
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Place { folder, environment: environment.collect() }
    }

    /// Runs a command; what is given here counts more than the environment of the place.
    fn run(&self, arguments: &str, given: &[(&str, &str)]) -> Told {
        let mut command = self.folder.command(arguments);
        command.env("TF_VAR_secret", CANARY).env("TRUEUP_LOG", "trace");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(given.iter().copied());
        command.args(["--log-file", "log.txt"]);
        let told = Told::by(&mut command);
        let path = self.folder.path().join(OUTPUTS);
        let mut outputs = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        write!(outputs, "{}\n{}\n", told.out, told.err).unwrap();
        told
    }

    /// Runs what must succeed.
    fn done(&self, arguments: &str, given: &[(&str, &str)]) -> String {
        let told = self.run(arguments, given);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told.out + &told.err
    }

    /// Runs what must fail, and say this, with nothing changed.
    fn refused(&self, arguments: &str, given: &[(&str, &str)], expected: &str) {
        // An export takes no key. The file itself also says who held the lease.
        let state = || self.done("state export --stage t", &[]);
        let before = state();
        let told = self.run(arguments, given);
        // Whatever the length of a name, the lines break elsewhere.
        let text = told.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(told.code == 1 && text.contains(expected), "{arguments}: {expected}: {told:?}");
        assert!(state() == before, "{arguments}: the state was touched");
    }

    /// The wrapped data key, and the name of the key that wraps it.
    fn wrapped(&self) -> (String, String) {
        let exported = self.done("state export", &[]);
        let export: serde_json::Value = serde_json::from_str(&exported).unwrap();
        let keyring: serde_json::Value = serde_json::from_str(export["keyring"].as_str().unwrap()).unwrap();
        let text = |name: &str| keyring["keys"][0][name].as_str().unwrap().to_owned();
        (text("wrapped"), text("by"))
    }

    /// Fails if any file, or anything that was printed, holds one of these texts; one file is to hold the secret.
    fn check_files(&self, secrets: &[&str]) {
        assert!(self.folder.read("log.txt").contains("TRACE"), "there is a log to look at");
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("out/secret.txt") {
                    check_file(&path, secrets);
                }
            }
        }
    }
}

fn check_file(path: &Path, secrets: &[&str]) {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    for secret in secrets.iter().chain(&[CANARY]) {
        assert!(!text.contains(secret), "{secret} is in {}", path.display());
    }
}

/// The forms in which key material could be found.
fn forms(payload: &[u8]) -> Vec<String> {
    let key = &payload[..32];
    let hexadecimal: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    // The rest of a longer text depends on what follows.
    let start = |text: String| text[..40].to_owned();
    vec![hexadecimal, start(BASE64.encode(payload)), start(BASE64.encode(key)), format!("{:?}", &key[..8])]
}

/// All that a key service is for, from the first deploy on: `kind` is its name, `service` the variable with the key.
fn lifecycle(place: &Place, kind: &str, service: &str) {
    place.done("deploy --stage t --yes", &[]);
    assert!(!place.folder.has(".config/trueup/key"), "no key file is made");
    assert!(place.done("plan", &[]).contains("No changes"), "SECRET-2");
    assert!(place.done("config", &[]).contains(&format!("{kind} ")));

    let other_machine = Place::new(&[]);
    let state = place.folder.path().join(".trueup/state.db");
    let mut given: Vec<_> =
        place.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    given.push(("TRUEUP_STATE", state.to_str().unwrap()));
    assert_eq!(other_machine.run("output --raw secret --stage t", &given).out, format!("key={CANARY}"));
    // Without the setting it says which one is missing.
    let told = place.run("plan", &[(service, "")]);
    assert!(told.code == 1 && told.err.contains(service), "{told:?}");

    let other = [("TF_VAR_secret", "canary-4e2b71-hush-2")];
    place.done("plan --out s.plan", &other);
    place.done("deploy s.plan --yes", &other);
    assert!(place.folder.read("out/secret.txt").contains(other[0].1));
    place.done("deploy --yes", &[]);

    place.done("state export --to copy.json", &[]);
    place.done("state import copy.json --stage imported --yes", &[]);
    assert!(place.done("plan --stage imported", &[]).contains("No changes"));
    // A wrapped key that was put into another stage: as the export says, it is that of `t`.
    let moved = place.folder.read("copy.json").replacen("\"stage\": \"t\"", "\"stage\": \"moved\"", 1);
    assert_ne!(moved, place.folder.read("copy.json"));
    place.folder.write("moved.json", &moved);
    let told = place.run("state import moved.json --stage again --yes", &[]);
    assert!(told.code == 1 && told.err.contains("key"), "{told:?}");

    place.done("state rekey --stage t --to file --yes", &[]);
    assert!(place.done("plan --stage t", &[(service, "")]).contains("No changes"));
    place.done(&format!("state rekey --to {kind} --yes"), &[]);
    std::fs::remove_file(place.folder.path().join(".config/trueup/key")).unwrap();
    assert!(place.done("plan", &[]).contains("No changes"));
}
