//! `providers`: which providers the stack needs, where they are required, and where they are; and what can be done to have
//! them elsewhere.

mod lock;
mod mirror;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use trueup_core::{Diagnostic, SourceMap, escape_line};
use trueup_front_end::LoadedProgram;
use trueup_provider::{ProviderAddress, Registry};
use trueup_terraform_find::{Found, Platform, Problem, Requirement, Settings, VersionConstraints, find};

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::stores::state_in_own_folder;
use crate::terraform::{found_json, requirements, settings, wrong};
use crate::ui::{Line, Meaning, padded, width};

/// Show the providers that the stack needs: who requires which versions, and where they are
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup providers", args_conflicts_with_subcommands = true)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    command: Option<ProvidersCommand>,
    #[command(flatten)]
    json: JsonArgs,
}

/// What to do with the providers.
#[derive(Subcommand, Debug)]
enum ProvidersCommand {
    Lock(lock::LockArgs),
    Mirror(mirror::MirrorArgs),
}

/// For which machines.
#[derive(Args, Debug)]
struct PlatformArgs {
    /// A platform, such as linux_amd64; several, if given several times. Without any, that of this machine
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    platforms: Vec<Platform>,
}

impl PlatformArgs {
    fn named(&self) -> Vec<Platform> {
        if self.platforms.is_empty() { vec![Platform::current()] } else { self.platforms.clone() }
    }
}

fn platform(text: &str) -> Result<Platform, String> {
    Platform::named(text)
        .ok_or_else(|| "a platform is a system and a processor, as in linux_amd64".to_owned())
}

/// What the stack asks for, and where that is looked for.
struct Asked {
    loaded: LoadedProgram,
    required: Vec<Requirement>,
    settings: Settings,
}

fn asked(session: &Session<'_>) -> CommandResult<Asked> {
    let loaded = session.composition.front_end.load(&session.folder);
    if loaded.diagnostics.has_errors() {
        let LoadedProgram { diagnostics, sources, .. } = loaded;
        return Err(CommandError::Wrong { diagnostics, sources });
    }
    let registry = session.registry(&state_in_own_folder(), &loaded.providers);
    let settings = settings(&session.folder, &session.environment);
    let settings = settings.map_err(|problem| wrong(&[problem], &loaded))?;
    let required = requirements(&loaded.providers, &registry);
    Ok(Asked { loaded, required, settings })
}

/// A provider that the stack needs.
struct Needed {
    address: ProviderAddress,
    /// All that is demanded together.
    constraints: VersionConstraints,
    requirements: Vec<Requirement>,
    found: Result<Found, Problem>,
}

pub(super) async fn run(session: &Session<'_>, args: &ProvidersArgs) -> CommandResult {
    match &args.command {
        Some(ProvidersCommand::Lock(args)) => lock::run(session, args).await,
        Some(ProvidersCommand::Mirror(args)) => mirror::run(session, args).await,
        None => show(session, args),
    }
}

fn show(session: &Session<'_>, args: &ProvidersArgs) -> CommandResult {
    let Asked { loaded, required, settings } = asked(session)?;
    let registry = session.registry(&state_in_own_folder(), &loaded.providers);
    let needed = needed(&required, &settings);
    let builtin = builtin(&loaded, &registry);
    match args.json.json {
        true => session.ui.json(&told_json(&needed, &builtin, &loaded.sources)),
        false => tell(session, &needed, &builtin, &loaded.sources),
    }
    Ok(Exit::Done)
}

fn needed(required: &[Requirement], settings: &Settings) -> Vec<Needed> {
    let mut by_address: BTreeMap<ProviderAddress, Vec<Requirement>> = BTreeMap::new();
    for requirement in required.iter().filter(|it| !it.address.is_builtin()) {
        by_address.entry(requirement.address.clone()).or_default().push(requirement.clone());
    }
    let one = |(address, requirements): (ProviderAddress, Vec<Requirement>)| {
        let constraints =
            requirements.iter().fold(VersionConstraints::default(), |all, it| all.and(&it.constraints));
        let found = find(&requirements, settings).map(|mut found| found.remove(0));
        let found = found.map_err(|mut problems| problems.remove(0));
        Needed { address, constraints, requirements, found }
    };
    by_address.into_iter().map(one).collect()
}

/// The built-in providers that the stack uses.
fn builtin(loaded: &LoadedProgram, registry: &Registry) -> Vec<String> {
    let own = |source: &Option<ProviderAddress>| source.as_ref().is_none_or(ProviderAddress::is_builtin);
    let used = loaded.providers.iter().filter(|it| registry.has(&it.local) && own(&it.source));
    let mut names: Vec<String> = used.map(|it| it.local.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

fn tell(session: &Session<'_>, needed: &[Needed], builtin: &[String], sources: &SourceMap) {
    let look = session.ui.out();
    if needed.is_empty() && builtin.is_empty() {
        session.ui.note("The stack needs no providers.");
    }
    let names = needed.iter().map(|it| it.address.name()).chain(builtin.iter().map(Into::into));
    let names = names.map(|name| width(&name)).max().unwrap_or(0);
    for name in builtin {
        session.ui.data(&format!("{}  built in", padded(name, names)));
    }
    for one in needed {
        let line = Line::new().text(format!("{}  ", padded(&one.address.name(), names)));
        let line = match &one.found {
            Ok(found) => {
                let version =
                    found.version.as_ref().map_or("under development".to_owned(), ToString::to_string);
                let place = found.program.parent().unwrap_or(&found.program);
                line.text(format!("{version}  ")).meaning(Meaning::Quiet, place.display().to_string())
            }
            Err(problem) => line.meaning(Meaning::Delete, problem.kind.to_string()),
        };
        session.ui.data(&line.render(look));
        for requirement in &one.requirements {
            let demand = demand(requirement);
            let place = place(requirement, sources).unwrap_or_default();
            session.ui.data(&format!("  {}  {demand}", escape_line(&place)));
        }
    }
    let missing = needed.iter().filter_map(|one| one.found.as_ref().err());
    let mut hints: Vec<String> = missing.flat_map(Problem::hints).collect();
    hints.sort();
    hints.dedup();
    for hint in hints {
        let hint = hint.replace("`trueup ", &format!("`{} ", session.name()));
        session.ui.note(&format!("\n{hint}"));
    }
}

fn demand(requirement: &Requirement) -> String {
    match requirement.constraints.is_empty() {
        true => "any version".to_owned(),
        false => requirement.constraints.to_string(),
    }
}

/// `main.tf:3`.
fn place(requirement: &Requirement, sources: &SourceMap) -> Option<String> {
    let origin = requirement.origin?;
    let file = sources.file(origin.file)?;
    let before = file.text()?.get(..origin.start as usize)?;
    Some(format!("{}:{}", file.name(), before.matches('\n').count() + 1))
}

fn told_json(needed: &[Needed], builtin: &[String], sources: &SourceMap) -> Json {
    let one = |needed: &Needed| {
        let required: Vec<Json> = needed
            .requirements
            .iter()
            .map(|it| json!({ "at": place(it, sources), "constraints": it.constraints.to_string() }))
            .collect();
        let mut told = match &needed.found {
            Ok(found) => found_json(found),
            Err(problem) => json!({
                "address": needed.address.to_string(),
                "problem": Diagnostic::from(problem).summary,
                "hints": problem.hints(),
            }),
        };
        told["constraints"] = json!(needed.constraints.to_string());
        told["required_by"] = json!(required);
        told
    };
    let providers: Vec<Json> = needed.iter().map(one).collect();
    json!({ "version": 1, "kind": "providers", "providers": providers, "builtin": builtin })
}
