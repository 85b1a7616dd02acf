//! Servers to keep state on, and all that they hold.

use trueup_cli_harness::{Folder, Told};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::postgres::Postgres;

/// A server, and the variables by which it is reached.
pub(crate) struct Place {
    pub(crate) address: String,
    server: Server,
}

enum Server {
    Postgres { server: &'static Postgres, database: String },
    S3(RunningEmulator),
}

impl Place {
    /// A database of its own; `None` where there is no server.
    pub(crate) fn in_postgres() -> Option<Self> {
        let server = Postgres::shared()?;
        let database = server.new_database().unwrap();
        Some(Place { address: server.url(&database), server: Server::Postgres { server, database } })
    }

    /// A bucket of its own; `None` where there is no server.
    pub(crate) fn in_s3() -> Option<Self> {
        let emulator = Emulator::Ministack.start()?;
        emulator.create_bucket("states");
        let address = format!("s3://states/team?endpoint={}", emulator.endpoint());
        Some(Place { address, server: Server::S3(emulator) })
    }

    /// Everything that the server tells to who may read it.
    pub(crate) fn contents(&self) -> Vec<u8> {
        match &self.server {
            Server::Postgres { server, database } => {
                let tables = "SELECT query_to_xml(format('SELECT * FROM %I.%I', table_schema, table_name), true, true, '') \
                     FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')";
                server.sql(database, tables).unwrap().into_bytes()
            }
            Server::S3(emulator) => below(emulator.data()),
        }
    }

    /// Everything that lies on the server's disk, logs and what was overwritten included.
    pub(crate) fn disk(&self) -> Vec<u8> {
        match &self.server {
            Server::Postgres { server, database } => {
                server.sql(database, "CHECKPOINT").unwrap();
                below(server.folder())
            }
            Server::S3(emulator) => below(emulator.data()),
        }
    }
}

/// What all files below a folder hold.
fn below(folder: &std::path::Path) -> Vec<u8> {
    let (mut all, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match std::fs::metadata(&path) {
                Ok(it) if it.is_dir() => folders.push(path),
                // Servers remove files while they are looked at.
                Ok(it) if it.is_file() => all.extend(std::fs::read(&path).unwrap_or_default()),
                _ => {}
            }
        }
    }
    all
}

/// What reaches every server of the tests, besides the address.
pub(crate) const CREDENTIALS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_REGION", "us-east-1")];

/// Runs the binary with state at an address.
pub(crate) fn run_at(folder: &Folder, address: &str, arguments: &str, more: &[(&str, &str)]) -> Told {
    let mut environment = CREDENTIALS.to_vec();
    environment.push(("TRUEUP_STATE", address));
    environment.extend(more);
    folder.run_with(arguments, &environment)
}

/// Runs what must succeed.
pub(crate) fn done_at(folder: &Folder, address: &str, arguments: &str) -> Told {
    let told = run_at(folder, address, arguments, &[]);
    assert_eq!(told.code, 0, "{arguments}: {told:?}");
    told
}

pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
