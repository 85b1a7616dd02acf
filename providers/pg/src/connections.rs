//! The connections that all resources of a provider's configuration share: few, to several databases, made when they are
//! needed and kept for the next call.
//!
//! A [`Session`] goes back when it is dropped, but only if nothing is under way on it: a call that was cut off leaves
//! the server in the middle of something, and its connection is closed, which undoes what was not committed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio_postgres::Client;
use trueup_core::FailureClass;
use trueup_postgres_client::{ConnectError, Server};
use trueup_provider::{Error, Result};

use crate::fault;
use crate::session::Session;

/// How the server is to treat every connection: names mean what the catalogue says, times are those of UTC, and nobody
/// waits forever or holds locks for someone who is gone.
const SETTINGS: &str = "
    SET search_path = pg_catalog;
    SET TimeZone = 'UTC';
    SET standard_conforming_strings = on;
    SET lock_timeout = '60s';
    SET idle_in_transaction_session_timeout = '60s';
    SET client_min_messages = 'error';
";

/// The server that a provider's configuration names, and the connections to it. A clone shares them.
#[derive(Clone)]
pub struct Connections(Arc<Shared>);

struct Shared {
    server: Server,
    database: String,
    connections_max: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<BTreeMap<String, Vec<Client>>>,
}

impl Connections {
    /// At most this many connections at a time to a server; `database` is where objects are that name no database.
    pub(crate) fn new(server: Server, database: &str, connections_max: usize) -> Self {
        Connections(Arc::new(Shared {
            server,
            database: database.to_owned(),
            connections_max,
            permits: Arc::new(Semaphore::new(connections_max)),
            idle: Mutex::default(),
        }))
    }

    /// The database of objects that name none.
    pub(crate) fn database(&self) -> &str {
        &self.0.database
    }

    /// A session on the provider's own database, from which roles and databases are managed.
    pub(crate) async fn main(&self) -> Result<Session> {
        self.to_change(&self.0.database).await
    }

    /// A session for looking at a database: *not found* if that is gone.
    pub(crate) async fn to_read(&self, database: &str) -> Result<Session> {
        let permits = self.0.permits.clone();
        let permit = permits.acquire_owned().await.map_err(|_| Error::fatal("the provider is closed"))?;
        let client = match self.kept(database) {
            Some(client) => client,
            None => self.connected(database).await?,
        };
        Ok(Session::new(client, self.clone(), database.to_owned(), permit))
    }

    /// A session for changing something in a database, which has to be there.
    pub(crate) async fn to_change(&self, database: &str) -> Result<Session> {
        let session = self.to_read(database).await;
        session.map_err(|error| fault::of_class(error, &FailureClass::NotFound, FailureClass::Invalid))
    }

    /// Takes a session back.
    pub(crate) fn keep(&self, database: String, client: Client) {
        self.idle().entry(database).or_default().push(client);
    }

    /// Closes the idle connections to a database, so that it can be renamed or dropped.
    pub(crate) fn leave(&self, database: &str) {
        self.idle().remove(database);
    }

    fn kept(&self, database: &str) -> Option<Client> {
        let mut idle = self.idle();
        let kept = std::iter::from_fn(|| idle.get_mut(database)?.pop()).find(|client| !client.is_closed());
        if kept.is_none() {
            // The new one takes the place of an idle one to some other database, if all places are taken.
            let leased = self.0.connections_max - self.0.permits.available_permits();
            while leased + idle.values().map(Vec::len).sum::<usize>() > self.0.connections_max {
                let Some(mut other) = idle.first_entry() else { break };
                other.get_mut().pop();
                if other.get().is_empty() {
                    other.remove();
                }
            }
        }
        kept
    }

    async fn connected(&self, database: &str) -> Result<Client> {
        let server = self.0.server.clone().with_database(database);
        let failed = |error: ConnectError| fault::connecting(&error, &server.location());
        let (client, connection) = server.connect().await.map_err(failed)?;
        // Ends when the client is dropped or the connection lost; whoever waits for an answer is told by the client.
        tokio::spawn(connection);
        client.batch_execute(SETTINGS).await.map_err(|error| failed(error.into()))?;
        Ok(client)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<Client>>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "connections to {}", self.0.server.location())
    }
}
