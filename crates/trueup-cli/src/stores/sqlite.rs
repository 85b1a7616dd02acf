//! The store that every binary has: a file in the folder of the stack.

use std::path::PathBuf;
use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_state::Store;
use trueup_store_sqlite::SqliteStore;

use super::settings::check_known;
use crate::composition::StoreRequest;
use crate::failure::store_trouble;
use crate::front_end::StateSettings;
use crate::settings::OWN_FOLDER;

pub(super) async fn open(request: StoreRequest) -> Result<Arc<dyn Store>, Diagnostics> {
    let StoreRequest { folder, state, clock } = request;
    let path = folder.join(sqlite_path(&state)?);
    match SqliteStore::open(path, clock).await {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(store_trouble(&error).into()),
    }
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
