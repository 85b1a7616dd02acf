//! `pg_default_privileges`: what a role may do with objects that another will make.

use std::collections::BTreeSet;

use trueup_provider::{
    Context, Converge, Current, Diff, Error, FieldType, Inputs, Outputs, Ownership, PlanHook, Result,
    Sightings, Traits,
};

use crate::connections::Connections;
use crate::placement::{database_of, plan_database};
use crate::privilege::{Held, Privilege, Wanted, held_columns, listed, revocation, role_oid};
use crate::session::{Session, column};
use crate::text::identifier;

/// What a role may do with objects that another role will make: this and nothing else.
///
/// Like a `pg_grant` it bears no mark: one that says exactly this is taken for ours.
#[derive(Inputs, Clone)]
pub struct DefaultPrivileges {
    /// Who makes the objects.
    #[trueup(identity, replace, length(min = 1, max = 63))]
    owner: String,
    /// Who may do it: a role, or `public` for everyone.
    #[trueup(identity, replace, length(min = 1, max = 63))]
    role: String,
    /// The database; if it is not set, that of the provider's configuration.
    #[trueup(identity)]
    database: Option<String>,
    /// The schema in which the objects are made; if it is not set, any.
    #[trueup(identity, replace)]
    schema: Option<String>,
    /// What kind of objects they are.
    #[trueup(identity, replace)]
    on: FutureKind,
    /// What may be done. Each is named: what `ALL` means changes with the server's version.
    #[trueup(length(min = 1))]
    privileges: BTreeSet<Privilege>,
    /// Whether the role may grant it to others.
    #[trueup(default)]
    with_grant_option: bool,
}

/// The kinds of objects that have default privileges.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FutureKind {
    /// Tables and views.
    Tables,
    /// Sequences.
    Sequences,
    /// Functions and procedures.
    Functions,
    /// Types and domains.
    Types,
    /// Schemas.
    Schemas,
}

/// What a role may do with objects that another will make, as the server has it.
#[derive(Outputs, Clone)]
pub struct DefaultPrivilegesOutput {
    /// Who makes the objects.
    #[trueup(mirrors = "owner")]
    owner: String,
    /// Who may do it.
    #[trueup(mirrors = "role")]
    role: String,
    /// The database.
    #[trueup(stable)]
    database: String,
    /// What may be done.
    #[trueup(mirrors = "privileges")]
    privileges: BTreeSet<Privilege>,
    /// What of it the role may grant to others.
    grantable: BTreeSet<Privilege>,
}

impl FutureKind {
    /// The keyword, the letter in the catalogue, and the letter of what objects of the kind have from the beginning.
    fn parts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            FutureKind::Tables => ("TABLES", "r", "r"),
            FutureKind::Sequences => ("SEQUENCES", "S", "s"),
            FutureKind::Functions => ("ROUTINES", "f", "f"),
            FutureKind::Types => ("TYPES", "T", "T"),
            FutureKind::Schemas => ("SCHEMAS", "n", "n"),
        }
    }
}

/// What the catalogue says.
struct Noted {
    held: Held,
    /// Whether anyone ever said anything about such objects.
    touched: bool,
}

