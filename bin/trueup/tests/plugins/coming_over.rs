//! Coming over from Terraform with a state, and going back with one; Terraform itself is the referee, where it is on the
//! path.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use trueup_cli_harness::Told;
use trueup_test_servers::environment::{program_on_path, remove_variables};

use crate::plugins::bench::{Bench, versions};

const CANARY: &str = "s3cr3t-canary";

/// All that a state can hold: keys of every kind, modules, aliases, secrets, values of any type, dependencies.
const PROGRAM: &str = r#"
provider "fixture" {
  folder = "objects"
}

provider "fixture" {
  alias  = "west"
  folder = "west"
}

variable "password" {
  default   = "s3cr3t-canary"
  sensitive = true
}

resource "terraform_data" "a" {
  input            = { x = 1, y = ["a"] }
  triggers_replace = [var.password]
}

resource "terraform_data" "keyed" {
  for_each = { "k.1" = 1, "q\"uoted" = 2 }
  input    = each.value
}

resource "terraform_data" "counted" {
  count = 2
  input = terraform_data.a.id
}

resource "fixture_thing" "t" {
  name   = "one"
  size   = 3
  labels = ["b", "a"]
  secret = var.password
  note   = var.password
  tags   = { a = "x", b = var.password }
  place  = { city = "Bonn", floor = 2 }
  steps  = [1, 2.5]
  pair   = ["a", true]
}

resource "fixture_nest" "n" {
  provider = fixture.west
  name     = "nest"
  single {
    key = "k"
    inner {
      key = "i"
    }
  }
  several {
    key = "s1"
  }
  several {
    key = "s2"
  }
  unordered {
    key = "u"
  }
  labelled "x" {
    key = "l"
  }
  depends_on = [fixture_thing.t]
}

resource "fixture_open" "o" {
  for_each = toset(["p", "q"])
  name     = "open-${each.key}"
  value    = { deep = [1, "two", var.password] }
}

module "m" {
  source   = "./m"
  count    = 1
  password = var.password
}

output "a" {
  value = terraform_data.a.output
}

output "secret" {
  value     = var.password
  sensitive = true
}

output "mixed" {
  value = [1, "a", null]
}
"#;

const MODULE: &str = r#"
variable "password" {
  sensitive = true
}

resource "fixture_thing" "inner" {
  count = 2
  name  = "inner-${count.index}"
  note  = terraform_data.x.id
}

resource "terraform_data" "x" {
  input = var.password
}
"#;

/// A folder with the program, and Terraform in it.
struct Both {
    bench: Bench,
    terraform: PathBuf,
}

impl Both {
    /// `None` where there is no Terraform on the path, which is said.
    #[expect(clippy::print_stderr, reason = "what is left out is said")]
    fn new(version: u8) -> Option<Self> {
        let terraform = program_on_path("terraform");
        if terraform.is_none() {
            eprintln!("no terraform is on the path: it referees nothing here");
        }
        Some(Both { bench: Bench::new(version), terraform: terraform? })
    }

    fn write(&self, program: &str, module: Option<&str>) {
        self.bench.write(program);
        if let Some(module) = module {
            let head = self.bench.named(
                "terraform {\n  required_providers {\n    fixture = { source = \"example.com/trueup/fixture\" }\n  }\n}\n",
            );
            self.bench.folder.write("m/main.tf", &(head + &self.bench.named(module)));
            self.terraform("get");
        }
    }

    fn terraform(&self, arguments: &str) -> Told {
        let told = self.terraform_in(self.bench.folder.path(), arguments);
        assert_eq!(told.code, 0, "terraform {arguments}: {}\n{}", told.out, told.err);
        told
    }

