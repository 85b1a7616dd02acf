//! The conformance kit on the server that all tests share.

use trueup_conformance::{CheckReport, Kit, Outcome};
use trueup_core::{Value, value};
use trueup_provider_pg::pg_provider;
use trueup_test_servers::postgres::Postgres;
use trueup_test_servers::sized;

/// A resource type on the shared server, and how to meddle with its objects. All statements are the superuser's.
pub(crate) struct Subject {
    pub(crate) type_name: &'static str,
    /// Where statements are run.
    pub(crate) database: String,
    pub(crate) inputs: Value,
    pub(crate) updated: Value,
    pub(crate) replaced: Option<Value>,
    /// Changes the object of the first inputs.
    pub(crate) tamper: &'static str,
    /// Remove it, each alone.
    pub(crate) remove: &'static [&'static str],
    /// Makes one of the same identity that is someone else's.
    pub(crate) take: &'static str,
    /// Counts.
    pub(crate) count: String,
    pub(crate) secret: Option<&'static str>,
    /// The id of the object of the first inputs, if it can be imported.
    pub(crate) id: Option<String>,
}

impl Subject {
    /// Runs the kit, and expects that all checks pass that have what they need.
    pub(crate) fn keeps_the_contract(self, server: &'static Postgres, skipped: &[&str]) {
        let report = run(async { self.report(server).await });
        report.assert_passed();
        let left_out = report.checks.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Skipped(_)));
        assert_eq!(left_out.map(|(name, _)| *name).collect::<Vec<_>>(), skipped);
    }

    async fn report(self, server: &'static Postgres) -> CheckReport {
        let config = value!({ url: (server.url("postgres")) });
        let kit = Kit::configured(pg_provider(|_| None), &config, self.type_name, self.inputs).await.unwrap();
        let kit = kit.cut_off_every(sized(4, 1));
        let (tampered, removed, taken) =
            (self.database.clone(), self.database.clone(), self.database.clone());
        let kit = kit
            .updated(self.updated)
            .marked()
            .tampered_by(move |_| {
                let database = tampered.clone();
                async move { drop(server.sql(&database, self.tamper).unwrap()) }
            })
            .removed_by(move |_| {
                let database = removed.clone();
                async move {
                    for statement in self.remove {
                        server.sql(&database, statement).unwrap();
                    }
                }
            })
            .taken_by(move |_, _| {
                let database = taken.clone();
                async move { drop(server.sql(&database, self.take).unwrap()) }
            })
            .counted_by(move || {
                let counted = server.sql(&self.database, &self.count).unwrap();
                async move { counted.trim().parse().unwrap() }
            });
        let kit = match self.replaced {
            Some(replaced) => kit.replaced(replaced),
            None => kit,
        };
        let kit = match self.id {
            Some(id) => kit.imported_as(move |_| id.clone()),
            None => kit,
        };
        match self.secret {
            Some(secret) => kit.secret(secret).run().await,
            None => kit.run().await,
        }
    }
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
