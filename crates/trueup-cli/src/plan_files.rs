//! Plan files on disk: `plan --out` writes one, `deploy FILE` carries it out, `show FILE` tells what it says.

use std::io::Read;
use std::path::{Path, PathBuf};

use trueup_core::{Diagnostic, Diagnostics};
use trueup_engine::{
    PLAN_FILE_BYTES_MAX, PlanFileError, PlanHeader, PlanSeal, Protection, Reconciler, SavedPlan,
    changed_premises, holds_secrets, read_plan, read_plan_header, write_plan,
};
use trueup_files::Accept;
use trueup_front_end::{Premise, PremiseKind, Premises};
use trueup_program::Program;
use trueup_provider::BoxFuture;
use trueup_state::sealing::{Envelope, EnvelopeError, KeyError, KeySources};
use trueup_state::{Cause, Scope};

use crate::failure::{CommandError, CommandResult, RUN_AGAIN_LATER};
use crate::running::Errand;
use crate::settings::Profile;
use crate::whole_file::{self, Readers};
use crate::workplace::{Access, Workplace};

/// A plan file that was read, and says whom it is for.
pub(crate) struct PlanFile {
    /// What it says in the clear.
    pub header: PlanHeader,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl PlanFile {
    /// Reads a file. What is no plan file is refused by its first bytes.
    pub(crate) fn read(path: &Path) -> CommandResult<Self> {
        let bytes = trueup_files::read(path, Accept::Inherited, PLAN_FILE_BYTES_MAX)
            .map_err(|error| CommandError::file("read", path, &error.into()))?;
        let header = read_plan_header(&bytes).map_err(|error| refused(path, &error))?;
        Ok(PlanFile { header, path: path.to_owned(), bytes })
    }

    /// Whether a file begins as plan files do.
    pub(crate) fn is_one(path: &Path) -> bool {
        let mut start = Vec::new();
        let read = trueup_files::open(path, Accept::Regular)
            .and_then(|file| Ok(file.take(64).read_to_end(&mut start)?));
        read.is_ok() && !matches!(read_plan_header(&start), Err(PlanFileError::Foreign))
    }

    /// The plan that it holds, to look at. One that holds no secrets needs no key for that.
    pub(crate) async fn look(&self, workplace: &Workplace<'_>) -> CommandResult<SavedPlan> {
        let sealed = self.header.protection == Protection::Sealed;
        let key = if sealed { Some(self.key(workplace)?) } else { None };
        self.read_with(key.as_ref()).await
    }

    /// The plan that it holds, to carry out. Where the stage has a key, only who has it could have made the file.
    pub(crate) async fn open(&self, workplace: &Workplace<'_>) -> CommandResult<SavedPlan> {
        let protection = self.header.protection;
        if protection == Protection::Digest && has_keyring(workplace).await? {
            let summary = format!(
                "{} is not signed, and secrets of stage {} are sealed: anyone could have made it",
                self.path.display(),
                self.header.stage
            );
            return Err(CommandError::new(summary, "plan again"));
        }
        let key = if protection == Protection::Digest { None } else { Some(self.key(workplace)?) };
        self.read_with(key.as_ref()).await
    }

    async fn read_with(&self, key: Option<&PlanKey>) -> CommandResult<SavedPlan> {
        let read = read_plan(&self.bytes, key.map(|key| key as &dyn PlanSeal)).await;
        read.map_err(|error| refused(&self.path, &error))
    }

    /// The key by which it is sealed or signed, with all asked that has to be.
    fn key(&self, workplace: &Workplace<'_>) -> CommandResult<PlanKey> {
        let PlanHeader { stack, stage, .. } = &self.header;
        let mut key =
            PlanKey { scope: Scope::new(stack.clone(), stage.clone()), sources: workplace.key_sources() };
        workplace.session.ask_for_chosen(&mut key.sources)?;
        Ok(key)
    }

    /// Refuses a plan for something else than this workplace (PLANFILE-4).
    pub(crate) fn check(&self, workplace: &Workplace<'_>) -> CommandResult<()> {
        let PlanHeader { stack, stage, store, .. } = &self.header;
        let sides = [
            ("the stack", stack.as_str(), workplace.stack.value.to_string()),
            ("the stage", stage.as_str(), workplace.stage.value.to_string()),
            ("the state in", store.as_str(), workplace.location()),
        ];
        let mut wrong = Diagnostics::new();
        for (what, planned, here) in sides {
            if planned != here {
                let summary = format!("{} is for {what} {planned}, and here is {here}", self.path.display());
                wrong.push(Diagnostic::error(summary).hint("plan here, or deploy it where it was made"));
            }
        }
        if wrong.has_errors() { Err(wrong.into()) } else { Ok(()) }
    }
}

/// Makes a plan and writes it to a file.
pub(crate) async fn plan_to_save(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    reconciler: &Reconciler,
    program: &Program,
    premises: &Premises,
) -> CommandResult<SavedPlan> {
    let all = || own_premises(workplace).into_iter().chain(premises()).collect();
    let saving =
        reconciler.plan_to_save(program, &errand.options.plan, errand.run_kind(), workplace.plan_time, all);
    saving.await.map_err(|error| CommandError::of_engine(error, program))
}

/// Writes a plan to a file.
pub(crate) async fn save(workplace: &Workplace<'_>, saved: &SavedPlan, path: &Path) -> CommandResult<()> {
    let made_by = workplace.session.composition.version;
    // Nobody makes a key only to sign with it.
    let needed = holds_secrets(saved).unwrap_or(true) || has_keyring(workplace).await?;
    let key = match needed {
        true => {
            let mut sources = workplace.key_sources();
            workplace.session.ask_for_new(&mut sources)?;
            Some(PlanKey { scope: workplace.scope(), sources })
        }
        false => None,
    };
    let key = key.as_ref().map(|key| key as &dyn PlanSeal);
    let bytes = write_plan(saved, &workplace.location(), made_by, key).await;
    let bytes =
        bytes.map_err(|error| advised(format!("the plan cannot be saved: {}", told(&error)), &error))?;
    whole_file::replace(path, &bytes, Readers::Owner)
        .map_err(|error| CommandError::file("write", path, &error))
}

/// Whether the stage has secrets that are sealed, and so a key.
async fn has_keyring(workplace: &Workplace<'_>) -> CommandResult<bool> {
    let store = workplace.bare_store(Access::Look).await?;
    Ok(store.keyring(&workplace.scope()).await?.is_some())
}

/// The key of a stage, for plan files.
struct PlanKey {
    scope: Scope,
    sources: KeySources,
}

impl PlanKey {
    /// What else is authenticated is part of what it is sealed for.
    fn purpose(beside: &[u8]) -> String {
        format!("plan {}", Premise::of(PremiseKind::Source, "", beside).digest)
    }
}

impl PlanSeal for PlanKey {
    fn seal<'a>(&'a self, content: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>> {
        Box::pin(async move {
            let envelope = Envelope { scope: &self.scope, purpose: &Self::purpose(beside) };
            envelope.seal(content, &self.sources).await.map_err(Cause::new)
        })
    }

