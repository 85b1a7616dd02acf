//! A folder with a stack, and all that is settled about it: its program as it was read, its name, stage and store.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::{AddressRange, Diagnostic, Diagnostics, Severity, SourceMap};
use trueup_engine::{EventSink, Looking, PlanOptions, Preview, Reconciler, SystemRandom};
use trueup_front_end::{BuildRequest, BuiltProgram, LoadedProgram, Purpose, StateSettings, Variables};
use trueup_program::{FunctionAnswers, Program};
use trueup_provider::{BoxFuture, Registry};
use trueup_state::sealing::KeySources;
use trueup_state::{Cause, MemoryStore, Scope, Snapshot, Store, StoreError};

use crate::composition::{OpenError, OpenStore, StoreRequest};
use crate::failure::{CommandError, CommandResult};
use crate::render::render_diagnostics;
use crate::session::{Session, login};
use crate::settings::{self, FolderMemory, NoStage, Resolved, Source, UserSettings};
use crate::stores::{self, sqlite_path};
use crate::unmade_store::UnmadeStore;

/// A program that is not known as a whole by then never will be.
const PREVIEW_ROUNDS_MAX: usize = 50;

/// A folder with a stack.
pub(crate) struct Workplace<'a> {
    /// The call.
    pub session: &'a Session<'a>,
    /// The program, as it was read.
    pub loaded: LoadedProgram,
    /// The name of the stack.
    pub stack: Resolved<SmolStr>,
    /// The stage.
    pub stage: Resolved<SmolStr>,
    /// Where state is kept.
    pub state: Resolved<StateSettings>,
    /// The user's configuration.
    pub user: &'a UserSettings,
    /// The providers.
    pub registry: Registry,
    /// How far plans have come.
    pub looking: Arc<Looking>,
    /// When plans are made: now, or when the one was that is carried out.
    pub plan_time: SystemTime,
    memory: FolderMemory,
    /// The warnings of the text that people were told: a command may build the program several times.
    told: RefCell<Vec<Diagnostic>>,
}

/// What a store is opened for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// To look at what is not secret: no key is needed, and secrets stay sealed. What is not there is not made.
    Look,
    /// To read: what is not there is not made.
    Read,
    /// To change.
    Write,
}

impl<'a> Workplace<'a> {
    /// Reads the folder and settles what it is about.
    pub(crate) fn load(session: &'a Session<'a>, stage: Option<&SmolStr>) -> CommandResult<Self> {
        let memory = FolderMemory::read(&session.folder);
        let stage = settings::stage(stage.map(SmolStr::as_str), &session.environment, &memory, login);
        let stage = stage.map_err(|none| match none {
            NoStage::Unnamed => CommandError::new(
                "no stage is named",
                "CI has no default stage: add --stage NAME, or set TRUEUP_STAGE",
            ),
            NoStage::Invalid(why) => CommandError::new("TRUEUP_STAGE is not the name of a stage", why),
        })?;
        Self::load_with(session, memory, stage)
    }

    /// The same for a command about all stages: it may be that none is meant.
    pub(crate) fn load_with_any_stage(session: &'a Session<'a>) -> CommandResult<Self> {
        let memory = FolderMemory::read(&session.folder);
        let stage = settings::stage(None, &session.environment, &memory, login);
        let none = |_| Resolved { value: SmolStr::default(), from: Source::Default };
        Self::load_with(session, memory, stage.unwrap_or_else(none))
    }

    fn load_with(
        session: &'a Session<'a>,
        memory: FolderMemory,
        stage: Resolved<SmolStr>,
    ) -> CommandResult<Self> {
        let folder = &session.folder;
        let loaded = session.composition.front_end.load(folder);
        let user = session.user()?;
        let state = settings::state(&session.environment, &loaded.settings, user);
        Ok(Workplace {
            session,
            stack: settings::stack(&loaded.settings, &memory, folder),
            stage,
            registry: session.registry(&state.value, &loaded.providers),
            looking: Arc::default(),
            plan_time: session.clock.now(),
            state,
            loaded,
            user,
            memory,
            told: RefCell::default(),
        })
    }

    /// The stage of the stack.
    pub(crate) fn scope(&self) -> Scope {
        Scope::new(self.stack.value.clone(), self.stage.value.clone())
    }

    /// Fails with what is wrong with the text, if anything is; tells what there is to warn of.
    pub(crate) fn check(&self) -> CommandResult<()> {
        let LoadedProgram { diagnostics, sources, found, .. } = &self.loaded;
        if diagnostics.has_errors() {
            return Err(CommandError::Wrong { diagnostics: diagnostics.clone(), sources: sources.clone() });
        }
        if !found {
            let summary = format!("there is no stack in {}", self.session.folder.display());
            let hint =
                format!("create one with `{} init`, or name its folder with --chdir", self.session.name());
            return Err(CommandError::new(summary, hint));
        }
        self.warn(diagnostics, sources);
        Ok(())
    }

