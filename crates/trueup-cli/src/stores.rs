//! The store that every binary has: a file in the folder of the stack.

use std::path::PathBuf;
use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics, Value};
use trueup_provider::BoxFuture;
use trueup_state::Store;
use trueup_store_sqlite::SqliteStore;

use crate::composition::StoreRequest;
use crate::failure::store_trouble;
use crate::front_end::StateSettings;
use crate::settings::OWN_FOLDER;

/// Opens stores of the kind `sqlite`. Binaries with more kinds ask this one for its own.
pub fn open_sqlite(request: StoreRequest) -> BoxFuture<'static, Result<Arc<dyn Store>, Diagnostics>> {
    Box::pin(async move {
        let StoreRequest { folder, state, clock } = request;
        if state.kind != "sqlite" {
            let summary = format!("there is no store of the kind `{}`", state.kind);
            return Err(Diagnostic::error(summary).hint("this program has `sqlite`").into());
        }
        let path = folder.join(sqlite_path(&state)?);
        match SqliteStore::open(path, clock).await {
            Ok(store) => Ok(Arc::new(store) as Arc<dyn Store>),
            Err(error) => Err(store_trouble(&error).into()),
        }
    })
}

/// Where the file of such a store lies, as the settings say it.
pub fn sqlite_path(state: &StateSettings) -> Result<PathBuf, Diagnostics> {
    let unknown = state.settings.as_entries().and_then(|entries| entries.keys().find(|name| *name != "path"));
    if let Some(name) = unknown {
        let mut diagnostic = Diagnostic::error(format!("a sqlite store has no setting `{name}`"));
        diagnostic.origin = state.settings.get(name).and_then(Value::origin);
        return Err(diagnostic.hint("it takes `path`").into());
    }
    match state.settings.get("path").filter(|path| !path.is_null()) {
        None => Ok(PathBuf::from(OWN_FOLDER).join("state.db")),
        Some(path) => match path.as_str() {
            Some(path) => Ok(path.into()),
            None => Err(Diagnostic::error("the `path` of a sqlite store must be a text").into()),
        },
    }
}
