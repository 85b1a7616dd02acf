//! The funnel through which every command fails: what is wrong, where, what to do, and the exit code.
//!
//! Errors of stores and leases keep their kind up to here: machines are told the reason, people what to do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use trueup_core::{
    Diagnostic, Diagnostics, Entries, Failure, FailureClass, Origin, Severity, SourceMap, Value,
    mask_credentials,
};
use trueup_engine::EngineError;
use trueup_front_end::InvalidProgram;
use trueup_program::{Expression, Node, Place, Program};
use trueup_state::sealing::KeyError;
use trueup_state::{HeldLease, StoreError};

use crate::composition::OpenError;
use crate::exit::Exit;
use crate::render::{diagnostics_json, render_diagnostics};
use crate::session::Session;
use crate::ui::Ui;

/// What to do about a key service that is out of reach.
pub(crate) const RUN_AGAIN_LATER: &str = "nothing is lost: run again once the key service answers";

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Something is wrong.
    Wrong {
        /// What.
        diagnostics: Diagnostics,
        /// What the origins refer to.
        sources: SourceMap,
    },
    /// The store failed.
    Store(StoreError),
    /// Another run holds the stage, or its state was moved away.
    Held(Box<HeldLease>),
    /// It was interrupted before anything was done.
    Interrupted,
    /// It was told already; only the exit code is left to say.
    Told(Exit),
}

/// What a command comes to.
pub(crate) type CommandResult<T = Exit> = Result<T, CommandError>;

impl CommandError {
    /// One thing that is wrong, and what to do about it.
    pub(crate) fn new(summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Diagnostic::error(summary).hint(hint).into()
    }

    /// One thing that is wrong, where nothing can be advised.
    pub(crate) fn plain(summary: impl Into<String>) -> Self {
        Diagnostic::error(summary).into()
    }

    /// A file or folder that could not be worked with.
    pub(crate) fn file(attempted: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::plain(format!("cannot {attempted} {}: {error}", path.display()))
    }

    /// What the engine says about a program, with the places where the program says it.
    pub(crate) fn of_engine(error: EngineError, program: &Program) -> Self {
        match error {
            EngineError::Unsound(diagnostics) => {
                let mut sources = program.sources.clone();
                let diagnostics = placed(diagnostics, program, &mut sources);
                CommandError::Wrong { diagnostics, sources }
            }
            other => other.into(),
        }
    }

    /// A store that could not be opened, with the text that its settings stand in.
    pub(crate) fn of_opening(error: OpenError, sources: &SourceMap) -> Self {
        match error {
            OpenError::Settings(diagnostics) => CommandError::Wrong { diagnostics, sources: sources.clone() },
            OpenError::Store(error) => error.into(),
        }
    }

    /// The error for machines; nothing, if it was told already. Whatever is to be run is run by the binary of this name.
    pub(crate) fn to_json(&self, name: &str) -> Option<Json> {
        if matches!(self, CommandError::Told(_)) {
            return None;
        }
        let (diagnostics, sources) = self.diagnostics(name);
        let first = diagnostics.iter().find(|it| it.severity == Severity::Error);
        let error = match self {
            CommandError::Interrupted => "interrupted",
            _ => first.map_or("something is wrong", |it| &it.summary),
        };
        let diagnostics = diagnostics_json(&diagnostics, &sources);
        let mut told = json!({ "version": 1, "kind": "error", "error": error, "diagnostics": diagnostics });
        if let Some(reason) = self.reason() {
            told["reason"] = reason.into();
        }
        Some(told)
    }

    /// Tells it, and how the command ends. Whatever is to be run is run by the binary of this name.
    pub(crate) fn tell(self, ui: &Ui, name: &str) -> Exit {
        match self {
            CommandError::Wrong { .. } | CommandError::Store(_) | CommandError::Held(_) => {
                let (diagnostics, sources) = self.diagnostics(name);
                ui.note(&render_diagnostics(&diagnostics, &sources, ui.err()));
                Exit::Error
            }
            CommandError::Interrupted => {
                ui.note("Interrupted; nothing was changed.");
                Exit::Interrupted
            }
            CommandError::Told(exit) => exit,
        }
    }

    /// All that is wrong, without the passwords of addresses that it quotes, for users of the binary of this name.
    pub(crate) fn diagnostics(&self, name: &str) -> (Diagnostics, SourceMap) {
        let (diagnostics, sources) = match self {
            CommandError::Wrong { diagnostics, sources } => (diagnostics.clone(), sources.clone()),
            CommandError::Store(error) => (store_trouble(error).into(), SourceMap::new()),
            CommandError::Held(held) => (held_by(held).into(), SourceMap::new()),
            CommandError::Interrupted | CommandError::Told(_) => (Diagnostics::new(), SourceMap::new()),
        };
        let mut without = Diagnostics::new();
        without.extend(diagnostics.into_iter().map(masked));
        (calling(without, name), sources)
    }

