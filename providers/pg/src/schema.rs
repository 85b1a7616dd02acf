//! `pg_schema`: a namespace in a database.

use trueup_provider::{
    Context, Converge, Current, Diff, Inputs, Outputs, PlanHook, Planned, Result, Sightings,
};

use crate::catalogued::{Catalogued, Key, Seen, find, find_to_delete, imported, look, made};
use crate::connections::Connections;
use crate::placement::{database_of, plan_database};
use crate::session::{Session, column};
use crate::text::{check_name, identifier, literal};

/// A schema: a namespace in a database.
#[derive(Inputs, Clone)]
pub struct Schema {
    /// Its name. Another name renames it.
    #[trueup(identity, length(min = 1, max = 63))]
    name: String,
    /// The database it is in; if it is not set, that of the provider's configuration.
    #[trueup(identity)]
    database: Option<String>,
    /// The role that owns it; if it is not set, whoever connects.
    owner: Option<String>,
    /// Whether deleting it deletes all that is in it. Otherwise it has to be empty.
    #[trueup(default)]
    drop_cascade: bool,
}

/// A schema as the server has it.
#[derive(Outputs, Clone)]
pub struct SchemaOutput {
    /// The server's number for it, which a new name does not change.
    #[trueup(informational, stable)]
    oid: u32,
    /// Its name.
    #[trueup(mirrors = "name")]
    name: String,
    /// The database it is in.
    #[trueup(stable)]
    database: String,
    /// The role that owns it.
    #[trueup(mirrors = "owner", stable)]
    owner: String,
}

impl Catalogued for SchemaOutput {
    const WHAT: &'static str = "schema";

    fn oid(&self) -> u32 {
        self.oid
    }

    async fn observe(session: &Session, key: Key<'_>, _: Option<&Self>) -> Result<Option<Seen<Self>>> {
        let query = "SELECT oid, nspname::text AS name, pg_get_userbyid(nspowner)::text AS owner,
                            obj_description(oid, 'pg_namespace') AS comment
                     FROM pg_namespace WHERE oid = $1 OR nspname = $2";
        let (oid, name) = key.parts();
        let Some(row) = session.row(query, &[&oid, &name]).await? else { return Ok(None) };
        let output = SchemaOutput {
            oid: column(&row, "oid")?,
            name: column(&row, "name")?,
            database: session.database().to_owned(),
            owner: column(&row, "owner")?,
        };
        Ok(Some(Seen { output, comment: column(&row, "comment")? }))
    }
}

impl Converge for Schema {
    type Output = SchemaOutput;
    type Config = Connections;

    async fn reconcile(
        &self,
        context: &Context<Connections>,
        current: &Current<Self>,
    ) -> Result<SchemaOutput> {
        check_name(&self.name, "name")?;
        let config = context.config();
        let session = config.to_change(database_of(self.database.as_ref(), config)).await?;
        session.begin().await?;
        let name = identifier(&self.name);
        let seen = match find(&session, context, current.output.as_ref(), &self.name).await? {
            Some(seen) => seen,
            None => {
                session.run(&format!("CREATE SCHEMA {name}")).await?;
                made(&session, &self.name, None).await?
            }
        };
        let mut statements = Vec::new();
        if seen.output.name != self.name {
            statements.push(format!("ALTER SCHEMA {} RENAME TO {name}", identifier(&seen.output.name)));
        }
        if let Some(comment) = seen.comment().marked(context) {
            statements.push(format!("COMMENT ON SCHEMA {name} IS {}", literal(&comment)));
        }
        // Last: whoever gives it away may not be able to change it any more.
        if let Some(owner) = self.owner.as_ref().filter(|owner| **owner != seen.output.owner) {
            statements.push(format!("ALTER SCHEMA {name} OWNER TO {}", identifier(owner)));
        }
        if !statements.is_empty() {
            session.run(&statements.join(";")).await?;
        }
        let made = made(&session, &self.name, None).await?.output;
        session.commit().await?;
        Ok(made)
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&SchemaOutput>,
    ) -> Result<Sightings<SchemaOutput>> {
        match prior {
            Some(prior) => look(context, &prior.database, Some(prior), &prior.name).await,
            None => {
                look(context, database_of(self.database.as_ref(), context.config()), None, &self.name).await
            }
        }
    }

    async fn delete(&self, context: &Context<Connections>, output: &SchemaOutput) -> Result<()> {
        let session = context.config().to_read(&output.database).await?;
        session.begin().await?;
        let seen = find_to_delete(&session, context, output, &output.name).await?;
        let how = if self.drop_cascade { "CASCADE" } else { "RESTRICT" };
        let drop = format!("DROP SCHEMA {} {how}", identifier(&seen.name));
        session.run(&drop).await.map_err(|error| match error.class() {
            trueup_core::FailureClass::Conflict => {
                error.hint("next time set `drop_cascade` before it is deleted")
            }
            _ => error,
        })?;
        session.commit().await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if let Planned::Known(name) = &request.current.name {
            check_name(name, "name")?;
        }
        let recorded = request.prior.as_ref().map(|prior| prior.outputs.database.as_str());
        plan_database(&request.current.database, request.config, recorded, plan)
    }

    async fn import(&self, context: &Context<Connections>, id: &str) -> Result<SchemaOutput> {
        let config = context.config();
        let (database, name) = id.split_once('/').unwrap_or((config.database(), id));
        let session = config.to_read(database).await?;
        imported(&session, name).await
    }
}
