//! `pg_grant`: what a role may do with an object.

mod object;

use std::collections::BTreeSet;

use trueup_provider::{
    Context, Converge, Current, Diff, Error, Inputs, Outputs, Ownership, PlanHook, Planned, Result,
    Sightings, Traits,
};

use crate::connections::Connections;
use crate::placement::{database_of, plan_database};
use crate::privilege::{Held, Privilege, Wanted, listed, revocation, role_oid};
use crate::session::Session;
pub use object::ObjectKind;
use object::{Object, objects};

/// What a role may do with an object, or with all objects of a kind that are in a schema: this and nothing else. Whatever
/// else the role was granted on it directly is taken away.
///
/// # Whose it is
/// Grants bear no mark. One that says exactly this is taken for ours; one that says something else is someone else's, and
/// only taken over if the program or the command says so.
///
/// # All objects of a schema
/// Objects that are made later get nothing until the next deploy, which sees them as drift; `pg_default_privileges` is for
/// those. A `pg_grant` on one of the objects would contradict the one on all of them.
#[derive(Inputs, Clone)]
pub struct Grant {
    /// Who may do it: a role, or `public` for everyone.
    #[trueup(identity, replace, length(min = 1, max = 63))]
    role: String,
    /// The database the object is in; if it is not set, that of the provider's configuration.
    #[trueup(identity)]
    database: Option<String>,
    /// What kind of object it is.
    #[trueup(identity, replace)]
    on: ObjectKind,
    /// The schema the object is in, or whose objects it is about.
    #[trueup(identity, replace)]
    schema: Option<String>,
    /// The name of the object, if it is one.
    #[trueup(identity, replace)]
    name: Option<String>,
    /// The types of a function's arguments, where several have its name.
    #[trueup(identity, replace)]
    arguments: Option<Vec<String>>,
    /// What may be done. Each is named: what `ALL` means changes with the server's version.
    #[trueup(length(min = 1))]
    privileges: BTreeSet<Privilege>,
    /// Whether the role may grant it to others.
    #[trueup(default)]
    with_grant_option: bool,
}

/// What a role may do, as the server has it.
#[derive(Outputs, Clone)]
pub struct GrantOutput {
    /// Who may do it.
    #[trueup(mirrors = "role")]
    role: String,
    /// The database the object is in.
    #[trueup(stable)]
    database: String,
    /// What may be done; on all of them, if it is about several objects.
    #[trueup(mirrors = "privileges")]
    privileges: BTreeSet<Privilege>,
    /// What of it the role may grant to others.
    grantable: BTreeSet<Privilege>,
    /// What may be done, or granted to others, on some of the objects only.
    partial: BTreeSet<Privilege>,
}

