//! The store that every binary has: a file in the folder of the stack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics, Value};
use trueup_front_end::StateSettings;
use trueup_state::Store;
use trueup_store_sqlite::SqliteStore;

use super::settings::check_known;
use crate::composition::{OpenError, StoreRequest};
use crate::settings::OWN_FOLDER;

pub(super) async fn open(request: StoreRequest) -> Result<Arc<dyn Store>, OpenError> {
    let StoreRequest { folder, state, clock, .. } = request;
    let path = folder.join(sqlite_path(&state)?);
    Ok(Arc::new(SqliteStore::open(path, clock).await?))
}

/// The settings of the default store: a file in the stack's own folder.
pub fn state_in_own_folder() -> StateSettings {
    state_in_file(&format!("{OWN_FOLDER}/state.db"))
}

/// The settings of a store in the file at this path, relative to the stack's folder.
pub(crate) fn state_in_file(path: &str) -> StateSettings {
    StateSettings { kind: "sqlite".into(), settings: Value::object([("path", path.into())]) }
}

/// The file that a store is, if it is one.
pub fn sqlite_file(state: &StateSettings, folder: &Path) -> Option<PathBuf> {
    let path = sqlite_path(state).ok().filter(|_| state.kind == "sqlite")?;
    Some(folder.join(path))
}

/// Where the file of such a store lies, as the settings say it.
pub fn sqlite_path(state: &StateSettings) -> Result<PathBuf, Diagnostics> {
    check_known(state, &["path"])?;
    match state.settings.get("path").filter(|path| !path.is_null()) {
        None => Ok(PathBuf::from(OWN_FOLDER).join("state.db")),
        Some(path) => match path.as_str() {
            Some(path) => Ok(path.into()),
            None => Err(Diagnostic::error("the `path` of a sqlite store must be a text").into()),
        },
    }
}
