//! Terraform itself as referee: it drives the same provider through the same configurations, and plans and objects must
//! come out alike.
//!
//! Where there is no `terraform` on the path, the test says so and passes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use trueup_core::{JsonForm, Kind, Value, value};
use trueup_test_servers::environment::{program_on_path, remove_variables};
use trueup_test_servers::sized;

use crate::bench::{Bench, Fixture, objects_in};

/// Terraform in a folder of its own, with our provider.
struct Terraform {
    program: PathBuf,
    folder: tempfile::TempDir,
    fixture: Fixture,
}

impl Terraform {
    fn find(fixture: Fixture) -> Option<Self> {
        let program = program_on_path("terraform")?;
        let folder = tempfile::tempdir().unwrap();
        let binaries = fixture.program().parent().unwrap().display().to_string();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"example.com/trueup/{}\" = \"{binaries}\"\n  }}\n  \
             direct {{}}\n}}\n",
            fixture.name()
        );
        std::fs::write(folder.path().join("settings.tfrc"), settings).unwrap();
        Some(Terraform { program, folder, fixture })
    }

    fn objects(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        // Whatever the environment says to Terraform is not meant for this.
        remove_variables(&mut command, "TF_");
        command.env("TF_CLI_CONFIG_FILE", self.folder.path().join("settings.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").current_dir(self.folder.path()).args(arguments);
        let output = command.output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Writes a configuration of one resource, or of none.
    fn write(&self, kind: &str, inputs: Option<&Value>) {
        let name = self.fixture.name();
        let mut root = json!({
            "terraform": { "required_providers": { &name: { "source": format!("example.com/trueup/{name}") } } },
            "provider": { &name: { "folder": self.objects() } },
        });
        if let Some(inputs) = inputs {
            root["resource"] =
                json!({ format!("{name}_{kind}"): { "x": inputs.to_json_tree(JsonForm::RECORD) } });
        }
        std::fs::write(self.folder.path().join("main.tf.json"), root.to_string()).unwrap();
    }

    /// What Terraform plans for the resource: its action, the paths that force a replacement, and the state to come.
    fn plan(&self) -> Result<Planned, String> {
        self.run(&["plan", "-input=false", "-out=plan"])?;
        let shown: Json = serde_json::from_str(&self.run(&["show", "-json", "plan"])?).unwrap();
        let changes = shown["resource_changes"].as_array().cloned().unwrap_or_default();
        let Some(change) = changes.first().map(|it| &it["change"]) else { return Ok(Planned::default()) };
        let actions: Vec<&str> =
            change["actions"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let action = match actions.as_slice() {
            ["no-op"] => "no-op",
            ["create"] => "create",
            ["update"] => "update",
            ["delete"] => "delete",
            ["delete", "create"] | ["create", "delete"] => "replace",
            other => panic!("{other:?}"),
        };
        let replacing = change["replace_paths"].as_array().cloned().unwrap_or_default();
        let replacing = replacing.iter().map(|path| path[0].as_str().unwrap().to_owned()).collect();
        Ok(Planned {
            action: action.to_owned(),
            replacing,
            after: change["after"].clone(),
            unknown: change["after_unknown"].clone(),
        })
    }

    fn apply(&self) -> Result<(), String> {
        self.run(&["apply", "-input=false", "plan"]).map(drop)
    }
}

#[derive(Debug, Default, PartialEq)]
struct Planned {
    action: String,
    replacing: Vec<String>,
    /// The state to come, without what is not known.
    after: Json,
    /// What is not known.
    unknown: Json,
}

/// Our own plan, told as Terraform tells its own.
fn ours(bench: &Bench, program: &trueup_program::Program) -> Result<Planned, String> {
    let plan = bench.try_plan(program)?;
    let Some(planned) = plan.actions.first() else { return Ok(Planned::default()) };
    let deleted = planned.action.name() == "delete";
    let (after, unknown) = if deleted { (Json::Null, json!({})) } else { split(&planned.outputs) };
    Ok(Planned {
        action: planned.action.name().to_owned(),
        replacing: planned.replace_paths.iter().map(ToString::to_string).collect(),
        after,
        unknown,
    })
}

/// What is known of a value, and where it is not, in the form of `terraform show -json`.
fn split(value: &Value) -> (Json, Json) {
    match value.kind() {
        Kind::Unknown(_) => (Json::Null, json!(true)),
        Kind::List(items) | Kind::Set(items) => {
            let (known, unknown): (Vec<Json>, Vec<Json>) = items.iter().map(split).unzip();
            (known.into(), unknown.into())
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            let mut known = serde_json::Map::new();
            let mut unknown = serde_json::Map::new();
            for (key, item) in entries.iter() {
                let (inner_known, inner_unknown) = split(item);
                if inner_unknown != json!(true) {
                    known.insert(key.to_string(), inner_known);
                }
                if inner_unknown != json!(false) {
                    unknown.insert(key.to_string(), inner_unknown);
                }
            }
            (known.into(), unknown.into())
        }
        _ => (value.clone().reveal().to_json_tree(JsonForm::RECORD), json!(false)),
    }
}

/// Terraform leaves null attributes out in some places and not in others, and empty marks likewise.
fn trimmed(json: &Json) -> Json {
    match json {
        Json::Object(entries) => {
            let kept = entries.iter().map(|(key, item)| (key.clone(), trimmed(item)));
            let kept: BTreeMap<String, Json> = kept
                .filter(|(_, item)| !item.is_null() && *item != json!({}) && *item != json!([]))
                .collect();
            json!(kept)
        }
        Json::Array(items) => {
            let items: Vec<Json> = items.iter().map(trimmed).collect();
            if items.iter().all(|it| *it == json!({}) || *it == json!(false)) {
                json!([])
            } else {
                items.into()
            }
        }
        other => other.clone(),
    }
}

/// A life of one resource: the configurations it has one after another, and last none.
fn check(fixture: Fixture, kind: &str, lives: &[Value]) {
    let Some(terraform) = Terraform::find(fixture) else {
        eprintln!("skipped: there is no terraform on the path");
        return;
    };
    let bench = Bench::new(fixture);
    for inputs in lives.iter().map(Some).chain([None]) {
        terraform.write(kind, inputs);
        let program = match inputs {
            Some(inputs) => bench.one(kind, inputs.clone()),
            None => bench.program([]),
        };
        let label = format!("{fixture:?} {kind} {inputs:?}");
        match (terraform.plan(), ours(&bench, &program)) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(ours.action, theirs.action, "{label}");
                assert_eq!(ours.replacing, theirs.replacing, "{label}");
                assert_eq!(trimmed(&ours.unknown), trimmed(&theirs.unknown), "{label}");
                let (left, right) = (trimmed(&ours.after), trimmed(&theirs.after));
                assert_eq!(left, right, "{label}");
                let applied = terraform.apply();
                let deployed = bench.deploy(&program).succeeded();
                assert_eq!(applied.is_ok(), deployed, "{label}: {applied:?}");
            }
            (Err(theirs), Err(ours)) => {
                // Both refuse, each in its own words; the provider's words are in both.
                let words = |text: &str| text.contains("As was asked for") || text.contains("has no slashes");
                assert!(words(&ours) == words(&theirs), "{label}\n{ours}\n{theirs}");
            }
            (theirs, ours) => panic!("{label}\nterraform: {theirs:?}\ntrueup: {ours:?}"),
        }
        assert_eq!(bench.objects(), objects_in(Path::new(&terraform.objects())), "{label}");
    }
}