impl DefaultPrivileges {
    fn wanted(&self) -> Wanted<'_> {
        Wanted { privileges: &self.privileges, with_grant_option: self.with_grant_option }
    }

    fn output(&self, database: &str, held: Held) -> DefaultPrivilegesOutput {
        DefaultPrivilegesOutput {
            owner: self.owner.clone(),
            role: self.role.clone(),
            database: database.to_owned(),
            privileges: held.privileges,
            grantable: held.grantable,
        }
    }

    /// What is noted, or which of the inputs names something that is not there.
    async fn observe(&self, session: &Session) -> Result<Result<Noted, &'static str>> {
        let Some(owner) = role_oid(session, &self.owner).await? else { return Ok(Err("owner")) };
        let Some(grantee) = role_oid(session, &self.role).await? else { return Ok(Err("role")) };
        let schema = match &self.schema {
            None => 0,
            Some(name) => {
                let row = session.row("SELECT oid FROM pg_namespace WHERE nspname = $1", &[name]).await?;
                let Some(row) = row else { return Ok(Err("schema")) };
                column::<u32>(&row, "oid")?
            }
        };
        let (_, noted, default) = self.on.parts();
        // What is noted for a schema comes on top; what is noted for all replaces what objects have from the beginning.
        let query = format!(
            "WITH given AS (SELECT $1::oid AS owner, $2::oid AS grantee, $3::oid AS schema),
                  noted AS (SELECT (SELECT defaclacl FROM pg_default_acl
                                    WHERE defaclrole = owner AND defaclnamespace = schema
                                          AND defaclobjtype = '{noted}') AS acl, given.* FROM given)
             SELECT acl IS NOT NULL AS touched, {} FROM noted",
            held_columns(
                &format!("coalesce(acl, CASE WHEN schema = 0 THEN acldefault('{default}', owner) END)"),
                "noted.grantee"
            )
        );
        let row = session.row(&query, &[&owner, &grantee, &schema]).await?;
        let row = row.ok_or_else(|| Error::fatal("the catalogue gave no answer"))?;
        Ok(Ok(Noted { held: Held::of(&row)?, touched: column(&row, "touched")? }))
    }

    fn statement(&self, step: &crate::privilege::Step) -> String {
        let (keyword, _, _) = self.on.parts();
        let within = self.schema.as_ref().map(|name| format!("IN SCHEMA {} ", identifier(name)));
        let owner = identifier(&self.owner);
        let change = step.sql(keyword, &self.role);
        format!("ALTER DEFAULT PRIVILEGES FOR ROLE {owner} {}{change}", within.unwrap_or_default())
    }
}

impl Converge for DefaultPrivileges {
    type Output = DefaultPrivilegesOutput;
    type Config = Connections;

    fn traits() -> Traits {
        Traits { importable: false, ..Traits::default() }
    }

    async fn reconcile(
        &self,
        context: &Context<Connections>,
        _: &Current<Self>,
    ) -> Result<DefaultPrivilegesOutput> {
        let config = context.config();
        let database = database_of(self.database.as_ref(), config);
        let session = config.to_change(database).await?;
        session.begin().await?;
        let missing = |input: &'static str| {
            Error::invalid(format!("there is no such {}", if input == "schema" { "schema" } else { "role" }))
                .at(input)
                .hint("create it first, and refer to it so that it comes first")
        };
        let noted = self.observe(&session).await?.map_err(missing)?;
        let steps = self.wanted().steps(&noted.held);
        let changes: Vec<String> = steps.iter().map(|step| self.statement(step)).collect();
        if !changes.is_empty() {
            session.run(&changes.join(";")).await?;
        }
        let held = self.observe(&session).await?.map_err(missing)?.held;
        if !self.wanted().is_met_by(&held) {
            let message = format!("`{}` still has {}", self.role, listed(&held.privileges));
            return Err(Error::denied(message).at("privileges"));
        }
        session.commit().await?;
        Ok(self.output(database, held))
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&DefaultPrivilegesOutput>,
    ) -> Result<Sightings<DefaultPrivilegesOutput>> {
        let config = context.config();
        let database = prior.map_or(database_of(self.database.as_ref(), config), |prior| &prior.database);
        let session = config.to_read(database).await?;
        let Ok(Noted { held, touched }) = self.observe(&session).await? else {
            return Ok(Sightings::absent());
        };
        if held.privileges.is_empty() || (prior.is_none() && !touched) {
            return Ok(Sightings::absent());
        }
        let ownership = match self.wanted().is_met_by(&held) {
            true => Ownership::Owned { generation: None },
            false => Ownership::Unowned,
        };
        Ok(Sightings::recognised(self.output(database, held), ownership))
    }

    async fn delete(&self, context: &Context<Connections>, output: &DefaultPrivilegesOutput) -> Result<()> {
        let session = context.config().to_read(&output.database).await?;
        session.begin().await?;
        let Ok(Noted { held, .. }) = self.observe(&session).await? else {
            return Err(Error::not_found("what it is about is gone"));
        };
        if let Some(step) = revocation(&held) {
            session.run(&self.statement(&step)).await?;
        }
        session.commit().await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let recorded = request.prior.as_ref().map(|prior| prior.outputs.database.as_str());
        plan_database(&request.current.database, request.config, recorded, plan)
    }
}
