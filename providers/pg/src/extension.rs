//! `pg_extension`: an extension in a database.

use trueup_provider::{
    Context, Converge, Current, Diff, Error, Inputs, Outputs, PlanHook, Result, Sightings,
};

use crate::catalogued::{Catalogued, Key, Seen, find, find_to_delete, imported, look, made};
use crate::connections::Connections;
use crate::placement::{database_of, plan_database};
use crate::session::{Session, column};
use crate::text::{check_name, identifier, literal};

/// An extension in a database. Its files have to be installed on the server's machine.
#[derive(Inputs, Clone)]
pub struct Extension {
    /// Its name, such as `pgcrypto`.
    #[trueup(identity, replace, length(min = 1, max = 63))]
    name: String,
    /// The database it is in; if it is not set, that of the provider's configuration.
    #[trueup(identity)]
    database: Option<String>,
    /// Its version. Without it the server's default is installed, and stays as it is later.
    version: Option<String>,
    /// The schema its objects are in. Without it the extension or the server chooses.
    schema: Option<String>,
    /// Whether the extensions that it needs are installed with it.
    #[trueup(default)]
    cascade: bool,
    /// Whether deleting it deletes all that uses it. Otherwise nothing may use it.
    #[trueup(default)]
    drop_cascade: bool,
}

/// An extension as the server has it.
#[derive(Outputs, Clone)]
pub struct ExtensionOutput {
    /// The server's number for it.
    #[trueup(informational, stable)]
    oid: u32,
    /// Its name.
    #[trueup(mirrors = "name")]
    name: String,
    /// The database it is in.
    #[trueup(stable)]
    database: String,
    /// Its version.
    #[trueup(mirrors = "version", stable)]
    version: String,
    /// The schema its objects are in.
    #[trueup(mirrors = "schema", stable)]
    schema: String,
    /// Whether its objects can be put into another schema.
    #[trueup(informational, stable)]
    relocatable: bool,
}

impl Catalogued for ExtensionOutput {
    const WHAT: &'static str = "extension";

    fn oid(&self) -> u32 {
        self.oid
    }

    async fn observe(session: &Session, key: Key<'_>, _: Option<&Self>) -> Result<Option<Seen<Self>>> {
        let query =
            "SELECT e.oid, extname::text AS name, extversion, nspname::text AS schema, extrelocatable,
                            obj_description(e.oid, 'pg_extension') AS comment
                     FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace
                     WHERE e.oid = $1 OR extname = $2";
        let (oid, name) = key.parts();
        let Some(row) = session.row(query, &[&oid, &name]).await? else { return Ok(None) };
        let output = ExtensionOutput {
            oid: column(&row, "oid")?,
            name: column(&row, "name")?,
            database: session.database().to_owned(),
            version: column(&row, "extversion")?,
            schema: column(&row, "schema")?,
            relocatable: column(&row, "extrelocatable")?,
        };
        Ok(Some(Seen { output, comment: column(&row, "comment")? }))
    }
}

impl Extension {
    fn creation(&self) -> String {
        let mut statement = format!("CREATE EXTENSION {}", identifier(&self.name));
        if let Some(schema) = &self.schema {
            statement.push_str(&format!(" SCHEMA {}", identifier(schema)));
        }
        if let Some(version) = &self.version {
            statement.push_str(&format!(" VERSION {}", literal(version)));
        }
        if self.cascade {
            statement.push_str(" CASCADE");
        }
        // Where nothing says otherwise its objects go where the user's own would.
        format!("SET LOCAL search_path TO DEFAULT; {statement}; SET LOCAL search_path = pg_catalog")
    }

    fn changes(&self, seen: &ExtensionOutput) -> Result<Vec<String>> {
        let name = identifier(&self.name);
        let mut statements = Vec::new();
        if let Some(version) = self.version.as_ref().filter(|version| **version != seen.version) {
            statements.push(format!("ALTER EXTENSION {name} UPDATE TO {}", literal(version)));
        }
        if let Some(schema) = self.schema.as_ref().filter(|schema| **schema != seen.schema) {
            if !seen.relocatable {
                let message = format!("the objects of `{}` cannot be put into another schema", self.name);
                return Err(Error::conflict(message).at("schema").hint("plan again: it will be replaced"));
            }
            statements.push(format!("ALTER EXTENSION {name} SET SCHEMA {}", identifier(schema)));
        }
        Ok(statements)
    }
}

impl Converge for Extension {
    type Output = ExtensionOutput;
    type Config = Connections;

    async fn reconcile(
        &self,
        context: &Context<Connections>,
        current: &Current<Self>,
    ) -> Result<ExtensionOutput> {
        check_name(&self.name, "name")?;
        let config = context.config();
        let session = config.to_change(database_of(self.database.as_ref(), config)).await?;
        session.begin().await?;
        let seen = match find(&session, context, current.output.as_ref(), &self.name).await? {
            Some(seen) => seen,
            None => {
                session.run(&self.creation()).await?;
                made(&session, &self.name, None).await?
            }
        };
        let mut statements = self.changes(&seen.output)?;
        if let Some(comment) = seen.comment().marked(context) {
            let name = identifier(&self.name);
            statements.push(format!("COMMENT ON EXTENSION {name} IS {}", literal(&comment)));
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
        prior: Option<&ExtensionOutput>,
    ) -> Result<Sightings<ExtensionOutput>> {
        match prior {
            Some(prior) => look(context, &prior.database, Some(prior), &prior.name).await,
            None => {
                look(context, database_of(self.database.as_ref(), context.config()), None, &self.name).await
            }
        }
    }

    async fn delete(&self, context: &Context<Connections>, output: &ExtensionOutput) -> Result<()> {
        let session = context.config().to_read(&output.database).await?;
        session.begin().await?;
        let seen = find_to_delete(&session, context, output, &output.name).await?;
        let how = if self.drop_cascade { "CASCADE" } else { "RESTRICT" };
        session.run(&format!("DROP EXTENSION {} {how}", identifier(&seen.name))).await?;
        session.commit().await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let recorded = request.prior.as_ref().map(|prior| prior.outputs.database.as_str());
        plan_database(&request.current.database, request.config, recorded, plan)?;
        if let Some(prior) = &request.prior {
            let seen = prior.observed.as_ref().unwrap_or(&prior.outputs);
            let schema = request.current.schema.known().and_then(Option::as_ref);
            if !seen.relocatable && schema.is_some_and(|schema| *schema != seen.schema) {
                plan.replace("schema");
            }
        }
        Ok(())
    }

    async fn import(&self, context: &Context<Connections>, id: &str) -> Result<ExtensionOutput> {
        let config = context.config();
        let (database, name) = id.split_once('/').unwrap_or((config.database(), id));
        imported(&config.to_read(database).await?, name).await
    }
}