    fn terraform_in(&self, folder: &Path, arguments: &str) -> Told {
        let mut command = Command::new(&self.terraform);
        remove_variables(&mut command, "TF_");
        command.env("TF_CLI_CONFIG_FILE", self.bench.folder.path().join("settings.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").current_dir(folder).args(arguments.split(' '));
        Told::unchecked(command.output().unwrap())
    }

    fn state(&self, name: &str) -> Json {
        serde_json::from_str(&self.bench.folder.read(name)).unwrap()
    }

    /// Exports, and lets Terraform plan on what came out, in the same folder.
    fn planned_by_terraform(&self) -> Told {
        let folder = self.bench.folder.path();
        let _ = std::fs::remove_file(folder.join("terraform.tfstate"));
        self.bench.done("export-state --out terraform.tfstate --show-secrets");
        self.terraform_in(folder, "plan -input=false -no-color -detailed-exitcode")
    }
}

/// What of a state must come back as it was: all but what names it, and the order of what has none.
fn comparable(mut state: Json) -> Json {
    for name in ["serial", "lineage", "terraform_version"] {
        state.as_object_mut().unwrap().remove(name);
    }
    for resource in state["resources"].as_array_mut().unwrap() {
        for instance in resource["instances"].as_array_mut().unwrap() {
            if let Some(paths) = instance["sensitive_attributes"].as_array_mut() {
                paths.sort_by_key(ToString::to_string);
            }
            instance.as_object_mut().unwrap().remove("deposed");
        }
    }
    state
}

/// ADOPT-7, SECRET-1.
#[test]
fn a_state_of_terraform_is_taken_over_whole_and_given_back_as_it_was() {
    for version in versions() {
        let Some(both) = Both::new(version) else { return };
        both.write(PROGRAM, Some(MODULE));
        both.terraform("apply -auto-approve -input=false");
        let state = both.state("terraform.tfstate");
        std::fs::rename(
            both.bench.folder.path().join("terraform.tfstate"),
            both.bench.folder.path().join("old"),
        )
        .unwrap();
        let told = both.bench.done("import-state old --yes");
        assert!(told.err.contains("A plan on top of it: no changes"), "{}", told.err);
        assert!(!told.err.contains(CANARY) && !told.out.contains(CANARY));
        assert!(both.bench.actions().is_empty(), "{:?}", both.bench.actions());
        let told = both.planned_by_terraform();
        assert_eq!(told.code, 0, "{}\n{}", told.out, told.err);
        assert_eq!(comparable(both.state("terraform.tfstate")), comparable(state));
        // What was taken over can be changed and deleted like anything else.
        both.bench.done("destroy --yes");
        assert!(both.bench.objects().is_empty() && both.bench.objects_in("west").is_empty());
    }
}

const TWO: &str = "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n";

/// CRASH-2, CRASH-5.
#[test]
fn what_is_tainted_or_deposed_stays_so() {
    for version in versions() {
        let Some(both) = Both::new(version) else { return };
        let more = ["b", "c"].map(|name| TWO.replace("\"a\"", &format!("\"{name}\"")));
        let provider = "provider \"fixture\" {\n  folder = \"objects\"\n}\n";
        both.write(&format!("{provider}{TWO}{}", more.concat()), None);
        both.terraform("apply -auto-approve -input=false");
        // `a` is tainted, and the object of `b` is an older one of `c`.
        let mut state = both.state("terraform.tfstate");
        let resources = state["resources"].as_array_mut().unwrap();
        resources[0]["instances"][0]["status"] = json!("tainted");
        let mut deposed = resources.remove(1)["instances"][0].clone();
        deposed["deposed"] = json!("0badcafe");
        resources[1]["instances"].as_array_mut().unwrap().push(deposed);
        both.bench.folder.write("old", &state.to_string());
        both.write(&format!("{provider}{TWO}{}", more[1]), None);
        both.bench.done("import-state old --yes");
        assert_eq!(both.bench.action("fixture_thing.a"), "replace");
        let told = both.planned_by_terraform();
        assert!(told.out.contains("1 to add, 0 to change, 2 to destroy"), "{}\n{}", told.out, told.err);
        assert_eq!(comparable(both.state("terraform.tfstate"))["resources"], comparable(state)["resources"]);
        both.bench.done("deploy --yes");
        let names: Vec<String> = both.bench.objects().into_keys().collect();
        assert_eq!(names, ["thing/a", "thing/c"]);
        assert!(both.bench.actions().is_empty());
    }
}

/// A state with one resource, and whatever else it takes.
fn state_of(bench: &Bench, instance: &Json) -> Json {
    json!({
        "version": 4, "terraform_version": "1.5.0", "serial": 3, "lineage": "x", "outputs": {},
        "resources": [{
            "mode": "managed", "type": bench.named("fixture_thing"), "name": "a",
            "provider": bench.named("provider[\"example.com/trueup/fixture\"]"),
            "instances": [instance],
        }],
    })
}

#[test]
fn what_was_deployed_here_comes_back_without_terraform() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(TWO);
        bench.done("deploy --yes");
        bench.done("export-state --out out.tfstate");
        let told = bench.done("import-state out.tfstate --yes --stage other --json");
        let told: Json = serde_json::from_str(&told.out).unwrap();
        assert_eq!(told["resources"][0]["address"], bench.named("fixture_thing.a"));
        assert!(
            told["plan"]["actions"].as_array().unwrap().iter().all(|it| it["action"] == "no-op"),
            "{told:#}"
        );
    }
}