    /// The reason as a word for machines, where there is one. The words are documented, and permanent.
    fn reason(&self) -> Option<&'static str> {
        match self {
            CommandError::Wrong { .. } | CommandError::Told(_) => None,
            CommandError::Interrupted => Some("interrupted"),
            CommandError::Held(held) if held.moved_to().is_some() => Some("state-moved"),
            CommandError::Held(_) => Some("held"),
            CommandError::Store(error) => Some(match error {
                StoreError::Superseded => "superseded",
                StoreError::Conflict { .. } => "conflict",
                StoreError::Unavailable { .. } => "state-unavailable",
                StoreError::Damaged { .. } => "state-damaged",
                StoreError::TakenAway { .. } => "state-taken-away",
                StoreError::Key { error: KeyError::Unavailable { .. }, .. } => "key-unavailable",
                StoreError::Key { .. } => "key",
                StoreError::Format { .. } => "state-format",
            }),
        }
    }
}

fn masked(mut diagnostic: Diagnostic) -> Diagnostic {
    let texts =
        [&mut diagnostic.summary].into_iter().chain(&mut diagnostic.detail).chain(&mut diagnostic.hints);
    for text in texts {
        if let Cow::Owned(masked) = mask_credentials(text) {
            *text = masked;
        }
    }
    diagnostic
}

/// What is wrong, with the commands that it advises called by the name of this binary.
pub(crate) fn calling(diagnostics: Diagnostics, name: &str) -> Diagnostics {
    let mut called = Diagnostics::new();
    for mut diagnostic in diagnostics {
        for hint in &mut diagnostic.hints {
            *hint = hint.replace("`trueup ", &format!("`{name} "));
        }
        called.push(diagnostic);
    }
    called
}

/// Adds the places of declarations to what is said about them.
pub(crate) fn placed(diagnostics: Diagnostics, program: &Program, sources: &mut SourceMap) -> Diagnostics {
    let resources = program.resources.iter().map(|it| (&it.address, it.place, &it.inputs));
    let read = program.data.iter().chain(&program.ephemeral);
    let declared = resources.chain(read.map(|it| (&it.address, it.place, &it.inputs)));
    // One for all: there may be as many diagnostics as declarations.
    let mut places: BTreeMap<String, Vec<(Option<Place>, &Expression)>> = BTreeMap::new();
    for (address, place, inputs) in declared {
        places.entry(address.to_string()).or_default().push((place, inputs));
    }
    let mut found = Diagnostics::new();
    for mut diagnostic in diagnostics {
        if diagnostic.origin.is_none()
            && let Some(subject) = &diagnostic.subject
            && let Some(declared) = places.get(subject)
            && let Some(&(Some(place), inputs)) = declared.last()
        {
            let mut origin_of = |place| match place {
                Place::Source(origin) => origin,
                Place::Code(location) => sources.code(location),
            };
            let origin = origin_of(place);
            diagnostic.origin = Some(origin);
            // Two of one address: the last one is too much.
            diagnostic.first = declared[..declared.len() - 1].first().and_then(|it| it.0).map(origin_of);
            // A declaration on one line shows its values, and any of them may be secret.
            let mut values = Vec::new();
            literals(inputs, &mut values);
            // Inputs as a whole have the place of their declaration, which says nothing of them.
            values.retain(|value| *value != origin);
            diagnostic.concealed = values.into();
        }
        found.push(diagnostic);
    }
    found
}

/// Where values stand in the text.
fn literals(expression: &Expression, found: &mut Vec<Origin>) {
    match expression.node() {
        Node::Literal(value) => value_origins(value, found),
        Node::List(items) | Node::Apply(_, items) => items.iter().for_each(|item| literals(item, found)),
        Node::Object(entries) | Node::Map(entries) => {
            entries.iter().for_each(|(_, item)| literals(item, found));
        }
        Node::Part(whole, _) => literals(whole, found),
        Node::Reference(_) | Node::Computed(_) | Node::Invalid(_) => {}
    }
}

fn value_origins(value: &Value, found: &mut Vec<Origin>) {
    found.extend(value.origin());
    value.as_items().into_iter().flatten().for_each(|item| value_origins(item, found));
    let entries = value.as_entries().into_iter().flat_map(Entries::iter);
    entries.for_each(|(_, item)| value_origins(item, found));
}

impl From<Diagnostic> for CommandError {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics::from(diagnostic).into()
    }
}

impl From<Diagnostics> for CommandError {
    fn from(diagnostics: Diagnostics) -> Self {
        CommandError::Wrong { diagnostics, sources: SourceMap::new() }
    }
}

impl From<InvalidProgram> for CommandError {
    fn from(InvalidProgram { diagnostics, sources }: InvalidProgram) -> Self {
        CommandError::Wrong { diagnostics, sources }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        CommandError::Store(error)
    }
}

