//! Keys, as the command line comes by them: from settings, and from whoever sits at the terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trueup_core::Secret;
use trueup_front_end::StateSettings;
use trueup_state::sealing::{KeyKind, KeySources, Keyring, NewKeyFile, SealedStore, ServiceKey};
use trueup_state::{Scope, Store, StoreError};

use crate::composition::{OpenStore, StoreRequest};
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::settings::{self, Environment, KeyServiceSetup, UserSettings};
use crate::ui::shown_path;

impl Session<'_> {
    /// Makes clients of key services.
    pub(crate) fn key_service_setup(&self) -> KeyServiceSetup<'_> {
        let (clients, environment) = (&self.composition.key_services, &self.environment);
        KeyServiceSetup { clients, environment, clock: self.clock.clone() }
    }

    /// Where keys are, for a store of these settings. No key file is made in its folder, nor in that of the stack.
    pub(crate) fn key_sources(&self, user: &UserSettings, state: &StateSettings) -> KeySources {
        let sources = settings::key(&self.key_service_setup(), user).value;
        let own = settings::own_key_file(&self.environment);
        let state_file = crate::stores::sqlite_file(state, &self.folder);
        let state_folder = state_file.and_then(|file| Some(file.parent()?.to_owned()));
        let mut never_in: Vec<PathBuf> = [self.folder.clone()].into_iter().chain(state_folder).collect();
        if sources.file == own {
            // The user's own folder is where it is, also for someone whose stack is their home.
            let own_folder = own.as_ref().and_then(|file| file.parent());
            never_in.retain(|folder| Some(folder.as_path()) == own_folder);
        }
        let passphrase = sources.passphrase.clone().or_else(|| self.passphrase.get().cloned());
        // In a file, the state is one person's; on a server, a key that was made unseen is one that nobody else has.
        let new_file = match state.kind == "sqlite" || self.ui.is_interactive() {
            true => {
                let (ui, environment) = (self.ui.clone(), self.environment.clone());
                let announce = move |path: &Path| ui.note(&format!("{}\n", new_key_note(path, &environment)));
                NewKeyFile::Announce(Arc::new(announce))
            }
            false => NewKeyFile::Refuse,
        };
        KeySources { new_file, never_in, passphrase, ..sources }
    }

    /// Opens stores that seal, for those who read other stacks' outputs. Nobody is asked for a passphrase there.
    pub(crate) fn opening_sealed(&self) -> Arc<OpenStore> {
        let open = self.composition.open_store.clone();
        // A file that cannot be read is an error where the stack is loaded.
        let user = self.user.clone().unwrap_or_default();
        let sources = settings::key(&self.key_service_setup(), &user).value;
        let asked = self.passphrase.clone();
        Arc::new(move |request: StoreRequest| {
            let (open, sources, asked) = (open.clone(), sources.clone(), asked.clone());
            Box::pin(async move {
                let passphrase = sources.passphrase.clone().or_else(|| asked.get().cloned());
                let store = open(request).await?;
                Ok(Arc::new(SealedStore::new(store, KeySources { passphrase, ..sources })) as Arc<dyn Store>)
            })
        })
    }

    /// Asks for the passphrase that opens a keyring, if that is what it takes and nobody said it yet.
    pub(crate) fn ask_for_keyring(
        &self,
        keyring: Option<&str>,
        sources: &mut KeySources,
    ) -> CommandResult<()> {
        let kind = keyring.and_then(|text| Keyring::parse(text).ok()).and_then(|keyring| keyring.kind());
        if kind == Some(KeyKind::Passphrase) { self.ask_for_passphrase(sources) } else { Ok(()) }
    }

    /// Asks for the passphrase of what was sealed by the chosen kind of key, if that takes one.
    pub(crate) fn ask_for_chosen(&self, sources: &mut KeySources) -> CommandResult<()> {
        match sources.chosen {
            KeyKind::Passphrase => self.ask_for_passphrase(sources),
            KeyKind::File | KeyKind::Env | KeyKind::Command | KeyKind::Kms | KeyKind::Vault => Ok(()),
        }
    }

    /// Asks for a passphrase that there is already, if nobody said it yet.
    fn ask_for_passphrase(&self, sources: &mut KeySources) -> CommandResult<()> {
        if sources.passphrase.is_some() || !self.ui.is_interactive() {
            return Ok(());
        }
        let asked = self.ui.ask_hidden("Passphrase:", &|| self.interrupts.any());
        self.keep_passphrase(asked.ok_or(CommandError::Interrupted)?, sources);
        Ok(())
    }

    /// Asks for a passphrase to seal with from now on, if that is the chosen kind and nobody said it yet.
    pub(crate) fn ask_for_new(&self, sources: &mut KeySources) -> CommandResult<()> {
        if sources.chosen != KeyKind::Passphrase || sources.passphrase.is_some() || !self.ui.is_interactive()
        {
            return Ok(());
        }
        let ask = |question: &str| {
            let asked = self.ui.ask_hidden(question, &|| self.interrupts.any());
            asked.ok_or(CommandError::Interrupted)
        };
        let passphrase = ask("New passphrase for the secrets of this stage:")?;
        if passphrase.expose().is_empty() || ask("Repeat the passphrase:")? != passphrase {
            return Err(CommandError::new("the passphrases differ, or are empty", "try again"));
        }
        self.keep_passphrase(passphrase, sources);
        Ok(())
    }

    fn keep_passphrase(&self, passphrase: Secret<String>, sources: &mut KeySources) {
        // A second one is of a change of keys, and not for others to use.
        let _ = self.passphrase.set(passphrase.clone());
        sources.passphrase = Some(passphrase);
    }

    /// A store that seals, with all that has to be asked asked. For one that is to be written, a new key may be needed.
    pub(crate) async fn sealed(
        &self,
        store: Arc<dyn Store>,
        scope: &Scope,
        mut sources: KeySources,
        writes: bool,
    ) -> CommandResult<Arc<dyn Store>> {
        let keyring = store.keyring(scope).await?;
        self.ask_for_keyring(keyring.as_deref(), &mut sources)?;
        let kind = match keyring.as_deref().map(Keyring::parse).transpose() {
            Ok(keyring) => keyring.and_then(|keyring| keyring.kind()),
            Err(error) => {
                let Scope { stack, stage } = scope;
                let (stack, stage) = (stack.to_string(), stage.to_string());
                return Err(StoreError::Key { stack, stage, error }.into());
            }
        };
        if writes && kind.is_none() {
            self.ask_for_new(&mut sources)?;
        }
        Ok(Arc::new(SealedStore::new(store, sources)))
    }
}

