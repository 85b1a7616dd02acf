//! A provider with one configuration, and the process that serves it.
//!
//! Calls start the process if need be and make it ready. A process that dies under a call is replaced by the next one;
//! whether the call itself is repeated depends on what it may have done.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use prost::Message;
use tokio_util::sync::CancellationToken;
use trueup_core::{Failure, FailureClass};
use trueup_provider::BoxFuture;

use crate::answers::{unanswered, warnings};
use crate::client::Client;
use crate::grpc::{Code, Status};
use crate::host::{KeptAnswers, Ticket};
use crate::pool::{Entrance, Lease, Pool};
use crate::process::{Launch, Plugin, PluginLog, StartError};
use crate::protocol::{
    ApplyRequest, ApplyResponse, ClientCapabilities, ConfigureRequest, DynamicValue, Empty,
    ValidateProviderRequest,
};

/// The version of Terraform whose behaviour providers find here; some look at it.
const TERRAFORM_VERSION: &str = "1.11.4";

/// What we can do that is not a matter of course.
pub(crate) const CAPABILITIES: ClientCapabilities =
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true };

/// What a call may leave behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing: it can be repeated.
    Looks,
    /// Anything: if it is not answered, nobody knows.
    Changes,
}

/// One of the calls of [`Client`].
pub(crate) type Call<Q, A> = fn(&Client, Q) -> BoxFuture<'static, Result<A, Status>>;

/// A provider with one configuration, or with none.
pub(crate) struct Instance {
    log: PluginLog,
    launch: Launch,
    pool: Arc<Pool>,
    key: u64,
    config: Option<DynamicValue>,
    /// Whether a process must tell its schemas before it does anything else.
    tells_schema: bool,
    /// Only one at a time starts the process.
    starting: tokio::sync::Mutex<()>,
}

impl Instance {
    pub(crate) fn new(
        log: PluginLog,
        launch: Launch,
        pool: Arc<Pool>,
        config: Option<DynamicValue>,
        tells_schema: bool,
    ) -> Self {
        let key = pool.key();
        let starting = tokio::sync::Mutex::new(());
        Instance { log, launch, pool, key, config, tells_schema, starting }
    }

    /// Logs what the provider says apart from its answers.
    pub(crate) fn log_warning(&self, warning: &str) {
        tracing::warn!(provider = self.log.name, "{}", self.log.secrets.scrubbed(warning));
    }

    /// Calls the provider. `method` says what for, in messages. When `cancellation` is raised, the provider is asked to
    /// come to an end, and its answer is still waited for.
    pub(crate) async fn call<Q: Clone, A>(
        &self,
        method: &str,
        effect: Effect,
        cancellation: Option<&CancellationToken>,
        request: Q,
        call: Call<Q, A>,
    ) -> Result<A, Failure> {
        let mut repeated = false;
        loop {
            let lease = self.lease().await?;
            let status = match attempt(&lease, cancellation, request.clone(), call).await {
                Ok(answer) => return Ok(answer),
                Err(status) => status,
            };
            let died = status.is_connection_lost() || !lease.running.plugin.is_running();
            if !died {
                return Err(unanswered(&self.log.name, method, &status, class_of(&status, effect)));
            }
            lease.running.stopped.store(true, Ordering::Relaxed);
            let obituary = lease.running.plugin.obituary().await;
            self.log_warning(&format!("the plugin went away while it was to {method}: {status}"));
            if effect == Effect::Looks && !repeated {
                repeated = true;
                continue;
            }
            return Err(self.died(method, effect, obituary));
        }
    }

    /// Asks for a change. If there is a host, it keeps the answer under the ticket until the run has recorded it.
    pub(crate) async fn change(
        &self,
        method: &str,
        cancellation: &CancellationToken,
        ticket: Ticket,
        message: ApplyRequest,
    ) -> Result<ApplyResponse, Failure> {
        let Some(host) = &self.launch.host else {
            return self.call(method, Effect::Changes, Some(cancellation), message, Client::apply).await;
        };
        self.pool.note_kept(KeptAnswers::new(host.answers()), ticket);
        let asked = (ticket, message);
        self.call(method, Effect::Changes, Some(cancellation), asked, Client::apply_kept).await
    }

    fn died(&self, method: &str, effect: Effect, obituary: Option<String>) -> Failure {
        let how = obituary.unwrap_or_else(|| "it no longer answers".to_owned());
        let message = format!(
            "the process of the provider {} went away while it was to {method}: {how}",
            self.log.name
        );
        match effect {
            Effect::Looks => Failure::new(FailureClass::Fatal, message),
            Effect::Changes => Failure::new(FailureClass::Indeterminate, message),
        }
    }

