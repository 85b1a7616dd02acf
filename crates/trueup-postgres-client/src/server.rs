//! A server that can be connected to.

use std::fmt;
use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::CONNECT_TIMEOUT;

/// The half of a connection that someone has to drive for as long as its client is used.
pub type ServerConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Why nobody could connect. Never says a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server was reached, and said nothing.
    #[error("the server does not answer")]
    NoAnswer,
    /// It was not reached, or refused.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Where a server is, and how to connect to it.
#[derive(Clone)]
pub struct Server {
    pub(crate) client: Config,
    pub(crate) tls: MakeRustlsConnect,
}

impl Server {
    /// Connects.
    pub async fn connect(&self) -> Result<(Client, ServerConnection), ConnectError> {
        // The client's own limit is for reaching the server, which may then still not answer.
        let connecting = tokio::time::timeout(self.answer_timeout(), self.client.connect(self.tls.clone()));
        Ok(connecting.await.map_err(|_| ConnectError::NoAnswer)??)
    }

    /// How long to wait until one of the hosts has let us in.
    fn answer_timeout(&self) -> Duration {
        let each = self.client.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        let hosts = self.client.get_hosts().len().max(self.client.get_hostaddrs().len());
        each.saturating_mul(u32::try_from(hosts).unwrap_or(1).saturating_mul(2))
    }

    /// The password, if there is one.
    pub fn password(&self) -> Option<&[u8]> {
        self.client.get_password()
    }

    /// The user, if one is named.
    pub fn user(&self) -> Option<&str> {
        self.client.get_user()
    }

    /// The database, if one is named.
    pub fn database(&self) -> Option<&str> {
        self.client.get_dbname()
    }

    /// The same server with another database.
    #[must_use]
    pub fn with_database(mut self, database: &str) -> Server {
        self.client.dbname(database);
        self
    }

    /// Where it is, for people, without the password.
    pub fn location(&self) -> String {
        let user = self.client.get_user().map(|user| format!("{user}@")).unwrap_or_default();
        let ports = self.client.get_ports();
        let hosts = self.client.get_hosts().iter().enumerate().map(|(at, host)| {
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => format!("{}:{port}", folder.display()),
            }
        });
        let hosts = hosts.collect::<Vec<_>>().join(",");
        let database = self.client.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
        format!("postgres://{user}{hosts}{database}")
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.location())
    }
}
