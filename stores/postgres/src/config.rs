//! Where the database is, in which schema of it the store is, and how long a server may be out of reach.

use std::fmt;
use std::time::Duration;

use trueup_core::KnownSecrets;
use trueup_postgres_client::{Address, AddressError, Server};

/// The schema that the tables are in unless another is named.
const SCHEMA: &str = "trueup";

/// How long a server may be out of reach in the middle of a run.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long a server may take to answer a call. None takes longer than reading a whole stage.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);

/// The largest answer: more than the records of any stage.
const ANSWER_BYTES_MAX: usize = 1 << 30;

/// Where the database is and how to connect to it.
#[derive(Clone)]
pub struct PostgresConfig {
    pub(crate) server: Server,
    pub(crate) schema: String,
    pub(crate) patience: Duration,
    pub(crate) answer_time_max: Duration,
    pub(crate) answer_bytes_max: usize,
    /// The password, which the server may repeat.
    pub(crate) secrets: KnownSecrets,
}

/// Why an address cannot be used. Never says a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The address itself.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No schema can have this name.
    #[error("`{0}` cannot be the name of a schema")]
    Schema(String),
}

impl PostgresConfig {
    /// Reads an address such as `postgres://ada:secret@db.example.org:5432/infra?sslmode=verify-full`: see [`Address`]
    /// for what it takes and which variables complete it, for which `variable` is asked. `schema` names the schema.
    pub fn parse(
        address: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<PostgresConfig, ConfigError> {
        let address = Address::parse(address, &["schema"])?;
        let schema = address.own("schema").unwrap_or(SCHEMA).to_owned();
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') || schema.starts_with("pg_") {
            return Err(ConfigError::Schema(schema));
        }
        let server = address.complete(variable)?;
        let secrets = KnownSecrets::default();
        if let Some(password) = server.password() {
            let public: Vec<&str> = server.user().into_iter().chain(server.database()).collect();
            secrets.learn_credential(&String::from_utf8_lossy(password), &public);
        }
        Ok(PostgresConfig {
            server,
            schema,
            patience: PATIENCE,
            answer_time_max: ANSWER_TIME_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
            secrets,
        })
    }

    /// How long a server may be out of reach in the middle of a run before a call fails.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> PostgresConfig {
        self.patience = patience;
        self
    }

    /// How long a server may take to answer a call, and how large an answer may be.
    #[must_use]
    pub fn with_answers_within(mut self, time_max: Duration, bytes_max: usize) -> PostgresConfig {
        (self.answer_time_max, self.answer_bytes_max) = (time_max, bytes_max);
        self
    }

    /// Where the database is, for people, without the password.
    pub fn location(&self) -> String {
        let schema = if self.schema == SCHEMA { String::new() } else { format!("?schema={}", self.schema) };
        format!("{}{schema}", self.server.location())
    }
}

impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresConfig({})", self.location())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_part_of_the_location_and_must_be_a_name() {
        let read = |address: &str| PostgresConfig::parse(address, |_| None);
        let config = read("postgres://ada:hunter2@db/infra?schema=iac&sslmode=require").unwrap();
        assert_eq!(format!("{config:?}"), "PostgresConfig(postgres://ada@db:5432/infra?schema=iac)");
        let refused = read("postgres://?schema=").unwrap_err().to_string();
        assert_eq!(refused, "`` cannot be the name of a schema");
    }
}