/// What is said of a key file that was made.
pub(crate) fn new_key_note(path: &Path, environment: &Environment) -> String {
    let below_home = environment.home().and_then(|home| path.strip_prefix(home).ok());
    let shown = below_home.map_or_else(|| shown_path(path), |below| format!("~/{}", shown_path(below)));
    format!(
        "Created a key for the secrets in your state: {shown}\nKeep a copy elsewhere: without the key they cannot be decrypted."
    )
}

/// Where the chosen key is, for people.
pub(crate) fn told(sources: &KeySources) -> String {
    let place = match sources.chosen {
        KeyKind::File => {
            sources.file.as_ref().map_or("(nowhere)".to_owned(), |file| file.display().to_string())
        }
        KeyKind::Passphrase => sources.variables.passphrase.to_owned(),
        KeyKind::Env => sources.variables.key.to_owned(),
        KeyKind::Command => sources.command.join(" "),
        KeyKind::Kms => service_place(&sources.services.kms),
        KeyKind::Vault => service_place(&sources.services.vault),
    };
    format!("{} {place}", sources.chosen)
}

fn service_place(key: &ServiceKey) -> String {
    match key {
        ServiceKey::Ready(service) => service.location(),
        ServiceKey::Unset => "(no key is named)".to_owned(),
        ServiceKey::Unusable(why) => format!("({why})"),
    }
}