fn things() -> Vec<Value> {
    vec![
        value!({ name: "one" }),
        value!({ name: "one", note: "x", tags: { "a": "1" }, labels: ["b", "a"] }),
        value!({ name: "one", size: 12345678901234567890_u64, steps: [1, 2], enabled: false }),
        value!({ name: "two", place: { city: "Bern", floor: 3 }, pair: ["x", true] }),
        value!({ name: "two", password_wo: "abc", password_version: 1 }),
        value!({ name: "two", trouble: "fail-plan" }),
        value!({ name: "t/wo" }),
        value!({ name: "two", trouble: "partial" }),
        value!({ name: "two", trouble: "fail-update", note: "y" }),
        value!({ name: "two" }),
        value!({ name: "three", trouble: "partial" }),
        value!({ name: "three" }),
        value!({ name: "four", trouble: "inconsistent" }),
        value!({ name: "four", trouble: "bad-plan" }),
        value!({ name: "four", trouble: "fail-delete" }),
        value!({ name: "four" }),
    ]
}

fn nests() -> Vec<Value> {
    vec![
        value!({ name: "n" }),
        value!({ name: "n", single: { key: "s", inner: [{ key: "i" }] } }),
        value!({ name: "n", several: [{ key: "1" }, { key: "2", decided: "mine" }] }),
        value!({ name: "n", several: [{ key: "2" }, { key: "1", inner: [{ key: "i" }] }] }),
        value!({ name: "n", unordered: [{ key: "b" }, { key: "a", value: "v" }] }),
        value!({ name: "n", unordered: [{ key: "c" }, { key: "a", value: "v" }] }),
        value!({ name: "n", labelled: { x: { key: "lx" } }, group: { value: "g" } }),
        value!({ name: "n", labelled: { y: { key: "ly" }, x: { key: "lx", inner: [{ key: "i" }] } } }),
        value!({ name: "m" }),
    ]
}

fn opens() -> Vec<Value> {
    vec![
        value!({ name: "o", value: "text" }),
        value!({ name: "o", value: { a: [1, "x"], b: true } }),
        value!({ name: "o", value: (trueup_core::Number::try_from(1.5).unwrap()), entry: [{ key: "e1", value: "text" }, { key: "e2", value: [1, 2] }] }),
        value!({ name: "o", field: { f: { key: "f1", value: 5 } } }),
    ]
}

fn trees() -> Vec<Value> {
    vec![
        value!({ name: "t" }),
        value!({ name: "t", one: { key: "one", leaf: { key: "leaf" } }, maybe: { key: "own" } }),
        value!({ name: "t", one: { key: "one" }, many: [{ key: "m1" }, { key: "m2", value: "v" }] }),
        value!({ name: "t", many: [{ key: "m2" }], some: [{ key: "s1" }, { key: "s2" }] }),
        value!({ name: "t", some: [{ key: "s2" }, { key: "s3" }], named: { n: { key: "named" } } }),
        value!({ name: "t", named: { n: { key: "named", value: "v" }, o: { key: "other" } } }),
    ]
}

/// In the ordinary run the first configurations alone.
fn shortened(configurations: &[Value]) -> &[Value] {
    &configurations[..configurations.len().min(sized(2, usize::MAX))]
}

#[test]
fn things_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "thing", shortened(&things()));
}

#[test]
fn things_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "thing", shortened(&things()));
}

#[test]
fn nests_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "nest", shortened(&nests()));
}

#[test]
fn nests_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "nest", shortened(&nests()));
}

#[test]
fn opens_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "open", shortened(&opens()));
}

#[test]
fn opens_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "open", shortened(&opens()));
}

#[test]
fn trees_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "tree", shortened(&trees()));
}