impl Grant {
    fn wanted(&self) -> Wanted<'_> {
        Wanted { privileges: &self.privileges, with_grant_option: self.with_grant_option }
    }

    /// Where to connect to: what all databases share is changed from one, since two at a time could collide.
    fn place<'a>(&'a self, database: &'a str, config: &'a Connections) -> &'a str {
        if self.on.is_shared() { config.database() } else { database }
    }

    fn check(&self) -> Result<()> {
        check_object(self.on, self.schema.is_some(), self.name.is_some(), self.arguments.is_some())
    }

    /// What the role holds on the objects taken together.
    fn output(&self, database: &str, objects: &[Object]) -> GrantOutput {
        let all = |set: fn(&Held) -> &BTreeSet<Privilege>| {
            let sets = objects.iter().map(|object| set(&object.held).clone());
            sets.reduce(|left, right| &left & &right).unwrap_or_default()
        };
        let any = |set: fn(&Held) -> &BTreeSet<Privilege>| {
            objects.iter().flat_map(|object| set(&object.held).clone()).collect::<BTreeSet<_>>()
        };
        let (privileges, grantable) = (all(|held| &held.privileges), all(|held| &held.grantable));
        let partial =
            &(&any(|held| &held.privileges) - &privileges) | &(&any(|held| &held.grantable) - &grantable);
        GrantOutput { role: self.role.clone(), database: database.to_owned(), privileges, grantable, partial }
    }

    /// What is said of no objects at all holds.
    fn vacuous(&self, database: &str) -> GrantOutput {
        let privileges = self.privileges.clone();
        let grantable = if self.with_grant_option { privileges.clone() } else { BTreeSet::new() };
        let (role, database) = (self.role.clone(), database.to_owned());
        GrantOutput { role, database, privileges, grantable, partial: BTreeSet::new() }
    }

    async fn has_schema(&self, session: &Session) -> Result<bool> {
        let row = session.row("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&self.schema]).await?;
        Ok(row.is_some())
    }

    /// The objects, and what the role holds on them. `None`: there is no such role.
    async fn observe(&self, session: &Session) -> Result<Option<Vec<Object>>> {
        match role_oid(session, &self.role).await? {
            Some(grantee) => objects(session, self, grantee).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Refuses an object that is named too little or too much for its kind.
fn check_object(on: ObjectKind, schema: bool, name: bool, arguments: bool) -> Result<()> {
    let wrong = |message: &str, input: &str| Err(Error::invalid(message).at(input));
    match (on.has_schema(), schema, on.is_all(), name) {
        (true, false, _, _) => wrong("objects of this kind are in a schema: say which", "schema"),
        (false, true, _, _) => wrong("objects of this kind are in no schema", "schema"),
        (_, _, true, true) => wrong("it is about all objects of a schema: there is no `name`", "name"),
        (_, _, false, false) => wrong("it is about one object: give its `name`", "name"),
        _ if arguments && on != ObjectKind::Function => wrong("only a function has arguments", "arguments"),
        _ => Ok(()),
    }
}

impl Converge for Grant {
    type Output = GrantOutput;
    type Config = Connections;

    fn traits() -> Traits {
        Traits { importable: false, ..Traits::default() }
    }

    async fn reconcile(&self, context: &Context<Connections>, _: &Current<Self>) -> Result<GrantOutput> {
        self.check()?;
        let config = context.config();
        let database = database_of(self.database.as_ref(), config);
        let session = config.to_change(self.place(database, config)).await?;
        session.begin().await?;
        let first = |input: &str, message: String| {
            Error::invalid(message).at(input).hint("create it first, and refer to it so that it comes first")
        };
        let no_role = || first("role", format!("there is no role `{}`", self.role));
        let objects = self.observe(&session).await?.ok_or_else(no_role)?;
        if objects.is_empty() && !self.on.is_all() {
            let name = self.name.as_deref().unwrap_or_default();
            return Err(first("name", format!("there is no object `{name}` of this kind")));
        }
        let changes: Vec<String> = objects
            .iter()
            .flat_map(|object| {
                let steps = self.wanted().steps(&object.held);
                steps.into_iter().map(|step| step.sql(&object.on, &self.role)).collect::<Vec<_>>()
            })
            .collect();
        if !changes.is_empty() {
            session.run(&changes.join(";")).await?;
        }
        let objects = self.observe(&session).await?.ok_or_else(no_role)?;
        if let Some(other) = objects.iter().find(|object| !self.wanted().is_met_by(&object.held)) {
            let message =
                format!("`{}` still has {} on {}", self.role, listed(&other.held.privileges), other.on);
            return Err(Error::denied(message).at("privileges").hint(
                "the provider's user may not grant this, or someone else granted it and has to revoke it",
            ));
        }
        session.commit().await?;
        Ok(if objects.is_empty() { self.vacuous(database) } else { self.output(database, &objects) })
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&GrantOutput>,
    ) -> Result<Sightings<GrantOutput>> {
        let config = context.config();
        let database = prior.map_or(database_of(self.database.as_ref(), config), |prior| &prior.database);
        let session = config.to_read(self.place(database, config)).await?;
        let Some(objects) = self.observe(&session).await? else { return Ok(Sightings::absent()) };
        if objects.is_empty() {
            let holds = prior.is_some() && self.on.is_all() && self.has_schema(&session).await?;
            return Ok(if holds { Sightings::owned(self.vacuous(database)) } else { Sightings::absent() });
        }
        let output = self.output(database, &objects);
        let nothing = output.privileges.is_empty() && output.partial.is_empty();
        // What an object has from the beginning nobody granted.
        let untouched = prior.is_none() && objects.iter().all(|object| !object.touched);
        if nothing || untouched {
            return Ok(Sightings::absent());
        }
        let says_this = objects.iter().all(|object| self.wanted().is_met_by(&object.held));
        Ok(Sightings::recognised(
            output,
            match says_this {
                true => Ownership::Owned { generation: None },
                false => Ownership::Unowned,
            },
        ))
    }

    async fn delete(&self, context: &Context<Connections>, output: &GrantOutput) -> Result<()> {
        let config = context.config();
        let session = config.to_read(self.place(&output.database, config)).await?;
        session.begin().await?;
        let Some(objects) = self.observe(&session).await? else {
            return Err(Error::not_found(format!("the role `{}` is gone", self.role)));
        };
        let changes: Vec<String> = objects
            .iter()
            .filter_map(|object| Some(revocation(&object.held)?.sql(&object.on, &self.role)))
            .collect();
        session.run(&changes.join(";")).await?;
        session.commit().await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let news = &request.current;
        if let (Planned::Known(on), Planned::Known(schema), Planned::Known(name), Planned::Known(arguments)) =
            (&news.on, &news.schema, &news.name, &news.arguments)
        {
            check_object(*on, schema.is_some(), name.is_some(), arguments.is_some())?;
        }
        let recorded = request.prior.as_ref().map(|prior| prior.outputs.database.as_str());
        plan_database(&news.database, request.config, recorded, plan)
    }
}
