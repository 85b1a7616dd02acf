//! `state migrate`: the state of a stack goes from one store to another.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use trueup_engine::EngineError;
use trueup_front_end::StateSettings;
use trueup_state::moving::{MoveError, Moved, move_scope};
use trueup_state::{Holder, Scope, Store};

use crate::arguments::{JsonArgs, StageArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::counted;
use crate::session::Session;
use crate::stores::{self, of_address};
use crate::workplace::{Access, Workplace};

/// Move the state of a stack to another store, all stages of it or one
///
/// Everything is copied as it is, secrets sealed, and read back; then the old store is closed to runs, so that nobody goes
/// on with what is there by mistake. Name the new store with --to while the stack still names the old one, or change the
/// stack first and name the old one with --from. What is cut off is finished by the same command.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup state migrate --to postgres://deployer@db.example.org/infra\n  trueup state migrate --from .trueup/state.db"
)]
pub(super) struct MigrateArgs {
    /// The new store: a path, postgres://… or s3://…
    #[arg(long, value_name = "ADDRESS", required_unless_present = "from", conflicts_with = "from")]
    to: Option<String>,
    /// The old store, if the stack names the new one already
    #[arg(long, value_name = "ADDRESS")]
    from: Option<String>,
    #[command(flatten)]
    stage: StageArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
}

/// The stores, and where they are.
struct Route {
    from: Arc<dyn Store>,
    to: Arc<dyn Store>,
    old: String,
    new: String,
}

pub(super) async fn run(session: &Session<'_>, args: &MigrateArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let route = route(&workplace, args).await?;
    let scopes = scopes(&workplace, args, &*route.from).await?;
    if scopes.is_empty() {
        return Err(CommandError::new(
            format!("nothing of stack {} is recorded at {}", workplace.stack.value, route.old),
            "name the store that has it with --from, or the stage with --stage",
        ));
    }
    let names: Vec<&str> = scopes.iter().map(|scope| scope.stage.as_str()).collect();
    let question = format!(
        "Move the state of {} ({}) from {} to {}?",
        workplace.stack.value,
        names.join(", "),
        route.old,
        route.new
    );
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let mut moved = Vec::new();
    for scope in &scopes {
        let done = move_scope(&*route.from, &*route.to, scope, &holder(session)).await;
        let done = done.map_err(|error| refused(error, scope, &route))?;
        if !args.json.json {
            let Moved { records, runs } = done;
            let (records, runs) = (counted(records, "resource"), counted(runs, "run"));
            session.ui.note(&format!("{}: {records} and {runs} moved", scope.stage));
        }
        moved.push((scope, done));
    }
    if args.json.json {
        let stages: Vec<_> = moved
            .iter()
            .map(|(scope, done)| json!({ "stage": scope.stage, "records": done.records, "runs": done.runs }))
            .collect();
        let told = json!({
            "version": 1, "kind": "migrated", "from": route.old, "to": route.new, "stages": stages,
        });
        session.ui.json(&told);
        return Ok(Exit::Done);
    }
    tell_next(&workplace, args, &route, &scopes).await
}

/// What is left to do by hand.
async fn tell_next(
    workplace: &Workplace<'_>,
    args: &MigrateArgs,
    route: &Route,
    scopes: &[Scope],
) -> CommandResult {
    let ui = &workplace.session.ui;
    ui.prose(&format!("{} is closed to runs, and can be removed when you are content.", route.old));
    if args.to.is_some() {
        ui.prose(&format!("Next, name the new store in the stack block, or by TRUEUP_STATE: {}", route.new));
    }
    for scope in scopes {
        if route.to.keyring(scope).await?.is_some() {
            ui.prose(&format!(
                "Its secrets are sealed as before: whoever deploys needs the key, or another by `{} state rekey --to KIND`.",
                workplace.session.name()
            ));
            break;
        }
    }
    Ok(Exit::Done)
}

async fn route(workplace: &Workplace<'_>, args: &MigrateArgs) -> CommandResult<Route> {
    let configured = workplace.state.value.clone();
    let (from, to) = match (&args.from, &args.to) {
        (Some(from), _) => (of_address(from), configured),
        (None, Some(to)) => (configured, of_address(to)),
        (None, None) => (configured.clone(), configured),
    };
    let location = |state| stores::location(state, &workplace.session.environment);
    let (old, new) = (location(&from), location(&to));
    if old == new || is_same_file(workplace, &from, &to) {
        return Err(CommandError::new(
            format!("{old} is both the old store and the new one"),
            "name the other one: --to ADDRESS, or --from ADDRESS",
        ));
    }
    let from = workplace.bare_store_of(&from, Access::Look).await?;
    let to = workplace.bare_store_of(&to, Access::Write).await?;
    Ok(Route { from, to, old, new })
}

fn is_same_file(workplace: &Workplace<'_>, one: &StateSettings, other: &StateSettings) -> bool {
    let folder = &workplace.session.folder;
    let file = |state: &StateSettings| std::fs::canonicalize(stores::sqlite_file(state, folder)?).ok();
    file(one).is_some_and(|path| Some(path) == file(other))
}

/// The stages to move: the one that was named, or all that the stack has there.
async fn scopes(
    workplace: &Workplace<'_>,
    args: &MigrateArgs,
    from: &dyn Store,
) -> CommandResult<Vec<Scope>> {
    let mut scopes = from.scopes().await?;
    let named = args.stage.stage.as_ref();
    scopes.retain(|scope| {
        scope.stack == workplace.stack.value && named.is_none_or(|stage| scope.stage == *stage)
    });
    Ok(scopes)
}

fn holder(session: &Session<'_>) -> Holder {
    let who = session.holder();
    let run = format!("state-migrate-{}", std::process::id());
    Holder { run, user: who.user, host: who.host, reason: String::new() }
}

fn refused(error: MoveError, scope: &Scope, route: &Route) -> CommandError {
    let told = error.to_string();
    match error {
        MoveError::Held(held) => EngineError::Held(held).into(),
        MoveError::Store(error) => error.into(),
        MoveError::Occupied { .. } => CommandError::new(
            format!("stage {} cannot be moved: {told}", scope.stage),
            "choose a place where nothing of it is recorded; nothing was moved",
        ),
        MoveError::Unsealed { .. } => CommandError::new(
            format!("stage {} cannot be moved: {told}", scope.stage),
            format!("seal them first: `trueup state rekey --stage {}`", scope.stage),
        ),
        MoveError::Unverified { .. } => CommandError::new(
            format!("stage {} was not moved: {told}", scope.stage),
            format!("{} stays in use; see to the new store, then migrate to an empty place", route.old),
        ),
    }
}
