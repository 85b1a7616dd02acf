//! The store for teams: a schema in a PostgreSQL database, durable at every commit.
//!
//! [`PostgresStore`] makes each call on one connection (`link`), which is made anew when it was lost: as one statement
//! (`lease`, `keyring`, `contents`) or as one transaction (`commit`). A second connection hears when leases are given
//! back (`listener`). `config` says where to connect to, `session` sets the connection up, `schema` says what is in
//! the database, and `fault` what callers are told when something is wrong with it.
//!
//! **Guarantees**: what [`Store`] promises, by the server's clock and disk alone. A commit whose answer was lost with the
//! connection is looked up after the connection is back, so that its answer is never a guess. **Assumptions**: a server
//! that keeps what it acknowledged; PostgreSQL 13 or newer; a direct connection or a pooler that keeps sessions.
//! **Caveats**: it keeps what it is given, does not check that records follow from their entries, and seals nothing.
//! Calls must be made within a tokio runtime.

mod commit;
mod config;
mod contents;
mod fault;
mod keyring;
mod lease;
mod link;
mod listener;
mod schema;
mod session;

use std::sync::Arc;
use std::time::Duration;

use trueup_provider::{BoxFuture, Clock};
use trueup_state::rows::BatchRows;
use trueup_state::{
    Acquired, Batch, Entry, FencingToken, HeldLease, HistoryLine, Holder, Lease, RecordId, RunSummary, Scope,
    Snapshot, Store, StoreError, Version,
};

pub use config::{ConfigError, PostgresConfig};

use commit::Commit;
use fault::Fault;
use link::Link;
use listener::Listener;
use session::Session;

/// A store in a PostgreSQL database, which everyone in a team may have open.
pub struct PostgresStore {
    link: Link,
    listener: Listener,
}

impl PostgresStore {
    /// Connects to the database; lays out the schema if it is not there, and brings an older one up to date. The clock
    /// only says how long to wait for a server that is out of reach: leases expire by the server's.
    pub async fn open(config: PostgresConfig, clock: Arc<dyn Clock>) -> Result<PostgresStore, StoreError> {
        Ok(PostgresStore { link: Link::open(config, clock).await?, listener: Listener::default() })
    }

    fn failed(&self, attempted: &'static str, fault: impl Into<Fault>) -> StoreError {
        fault.into().told(attempted, &self.link.config)
    }

    /// A name that no other call has.
    fn fresh_name(&self) -> Result<String, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| {
            self.failed("write", Fault::Unusable(format!("no randomness can be had: {error}")))
        })?;
        Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
    }
}

impl Store for PostgresStore {
    fn location(&self) -> String {
        self.link.config.location()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Snapshot, StoreError>> {
        Box::pin(
            self.link.call("read", move |session, _| async move { contents::load(&session, scope).await }),
        )
    }

    fn versions<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Vec<(RecordId, Version)>, StoreError>> {
        Box::pin(
            self.link
                .call("read", move |session, _| async move { contents::versions(&session, scope).await }),
        )
    }

    fn acquire<'a>(
        &'a self,
        scope: &'a Scope,
        holder: &'a Holder,
        term: Duration,
    ) -> BoxFuture<'a, Result<Acquired, StoreError>> {
        Box::pin(async move {
            let claim = self.fresh_name()?;
            let claim = &claim;
            let take = |session: Arc<Session>, _| async move {
                lease::acquire(&session, scope, holder, term, claim).await
            };
            self.link.call("take the lease of", take).await
        })
    }

    fn renew<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.link.call("renew the lease of", move |session, _| async move {
            lease::renew(&session, scope, lease).await
        }))
    }

    fn release<'a>(&'a self, scope: &'a Scope, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.link.call("give back the lease of", move |session, _| async move {
            lease::release(&session, scope, lease).await
        }))
    }

    fn unlock<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(self.link.call("unlock", move |session, attempt| async move {
            lease::unlock(&session, scope, run, attempt).await
        }))
    }

    fn held<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<HeldLease>, StoreError>> {
        Box::pin(self.link.call("read", move |session, _| async move { lease::look(&session, scope).await }))
    }

    fn lease_freed<'a>(&'a self, scope: &'a Scope) -> Option<BoxFuture<'a, ()>> {
        Some(Box::pin(self.listener.freed(&self.link, scope)))
    }

    fn keyring<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(self.link.call("read", move |session, _| async move { keyring::get(&session, scope).await }))
    }

    fn replace_keyring<'a>(
        &'a self,
        scope: &'a Scope,
        expected: Option<&'a str>,
        keyring: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.link.call("write", move |session, attempt| async move {
            keyring::replace(&session, scope, expected, keyring, attempt).await
        }))
    }

    fn commit<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
        batch: &'a Batch,
    ) -> BoxFuture<'a, Result<Version, StoreError>> {
        Box::pin(async move {
            let rows = BatchRows::of(batch).map_err(|error| self.failed("write", error))?;
            let commit = &Commit::new(scope, token, &rows, &batch.history, self.fresh_name()?);
            let run = |session: Arc<Session>, _| async move { commit.run(&session).await };
            self.link.call("write", run).await.map_err(|error| commit.explained(error))
        })
    }

    fn journal<'a>(
        &'a self,
        scope: &'a Scope,
        id: RecordId,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(
            self.link
                .call("read", move |session, _| async move { contents::journal(&session, scope, id).await }),
        )
    }

    fn runs<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<RunSummary>, StoreError>> {
        Box::pin(
            self.link.call("read", move |session, _| async move { contents::runs(&session, scope).await }),
        )
    }

    fn history<'a>(
        &'a self,
        scope: &'a Scope,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<HistoryLine>, StoreError>> {
        Box::pin(
            self.link
                .call("read", move |session, _| async move { contents::history(&session, scope, run).await }),
        )
    }

    fn prune<'a>(&'a self, scope: &'a Scope, keep_runs: usize) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.link.call("write", move |session, _| async move {
            contents::prune(&session, scope, keep_runs).await
        }))
    }

    fn forget_before_resealing<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.link.call("write", move |session, _| async move {
            contents::forget_before_resealing(&session, scope, token).await
        }))
    }

    fn forget_scope<'a>(
        &'a self,
        scope: &'a Scope,
        token: FencingToken,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(
            self.link.call("write", move |session, _| async move {
                contents::forget(&session, scope, token).await
            }),
        )
    }

    fn scopes(&self) -> BoxFuture<'_, Result<Vec<Scope>, StoreError>> {
        Box::pin(self.link.call("read", move |session, _| async move { contents::scopes(&session).await }))
    }
}
