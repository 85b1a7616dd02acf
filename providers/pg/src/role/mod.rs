//! `pg_role`: who may connect, and groups of them.

mod observe;
mod remove;

use std::collections::BTreeSet;

use trueup_core::Secret;
use trueup_provider::{
    Context, Converge, Current, Diff, Error, Inputs, Outputs, PlanHook, Planned, Result, Sightings,
};

use crate::catalogued::{find, imported, look, made};
use crate::connections::Connections;
use crate::scram;
use crate::session::{Session, column};
use crate::text::{check_name, identifier, identifiers, literal};

/// A role: a user, or a group of them.
///
/// # Passwords
/// The server never sees the password, only what can check it (a SCRAM-SHA-256 verifier), and neither do its logs. Where
/// the provider's user may read `pg_authid` a password that was changed by hand is noticed; elsewhere it is taken to be
/// as it was set last. A role without `password` has none.
///
/// # Deleting
/// A role that owns something, or has privileges somewhere, cannot be dropped. `reassign_owned_to` hands what it owns to
/// another role, and `drop_owned` drops it; both take its privileges away, in all databases of the server.
#[derive(Inputs, Clone)]
#[trueup(at_most_one_of("reassign_owned_to", "drop_owned"))]
pub struct Role {
    /// Its name. Another name renames it.
    #[trueup(identity, length(min = 1, max = 63))]
    name: String,
    /// Whether it may connect.
    #[trueup(default)]
    login: bool,
    /// Its password.
    password: Option<Secret<String>>,
    /// When its password ceases to count, such as `2030-01-01T00:00:00Z`. Without it that is never.
    valid_until: Option<String>,
    /// How many connections it may have at a time; -1 for any number.
    #[trueup(default = -1, range(min = -1))]
    connection_limit: i32,
    /// Whether it may do everything.
    #[trueup(default)]
    superuser: bool,
    /// Whether it may create databases.
    #[trueup(default)]
    createdb: bool,
    /// Whether it may create roles.
    #[trueup(default)]
    createrole: bool,
    /// Whether it has the privileges of the roles it is a member of without switching to them.
    #[trueup(default = true)]
    inherit: bool,
    /// Whether it may replicate.
    #[trueup(default)]
    replication: bool,
    /// Whether row-level security does not apply to it.
    #[trueup(default)]
    bypassrls: bool,
    /// The roles of which it is a member. It is taken out of all others.
    #[trueup(default)]
    member_of: BTreeSet<String>,
    /// Who gets what it owns when it is deleted.
    reassign_owned_to: Option<String>,
    /// Whether what it owns is dropped when it is deleted.
    drop_owned: Option<bool>,
}

/// A role as the server has it.
#[derive(Outputs, Clone, PartialEq)]
pub struct RoleOutput {
    /// The server's number for it, which a new name does not change.
    #[trueup(informational, stable)]
    pub(crate) oid: u32,
    /// Its name.
    #[trueup(mirrors = "name")]
    pub(crate) name: String,
    /// Whether it may connect.
    #[trueup(mirrors = "login")]
    pub(crate) login: bool,
    /// When its password ceases to count, in UTC.
    pub(crate) valid_until: Option<String>,
    /// How many connections it may have at a time; -1 for any number.
    #[trueup(mirrors = "connection_limit")]
    pub(crate) connection_limit: i32,
    /// Whether it may do everything.
    #[trueup(mirrors = "superuser")]
    pub(crate) superuser: bool,
    /// Whether it may create databases.
    #[trueup(mirrors = "createdb")]
    pub(crate) createdb: bool,
    /// Whether it may create roles.
    #[trueup(mirrors = "createrole")]
    pub(crate) createrole: bool,
    /// Whether it has the privileges of the roles it is a member of without switching to them.
    #[trueup(mirrors = "inherit")]
    pub(crate) inherit: bool,
    /// Whether it may replicate.
    #[trueup(mirrors = "replication")]
    pub(crate) replication: bool,
    /// Whether row-level security does not apply to it.
    #[trueup(mirrors = "bypassrls")]
    pub(crate) bypassrls: bool,
    /// The roles of which it is a member.
    #[trueup(mirrors = "member_of")]
    pub(crate) member_of: BTreeSet<String>,
    /// What the server checks its password with: as it stands there, or as it was set last where nobody may look.
    #[trueup(stable)]
    pub(crate) password_verifier: Option<Secret<String>>,
}

impl Role {
    /// The verifier to send, if the password is to change: none for no password. The one that is recorded is sent again if
    /// it still fits.
    fn new_verifier(
        &self,
        seen: &RoleOutput,
        recorded: Option<&RoleOutput>,
    ) -> Result<Option<Option<Secret<String>>>> {
        let Some(password) = &self.password else {
            return Ok(seen.password_verifier.as_ref().map(|_| None));
        };
        let fits = |verifier: &&Secret<String>| verifies(verifier, password);
        if seen.password_verifier.as_ref().is_some_and(|verifier| fits(&verifier)) {
            return Ok(None);
        }
        let recorded = recorded.and_then(|recorded| recorded.password_verifier.as_ref()).filter(fits);
        Ok(Some(Some(match recorded {
            Some(recorded) => recorded.clone(),
            None => Secret::new(scram::verifier(password.expose())?),
        })))
    }

