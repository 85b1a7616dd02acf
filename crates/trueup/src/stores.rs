//! Where state is kept, for programs that run the engine themselves. The command line opens stores by itself.
//!
//! [`MemoryStore`] forgets everything when the program ends. The others are durable, each behind the feature of its name:
//! `sqlite`, `postgres`, `s3`. A store keeps what it is given: put a [`SealedStore`] around it, which seals every secret.
//!
#![cfg_attr(feature = "sqlite", doc = "```")]
#![cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
//! use std::sync::Arc;
//! use trueup::stores::{KeySources, SealedStore, SqliteStore};
//! use trueup::{RuntimeClock, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (path, key) = (folder.path().join("state.db"), folder.path().join("key"));
//! # trueup::run(async {
//! let file = SqliteStore::open(path, Arc::new(RuntimeClock::new())).await?;
//! let keys = KeySources { file: Some(key), ..KeySources::default() };
//! let store: Arc<dyn Store> = Arc::new(SealedStore::new(Arc::new(file), keys));
//! # drop(store);
//! # Ok::<(), trueup::StoreError>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```

pub use trueup_state::sealing::{KeyKind, KeySources, NewKeyFile, SealedStore};
pub use trueup_state::{MemoryStore, Scope, Store, StoreError};
#[cfg(feature = "postgres")]
pub use trueup_store_postgres::{PostgresConfig, PostgresStore};
#[cfg(feature = "s3")]
pub use trueup_store_s3::{S3Config, S3Store};
#[cfg(feature = "sqlite")]
pub use trueup_store_sqlite::SqliteStore;
