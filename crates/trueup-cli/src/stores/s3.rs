//! State in a bucket.

use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_front_end::StateSettings;
use trueup_state::Store;
use trueup_store_s3::{S3Config, S3Store};

use super::settings::Fields;
use crate::composition::{OpenError, StoreRequest};
use crate::settings::Environment;

pub(super) async fn open(request: StoreRequest) -> Result<Arc<dyn Store>, OpenError> {
    Ok(Arc::new(S3Store::open(&config(&request.state, &request.environment)?, request.clock).await?))
}

/// Where the bucket is. Credentials come from the environment alone.
pub(super) fn config(state: &StateSettings, environment: &Environment) -> Result<S3Config, Diagnostics> {
    let known = ["bucket", "prefix", "region", "endpoint", "virtual_hosted"];
    let fields = Fields::of(state, &known)?;
    let Some(bucket) = fields.text("bucket")?.filter(|bucket| !bucket.is_empty()) else {
        return Err(Diagnostic::error("an s3 store needs a `bucket`").into());
    };
    let endpoint = fields.text("endpoint")?;
    for (name, value) in [("bucket", Some(&bucket)), ("endpoint", endpoint.as_ref())] {
        if value.is_some_and(|value| value.contains('@')) {
            let hint = "give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another way of AWS's tools";
            let summary = format!("the `{name}` of an s3 store holds credentials, or a stray `@`");
            return Err(Diagnostic::error(summary).hint(hint).into());
        }
    }
    Ok(S3Config {
        bucket,
        prefix: fields.text("prefix")?.unwrap_or_default(),
        region: fields.text("region")?,
        endpoint,
        virtual_hosted: fields.flag("virtual_hosted")?,
        environment: environment.starting_with("AWS_"),
        ..S3Config::default()
    })
}