    /// The statements that bring a role from what it is to these inputs.
    fn changes(
        &self,
        seen: &RoleOutput,
        valid_until: &str,
        verifier: Option<&Option<Secret<String>>>,
    ) -> Vec<String> {
        let mut options = Vec::new();
        let flags = [
            ("LOGIN", self.login, seen.login),
            ("SUPERUSER", self.superuser, seen.superuser),
            ("CREATEDB", self.createdb, seen.createdb),
            ("CREATEROLE", self.createrole, seen.createrole),
            ("INHERIT", self.inherit, seen.inherit),
            ("REPLICATION", self.replication, seen.replication),
            ("BYPASSRLS", self.bypassrls, seen.bypassrls),
        ];
        // Only what differs is named: naming SUPERUSER takes a superuser, even to say no.
        for (option, wanted, is) in flags {
            if wanted != is {
                options.push(if wanted { option.to_owned() } else { format!("NO{option}") });
            }
        }
        if self.connection_limit != seen.connection_limit {
            options.push(format!("CONNECTION LIMIT {}", self.connection_limit));
        }
        if valid_until != seen.valid_until.as_deref().unwrap_or("infinity") {
            options.push(format!("VALID UNTIL {}", literal(valid_until)));
        }
        match verifier {
            Some(Some(verifier)) => options.push(format!("PASSWORD {}", literal(verifier.expose()))),
            Some(None) => options.push("PASSWORD NULL".to_owned()),
            None => {}
        }
        let name = identifier(&self.name);
        let mut statements = Vec::new();
        if seen.name != self.name {
            statements.push(format!("ALTER ROLE {} RENAME TO {name}", identifier(&seen.name)));
        }
        if !options.is_empty() {
            statements.push(format!("ALTER ROLE {name} WITH {}", options.join(" ")));
        }
        let joins: BTreeSet<_> = self.member_of.difference(&seen.member_of).collect();
        if !joins.is_empty() {
            statements.push(format!("GRANT {} TO {name}", identifiers(joins)));
        }
        let leaves: BTreeSet<_> = seen.member_of.difference(&self.member_of).collect();
        if !leaves.is_empty() {
            statements.push(format!("REVOKE {} FROM {name}", identifiers(leaves)));
        }
        statements
    }

    /// When the password ceases to count, as the server writes it.
    async fn canonical_valid_until(&self, session: &Session) -> Result<String> {
        let Some(written) = &self.valid_until else { return Ok("infinity".to_owned()) };
        let query = format!("SELECT {} AS canonical", observe::canonical_time("$1::text::timestamptz"));
        let row = session.row(&query, &[written]).await.map_err(|error| error.at("valid_until"))?;
        row.map_or_else(|| Ok(String::new()), |row| column(&row, "canonical"))
    }
}

fn verifies(verifier: &Secret<String>, password: &Secret<String>) -> bool {
    scram::verifies(verifier.expose(), password.expose())
}

impl Converge for Role {
    type Output = RoleOutput;
    type Config = Connections;

    async fn reconcile(&self, context: &Context<Connections>, current: &Current<Self>) -> Result<RoleOutput> {
        check_name(&self.name, "name")?;
        let session = context.config().main().await?;
        session.begin().await?;
        let valid_until = self.canonical_valid_until(&session).await?;
        let seen = match find(&session, context, current.output.as_ref(), &self.name).await? {
            Some(seen) => seen,
            None => {
                session.run(&format!("CREATE ROLE {}", identifier(&self.name))).await?;
                made(&session, &self.name, None).await?
            }
        };
        let verifier = self.new_verifier(&seen.output, current.output.as_ref())?;
        let mut statements = self.changes(&seen.output, &valid_until, verifier.as_ref());
        if let Some(comment) = seen.comment().marked(context) {
            statements.push(format!("COMMENT ON ROLE {} IS {}", identifier(&self.name), literal(&comment)));
        }
        if !statements.is_empty() {
            session.run(&statements.join(";")).await?;
        }
        let mut known = seen.output;
        known.password_verifier = verifier.unwrap_or(known.password_verifier);
        let made = made(&session, &self.name, Some(&known)).await?.output;
        if made.member_of != self.member_of {
            let message = format!("it is still a member of {}", listed(&made.member_of));
            return Err(Error::denied(message)
                .at("member_of")
                .hint("someone else made it a member: only they, or a superuser, can take it out again"));
        }
        session.commit().await?;
        Ok(made)
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&RoleOutput>,
    ) -> Result<Sightings<RoleOutput>> {
        let name = prior.map_or(&self.name, |prior| &prior.name);
        look(context, context.config().database(), prior, name).await
    }

    async fn delete(&self, context: &Context<Connections>, output: &RoleOutput) -> Result<()> {
        remove::remove(self, context, output).await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if let Planned::Known(name) = &request.current.name {
            check_name(name, "name")?;
        }
        let Some(prior) = &request.prior else { return Ok(()) };
        let observed = prior.observed.as_ref().map(|seen| &seen.password_verifier);
        let known = [observed.and_then(Option::as_ref), prior.outputs.password_verifier.as_ref()];
        match &request.current.password {
            Planned::Known(None) => plan.set_output("password_verifier", &None::<Secret<String>>)?,
            Planned::Known(Some(password)) => {
                match known.into_iter().flatten().find(|verifier| verifies(verifier, password)) {
                    Some(verifier) => plan.set_output("password_verifier", &Some(verifier.clone()))?,
                    None => plan.mark_output_unknown("password_verifier"),
                }
            }
            Planned::Unknown => plan.mark_output_unknown("password_verifier"),
        }
        Ok(())
    }

    async fn import(&self, context: &Context<Connections>, id: &str) -> Result<RoleOutput> {
        let session = context.config().to_read(context.config().database()).await?;
        imported(&session, id).await
    }
}

pub(crate) fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
