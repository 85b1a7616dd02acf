//! What was written of a server: an address, and what stands beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::server::Server;
use crate::tls::{self, TlsMode};

/// How long connecting may take, per address.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// After how long without an answer a silent connection is asked whether it is alive, and how often.
const KEEPALIVE: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

/// What was written of a server.
pub struct Address {
    client: Config,
    /// The parameters that only the caller knows.
    own: BTreeMap<String, String>,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
}

/// Why an address cannot be used. Never says a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(pub(crate) String);

impl Address {
    /// Reads an address such as `postgres://ada:secret@db.example.org:5432/infra?sslmode=verify-full`.
    ///
    /// It takes what tokio-postgres takes, and besides `sslrootcert`, the modes `verify-ca` and `verify-full` of
    /// `sslmode`, and the parameters that only the caller knows.
    pub fn parse(address: &str, own: &[&str]) -> Result<Address, AddressError> {
        let (address, mut known) = split(address, own)?;
        let client = address.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            AddressError(format!("the address of the database cannot be read{}", cause.unwrap_or_default()))
        })?;
        let (sslmode, sslrootcert) = (known.remove("sslmode"), known.remove("sslrootcert"));
        Ok(Address { client, own: known, sslmode, sslrootcert })
    }

    /// A parameter that only the caller knows.
    pub fn own(&self, name: &str) -> Option<&str> {
        self.own.get(name).map(String::as_str)
    }

    /// The host, or the folder of the socket.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> Self {
        self.client.host(host);
        self
    }

    /// The port.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.client.port(port);
        self
    }

    /// Who connects.
    #[must_use]
    pub fn with_user(mut self, user: &str) -> Self {
        self.client.user(user);
        self
    }

    /// The password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.client.password(password);
        self
    }

    /// The database.
    #[must_use]
    pub fn with_database(mut self, database: &str) -> Self {
        self.client.dbname(database);
        self
    }

    /// How much of TLS is asked for: one of PostgreSQL's modes.
    #[must_use]
    pub fn with_sslmode(mut self, mode: &str) -> Self {
        self.sslmode = Some(mode.to_owned());
        self
    }

    /// The file of the root certificate that counts.
    #[must_use]
    pub fn with_sslrootcert(mut self, path: &str) -> Self {
        self.sslrootcert = Some(path.to_owned());
        self
    }

    /// The server. What is not written is taken from these variables, for which `variable` is asked: `PGHOST`, `PGPORT`
    /// (both if no host is written), `PGUSER`, `PGPASSWORD`, `PGDATABASE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGOPTIONS`,
    /// `PGAPPNAME`, `PGCONNECT_TIMEOUT`.
    pub fn complete(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Server, AddressError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        complete(&mut self.client, variable)?;
        let mode = self.sslmode.or_else(|| variable("PGSSLMODE"));
        let root = self.sslrootcert.or_else(|| variable("PGSSLROOTCERT")).map(PathBuf::from);
        let mode = mode.as_deref().map_or(Ok(TlsMode::Prefer), TlsMode::parse).map_err(AddressError)?;
        // As with PostgreSQL's own programs, who names a root wants it to count.
        let mode = if mode == TlsMode::Require && root.is_some() { TlsMode::VerifyCa } else { mode };
        let by_socket_only = self.client.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)));
        self.client.ssl_mode(match mode {
            _ if by_socket_only => SslMode::Disable,
            TlsMode::Disable => SslMode::Disable,
            TlsMode::Prefer => SslMode::Prefer,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
        });
        let tls = tls::connector(mode, root.as_deref()).map_err(AddressError)?;
        Ok(Server { client: self.client, tls })
    }
}

/// The address without what tokio-postgres does not know, and that.
fn split(address: &str, own: &[&str]) -> Result<(String, BTreeMap<String, String>), AddressError> {
    let error = |text: &str| Err(AddressError(text.to_owned()));
    let Some(rest) = ["postgres://", "postgresql://"].iter().find_map(|it| address.strip_prefix(it)) else {
        return error("the address of the database must begin with `postgres://`");
    };
    if rest.split(['?']).next().is_some_and(|before| before.matches('@').count() > 1) {
        // What follows the first would be taken for the host, and be shown.
        return error(
            "the address of the database has several `@`: write those in user and password as `%40`",
        );
    }
    let mut known = BTreeMap::new();
    let Some((base, query)) = address.split_once('?') else {
        return Ok((address.to_owned(), known));
    };
    let mut others = Vec::new();
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if ["sslmode", "sslrootcert"].iter().chain(own).any(|it| *it == name) {
            known.insert(name.to_owned(), unescaped(value)?);
        } else {
            others.push(parameter);
        }
    }
    Ok((format!("{base}?{}", others.join("&")), known))
}

