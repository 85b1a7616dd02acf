//! The provider, its configuration and the names of its types.

use trueup_core::Secret;
use trueup_postgres_client::{Address, AddressError};
use trueup_provider::{Error, Inputs, NativeProvider, Result};

use crate::connections::Connections;
use crate::data::{ExistingRole, Query};
use crate::database::Database;
use crate::default_privileges::DefaultPrivileges;
use crate::extension::Extension;
use crate::grant::Grant;
use crate::role::Role;
use crate::schema::Schema;
use crate::sql::Sql;

/// Where objects are that name no database, if nothing else says it: a database that nearly every server has.
const DATABASE: &str = "postgres";

/// The configuration of the provider `pg`: which server, and who connects to it. What is not set here is taken from the
/// variables of PostgreSQL's own programs, such as `PGHOST` and `PGPASSWORD`.
#[derive(Inputs)]
#[trueup(at_most_one_of("url", "host"), at_most_one_of("url", "port"), at_most_one_of("url", "user"))]
pub struct Settings {
    /// The address, such as `postgres://ada@db.example.org:5432/app?sslmode=verify-full`.
    url: Option<Secret<String>>,
    /// The host's name or address, or the folder of the server's socket.
    host: Option<String>,
    /// The port.
    port: Option<u16>,
    /// Who connects.
    user: Option<String>,
    /// The password.
    password: Option<Secret<String>>,
    /// The database to connect to, and the one of objects that name none. Without it, and without `PGDATABASE`, it is
    /// `postgres`.
    database: Option<String>,
    /// How much of TLS is asked for: `disable`, `prefer` (the default), `require`, `verify-ca` or `verify-full`.
    #[trueup(one_of("disable", "prefer", "require", "verify-ca", "verify-full"))]
    sslmode: Option<String>,
    /// The file of the root certificate that counts for `verify-ca` and `verify-full`, instead of those that this
    /// machine trusts.
    sslrootcert: Option<String>,
    /// How many connections there may be at a time.
    #[trueup(default = 4, range(min = 1, max = 100))]
    connections: u16,
}

/// The provider `pg`. `variable` tells what environment variables say, for those that complete an address.
pub fn pg_provider(
    variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> NativeProvider<Connections> {
    let variable = std::sync::Arc::new(variable);
    let configure = move |settings: Settings| {
        let variable = variable.clone();
        async move { settings.connections(&*variable) }
    };
    NativeProvider::configured("pg", configure)
        .versioned(env!("CARGO_PKG_VERSION"))
        .converge::<Role>("role")
        .converge::<Database>("database")
        .converge::<Schema>("schema")
        .converge::<Extension>("extension")
        .converge::<Grant>("grant")
        .converge::<DefaultPrivileges>("default_privileges")
        .converge::<Sql>("sql")
        .data::<Query>("query")
        .data::<ExistingRole>("role")
}

impl Settings {
    /// What these settings lead to. Nothing is connected yet: a plan may not need it.
    fn connections(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Connections> {
        let wrong = |error: AddressError| Error::invalid(error.to_string());
        let url = self.url.as_ref().map_or("postgres://", |url| url.expose());
        let set = Address::parse(url, &[]).map_err(|error| wrong(error).at("url"))?;
        let set = self.host.iter().fold(set, |set, host| set.with_host(host));
        let set = self.port.iter().fold(set, |set, port| set.with_port(*port));
        let set = self.user.iter().fold(set, |set, user| set.with_user(user));
        let set = self.password.iter().fold(set, |set, password| set.with_password(password.expose()));
        let set = self.database.iter().fold(set, |set, database| set.with_database(database));
        let set = self.sslmode.iter().fold(set, |set, mode| set.with_sslmode(mode));
        let set = self.sslrootcert.iter().fold(set, |set, root| set.with_sslrootcert(root));
        let server = set.complete(variable).map_err(wrong)?;
        let database = server.database().unwrap_or(DATABASE).to_owned();
        Ok(Connections::new(server, &database, self.connections.into()))
    }
}
