//! The three stores: golden state is put into them, and taken out of them to be kept.

use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::postgres::Postgres;

use crate::golden::workplace::Workplace;
use crate::golden::{Golden, bucket, database};

/// The credentials of the emulator.
pub(crate) const CREDENTIALS: [(&str, &str); 3] =
    [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_REGION", "us-east-1")];

/// A server that keeps state, with its address.
pub(crate) struct Place {
    pub(crate) address: String,
    server: Server,
}

enum Server {
    Postgres { server: &'static Postgres, database: String },
    S3 { emulator: RunningEmulator, bucket: String },
}

/// The folder of the store below the bucket.
const PREFIX: &str = "team";

impl Place {
    /// An empty database; `None` where there is no server.
    pub(crate) fn in_postgres() -> Option<Place> {
        let server = Postgres::shared()?;
        let database = server.new_database().unwrap();
        Some(Place { address: server.url(&database), server: Server::Postgres { server, database } })
    }

    /// An empty bucket; `None` where there is no server.
    pub(crate) fn in_s3() -> Option<Place> {
        let emulator = Emulator::Ministack.shared()?;
        let bucket = emulator.new_bucket();
        let address = format!("s3://{bucket}/{PREFIX}?endpoint={}", emulator.endpoint());
        Some(Place { address, server: Server::S3 { emulator, bucket } })
    }

    /// The golden folder of a store of this kind.
    pub(crate) fn name(&self) -> &'static str {
        match self.server {
            Server::Postgres { .. } => "postgres",
            Server::S3 { .. } => "s3",
        }
    }

    /// Puts golden state into the empty store.
    pub(crate) fn restore(&self, golden: &Golden) {
        match &self.server {
            Server::Postgres { server, database } => {
                database::restore(server, database, &golden.text("postgres/dump.sql"));
            }
            Server::S3 { .. } => golden.files("s3").iter().for_each(|(key, bytes)| self.put(key, bytes)),
        }
    }

    /// Writes an object of the bucket.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        match &self.server {
            Server::Postgres { .. } => panic!("a database holds no objects"),
            Server::S3 { emulator, bucket } => {
                bucket::put(emulator.port(), &format!("/{bucket}/{PREFIX}/{key}"), bytes);
            }
        }
    }

    /// Takes golden state out of the store.
    pub(crate) fn save(&self, golden: &Golden) {
        match &self.server {
            Server::Postgres { server, database } => {
                golden.write("postgres/dump.sql", database::dump(&server.url(database)));
            }
            Server::S3 { emulator, bucket } => {
                for key in bucket::list(emulator.port(), bucket) {
                    let name = key.strip_prefix(PREFIX).unwrap().trim_start_matches('/');
                    golden.write(
                        &format!("s3/{name}"),
                        bucket::get(emulator.port(), &format!("/{bucket}/{key}")),
                    );
                }
            }
        }
    }

    /// Runs statements in the database.
    pub(crate) fn sql(&self, statements: &str) -> String {
        match &self.server {
            Server::Postgres { server, database } => server.sql(database, statements).unwrap(),
            Server::S3 { .. } => panic!("a bucket understands no SQL"),
        }
    }

    /// A golden stack with its state here.
    pub(crate) fn workplace(&self, golden: &Golden, stack: &str) -> Workplace {
        Workplace::of(golden, stack, &self.address)
    }
}
