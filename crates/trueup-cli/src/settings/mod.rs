//! What the user wants, from everywhere they can say it.

mod credentials;
mod env_file;
mod environment;
mod folder;
mod key;
mod profile;
mod resolve;
mod user;

pub(crate) use credentials::learn_credentials;
pub(crate) use env_file::parse_env_file;
pub use environment::Environment;
pub(crate) use folder::{FolderMemory, OWN_FOLDER, make_own_folder, make_private};
pub(crate) use key::{KeyServiceSetup, key, new_key, own_key_file};
pub(crate) use profile::Profile;
pub(crate) use resolve::{NoStage, Resolved, Source, parallelism, stack, stage, state};
pub(crate) use user::UserSettings;
