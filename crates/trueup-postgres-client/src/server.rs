//! A server that can be connected to.

use std::fmt;

use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The half of a connection that someone has to drive for as long as its client is used.
pub type ServerConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Where a server is, and how to connect to it.
#[derive(Clone)]
pub struct Server {
    pub(crate) client: Config,
    pub(crate) tls: MakeRustlsConnect,
}

impl Server {
    /// Connects.
    pub async fn connect(&self) -> Result<(Client, ServerConnection), Error> {
        self.client.connect(self.tls.clone()).await
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