/// A failed read of another stack's state, as its reader's own failure. What may pass by itself is tried again.
pub fn store_failure(error: &StoreError) -> Failure {
    let class = match error {
        StoreError::Unavailable { .. } | StoreError::Key { error: KeyError::Unavailable { .. }, .. } => {
            FailureClass::Retryable
        }
        StoreError::Superseded | StoreError::Conflict { .. } => FailureClass::Conflict,
        StoreError::Damaged { .. }
        | StoreError::TakenAway { .. }
        | StoreError::Key { .. }
        | StoreError::Format { .. } => FailureClass::Fatal,
    };
    let Diagnostic { summary, hints, .. } = store_trouble(error);
    Failure { hints, ..Failure::new(class, summary) }
}

/// What to tell where a lease could not be released. What was done under it is done.
pub(crate) fn unreleased(error: &StoreError) -> String {
    format!("{error}; the lease expires by itself")
}

/// Tells that a lease could not be released, if so.
pub(crate) fn note_unreleased(session: &Session<'_>, error: Option<&StoreError>) {
    error.into_iter().for_each(|error| session.ui.note(&unreleased(error)));
}

/// What is wrong with a store, and what to do about it.
pub(crate) fn store_trouble(error: &StoreError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.to_string());
    match error {
        StoreError::Superseded => diagnostic.hint("run again: the next run continues from the recorded state"),
        StoreError::Conflict { .. } => diagnostic.hint("run again, against the state as it is now"),
        StoreError::Unavailable { .. } => {
            diagnostic.hint("check that it exists and may be written, and that there is room; then run again")
        }
        StoreError::Damaged { .. } => diagnostic.hint(
            "put a copy of it back; or move it away, and `trueup state import` an export, or `trueup deploy` \
             to find again what can be found",
        ),
        StoreError::TakenAway { location, copy: Ok(copy), .. } => diagnostic
            .hint(format!("put the copy back before anything is deployed again: `{}`", put_back(copy, location)))
            .hint("if something else is at that place by now, find out whose it is first"),
        StoreError::TakenAway { .. } => diagnostic.hint(
            "put a backup of the state back before anything is deployed again; without one, `trueup deploy` finds \
             again what can be found",
        ),
        StoreError::Key { error: KeyError::Format { .. }, .. } => diagnostic,
        StoreError::Key { error: KeyError::Unavailable { .. }, .. } => {
            diagnostic.hint(RUN_AGAIN_LATER)
        }
        StoreError::Key { error: KeyError::Unmade { .. }, .. } => diagnostic
            .hint("if your team has a key, use that one: a new key cannot open what others sealed"),
        StoreError::Key { .. } => diagnostic
            .hint("restore the key, or set where it is: `trueup config` shows the settings")
            .hint("if it is lost, `trueup state rekey --forget` drops the secrets and keeps everything else"),
        StoreError::Format { .. } => diagnostic,
    }
}

/// The command that puts a copy of a state file in its place. A log that is left there belongs to another database: it
/// would be replayed into the copy.
fn put_back(copy: &str, location: &str) -> String {
    let folder = std::path::Path::new(location).parent().unwrap_or(std::path::Path::new("."));
    let folder = folder.display();
    format!("mkdir -p {folder} && rm -f {location}-wal {location}-shm && mv {copy} {location}")
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Unsound(diagnostics) => diagnostics.into(),
            EngineError::Store(error) => error.into(),
            EngineError::Held(held) => CommandError::Held(held),
            EngineError::Interrupted => CommandError::Interrupted,
        }
    }
}

fn held_by(held: &HeldLease) -> Diagnostic {
    let run = &held.holder.run;
    if let Some(place) = held.moved_to() {
        let name =
            "`trueup config` shows what names the store: the stack block, TRUEUP_STATE or your configuration";
        let back = format!("to use this one again as it was then: `trueup unlock {run}`");
        return Diagnostic::error(format!("the state was moved to {place}")).hint(name).hint(back);
    }
    let since = crate::render::clock(held.since);
    let wait = format!("wait for it; if that run is dead, release its lease: `trueup unlock {run}`");
    Diagnostic::error(format!("the stage is held by {} since {since} UTC", held.holder)).hint(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unavailable() -> StoreError {
        let (attempted, location) = ("open", "postgres://ada:hunter22@db/x".to_owned());
        StoreError::Unavailable { attempted, location, cause: "no answer".into() }
    }

    #[test]
    fn another_stacks_store_is_asked_again_if_that_may_help() {
        let class = |error: &StoreError| store_failure(error).class;
        assert_eq!(class(&unavailable()), FailureClass::Retryable);
        let damaged = StoreError::Damaged { location: "state.db".to_owned(), what: "x".into() };
        assert_eq!(class(&damaged), FailureClass::Fatal);
        assert!(store_failure(&damaged).hints[0].starts_with("put a copy of it back"));
    }

    #[test]
    fn machines_are_told_the_reason_and_no_password() {
        let told = CommandError::from(EngineError::from(unavailable())).to_json("site").unwrap();
        assert_eq!(told["reason"], "state-unavailable");
        assert!(!told.to_string().contains("hunter22"), "{told}");
        assert_eq!(CommandError::plain("x").to_json("site").unwrap().get("reason"), None);
    }
}