    fn open<'a>(&'a self, sealed: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>> {
        Box::pin(async move {
            let envelope = Envelope { scope: &self.scope, purpose: &Self::purpose(beside) };
            let opened = envelope.open(sealed, &self.sources).await;
            opened.map(|content| content.to_vec()).map_err(Cause::new)
        })
    }
}

/// Refuses a plan whose program has another text, or is read by another version, before the program is built.
pub(crate) fn check_texts(workplace: &Workplace<'_>, saved: &SavedPlan) -> CommandResult<()> {
    let own = |premise: &&Premise| is_own(workplace, premise);
    let planned: Vec<Premise> = saved.premises.iter().filter(own).cloned().collect();
    refuse(changed_premises(&planned, &own_premises(workplace)))
}

/// Refuses a plan whose program follows from other variables or files.
pub(crate) fn check_premises(
    workplace: &Workplace<'_>,
    saved: &SavedPlan,
    premises: &Premises,
) -> CommandResult<()> {
    // The engine judges providers: it knows which ones a plan needs.
    let others = |it: &&Premise| it.kind != PremiseKind::Provider && !is_own(workplace, it);
    let planned: Vec<Premise> = saved.premises.iter().filter(others).cloned().collect();
    refuse(changed_premises(&planned, &premises()))
}

fn refuse(changed: Diagnostics) -> CommandResult<()> {
    if changed.has_errors() { Err(changed.into()) } else { Ok(()) }
}

/// What every program follows from: its texts, the binary that reads them, by its version, and the user's profile.
fn own_premises(workplace: &Workplace<'_>) -> Vec<Premise> {
    let composition = workplace.session.composition;
    let build = Premise {
        kind: PremiseKind::Build,
        name: composition.name.to_owned(),
        digest: composition.version.to_owned(),
        secret: false,
    };
    let texts = workplace
        .loaded
        .sources
        .files()
        .filter_map(|file| Some(Premise::of(PremiseKind::Source, file.name(), file.text()?.as_bytes())));
    let profile = workplace.session.profile.as_ref();
    texts.chain([build]).chain(profile.into_iter().flat_map(Profile::premises)).collect()
}

fn is_own(workplace: &Workplace<'_>, premise: &Premise) -> bool {
    let build = premise.kind == PremiseKind::Build && premise.name == workplace.session.composition.name;
    build || matches!(premise.kind, PremiseKind::Source | PremiseKind::Profile)
}

fn refused(path: &Path, error: &PlanFileError) -> CommandError {
    let summary = format!("{}: {}", path.display(), told(error));
    match error {
        PlanFileError::Foreign => CommandError::new(summary, "`trueup plan --out FILE` writes one"),
        PlanFileError::Damaged(_) | PlanFileError::TooLarge => CommandError::new(summary, "plan again"),
        PlanFileError::Format { .. } | PlanFileError::NoKey | PlanFileError::Locked(_) => {
            advised(summary, error)
        }
    }
}

/// The error with this summary. If a key service is out of reach, it says that nothing is lost.
fn advised(summary: String, error: &PlanFileError) -> CommandError {
    let PlanFileError::Locked(why) = error else { return CommandError::plain(summary) };
    let key = why.downcast_ref::<KeyError>().or_else(|| match why.downcast_ref() {
        Some(EnvelopeError::Key(key)) => Some(key),
        _ => None,
    });
    match key {
        Some(KeyError::Unavailable { .. }) => CommandError::new(summary, RUN_AGAIN_LATER),
        _ => CommandError::plain(summary),
    }
}

/// What is wrong, in the words of people who look for a key.
fn told(error: &PlanFileError) -> String {
    match error {
        PlanFileError::Locked(why) => why.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SECRET-10
    #[test]
    fn a_plan_whose_key_service_is_out_of_reach_says_that_nothing_is_lost() {
        let hints = |error: KeyError| {
            let hints_of = |cause| {
                let refused = refused(Path::new("s.plan"), &PlanFileError::Locked(cause));
                refused.diagnostics("trueup").0.iter().flat_map(|it| it.hints.clone()).collect::<Vec<_>>()
            };
            (hints_of(Cause::new(error.clone())), hints_of(Cause::new(EnvelopeError::Key(error))))
        };
        let looked = "Vault".to_owned();
        let advice = vec![RUN_AGAIN_LATER.to_owned()];
        let unavailable = KeyError::Unavailable { looked: looked.clone(), why: "no answer".into() };
        assert_eq!(hints(unavailable), (advice.clone(), advice));
        assert_eq!(hints(KeyError::Missing { looked }), (vec![], vec![]));
    }
}
