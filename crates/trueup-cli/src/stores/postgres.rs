//! State in a PostgreSQL database.

use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_front_end::StateSettings;
use trueup_state::Store;
use trueup_store_postgres::{PostgresConfig, PostgresStore};

use super::settings::Fields;
use crate::composition::{OpenError, StoreRequest};
use crate::settings::Environment;

pub(super) async fn open(request: StoreRequest) -> Result<Arc<dyn Store>, OpenError> {
    Ok(Arc::new(PostgresStore::open(config(&request.state, &request.environment)?, request.clock).await?))
}

/// Where the database is; what the settings leave out is taken from the environment, as PostgreSQL's own programs do.
pub(super) fn config(
    state: &StateSettings,
    environment: &Environment,
) -> Result<PostgresConfig, Diagnostics> {
    let fields = Fields::of(state, &["url", "schema"])?;
    let mut url = fields.text("url")?.unwrap_or_else(|| "postgres://".to_owned());
    if let Some(schema) = fields.text("schema")? {
        let separator = if url.contains('?') { '&' } else { '?' };
        url.push_str(&format!("{separator}schema={schema}"));
    }
    let config = PostgresConfig::parse(&url, |name| environment.get(name).map(str::to_owned));
    config.map_err(|error| {
        let hint = "write it as postgres://USER@HOST/DATABASE; the password may come from PGPASSWORD";
        Diagnostic::error(format!("the state cannot be reached: {error}")).hint(hint).into()
    })
}
