//! The connection that calls take turns on: made when it is needed, and made again when it was lost.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use trueup_provider::Clock;
use trueup_state::StoreError;

use crate::config::PostgresConfig;
use crate::fault::Fault;
use crate::schema;
use crate::session::{Session, in_time};

/// How long to wait before the server is tried again; doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Whether a call is made for the first time, or once more after the connection was lost in the middle of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Try {
    First,
    Again,
}

pub(crate) struct Link {
    pub(crate) config: PostgresConfig,
    pub(crate) clock: Arc<dyn Clock>,
    /// Empty while a call has it. A call that is dropped drops the session, in whatever state that is.
    session: Mutex<Option<Arc<Session>>>,
}

impl Link {
    /// Connects, and makes the schema ready.
    pub(crate) async fn open(config: PostgresConfig, clock: Arc<dyn Clock>) -> Result<Link, StoreError> {
        let ready = in_time(&config, async {
            let session = Session::connect(&config, drop).await?;
            schema::make_ready(&session, &config.schema, schema::MIGRATIONS).await?;
            Ok(session)
        });
        let session = ready.await.map_err(|fault: Fault| fault.told("open", &config))?;
        Ok(Link { config, clock, session: Mutex::new(Some(Arc::new(session))) })
    }

    /// Makes a call, and makes it again while the server is out of reach and patience lasts. A call must therefore be
    /// such that making it again does no harm, or find out what became of it when it is made again.
    pub(crate) async fn call<T, F>(
        &self,
        attempted: &'static str,
        call: impl Fn(Arc<Session>, Try) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut slot = self.session.lock().await;
        let (mut attempt, mut lost_at, mut pause) = (Try::First, None, PAUSE_MIN);
        loop {
            let outcome = match slot.take().filter(|session| !session.client.is_closed()) {
                Some(session) => Ok(session),
                None => in_time(&self.config, Session::connect(&self.config, drop)).await.map(Arc::new),
            };
            let outcome = match outcome {
                Ok(session) => {
                    let outcome = in_time(&self.config, call(session.clone(), attempt)).await;
                    if matches!(outcome, Ok(_) | Err(Fault::Refused(_))) {
                        *slot = Some(session);
                    }
                    attempt = Try::Again;
                    outcome
                }
                Err(fault) => Err(fault),
            };
            let cause = match outcome {
                Ok(answer) => return Ok(answer),
                Err(Fault::Lost(cause)) => cause,
                Err(fault) => return Err(fault.told(attempted, &self.config)),
            };
            let now = self.clock.now();
            let since = *lost_at.get_or_insert(now);
            if now.duration_since(since).unwrap_or_default() + pause > self.config.patience {
                return Err(Fault::Lost(cause).told(attempted, &self.config));
            }
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