/// A value in which `%41` stands for `A`.
fn unescaped(value: &str) -> Result<String, AddressError> {
    let wrong =
        || AddressError(format!("`{value}` in the address of the database is not escaped as it should be"));
    let (mut bytes, mut rest) = (Vec::new(), value.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Fills in what the address does not say.
fn complete(client: &mut Config, variable: impl Fn(&str) -> Option<String>) -> Result<(), AddressError> {
    let number = |name: &str| match variable(name).map(|value| value.trim().parse::<u16>()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(AddressError(format!("{name} is not a number that it can be"))),
    };
    if client.get_hosts().is_empty() && client.get_hostaddrs().is_empty() {
        match variable("PGHOST") {
            Some(hosts) => {
                for host in hosts.split(',') {
                    client.host(host);
                }
            }
            None => {
                // Where the distributions put the socket, then the machine itself.
                #[cfg(unix)]
                client.host_path("/var/run/postgresql");
                client.host("localhost");
            }
        }
        if client.get_ports().is_empty()
            && let Some(port) = number("PGPORT")?
        {
            client.port(port);
        }
    }
    if client.get_user().is_none()
        && let Some(user) = variable("PGUSER")
    {
        client.user(user);
    }
    if client.get_password().is_none()
        && let Some(password) = variable("PGPASSWORD")
    {
        client.password(password);
    }
    if client.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE")
    {
        client.dbname(name);
    }
    if client.get_options().is_none()
        && let Some(options) = variable("PGOPTIONS")
    {
        client.options(options);
    }
    if client.get_application_name().is_none() {
        client.application_name(variable("PGAPPNAME").unwrap_or_else(|| "trueup".to_owned()));
    }
    if client.get_connect_timeout().is_none() {
        let seconds = number("PGCONNECT_TIMEOUT")?.filter(|seconds| *seconds > 0);
        client
            .connect_timeout(seconds.map_or(CONNECT_TIMEOUT, |seconds| Duration::from_secs(seconds.into())));
    }
    // A connection that has silently gone must be noticed before the lease is over.
    if client.get_keepalives_interval().is_none() {
        client
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .keepalives_retries(KEEPALIVE_RETRIES);
    }
    if client.get_tcp_user_timeout().is_none() {
        client.tcp_user_timeout(KEEPALIVE * KEEPALIVE_RETRIES);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: &str, variables: &[(&str, &str)]) -> Result<Server, AddressError> {
        let value = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        Address::parse(address, &["schema"])?.complete(value)
    }

    fn location(address: &str, variables: &[(&str, &str)]) -> String {
        read(address, variables).unwrap().location()
    }

    #[test]
    fn addresses_are_shown_without_their_password() {
        let shown = location("postgres://ada:hunter2@db:5433/infra?sslmode=require&schema=iac", &[]);
        assert_eq!(shown, "postgres://ada@db:5433/infra");
        assert_eq!(location("postgresql://[::1]/infra?password=hunter2", &[]), "postgres://[::1]:5432/infra");
        let config = read("postgres://ada:hunter2@db/infra", &[("PGPASSWORD", "hunter2")]).unwrap();
        assert_eq!(format!("{config:?}"), "Server(postgres://ada@db:5432/infra)");
    }

    #[test]
    fn what_the_address_does_not_say_is_taken_from_variables() {
        let variables = [
            ("PGHOST", "elsewhere"),
            ("PGPORT", "6000"),
            ("PGUSER", "eve"),
            ("PGPASSWORD", "hunter2"),
            ("PGDATABASE", "theirs"),
            ("PGSSLMODE", "disable"),
        ];
        assert_eq!(location("postgres://", &variables), "postgres://eve@elsewhere:6000/theirs");
        assert_eq!(location("postgres://ada@db/infra", &variables), "postgres://ada@db:5432/infra");
        let config = read("postgres://", &variables).unwrap();
        assert_eq!(config.client.get_password(), Some("hunter2".as_bytes()));
        assert_eq!(config.client.get_ssl_mode(), SslMode::Disable);
        assert_eq!(
            location("postgres:///infra", &[]),
            "postgres:///var/run/postgresql:5432,localhost:5432/infra"
        );
        assert_eq!(location("postgres:///i?host=/run/pg", &[("PGHOST", "")]), "postgres:///run/pg:5432/i");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_without_a_word_of_the_password() {
        for (address, variables, said) in [
            ("mysql://db", [("", "")], "the address of the database must begin with `postgres://`"),
            (
                "postgres://ada:hunter2@x@db/infra",
                [("", "")],
                "the address of the database has several `@`: write those in user and password as `%40`",
            ),
            (
                "postgres://ada:hunter2",
                [("", "")],
                "the address of the database cannot be read: invalid value for option `port`",
            ),
            (
                "postgres://ada:hunter2@db/infra?sslmode=sometimes",
                [("", "")],
                "`sometimes` is no mode of TLS: there are disable, prefer, require, verify-ca and verify-full",
            ),
            (
                "postgres://ada:hunter2@db/infra?colour=red",
                [("", "")],
                "the address of the database cannot be read: unknown option `colour`",
            ),
            ("postgres://", [("PGPORT", "many")], "PGPORT is not a number that it can be"),
            (
                "postgres://db?sslmode=verify-full&sslrootcert=/nowhere%2Fca.pem",
                [("", "")],
                "the root certificate /nowhere/ca.pem cannot be read: No such file or directory (os error 2)",
            ),
        ] {
            assert_eq!(read(address, &variables).unwrap_err().to_string(), said);
        }
    }
}
