//! The stores that a binary has: a file in the folder of the stack always, servers by features.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "s3")]
mod s3;
mod settings;
mod sqlite;

use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics, mask_credentials};
use trueup_front_end::StateSettings;
use trueup_provider::BoxFuture;
use trueup_state::Store;

use crate::composition::{OpenError, StoreRequest};
use crate::settings::Environment;

pub(crate) use settings::of_address;
pub(crate) use sqlite::state_in_file;
pub use sqlite::{sqlite_file, sqlite_path, state_in_own_folder};

/// A kind of store, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "s3")]
    S3,
}

/// Opens the store that a request names.
pub fn open_store(request: StoreRequest) -> BoxFuture<'static, Result<Arc<dyn Store>, OpenError>> {
    Box::pin(async move {
        match kind(&request.state)? {
            Kind::Sqlite => sqlite::open(request).await,
            #[cfg(feature = "postgres")]
            Kind::Postgres => postgres::open(request).await,
            #[cfg(feature = "s3")]
            Kind::S3 => s3::open(request).await,
        }
    })
}

/// Where a store is, for people and without secrets. Of settings that are wrong, only the kind.
#[cfg_attr(not(any(feature = "postgres", feature = "s3")), expect(unused_variables, reason = "for servers"))]
pub(crate) fn location(state: &StateSettings, environment: &Environment) -> String {
    let found = kind(state).and_then(|kind| match kind {
        Kind::Sqlite => sqlite_path(state).map(|path| path.display().to_string()),
        #[cfg(feature = "postgres")]
        Kind::Postgres => postgres::config(state, environment).map(|config| config.location()),
        #[cfg(feature = "s3")]
        Kind::S3 => s3::config(state, environment).map(|config| config.location()),
    });
    // A user's name may turn out to hold a password.
    found.map_or_else(|_| state.kind.to_string(), |found| mask_credentials(&found).into_owned())
}

fn kind(state: &StateSettings) -> Result<Kind, Diagnostics> {
    match state.kind.as_str() {
        "sqlite" => Ok(Kind::Sqlite),
        #[cfg(feature = "postgres")]
        "postgres" => Ok(Kind::Postgres),
        #[cfg(feature = "s3")]
        "s3" => Ok(Kind::S3),
        #[allow(unreachable_patterns, reason = "with the features there is nothing to say")]
        left_out @ ("postgres" | "s3") => {
            let summary = format!("this program was built without the store `{left_out}`");
            Err(Diagnostic::error(summary).hint(format!("build it with `--features {left_out}`")).into())
        }
        other => {
            let summary = format!("there is no store of the kind `{other}`");
            Err(Diagnostic::error(summary).hint("the kinds are `sqlite`, `postgres` and `s3`").into())
        }
    }
}
