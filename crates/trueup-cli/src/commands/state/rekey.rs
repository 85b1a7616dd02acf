//! `state rekey`: other keys for secrets, or none for those whose key is lost.

use std::pin::pin;
use std::sync::Arc;

use clap::Args;
use futures_util::future::{Either, select};
use serde_json::json;
use trueup_engine::{EngineError, LeaseReason};
use trueup_state::sealing::{self, Forgotten, KeyKind, Keyring, is_sealed_throughout};
use trueup_state::{Lease, Scope, Store, StoreError};

use super::lease::under_lease;
use crate::arguments::{JsonArgs, StageArgs};
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::session::Session;
use crate::settings;
use crate::workplace::{Access, Workplace};

/// Seal all secrets by a new key, or give up those whose key is lost
///
/// The data key is always new. What wraps it stays unless it is named anew: by --to, or by TRUEUP_NEW_KEY_FILE,
/// TRUEUP_NEW_PASSPHRASE, TRUEUP_NEW_KEY, TRUEUP_NEW_KEY_COMMAND, TRUEUP_NEW_KEY_KMS or TRUEUP_NEW_KEY_VAULT.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup state rekey\n  trueup state rekey --to passphrase\n  trueup state rekey --forget"
)]
pub(super) struct RekeyArgs {
    /// The kind of key from now on: file, passphrase, env, command, kms or vault
    #[arg(long, value_name = "KIND")]
    to: Option<KeyKind>,
    /// Give up the secrets that do not open: inputs count as changed, outputs as unknown
    #[arg(long, conflicts_with = "to")]
    forget: bool,
    #[command(flatten)]
    stage: StageArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &RekeyArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let store = workplace.bare_store(Access::Look).await?;
    workplace.check_stage(&*store).await?;
    match args.forget {
        true => forget(&workplace, args, &store).await,
        false => rekey(&workplace, args, &store).await,
    }
}

async fn rekey(workplace: &Workplace<'_>, args: &RekeyArgs, store: &Arc<dyn Store>) -> CommandResult {
    let (session, scope) = (workplace.session, workplace.scope());
    let keyring = store.keyring(&scope).await?;
    if keyring.is_none() && is_sealed_throughout(&scope, &store.load(&scope).await?) {
        if args.json.json {
            session.ui.json(&rekeyed_json(None, 0, false));
        }
        session.ui.note(&format!("No secrets are recorded in stage {}.", scope.stage));
        return Ok(Exit::Done);
    }
    let mut current = workplace.key_sources();
    session.ask_for_keyring(keyring.as_deref(), &mut current)?;
    let kind = keyring.as_deref().and_then(|text| Keyring::parse(text).ok()).and_then(|it| it.kind());
    let chosen = args.to.or(kind).unwrap_or(current.chosen);
    let mut next = settings::new_key(&session.key_service_setup(), &current, chosen);
    if args.to == Some(KeyKind::Passphrase) && next.variables.passphrase == current.variables.passphrase {
        // A new one is wanted: the one that opens is no answer, unless there is nobody to ask.
        next.passphrase = next.passphrase.filter(|_| !session.ui.is_interactive());
    }
    session.ask_for_new(&mut next)?;
    let question =
        format!("Seal the secrets of {} by a new key ({})?", scope.stage, crate::keys::told(&next));
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let rekeying = async |lease: &Lease| {
        unless_interrupted(session, sealing::rekey(&**store, &scope, lease, &current, &next)).await
    };
    let Some(done) = under_lease(workplace, store, LeaseReason::StateRekey, rekeying).await? else {
        return Ok(interrupted(session));
    };
    if args.json.json {
        session.ui.json(&rekeyed_json(Some(chosen), done.records, done.old_keys_kept));
        return Ok(Exit::Done);
    }
    let kept = if done.old_keys_kept { "; the old keys stay for the journal" } else { "" };
    session.ui.note(&format!("The secrets of {} are sealed by a new key{kept}.", scope.stage));
    Ok(Exit::Done)
}

async fn forget(workplace: &Workplace<'_>, args: &RekeyArgs, store: &Arc<dyn Store>) -> CommandResult {
    let (session, scope) = (workplace.session, workplace.scope());
    let mut sources = workplace.key_sources();
    session.ask_for_keyring(store.keyring(&scope).await?.as_deref(), &mut sources)?;
    let lost = sealing::forget(&**store, &scope, None, &sources).await?;
    if lost == Forgotten::default() {
        if args.json.json {
            session.ui.json(&as_json(&lost, &scope));
        }
        session.ui.note(&format!("All secrets of {} open: there is nothing to give up.", scope.stage));
        return Ok(Exit::Done);
    }
    if !args.json.json {
        tell(session, &lost);
    }
    let question = format!("Give up these secrets of {} for good?", scope.stage);
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let forgetting = async |lease: &Lease| {
        unless_interrupted(session, sealing::forget(&**store, &scope, Some(lease), &sources)).await
    };
    let Some(done) = under_lease(workplace, store, LeaseReason::StateRekey, forgetting).await? else {
        return Ok(interrupted(session));
    };
    if args.json.json {
        session.ui.json(&as_json(&done, &scope));
    } else {
        session.ui.prose(&format!(
            "They are given up; the next `{} deploy` sets what the program says.",
            session.name()
        ));
    }
    Ok(Exit::Done)
}

/// The outcome of a change of secrets, unless it is interrupted. It may stop anywhere.
async fn unless_interrupted<T>(
    session: &Session<'_>,
    change: impl Future<Output = Result<T, StoreError>>,
) -> Result<Option<T>, EngineError> {
    match select(pin!(change), pin!(session.interrupts.first())).await {
        Either::Left((done, _)) => Ok(Some(done?)),
        Either::Right(_) => Ok(None),
    }
}

fn interrupted(session: &Session<'_>) -> Exit {
    session.ui.note("Interrupted: run the same command again to finish.");
    Exit::Interrupted
}

fn tell(session: &Session<'_>, lost: &Forgotten) {
    for (address, fields) in &lost.fields {
        session.ui.data(&format!("  {address}: {}", fields.join(", ")));
    }
    if !lost.outputs.is_empty() {
        session.ui.data(&format!("  the stack: {}", lost.outputs.join(", ")));
    }
    if !lost.configurations.is_empty() {
        session.ui.data(&format!("  providers: {}", lost.configurations.join(", ")));
    }
    if lost.keyring {
        session.ui.data("  the keyring: no key opens it");
    }
}

/// What was sealed anew by a key of this kind; by none if there was nothing to seal.
fn rekeyed_json(key: Option<KeyKind>, records: usize, old_keys_kept: bool) -> serde_json::Value {
    let key = key.map(KeyKind::name);
    json!({ "version": 1, "kind": "rekeyed", "key": key, "records": records, "old_keys_kept": old_keys_kept })
}

fn as_json(lost: &Forgotten, scope: &Scope) -> serde_json::Value {
    let resources: Vec<_> =
        lost.fields.iter().map(|(address, fields)| json!({ "address": address, "fields": fields })).collect();
    json!({
        "version": 1, "kind": "forgotten", "stage": scope.stage, "resources": resources,
        "outputs": lost.outputs, "configurations": lost.configurations, "keyring": lost.keyring,
    })
}
