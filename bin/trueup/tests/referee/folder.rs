//! A folder for each program, with the same configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use trueup_cli_harness::Folder;
use trueup_test_servers::environment::{program_on_path, search_path};

use crate::referee::case::Step;
use crate::referee::drawn;

/// What a program would do.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Planned {
    /// A word for each resource that is not left as it is.
    pub(crate) actions: BTreeMap<String, String>,
    /// Why what is replaced is: the attributes that force it, or what else does.
    pub(crate) replaced: BTreeMap<String, Vec<String>>,
    /// The data sources that are read at apply.
    deferred: BTreeSet<String>,
}

/// One of both programs in its folder.
pub(crate) struct Program {
    folder: Folder,
    terraform: Option<PathBuf>,
    environment: Vec<(String, String)>,
}

impl Program {
    pub(crate) fn ours(environment: &[(String, String)]) -> Self {
        let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
        Program { folder, terraform: None, environment: environment.to_vec() }
    }

    /// Terraform, where there is one on the path.
    pub(crate) fn terraform(environment: &[(String, String)]) -> Option<Self> {
        let program = program_on_path("terraform")?;
        Some(Program { terraform: Some(program), ..Self::ours(environment) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the program with an environment that says nothing else to Terraform.
    fn run(&self, arguments: &str) -> Result<String, String> {
        let mut command = match &self.terraform {
            None => self.folder.command(arguments),
            Some(terraform) => {
                let mut command = Command::new(terraform);
                command.args(arguments.split_whitespace()).current_dir(self.path()).env_clear();
                command.env("PATH", search_path()).env("HOME", self.path()).env("CHECKPOINT_DISABLE", "1");
                command
            }
        };
        command.env("TF_CLI_CONFIG_FILE", self.path().join("settings.tfrc")).env("TRUEUP_STAGE", "dev");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(format!("{}{}", text(&output.stdout), text(&output.stderr))),
        }
    }

    /// Writes a configuration in the place of the one before.
    pub(crate) fn write(&self, step: &Step, settings: &str) {
        for (path, text) in &step.files {
            self.folder.write(path, text);
        }
        self.folder.write("settings.tfrc", settings);
        for (object, attribute, value) in &step.tampered {
            let path = self.path().join(format!("objects/{object}.json"));
            let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let mut json: Json = serde_json::from_slice(&text).unwrap();
            json[attribute] = serde_json::from_str(value).unwrap();
            std::fs::write(path, json.to_string()).unwrap();
        }
    }

    pub(crate) fn plan(&self) -> Result<Planned, String> {
        match &self.terraform {
            None => {
                let told = self.run("plan --json --out the.plan")?;
                Ok(ours(&serde_json::from_str(&told).unwrap()))
            }
            Some(_) => {
                if self.folder.read("main.tf").contains("module \"") {
                    self.run("get")?;
                }
                self.run("plan -input=false -no-color -out=the.plan")?;
                let told = self.run("show -json the.plan")?;
                Ok(theirs(&serde_json::from_str(&told).unwrap()))
            }
        }
    }

    /// Carries the plan out.
    pub(crate) fn apply(&self) -> Result<(), String> {
        let command = match &self.terraform {
            None => "deploy --yes the.plan",
            Some(_) => "apply -input=false -no-color the.plan",
        };
        self.run(command).map(drop)
    }

    /// Deletes everything.
    pub(crate) fn destroy(&self) -> Result<(), String> {
        let command = match &self.terraform {
            None => "destroy --yes",
            Some(_) => "destroy -auto-approve -input=false -no-color",
        };
        self.run(command).map(drop)
    }

    /// The outputs, secret ones too. In a cloud, but for what it draws by lot.
    pub(crate) fn outputs(&self) -> Json {
        let outputs = self.told_outputs();
        if self.is_in_a_cloud() { drawn::hidden(&outputs, &self.environment) } else { outputs }
    }

    /// Whether it was told where a cloud is.
    pub(crate) fn is_in_a_cloud(&self) -> bool {
        !self.environment.is_empty()
    }

    fn told_outputs(&self) -> Json {
        match &self.terraform {
            None => {
                let outputs = self.run("output --json --show-secrets").unwrap();
                trimmed(&serde_json::from_str(&outputs).unwrap())
            }
            Some(_) => {
                let told: Json = serde_json::from_str(&self.run("output -json").unwrap()).unwrap();
                let outputs = told.as_object().unwrap().iter();
                let outputs: serde_json::Map<String, Json> =
                    outputs.map(|(name, output)| (name.clone(), output["value"].clone())).collect();
                trimmed(&outputs.into())
            }
        }
    }

    /// The objects of our own provider, in all its folders: where, type and id, with their attributes.
    pub(crate) fn objects(&self) -> BTreeMap<String, Json> {
        let mut objects = BTreeMap::new();
        for place in ["objects", "west", "late"] {
            for kind in std::fs::read_dir(self.path().join(place)).into_iter().flatten().flatten() {
                for file in std::fs::read_dir(kind.path()).into_iter().flatten().flatten() {
                    let json = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
                    let id = file.path().file_stem().unwrap().to_string_lossy().into_owned();
                    objects.insert(format!("{place}/{}/{id}", kind.file_name().to_string_lossy()), json);
                }
            }
        }
        objects
    }
}

/// What we plan, in Terraform's words.
fn ours(plan: &Json) -> Planned {
    let mut planned = Planned::default();
    for action in plan["actions"].as_array().unwrap() {
        let address = action["address"].as_str().unwrap().to_owned();
        let reasons: Vec<&str> =
            action["reasons"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        let word = match action["action"].as_str().unwrap() {
            "no-op" => continue,
            "read" => {
                // Terraform plans say nothing of ephemeral resources.
                planned.deferred.extend(Some(address).filter(|it| it.contains("data.")));
                continue;
            }
            _ if reasons.contains(&"adopted") => "import",
            // What is not known yet may turn out to be the same: Terraform does not tell the difference.
            "may-update" => "update",
            "may-replace" => "replace",
            other => other,
        };
        planned.actions.insert(address.clone(), word.to_owned());
        if word == "replace" {
            let paths = action["replace_paths"].as_array().unwrap().iter().filter_map(Json::as_str);
            let first = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
            let mut why: Vec<String> = paths.map(first).collect();
            why.extend(
                reasons.into_iter().filter(|it| matches!(*it, "tainted" | "triggered")).map(str::to_owned),
            );
            planned.replaced.insert(address, sorted(why));
        }
    }
    planned
}

/// What Terraform plans.
fn theirs(plan: &Json) -> Planned {
    let mut planned = Planned::default();
    for change in plan["resource_changes"].as_array().into_iter().flatten() {
        let address = change["address"].as_str().unwrap().to_owned();
        let actions: Vec<&str> =
            change["change"]["actions"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        let word = match actions.as_slice() {
            _ if !change["change"]["importing"].is_null() => "import",
            ["no-op"] => continue,
            ["read"] => {
                planned.deferred.insert(address);
                continue;
            }
            ["forget"] => "forget",
            ["delete", "create"] | ["create", "delete"] => "replace",
            [one] => one,
            other => panic!("{other:?}"),
        };
        planned.actions.insert(address.clone(), word.to_owned());
        if word == "replace" {
            let paths = change["change"]["replace_paths"].as_array().into_iter().flatten();
            let mut why: Vec<String> = paths.filter_map(|path| path[0].as_str()).map(str::to_owned).collect();
            match change["action_reason"].as_str() {
                Some("replace_because_tainted") => why.push("tainted".to_owned()),
                Some("replace_by_triggers") => why.push("triggered".to_owned()),
                _ => {}
            }
            planned.replaced.insert(address, sorted(why));
        }
    }
    planned
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts.dedup();
    texts
}

/// Terraform leaves null attributes out in some places and not in others.
pub(crate) fn trimmed(json: &Json) -> Json {
    match json {
        Json::Object(entries) => {
            let kept = entries.iter().map(|(key, item)| (key.clone(), trimmed(item)));
            let kept: BTreeMap<String, Json> = kept.filter(|(_, item)| !item.is_null()).collect();
            json!(kept)
        }
        Json::Array(items) => items.iter().map(trimmed).collect(),
        other => other.clone(),
    }
}