    /// Tells what is worth knowing, short of an error, once.
    pub(crate) fn warn(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        let mut told = self.told.borrow_mut();
        let is_new = |it: &&Diagnostic| it.severity == Severity::Warning && !told.contains(it);
        let new: Vec<Diagnostic> = diagnostics.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            return;
        }
        let mut shown = Diagnostics::new();
        shown.extend(new.iter().cloned());
        told.extend(new);
        let ui = &self.session.ui;
        ui.note(&render_diagnostics(&shown, sources, ui.err()));
        if ui.is_live() {
            ui.note("");
        }
    }

    /// All that people were warned of so far, for machines.
    pub(crate) fn warned(&self) -> Diagnostics {
        let mut warned = Diagnostics::new();
        warned.extend(self.told.borrow().iter().cloned());
        warned
    }

    /// Where the store is, for people.
    pub(crate) fn location(&self) -> String {
        stores::location(&self.state.value, &self.session.environment)
    }

    /// Opens the store, with secrets sealed on the way in and opened on the way out.
    pub(crate) async fn store(&self, access: Access) -> CommandResult<Arc<dyn Store>> {
        let store = self.bare_store(access).await?;
        match access {
            Access::Look => Ok(store),
            Access::Read | Access::Write => {
                let writes = access == Access::Write;
                self.session.sealed(store, &self.scope(), self.key_sources(), writes).await
            }
        }
    }

    /// Where keys are.
    pub(crate) fn key_sources(&self) -> KeySources {
        self.session.key_sources(self.user, &self.state.value)
    }

    /// Opens what keeps the state, secrets sealed as they are. A store that is not there yet is made when a lease is taken
    /// in it, and not before.
    pub(crate) async fn bare_store(&self, access: Access) -> CommandResult<Arc<dyn Store>> {
        self.bare_store_of(&self.state.value, access).await
    }

    /// The same, for another store than that of the stack.
    pub(crate) async fn bare_store_of(
        &self,
        state: &StateSettings,
        access: Access,
    ) -> CommandResult<Arc<dyn Store>> {
        let Session { folder, clock, composition, environment, .. } = self.session;
        let open = composition.open_store.clone();
        let request = StoreRequest {
            folder: folder.clone(),
            state: state.clone(),
            clock: clock.clone(),
            environment: environment.clone(),
        };
        if let Some(path) = self.unmade(state)? {
            if access != Access::Write {
                return Ok(Arc::new(MemoryStore::on_clock(clock.clone())));
            }
            let own = path.starts_with(folder.join(settings::OWN_FOLDER)).then(|| folder.clone());
            let make = move || made(path.clone(), own.clone(), open.clone(), request.clone());
            let location = stores::location(state, environment);
            return Ok(Arc::new(UnmadeStore::new(location, clock.clone(), Box::new(make))));
        }
        if access == Access::Write && settings::make_private(folder).is_err() {
            let own = folder.join(settings::OWN_FOLDER);
            self.session
                .ui
                .note(&format!("other users can read {}, and only its owner can change that", own.display()));
        }
        open(request).await.map_err(|error| CommandError::of_opening(error, &self.loaded.sources))
    }

    /// The file that the store will be, if it is one and is not there yet.
    fn unmade(&self, state: &StateSettings) -> CommandResult<Option<PathBuf>> {
        if state.kind != "sqlite" {
            return Ok(None);
        }
        let path = self.session.folder.join(sqlite_path(state)?);
        Ok(Some(path).filter(|path| !path.exists()))
    }

    /// Fails where there is neither a stack nor anything that one left.
    pub(crate) fn check_something(&self) -> CommandResult<()> {
        match self.loaded.found || self.unmade(&self.state.value)?.is_none() {
            true => Ok(()),
            false => self.check(),
        }
    }

    /// What is recorded.
    pub(crate) async fn snapshot(&self, access: Access) -> CommandResult<Snapshot> {
        Ok(self.store(access).await?.load(&self.scope()).await?)
    }

    /// An engine on this store.
    pub(crate) fn reconciler(&self, store: Arc<dyn Store>, events: EventSink) -> Reconciler {
        let registry = self.registry.clone();
        Reconciler::new(store, registry, events)
            .with(self.session.clock.clone(), Arc::new(SystemRandom))
            .counting(self.looking.clone())
    }

    /// A request to build the program, with nothing known of outputs.
    pub(crate) fn build_request<'b>(
        &'b self,
        purpose: Purpose,
        variables: &'b Variables,
        answers: &'b FunctionAnswers,
    ) -> BuildRequest<'b> {
        BuildRequest {
            stack: &self.stack.value,
            stage: &self.stage.value,
            purpose,
            registry: &self.registry,
            variables,
            home: self.session.environment.home(),
            plan_time: self.plan_time,
            now: self.session.clock.now(),
            random: &self.session.random,
            answers,
            known: None,
            waited_for: &[],
        }
    }

    /// Builds the program. Where the text needs outputs to say what else there is, the part that is there is previewed
    /// and the program built again with what became known.
    pub(crate) async fn program(
        &self,
        purpose: Purpose,
        reconciler: &Reconciler,
        options: &PlanOptions,
    ) -> CommandResult<BuiltProgram> {
        let variables = self.session.variables();
        let mut preview: Option<Preview> = None;
        let mut waited_for = Vec::new();
        let mut files: Vec<PathBuf> = Vec::new();
        let answers = FunctionAnswers::default();
        for _ in 0..PREVIEW_ROUNDS_MAX {
            let known = preview.as_ref().map(|preview| preview as _);
            let request = self.build_request(purpose, &variables, &answers);
            let request = BuildRequest { known, waited_for: &waited_for, ..request };
            let build = async || self.loaded.source.build(request).await;
            let mut built = reconciler.answered(&answers, options, build).await?;
            files.append(&mut built.files);
            if let Some(diagnostics) = built.stuck.take_if(|_| options.targets.is_empty()) {
                return Err(CommandError::Wrong { diagnostics, sources: built.program.sources });
            }
            if built.pending.is_empty() || built.stuck.is_some() || purpose != Purpose::Deploy {
                self.warn(&built.warnings, &built.program.sources);
                built.files = files;
                return Ok(built);
            }
            let previewed = reconciler.preview(&built.program, &of_part(&built.program, options)).await;
            preview = Some(previewed.map_err(|error| CommandError::of_engine(error, &built.program))?);
            waited_for = built.pending;
        }
        Err(Diagnostic::error("the program is not known as a whole even after many previews")
            .hint("a `count` or `for_each` depends on something that never becomes known")
            .into())
    }

    /// Remembers the stack's name for the next time: what a run leaves is found again under it.
    pub(crate) fn remember_stack(&self) -> CommandResult<()> {
        let memory = FolderMemory { stack: Some(self.stack.value.to_string()), ..self.memory.clone() };
        let folder = &self.session.folder;
        memory.update(folder).map_err(|error| CommandError::file("write in", folder, &error))
    }

    /// Remembers the stage as the one used last, once something was recorded in it (STATE-20). It only saves typing, so
    /// failing to is no failure.
    pub(crate) fn remember_stage(&self) {
        self.stage_memory()();
    }

    /// The same, for whoever hears of a run that begins.
    pub(crate) fn stage_memory(&self) -> impl Fn() + Send + Sync + use<> {
        let memory = FolderMemory {
            stack: Some(self.stack.value.to_string()),
            stage: Some(self.stage.value.to_string()),
        };
        let folder = self.session.folder.clone();
        move || drop(memory.update(&folder))
    }

    /// Forgets the stage, if it is the one that is remembered.
    pub(crate) fn forget_stage(&self) -> CommandResult<()> {
        if self.memory.stage.as_deref() != Some(self.stage.value.as_str()) {
            return Ok(());
        }
        let folder = &self.session.folder;
        let memory = FolderMemory { stage: None, ..self.memory.clone() };
        memory.update(folder).map_err(|error| CommandError::file("write in", folder, &error))
    }
}

/// A store that was not there, with the folder that is its place.
fn made(
    path: PathBuf,
    own: Option<PathBuf>,
    open: Arc<OpenStore>,
    request: StoreRequest,
) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
    Box::pin(async move {
        let unavailable = |cause: Cause| StoreError::Unavailable {
            attempted: "make",
            location: path.display().to_string(),
            cause,
        };
        if let Some(folder) = own {
            settings::make_own_folder(&folder).map_err(|error| unavailable(Cause::new(error)))?;
        }
        open(request).await.map_err(|error| match error {
            OpenError::Store(StoreError::Unavailable { cause, .. }) => unavailable(cause),
            OpenError::Store(error) => error,
            wrong @ OpenError::Settings(_) => unavailable(Cause::new(wrong)),
        })
    })
}

/// What the preview of a part of a program is about: what is in it. All else is not declared yet, rather than no longer.
fn of_part(program: &Program, options: &PlanOptions) -> PlanOptions {
    let resources = program.resources.iter().map(|declared| &declared.address);
    let data = program.data.iter().map(|declared| &declared.address);
    PlanOptions {
        targets: resources.chain(data).cloned().map(AddressRange::from).collect(),
        excludes: Vec::new(),
        replace: Vec::new(),
        ..options.clone()
    }
}
