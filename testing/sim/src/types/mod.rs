//! Resource types over the simulated cloud, of all three recovery classes and both contracts.
//!
//! Each version of a type is a Rust type of its own: a process of a newer release registers the newer ones under the same
//! names.

mod command;
mod compass;
mod named;
mod plain;
mod repeat;

use trueup_core::{Diagnostic, FieldType, Value};
use trueup_provider::{Context, Error, Inputs, NativeProvider, Outputs, RawState, Registry, Result, Traits};

use crate::cloud::{HOME, Kind, LATE_MAX, Line, Refusal, Request, Seen, Spec};
use repeat::gossip;

#[cfg(test)]
pub(crate) use repeat::repeated;

/// How long a new object may stay out of sight: requests travel for a moment, and then there is lateness.
const WINDOW: std::time::Duration = LATE_MAX.saturating_add(std::time::Duration::from_secs(1));

/// What every type answers.
#[derive(Clone, Outputs)]
pub(crate) struct Shown {
    #[trueup(identity, stable)]
    pub(crate) id: String,
    #[trueup(mirrors = "size")]
    size: u64,
    #[trueup(mirrors = "colour")]
    colour: String,
    /// Changes with the size.
    url: String,
    complete: bool,
    /// The secret that it was made or changed with, as the cloud repeats it.
    echo: String,
}

/// The same of a type whose objects are told apart by what the program calls them.
#[derive(Clone, Outputs)]
pub(crate) struct ShownByName {
    #[trueup(stable)]
    pub(crate) id: String,
    #[trueup(mirrors = "size")]
    size: u64,
    #[trueup(mirrors = "colour")]
    colour: String,
    url: String,
    complete: bool,
    echo: String,
}

/// The same, one release later.
#[derive(Clone, Outputs)]
pub(crate) struct ShownLater {
    #[trueup(identity, stable)]
    pub(crate) id: String,
    #[trueup(mirrors = "size")]
    size: u64,
    #[trueup(mirrors = "colour")]
    colour: String,
    url: String,
    complete: bool,
    echo: String,
    /// New in this release.
    shape: String,
}

impl From<Seen> for Shown {
    fn from(seen: Seen) -> Self {
        let Spec { size, colour, .. } = seen.spec;
        let (url, echo) = (format!("{}/{size}", seen.id), String::new());
        Shown { url, id: seen.id, size, colour, complete: seen.complete, echo }
    }
}

impl From<Seen> for ShownByName {
    fn from(seen: Seen) -> Self {
        let Shown { id, size, colour, url, complete, echo } = seen.into();
        ShownByName { id, size, colour, url, complete, echo }
    }
}

impl From<Seen> for ShownLater {
    fn from(seen: Seen) -> Self {
        let Shown { id, size, colour, url, complete, echo } = seen.into();
        ShownLater { id, size, colour, url, complete, echo, shape: "square".to_owned() }
    }
}

/// Brings what an older release recorded to what this one knows.
fn migrated(state: RawState) -> RawState {
    RawState { outputs: state.outputs.with_entry("shape", Value::string("square")), ..state }
}

/// What the provider is told: where its objects are, and by which key they are reached.
#[derive(Inputs)]
struct Settings {
    region: Option<u64>,
    #[trueup(secret)]
    key: Option<String>,
}