/// What an older version of a provider recorded is for the provider to bring up to date.
#[test]
fn objects_of_an_older_schema_are_upgraded_by_their_provider() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(TWO);
        bench.done("deploy --yes");
        bench.done("export-state --out out.tfstate");
        let mut state: Json = serde_json::from_str(&bench.folder.read("out.tfstate")).unwrap();
        let instance = &mut state["resources"][0]["instances"][0];
        instance["schema_version"] = json!(0);
        let attributes = instance["attributes"].as_object_mut().unwrap();
        let name = attributes.remove("name").unwrap();
        attributes.insert("title".to_owned(), name);
        bench.folder.write("old.tfstate", &state.to_string());
        let told = bench.done("import-state old.tfstate --yes --stage other");
        assert!(told.err.contains("A plan on top of it: no changes"), "{}", told.err);
    }
}

#[test]
fn nothing_is_recorded_over_what_is_there() {
    let bench = Bench::new(6);
    bench.write_configured(TWO);
    bench.done("deploy --yes");
    bench.done("export-state --out out.tfstate");
    let told = bench.failed("import-state out.tfstate --yes");
    assert!(
        told.contains("something is recorded in stage dev already") && told.contains("--merge"),
        "{told}"
    );
    let told = bench.failed("import-state out.tfstate --yes --merge");
    assert!(told.contains("these are recorded already: fixture6_thing.a"), "{told}");
    let told = bench.failed("import-state out.tfstate --stage other");
    assert!(told.contains("this needs approval"), "{told}");
    // Beside it, what is another.
    let other = bench.folder.read("out.tfstate").replace("\"a\"", "\"b\"");
    bench.folder.write("other.tfstate", &other);
    bench.write_configured(&format!("{TWO}{}", TWO.replace("\"a\"", "\"b\"")));
    let told = bench.done("import-state other.tfstate --yes --merge");
    assert!(told.err.contains("Recorded 1 resource in dev"), "{}", told.err);
    assert!(bench.folder.json("state list --json --stage dev").to_string().contains("fixture6_thing.b"));
}

#[test]
fn an_export_that_would_lose_something_is_refused() {
    let bench = Bench::new(6);
    bench.write_configured(&format!(
        "{TWO}resource \"std_file\" \"f\" {{\n  path = \"f\"\n  content = \"x\"\n}}\n"
    ));
    bench.done("deploy --yes");
    let told = bench.failed("export-state");
    assert!(
        told.contains("no provider of Terraform manages std_file.f") && told.contains("--partial"),
        "{told}"
    );
    let told = bench.done("export-state --partial");
    assert!(
        told.err.contains("left out")
            && told.out.contains("fixture6_thing")
            && !told.out.contains("std_file")
    );
}

