//! `pg_sql`: statements that are run once each, in order.

mod ledger;
mod series;

use trueup_provider::{
    Context, Converge, Current, Diff, Error, FieldType, Inputs, Outputs, PlanHook, Planned, Result,
    Sightings, Traits,
};

use crate::connections::Connections;
use crate::placement::{database_of, plan_database};
use crate::text::check_name;
use ledger::Ledger;

/// Statements that are run once each, in order: migrations.
///
/// Each is run in a transaction of its own, together with the note that it was, so that none is ever run twice or left
/// half done. New ones go to the end. One that was run must not change: a plan that finds it changed says so. One that is
/// taken away from the end is undone by its `down`, and deleting the resource undoes all that have one, the last first.
///
/// The notes are no table: they are the comment on an empty type, `trueup_sql_NAME`, so that state that was lost is found
/// again. They hold a digest of each statement, and everyone who may connect can read them: keep secrets out of
/// statements, which the server may also log.
#[derive(Inputs, Clone)]
pub struct Sql {
    /// What the series is called.
    #[trueup(identity, replace, length(min = 1, max = 52))]
    name: String,
    /// The database it is run in; if it is not set, that of the provider's configuration.
    #[trueup(identity)]
    database: Option<String>,
    /// The schema of the type that bears the notes. Statements are run with the search path that the user has.
    #[trueup(identity, replace, default = "public", length(min = 1, max = 63))]
    schema: String,
    /// The statements.
    statements: Vec<Statement>,
}

/// One of the statements.
#[derive(FieldType, Clone, PartialEq, Debug)]
pub struct Statement {
    /// What it does, for people.
    name: Option<String>,
    /// The statement, or several that belong together.
    up: String,
    /// What undoes it. Without it, deleting the resource leaves what it did.
    down: Option<String>,
    /// Whether it is run in a transaction. One that cannot be, such as `CREATE INDEX CONCURRENTLY`, is run again if it was
    /// cut off: let it do no harm then.
    #[trueup(default = true)]
    transaction: bool,
}

/// Statements that were run.
#[derive(Outputs, Clone)]
pub struct SqlOutput {
    /// What the series is called.
    #[trueup(mirrors = "name")]
    name: String,
    /// The database it is run in.
    #[trueup(stable)]
    database: String,
    /// The schema of the type that bears the notes.
    #[trueup(mirrors = "schema")]
    schema: String,
    /// The digests of the statements that were run, in their order.
    applied: Vec<String>,
}

impl Sql {
    fn output(&self, database: &str, applied: Vec<String>) -> SqlOutput {
        let (name, schema) = (self.name.clone(), self.schema.clone());
        SqlOutput { name, database: database.to_owned(), schema, applied }
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(&self.schema, &self.name)
    }
}

impl Converge for Sql {
    type Output = SqlOutput;
    type Config = Connections;

    fn traits() -> Traits {
        Traits { importable: false, ..Traits::default() }
    }

    async fn reconcile(&self, context: &Context<Connections>, current: &Current<Self>) -> Result<SqlOutput> {
        check_name(&self.schema, "schema")?;
        let config = context.config();
        let database = database_of(self.database.as_ref(), config);
        let session = config.to_change(database).await?;
        let mut ledger = self.ledger();
        // Kept until the session ends: statements may leave settings behind, so no other call gets it.
        session.lock(ledger.lock(), context).await?;
        ledger.open(&session, context, current.output.is_some()).await?;
        let olds = current.olds.as_ref().map_or(&[][..], |olds| &olds.statements);
        let ran = series::run(&self.statements, olds, &mut ledger, &session, context).await;
        let output = self.output(database, ledger.applied().to_vec());
        ran.map_err(|error| error.with_partial(&output))?;
        Ok(output)
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&SqlOutput>,
    ) -> Result<Sightings<SqlOutput>> {
        let config = context.config();
        let database = prior.map_or(database_of(self.database.as_ref(), config), |prior| &prior.database);
        let session = config.to_read(database).await?;
        let mut ledger = self.ledger();
        let Some(ownership) = ledger.look(&session, context).await? else { return Ok(Sightings::absent()) };
        Ok(Sightings::recognised(self.output(database, ledger.applied().to_vec()), ownership))
    }

    async fn delete(&self, context: &Context<Connections>, output: &SqlOutput) -> Result<()> {
        let session = context.config().to_read(&output.database).await?;
        let mut ledger = self.ledger();
        session.lock(ledger.lock(), context).await?;
        if ledger.look(&session, context).await?.is_none() {
            return Err(Error::not_found(format!("the notes of `{}` are gone", self.name)));
        }
        let undone = series::undo_all(&self.statements, &mut ledger, &session, context).await;
        let left = self.output(&output.database, ledger.applied().to_vec());
        undone.map_err(|error| error.with_partial(&left))
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let news = &request.current;
        let recorded = request.prior.as_ref().map(|prior| prior.outputs.database.as_str());
        plan_database(&news.database, request.config, recorded, plan)?;
        let Planned::Known(statements) = &news.statements else { return Ok(()) };
        let same = |prior: &SqlOutput| news.name == prior.name && news.schema == prior.schema;
        if let Some(prior) = request.prior.as_ref().filter(|prior| same(&prior.outputs)) {
            let applied = &prior.observed.as_ref().unwrap_or(&prior.outputs).applied;
            let olds = prior.inputs.as_ref().map_or(&[][..], |inputs| &inputs.statements);
            series::steps(statements, olds, applied)?;
        }
        let digests: Vec<String> = statements.iter().map(|statement| series::digest(&statement.up)).collect();
        plan.set_output("applied", &digests)
    }
}
