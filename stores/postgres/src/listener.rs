//! Hears on a connection of its own that leases were given back, so that who waits for one need not ask.

use std::time::Duration;

use tokio::sync::{Mutex, broadcast};
use tokio_postgres::AsyncMessage;
use trueup_state::Scope;

use crate::fault::Fault;
use crate::lease::{self, CHANNEL};
use crate::link::Link;
use crate::session::{Session, in_time};

/// How long to wait where nothing can be heard, before the lease is asked for again.
const DEAF: Duration = Duration::from_secs(1);

/// How many messages may wait for one listener; who misses some simply asks.
const MESSAGES: usize = 64;

#[derive(Default)]
pub(crate) struct Listener(Mutex<Option<Ear>>);

/// A connection that listens for as long as it is kept.
struct Ear {
    session: Session,
    heard: broadcast::WeakSender<String>,
}

impl Listener {
    /// Completes when the lease of a scope may have been given back.
    pub(crate) async fn freed(&self, link: &Link, scope: &Scope) {
        if self.hear(link, scope).await.is_err() {
            link.clock.sleep(DEAF).await;
        }
    }

    async fn hear(&self, link: &Link, scope: &Scope) -> Result<(), Fault> {
        let (mut messages, found) = {
            let mut slot = self.0.lock().await;
            let (ear, messages) = match slot.take() {
                // The sender lives as long as the connection.
                Some(ear) if let Some(heard) = ear.heard.upgrade() => (ear, heard.subscribe()),
                _ => in_time(&link.config, Ear::open(link)).await?,
            };
            // What was given back before we listened is not told any more: look.
            let found = in_time(&link.config, lease::is_held(&ear.session, scope)).await?;
            *slot = Some(ear);
            (messages, found)
        };
        let Some((name, true)) = found else { return Ok(()) };
        loop {
            match messages.recv().await {
                Ok(message) if message != name => {}
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return Ok(()),
                Err(broadcast::error::RecvError::Closed) => {
                    return Err(Fault::Lost("the listening connection ended".to_owned()));
                }
            }
        }
    }
}

impl Ear {
    async fn open(link: &Link) -> Result<(Ear, broadcast::Receiver<String>), Fault> {
        let (sender, messages) = broadcast::channel(MESSAGES);
        let heard = sender.downgrade();
        let hear = move |message| {
            if let AsyncMessage::Notification(notification) = message {
                let _ = sender.send(notification.payload().to_owned());
            }
        };
        let session = Session::connect(&link.config, hear).await?;
        session.client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        Ok((Ear { session, heard }, messages))
    }
}
