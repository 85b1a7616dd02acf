//! Validation, and the provider's configuration.

use std::sync::PoisonError;

use trueup_core::Value;
use trueup_provider::InputValues;
use trueup_terraform::protocol::{
    ConfigureRequest, DiagnosticsResponse, ValidateProviderRequest, ValidateProviderResponse, ValidateRequest,
};

use super::{Configuration, Service, decoded};
use crate::calls::caught;
use crate::diagnostics::{self, Messages};
use crate::surface::Surface;

impl Service {
    pub(crate) async fn validate_provider(
        &self,
        request: ValidateProviderRequest,
    ) -> ValidateProviderResponse {
        let diagnostics = self.check_configuration(&request).await.unwrap_or_else(|messages| messages);
        ValidateProviderResponse { diagnostics }
    }

    async fn check_configuration(&self, request: &ValidateProviderRequest) -> Result<Messages, Messages> {
        let surface = &self.configuration;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let (desired, mut wrong) = surface.desired(&config);
        if !wrong.has_errors() {
            let checked = caught(self.provider.validate_config(&desired.effective)).await;
            wrong.extend(checked.map_err(|failure| self.misconfigured(&failure))?);
        }
        Ok(diagnostics::diagnostics(&wrong, &surface.schema.block))
    }

    pub(crate) async fn configure(&self, request: ConfigureRequest) -> DiagnosticsResponse {
        let diagnostics = self.set_up(&request).await.err().unwrap_or_default();
        DiagnosticsResponse { diagnostics }
    }

    async fn set_up(&self, request: &ConfigureRequest) -> Result<(), Messages> {
        let surface = &self.configuration;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let (InputValues { written, effective }, wrong) = surface.desired(&config);
        if wrong.has_errors() {
            return Err(diagnostics::diagnostics(&wrong, &surface.schema.block));
        }
        let configuration = match effective.is_wholly_known() {
            false => Configuration::Unknown,
            true => {
                let configured = caught(self.provider.configure(&effective)).await.and_then(|it| it);
                let configured = configured.map_err(|failure| self.misconfigured(&failure))?;
                Configuration::Ready(configured.with_value(written))
            }
        };
        *self.configured.write().unwrap_or_else(PoisonError::into_inner) = configuration;
        Ok(())
    }

    fn misconfigured(&self, failure: &trueup_core::Failure) -> Messages {
        diagnostics::failure("cannot configure the provider", failure, &self.configuration.schema.block)
    }

    pub(crate) async fn validate_resource(&self, request: ValidateRequest) -> DiagnosticsResponse {
        let diagnostics = self.check_resource(&request).await.unwrap_or_else(|messages| messages);
        DiagnosticsResponse { diagnostics }
    }

    async fn check_resource(&self, request: &ValidateRequest) -> Result<Messages, Messages> {
        let resource = self.resource(&request.type_name)?;
        let surface = &resource.surface;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let (desired, mut wrong) = surface.desired(&config);
        if !wrong.has_errors() {
            let request = trueup_provider::ValidateRequest { config: None, inputs: &desired };
            let checked = caught(resource.handler.validate(request)).await;
            wrong.extend(checked.map_err(|failure| surface.failed("cannot validate", &failure))?);
        }
        let mut messages = diagnostics::diagnostics(&wrong, &surface.schema.block);
        let allowed = request.client_capabilities.as_ref().is_some_and(|it| it.write_only_attributes_allowed);
        if !allowed {
            messages.extend(surface.refuse_write_only(&config));
        }
        Ok(messages)
    }

    pub(crate) async fn validate_data(&self, request: ValidateRequest) -> DiagnosticsResponse {
        let diagnostics = self.check_data(&request).await.unwrap_or_else(|messages| messages);
        DiagnosticsResponse { diagnostics }
    }

    async fn check_data(&self, request: &ValidateRequest) -> Result<Messages, Messages> {
        let data = self.data(&request.type_name)?;
        let surface = &data.surface;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let (desired, mut wrong) = surface.desired(&config);
        if !wrong.has_errors() {
            let request = trueup_provider::ValidateRequest { config: None, inputs: &desired };
            let checked = caught(data.handler.validate(request)).await;
            wrong.extend(checked.map_err(|failure| surface.failed("cannot validate", &failure))?);
        }
        Ok(diagnostics::diagnostics(&wrong, &surface.schema.block))
    }
}

impl Surface {
    /// Errors for a failed operation on this type.
    pub(super) fn failed(&self, attempted: &str, failure: &trueup_core::Failure) -> Messages {
        diagnostics::failure(&format!("{attempted} {}", self.type_name), failure, &self.schema.block)
    }

    /// Older versions of Terraform would store write-only values.
    fn refuse_write_only(&self, config: &Value) -> Messages {
        let refused = self.write_only_set(config).into_iter().map(|name| {
            let place = trueup_core::Path::attribute(name.clone());
            let detail = format!("`{name}` must never be kept, which takes Terraform 1.11 or later.");
            diagnostics::error_at(
                &self.schema.block,
                &place,
                "Write-only attributes are not supported",
                detail,
            )
        });
        refused.collect()
    }
}
