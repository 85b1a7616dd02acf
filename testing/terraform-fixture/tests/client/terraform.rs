//! Terraform itself, driven in a folder of its own.
#![allow(dead_code, reason = "each binary of tests uses its part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use trueup_core::{JsonForm, Kind, Value};
use trueup_test_servers::environment::{program_on_path, remove_variables};

/// Terraform in a folder of its own, with a provider of ours.
pub(crate) struct Terraform {
    program: PathBuf,
    folder: tempfile::TempDir,
    provider: String,
}

impl Terraform {
    /// Terraform, where there is one on the path; otherwise a test says so and passes. The binary of the provider is called
    /// `terraform-provider-NAME`.
    pub(crate) fn find(provider: &str, binary: &Path) -> Option<Self> {
        let Some(program) = program_on_path("terraform") else {
            eprintln!("skipped: there is no terraform on the path");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let binaries = binary.parent().unwrap().display();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"example.com/trueup/{provider}\" = \"{binaries}\"\n  }}\n  \
             direct {{}}\n}}\n",
        );
        std::fs::write(folder.path().join("settings.tfrc"), settings).unwrap();
        Some(Terraform { program, folder, provider: provider.to_owned() })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    /// A command that says what it did, or what is wrong.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(arguments).output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // Whatever the environment says to Terraform is not meant for this.
        remove_variables(&mut command, "TF_");
        command.env("TF_CLI_CONFIG_FILE", self.folder.path().join("settings.tfrc"));
        command.env("CHECKPOINT_DISABLE", "1").current_dir(self.folder.path()).args(arguments);
        command
    }

    /// Writes a configuration: more than the provider, if there is more.
    pub(crate) fn write(&self, more: &Json) {
        let name = &self.provider;
        let mut root = json!({
            "terraform": { "required_providers": { name: { "source": format!("example.com/trueup/{name}") } } },
            "provider": { name: { "folder": self.objects() } },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            root[key] = value.clone();
        }
        std::fs::write(self.folder.path().join("main.tf.json"), root.to_string()).unwrap();
    }

    /// Writes a configuration of one resource, or of none.
    pub(crate) fn write_one(&self, kind: &str, inputs: Option<&Value>) {
        let type_name = format!("{}_{kind}", self.provider);
        self.write(&match inputs {
            Some(inputs) => {
                json!({ "resource": { type_name: { "x": inputs.to_json_tree(JsonForm::RECORD) } } })
            }
            None => json!({}),
        });
    }

    /// What Terraform plans for the resource: its action, the paths that force a replacement, and the state to come.
    pub(crate) fn plan(&self) -> Result<Planned, String> {
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

    pub(crate) fn apply(&self) -> Result<(), String> {
        self.run(&["apply", "-input=false", "plan"]).map(drop)
    }

    /// What is in the state, by address.
    pub(crate) fn values(&self) -> BTreeMap<String, Json> {
        let shown: Json = serde_json::from_str(&self.run(&["show", "-json"]).unwrap()).unwrap();
        let resources = shown["values"]["root_module"]["resources"].as_array().cloned().unwrap_or_default();
        let entry = |it: Json| (it["address"].as_str().unwrap().to_owned(), it["values"].clone());
        resources.into_iter().map(entry).collect()
    }
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Planned {
    pub(crate) action: String,
    pub(crate) replacing: Vec<String>,
    /// The state to come, without what is not known.
    pub(crate) after: Json,
    /// What is not known.
    pub(crate) unknown: Json,
}

/// Our own plan, told as Terraform tells its own.
pub(crate) fn told(plan: &trueup_engine::Plan) -> Planned {
    let Some(planned) = plan.actions.first() else { return Planned::default() };
    let deleted = planned.action.name() == "delete";
    let (after, unknown) = if deleted { (Json::Null, json!({})) } else { split(&planned.outputs) };
    Planned {
        action: planned.action.name().to_owned(),
        replacing: planned.replace_paths.iter().map(ToString::to_string).collect(),
        after,
        unknown,
    }
}

/// What is known of a value, and where it is not, in the form of `terraform show -json`.
pub(crate) fn split(value: &Value) -> (Json, Json) {
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
pub(crate) fn trimmed(json: &Json) -> Json {
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
