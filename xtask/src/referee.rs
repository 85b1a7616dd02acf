//! Runs Terraform and the program side by side on all configurations, also those that take long.

use std::path::{Path, PathBuf};

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use crate::repository::Repository;

/// What to compare beyond what is here: folders, each absolute.
#[derive(Default)]
struct Given {
    cases: Vec<PathBuf>,
    providers: Vec<PathBuf>,
    /// What the names of cases must contain.
    only: Vec<String>,
}

/// `[--cases FOLDER]… [--providers FOLDER]… [NAME]…`
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<(), Failure> {
    let given = read(arguments)?;
    let joined = |folders: &[PathBuf]| {
        std::env::join_paths(folders)
            .map_err(|error| Failure::new(format!("a folder has a strange name: {error}")))
    };
    let mut command = cargo(&repository.root);
    command.args(["test", "--package", "trueup-bin", "--test", "referee", "--"]).args(&given.only);
    command.arg("--nocapture").env("TRUEUP_REFEREE", "all");
    command.env("TRUEUP_REFEREE_CASES", joined(&given.cases)?);
    command.env("TRUEUP_REFEREE_PROVIDERS", joined(&given.providers)?);
    cargo::run(&mut command)
}

fn read(arguments: &[&str]) -> Result<Given, Failure> {
    let mut given = Given::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let folders = match *argument {
            "--cases" => &mut given.cases,
            "--providers" => &mut given.providers,
            name if !name.starts_with('-') => {
                given.only.push(name.to_owned());
                continue;
            }
            other => return Err(Failure::new(format!("cannot make sense of `{other}`"))),
        };
        let folder = rest.next().ok_or_else(|| Failure::new(format!("`{argument}` needs a folder")))?;
        let absolute = std::path::absolute(Path::new(folder));
        folders.push(absolute.map_err(|error| Failure::new(format!("{folder}: {error}")))?);
    }
    Ok(given)
}
