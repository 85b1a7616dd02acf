//! What all commands of one call have in common: who runs them, where, and with what.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use trueup_core::Secret;
use trueup_engine::{Holder, RunOrigin};
use trueup_front_end::{GivenVariable, RandomBytes, RequiredProvider, StateSettings, Variables};
use trueup_provider::{Clock, Registry};

use crate::composition::{Composition, RegistryRequest};
use crate::failure::{CommandError, CommandResult};
use crate::interrupt::Interrupts;
use crate::log_file::LoggedSecrets;
use crate::settings::{Environment, Profile, UserSettings, learn_credentials};
use crate::ui::Ui;

/// One call of the command line.
pub(crate) struct Session<'a> {
    /// What the command line is made of.
    pub composition: &'a Composition,
    /// What people are told.
    pub ui: Ui,
    /// The environment.
    pub environment: Environment,
    /// The user's configuration file, or what is wrong with it.
    pub user: Result<UserSettings, String>,
    /// The folder to work in; absolute.
    pub folder: PathBuf,
    /// Ctrl-C and its kin.
    pub interrupts: Interrupts,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness for functions of the language.
    pub random: Arc<RandomBytes>,
    /// Values of variables from the command line, in order.
    pub given: Vec<GivenVariable>,
    /// The profile that was named.
    pub profile: Option<Profile>,
    /// The passphrase, once someone was asked for it.
    pub passphrase: Arc<OnceLock<Secret<String>>>,
    /// All that was asked for providers.
    pub registries: RefCell<Vec<Registry>>,
    /// The log file, if one is written; absolute and without links.
    pub log_file: Option<PathBuf>,
    /// What the log must not show.
    pub logged_secrets: LoggedSecrets,
    /// The command as it was typed, for whoever has to run it again.
    pub typed: String,
}

impl Session<'_> {
    /// The user's configuration. Only commands that need it fail if it cannot be read.
    pub(crate) fn user(&self) -> CommandResult<&UserSettings> {
        let user = self.user.as_ref();
        user.map_err(|wrong| CommandError::new(wrong.clone(), "correct the file, or remove it"))
    }

    /// The providers, for a stack whose state is kept there and whose program asks for these.
    pub(crate) fn registry(&self, state: &StateSettings, providers: &[RequiredProvider]) -> Registry {
        let ui = self.ui.clone();
        let registry = (self.composition.registry)(&RegistryRequest {
            folder: self.folder.clone(),
            state: state.clone(),
            providers: providers.to_vec(),
            clock: self.clock.clone(),
            open_store: self.opening_sealed(),
            environment: self.environment.clone(),
            interactive: self.ui.is_interactive(),
            notify: Arc::new(move |line| ui.note(line)),
        });
        learn_credentials(&self.environment, registry.secrets());
        self.logged_secrets.add(registry.secrets());
        self.registries.borrow_mut().push(registry.clone());
        match &self.profile {
            Some(profile) => profile.configured(registry),
            None => registry,
        }
    }

    /// Ends what providers started.
    pub(crate) async fn shut_down(&self) {
        for registry in self.registries.take() {
            registry.shut_down().await;
        }
    }

    /// The name of the binary.
    pub(crate) fn name(&self) -> &'static str {
        self.composition.name
    }

    /// Values of variables, from everywhere. Paths are made absolute, since only we know where they start.
    pub(crate) fn variables(&self) -> Variables {
        let absolute = |given: &GivenVariable| match given {
            GivenVariable::File(path) => GivenVariable::File(self.folder.join(path)),
            value @ GivenVariable::Value { .. } => value.clone(),
        };
        Variables {
            environment: self.environment.program_variables(),
            given: self.given.iter().map(absolute).collect(),
        }
    }

    /// How runs of this call were started, for their history.
    pub(crate) fn run_origin(&self) -> RunOrigin {
        RunOrigin { command: self.typed.clone(), ci_job: crate::ci::job(&self.environment) }
    }

    /// Who runs this, for those who wait for it.
    pub(crate) fn holder(&self) -> Holder {
        Holder { user: login(), host: whoami::hostname().unwrap_or_else(|_| "somewhere".to_owned()) }
    }
}

/// The login name of the user id, whatever the environment says.
pub(crate) fn login() -> String {
    let name = whoami::username().unwrap_or_else(|_| "someone".to_owned());
    // It becomes part of a stage's name.
    let sound =
        |char: char| if char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.') { char } else { '_' };
    name.chars().map(sound).collect()
}
