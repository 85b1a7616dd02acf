//! Ephemeral resources: opened for a run, kept open while it lasts, closed at its end, and never recorded.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::Configured;

use crate::answers::{mistake, refuse_deferred, unreadable, unsendable, warnings};
use crate::catalogue::Section;
use crate::client::Client;
use crate::instance::{CAPABILITIES, Effect, Instance};
use crate::protocol::{
    CloseEphemeralRequest, OpenEphemeralRequest, RenewEphemeralRequest, Timestamp, ValidateRequest,
};
use crate::provider::TerraformProvider;

/// An ephemeral resource that is open.
pub struct Ephemeral {
    provider: String,
    type_name: SmolStr,
    instance: Arc<Instance>,
    private: Option<prost::bytes::Bytes>,
    /// What it gives.
    pub result: Value,
    /// When it must be renewed at the latest; never, if there is no such time.
    pub renew_at: Option<SystemTime>,
}

impl TerraformProvider {
    /// The names of all ephemeral resources.
    pub async fn ephemeral_types(&self) -> Result<Vec<SmolStr>, Failure> {
        Ok(self.shared().catalogue().await?.names(Section::Ephemeral))
    }

    /// What an ephemeral resource takes and gives, if there is one of that name.
    pub async fn ephemeral_schema(&self, type_name: &str) -> Result<Option<Arc<Block>>, Failure> {
        let schema = self.shared().schema(Section::Ephemeral, type_name).await?;
        Ok(schema.map(|schema| schema.block.clone()))
    }

    /// Opens an ephemeral resource with inputs that were checked against its schema and are known.
    pub async fn open_ephemeral(
        &self,
        config: &Configured,
        type_name: &str,
        inputs: &Value,
    ) -> Result<Ephemeral, Failure> {
        let shared = self.shared();
        let provider = shared.name();
        let schema = shared.schema(Section::Ephemeral, type_name).await?.ok_or_else(|| {
            let message = format!("the provider {provider} has no ephemeral resource `{type_name}`");
            Failure::new(FailureClass::Invalid, message)
        })?;
        let config_value = schema
            .encode(&schema.complete(inputs))
            .map_err(|error| unsendable(provider, "the configuration", &error))?;
        let instance = shared.configured(config)?;
        let validate = ValidateRequest {
            type_name: type_name.to_owned(),
            config: Some(config_value.clone()),
            client_capabilities: None,
        };
        let judged = instance
            .call("validate an ephemeral resource", Effect::Looks, None, validate, Client::validate_ephemeral)
            .await?;
        warnings(&judged.diagnostics, FailureClass::Invalid)?;
        let open = OpenEphemeralRequest {
            type_name: type_name.to_owned(),
            config: Some(config_value),
            client_capabilities: Some(CAPABILITIES),
        };
        let opened = instance
            .call("open an ephemeral resource", Effect::Changes, None, open, Client::open_ephemeral)
            .await?;
        warnings(&opened.diagnostics, FailureClass::Fatal)?;
        refuse_deferred(provider, opened.deferred.as_ref())?;
        let result = schema
            .decode(opened.result.as_ref())
            .map_err(|error| unreadable(provider, "an ephemeral resource", &error))?;
        if result.is_null() || !result.is_wholly_known() {
            return Err(mistake(provider, "it opened an ephemeral resource that is not known"));
        }
        Ok(Ephemeral {
            provider: provider.to_owned(),
            type_name: type_name.into(),
            instance,
            private: opened.private,
            result: schema.marked(&result, [inputs]),
            renew_at: time_of(opened.renew_at),
        })
    }
}

impl Ephemeral {
    /// Keeps it open; to be called before `renew_at`.
    pub async fn renew(&mut self) -> Result<(), Failure> {
        let request =
            RenewEphemeralRequest { type_name: self.type_name.to_string(), private: self.private.clone() };
        let renewed = self
            .instance
            .call("renew an ephemeral resource", Effect::Changes, None, request, Client::renew_ephemeral)
            .await?;
        warnings(&renewed.diagnostics, FailureClass::Fatal)?;
        self.private = renewed.private;
        self.renew_at = time_of(renewed.renew_at);
        Ok(())
    }

    /// Closes it.
    pub async fn close(self) -> Result<(), Failure> {
        let request = CloseEphemeralRequest { type_name: self.type_name.to_string(), private: self.private };
        let closed = self
            .instance
            .call("close an ephemeral resource", Effect::Changes, None, request, Client::close_ephemeral)
            .await?;
        for warning in warnings(&closed.diagnostics, FailureClass::Fatal)? {
            tracing::warn!(provider = self.provider, "{}", warning.summary);
        }
        Ok(())
    }
}

fn time_of(sent: Option<Timestamp>) -> Option<SystemTime> {
    let Timestamp { seconds, nanos } = sent?;
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).unwrap_or_default());
    SystemTime::UNIX_EPOCH.checked_add(since)
}