/// SECRET-1
#[test]
fn secrets_are_written_only_when_asked_for_and_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(6);
    bench.write_configured(&format!(
        "resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  secret = \"{CANARY}\"\n}}\n"
    ));
    bench.done("deploy --yes");
    let told = bench.failed("export-state --out out.tfstate");
    assert!(told.contains("hold them in the clear") && told.contains("--show-secrets"), "{told}");
    assert!(!bench.folder.has("out.tfstate"));
    bench.done("export-state --out out.tfstate --show-secrets");
    assert!(bench.folder.read("out.tfstate").contains(CANARY));
    let mode = std::fs::metadata(bench.folder.path().join("out.tfstate")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let told = bench.failed("export-state --out out.tfstate --show-secrets");
    assert!(told.contains("cannot write"), "nothing is written over: {told}");
}

#[test]
fn what_is_no_state_is_told_with_what_to_do() {
    let bench = Bench::new(6);
    bench.write_configured(TWO);
    let check = |text: &str, expected: &[&str]| {
        bench.folder.write("x.tfstate", text);
        let told = bench.failed("import-state x.tfstate --yes");
        for expected in expected {
            assert!(told.contains(expected), "{expected} is not in: {told}");
        }
    };
    check("garbage", &["x.tfstate: it is not a state of Terraform", "terraform state pull"]);
    check(r#"{"version": 3}"#, &["it has version 3, and 4 is needed", "terraform refresh"]);
    check(r#"{"version": 5}"#, &["it has version 5", "a later version of this program"]);
    check(r#"{"version": 4, "resources": [{}]}"#, &["it is damaged"]);
    let state = |instance: Json| state_of(&bench, &instance);
    let sound = json!({ "schema_version": 1, "attributes": { "name": "a", "id": "a" } });
    let with = |name: &str, value: Json| {
        let mut instance = sound.clone();
        instance[name] = value;
        state(instance).to_string()
    };
    check(&with("attributes", Json::Null), &["fixture6_thing.a: it was written by Terraform before 0.12"]);
    check(
        &with("schema_version", json!(9)),
        &["fixture6_thing.a: it has schema version 9", "a later version"],
    );
    check(&with("attributes", json!({ "name": ["a"] })), &["fixture6_thing.a: `name`: expected a string"]);
    check(&with("attributes", json!({ "nobody": 1 })), &["`nobody`: has no place in the schema"]);
    check(&with("private", json!("%%%")), &["fixture6_thing.a: its private part is not Base64"]);
    check(&with("status", json!("odd")), &["fixture6_thing.a: `odd` is not a status"]);
    check(&with("index_key", json!({ "a": 1 })), &["is not the key of an instance of fixture6_thing.a"]);
    let mut twice = state(sound.clone());
    let instances = twice["resources"][0]["instances"].as_array_mut().unwrap();
    instances.push(instances[0].clone());
    check(&twice.to_string(), &["fixture6_thing.a: two instances have the same key"]);
    let mut foreign = state(sound.clone());
    foreign["resources"][0]["provider"] = json!("provider[\"example.com/nobody/nothing\"]");
    check(&foreign.to_string(), &["provider example.com/nobody/nothing", "trueup init"]);
    foreign["resources"][0]["provider"] = json!("odd");
    check(&foreign.to_string(), &["`odd` is not a configuration of a provider"]);
    let mut unknown = state(sound);
    unknown["resources"][0]["type"] = json!("fixture6_thin");
    check(&unknown.to_string(), &["has no resource type `fixture6_thin`", "did you mean"]);
    assert!(!bench.folder.has(".trueup/state.db"), "nothing was recorded");
}