    /// The process, ready for use.
    async fn lease(&self) -> Result<Lease, Failure> {
        let _starting = self.starting.lock().await;
        match self.pool.enter(self.key).await {
            Entrance::Running(lease) => Ok(lease),
            Entrance::Start(place) => Ok(place.take(self.key, self.start().await?)),
        }
    }

    /// Starts the process now, so that what is wrong with it or its configuration is told now.
    pub(crate) async fn ensure_started(&self) -> Result<(), Failure> {
        self.lease().await.map(drop)
    }

    async fn start(&self) -> Result<Plugin, Failure> {
        let plugin = self.start_process().await.map_err(|error| self.not_started(&error))?;
        let client = plugin.client().clone();
        if self.tells_schema {
            let told = tokio::time::timeout(self.launch.start_timeout, client.schema(Empty {})).await;
            let told = told.unwrap_or_else(|_| Err(Status::new(Code::DeadlineExceeded, "no answer")));
            if let Err(status) = told {
                return Err(self.unready(&plugin, "tell its schemas", &status).await);
            }
        }
        if let Some(config) = &self.config {
            let request = ValidateProviderRequest { config: Some(config.clone()) };
            match client.validate_provider(request).await {
                Ok(answer) => self.warn(&answer.diagnostics)?,
                Err(status) => {
                    return Err(self.unready(&plugin, "validate its configuration", &status).await);
                }
            }
            let request = ConfigureRequest {
                terraform_version: TERRAFORM_VERSION.to_owned(),
                config: Some(config.clone()),
                client_capabilities: Some(CAPABILITIES),
            };
            match client.configure(request).await {
                Ok(answer) => self.warn(&answer.diagnostics)?,
                Err(status) => return Err(self.unready(&plugin, "take its configuration", &status).await),
            }
        }
        Ok(plugin)
    }

    /// A process for one configuration may be one that an earlier run left.
    async fn start_process(&self) -> Result<Plugin, StartError> {
        match &self.config {
            Some(config) => {
                let purpose =
                    [&[u8::from(self.tells_schema)], TERRAFORM_VERSION.as_bytes(), &config.encode_to_vec()];
                Plugin::start_for(&self.log, &self.launch, &purpose.concat()).await
            }
            None => Plugin::start_logged(&self.log, &self.launch).await,
        }
    }

    async fn unready(&self, plugin: &Plugin, method: &str, status: &Status) -> Failure {
        match status.is_connection_lost() {
            true => self.died(method, Effect::Looks, plugin.obituary().await),
            false => unanswered(&self.log.name, method, status, FailureClass::Fatal),
        }
    }

    fn warn(&self, messages: &[crate::protocol::Diagnostic]) -> Result<(), Failure> {
        for warning in warnings(messages, FailureClass::Invalid)? {
            self.log_warning(&warning.summary);
        }
        Ok(())
    }

    fn not_started(&self, error: &StartError) -> Failure {
        let failure = Failure::new(
            FailureClass::Fatal,
            format!("cannot start the provider {}: {error}", self.log.name),
        );
        match error {
            StartError::Missing(_) => failure.hint("install the provider, or say where it is"),
            StartError::Protocol(_) => failure.hint("use a newer version of the provider"),
            _ => failure,
        }
    }
}

async fn attempt<Q, A>(
    lease: &Lease,
    cancellation: Option<&CancellationToken>,
    request: Q,
    call: Call<Q, A>,
) -> Result<A, Status> {
    let client = lease.running.plugin.client();
    let mut answer = call(client, request);
    let Some(cancellation) = cancellation else { return answer.await };
    if let Some(answered) = cancellation.run_until_cancelled(&mut answer).await {
        return answered;
    }
    // A stopped provider refuses whatever comes next, so this process serves nobody else.
    if !lease.running.stopped.swap(true, Ordering::Relaxed) {
        let _ = client.stop(Empty {}).await;
    }
    answer.await
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.pool.remove(self.key);
    }
}

/// What an answer that is none means. A provider that does not know the call, or refused the request as such, has done
/// nothing.
fn class_of(status: &Status, effect: Effect) -> FailureClass {
    match (effect, status.code()) {
        (Effect::Changes, Code::Unimplemented | Code::InvalidArgument) | (Effect::Looks, _) => {
            FailureClass::Fatal
        }
        (Effect::Changes, _) => FailureClass::Indeterminate,
    }
}