/// All types, as one release knows them, on the line of one process.
pub(crate) fn registry(line: &Line, upgraded: bool) -> Registry {
    let (configured, waiting, line) = (line.clone(), line.clone(), line.clone());
    let of = move || line.clone();
    // Stubs are made before there is a receiver: what they need is in the configuration.
    let provider = NativeProvider::configured("s", move |settings: Settings| {
        let line = configured.within(settings.region.unwrap_or(HOME), settings.key);
        async { Ok(line) }
    });
    let provider = if upgraded {
        provider
            .crud_with::<plain::LaterBox>("box", of.clone())
            .crud_with::<plain::LaterTicket>("ticket", of.clone())
            .crud_with::<plain::LaterStone>("stone", of.clone())
    } else {
        provider
            .crud_with::<plain::Box>("box", of.clone())
            .crud_with::<plain::Ticket>("ticket", of.clone())
            .crud_with::<plain::Stone>("stone", of.clone())
    };
    let provider = provider
        .converge_with::<named::Jar>("jar", of.clone())
        .converge_with::<named::Page>("page", of.clone())
        .converge_with::<named::Hub>("hub", of.clone())
        .converge_with::<named::Leaf>("leaf", of.clone())
        .converge_with::<named::Pool>("pool", of.clone())
        .converge_with::<command::Sack>("sack", of.clone())
        .converge_with::<command::Pebble>("pebble", of)
        .waiting_for_orphans(move |_| {
            let line = waiting.clone();
            async move { Ok(line.commands_end().await) }
        });
    Registry::new().with(provider).with(NativeProvider::new("k").crud::<compass::Compass>("compass"))
}

/// Asks the cloud, and says what went wrong in the engine's words; of half-made objects in those of a release.
async fn ask<Out: From<Seen> + FieldType>(
    line: &Line,
    context: &Context<Line>,
    request: Request,
) -> Result<Seen> {
    let secret = match &request {
        Request::Create { spec, .. } | Request::Update { spec, .. } => spec.secret.clone(),
        _ => None,
    };
    let (changes, configured) = (request.changes(), context.config());
    let nothing = || "nothing".to_owned();
    let key = configured.key().map_or_else(nothing, gossip);
    let told = format!("{} by {key}", secret.as_deref().map_or_else(nothing, gossip));
    let answer = line.ask(context, configured.region(), request).await;
    if changes && answer.is_ok() {
        context.report_warnings(Diagnostic::warning(format!("it took {told}")).into());
    }
    answer.map_err(|refusal| error::<Out>(line, refusal, &told))
}

/// A refusal as an error. The cloud is one of those that repeat what they were told.
fn error<Out: From<Seen> + FieldType>(line: &Line, refusal: Refusal, told: &str) -> Error {
    match refusal {
        Refusal::Throttled(delay) => Error::throttled(Some(delay), "too many requests"),
        Refusal::Denied => Error::denied(format!("not allowed to {told}")),
        Refusal::Unavailable => Error::retryable(format!("out of order, with {told}")),
        Refusal::Lost => Error::indeterminate(format!("the connection broke while sending {told}")),
        Refusal::Taken => Error::already_exists(format!("the name is taken, with {told}")),
        Refusal::Releasing => Error::retryable(format!("the name is not free yet, with {told}")),
        Refusal::InUse(by) => Error::conflict(format!("{by} uses it")).hint(format!("free it with {told}")),
        Refusal::Missing(what) => Error::invalid(format!("there is no {what}, with {told}")),
        Refusal::Gone => Error::not_found("there is no such object"),
        Refusal::Quota => Error::fatal(format!("no more objects are allowed with {told}")),
        Refusal::Partial(seen) => {
            let failed = match line.draw(3) {
                0 => Error::retryable("half of it is made"),
                1 => Error::indeterminate("half of it is made, at least"),
                _ => Error::fatal("only half of it could be made"),
            };
            failed.with_partial(&Out::from(*seen))
        }
    }
}

/// The object of this name, if there is one.
async fn find(line: &Line, context: &Context<Line>, kind: Kind, name: String) -> Result<Option<Seen>> {
    match ask::<Shown>(line, context, Request::Find { kind, name }).await {
        Ok(seen) => Ok(Some(seen)),
        Err(error) if *error.class() == trueup_core::FailureClass::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// How all types behave: what is new may stay out of sight for a while, and no longer than they say.
fn traits() -> Traits {
    Traits { consistency_window: WINDOW, ..Traits::default() }
}
