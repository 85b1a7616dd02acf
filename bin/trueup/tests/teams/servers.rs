//! Servers to keep state on, and all that they hold.

use std::path::Path;
use std::process::Command;

use trueup_cli_harness::{Folder, Told};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::postgres::Postgres;

use crate::golden::bucket;

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

    /// Copies the store to a new folder, as the page on secrets says.
    pub(crate) fn back_up(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        match &self.server {
            Server::Postgres { server, .. } => {
                let to = format!("--file={}", folder.join("copy.dump").display());
                succeeds(server.client("pg_dump").args([
                    "--format=custom",
                    "--schema=trueup",
                    &to,
                    &self.address,
                ]));
            }
            Server::S3(emulator) => {
                for key in bucket::list(emulator.port(), "states") {
                    let file = folder.join(key.replace('/', "+"));
                    std::fs::write(file, bucket::get(emulator.port(), &format!("/states/{key}"))).unwrap();
                }
            }
        }
    }

    /// Puts a copy in the store's place.
    pub(crate) fn restore(&self, folder: &Path) {
        match &self.server {
            Server::Postgres { server, .. } => {
                let into = format!("--dbname={}", self.address);
                let from = folder.join("copy.dump");
                succeeds(server.client("pg_restore").args(["--clean", "--if-exists", &into]).arg(from));
            }
            Server::S3(emulator) => {
                for entry in std::fs::read_dir(folder).unwrap() {
                    let path = entry.unwrap().path();
                    let key = path.file_name().unwrap().to_str().unwrap().replace('+', "/");
                    bucket::put(emulator.port(), &format!("/states/{key}"), &std::fs::read(&path).unwrap());
                }
            }
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

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// What all files below a folder hold.
fn below(folder: &Path) -> Vec<u8> {
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
    if !folder.has(".config/trueup/key") {
        folder.give_key();
    }
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
