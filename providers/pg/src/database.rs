//! `pg_database`: a database.
//!
//! Creating one cannot be part of a transaction, and a new one bears no comment. So it is created under a name that only
//! this resource has, marked, and given its own name in one step: whatever is cut off, it is known whose it is.

use trueup_provider::{
    CallContext, Context, Converge, Current, Diff, Error, Inputs, NameRules, Outputs, PlanHook, Planned,
    Result, Sightings, Traits,
};

use crate::catalogued::{Catalogued, Key, Seen, find, find_to_delete, imported, made};
use crate::connections::Connections;
use crate::mark::new_mark;
use crate::session::{Session, column};
use crate::text::{check_name, identifier, literal};

/// What the name of a database begins with while it is being made.
const UNDER_WAY: &str = "trueup-";

/// The template of databases whose encoding or locale differs from that of others.
const PLAIN_TEMPLATE: &str = "template0";

/// A database.
///
/// # What a change does
/// Encoding and locale are chosen when a database is made: another choice **replaces the database, with all that is in
/// it**. All else is changed in place. Resources in a database that is replaced are gone with it. Let them be made again in
/// the same deploy by `replace_triggered_by = [pg_database.NAME.oid]` in their `lifecycle`.
///
/// # Deleting
/// A database to which someone is connected cannot be dropped, unless `force` ends their connections.
#[derive(Inputs, Clone)]
pub struct Database {
    /// Its name. Another name renames it, which takes that nobody is connected to it.
    #[trueup(identity, length(min = 1, max = 63))]
    name: String,
    /// The role that owns it; if it is not set, whoever connects.
    owner: Option<String>,
    /// The database it is a copy of at first; if it is not set, `template1`, or `template0` if encoding or locale are set.
    #[trueup(replace)]
    template: Option<String>,
    /// How it keeps text, such as `UTF8`.
    encoding: Option<String>,
    /// How text is sorted and what counts as a letter, such as `C` or `en_US.UTF-8`; for both `lc_collate` and
    /// `lc_ctype`.
    locale: Option<String>,
    /// How text is sorted.
    lc_collate: Option<String>,
    /// What counts as a letter.
    lc_ctype: Option<String>,
    /// How many connections it may have at a time; -1 for any number.
    #[trueup(default = -1, range(min = -1))]
    connection_limit: i32,
    /// Whether anyone may connect to it.
    #[trueup(default = true)]
    allow_connections: bool,
    /// Whether everyone who may create databases can copy it.
    #[trueup(default)]
    is_template: bool,
    /// Whether deleting it ends the connections of others to it.
    #[trueup(default)]
    force: bool,
}

/// A database as the server has it.
#[derive(Outputs, Clone)]
pub struct DatabaseOutput {
    /// The server's number for it, which a new name does not change.
    #[trueup(informational, stable)]
    oid: u32,
    /// Its name.
    #[trueup(mirrors = "name")]
    name: String,
    /// The role that owns it.
    #[trueup(mirrors = "owner", stable)]
    owner: String,
    /// How it keeps text.
    #[trueup(stable)]
    encoding: String,
    /// How text is sorted.
    #[trueup(stable)]
    lc_collate: String,
    /// What counts as a letter.
    #[trueup(stable)]
    lc_ctype: String,
    /// How many connections it may have at a time; -1 for any number.
    #[trueup(mirrors = "connection_limit")]
    connection_limit: i32,
    /// Whether anyone may connect to it.
    #[trueup(mirrors = "allow_connections")]
    allow_connections: bool,
    /// Whether everyone who may create databases can copy it.
    #[trueup(mirrors = "is_template")]
    is_template: bool,
}

impl Catalogued for DatabaseOutput {
    const WHAT: &'static str = "database";

    fn oid(&self) -> u32 {
        self.oid
    }

    async fn observe(session: &Session, key: Key<'_>, _: Option<&Self>) -> Result<Option<Seen<Self>>> {
        let query = "SELECT oid, datname::text AS name, pg_get_userbyid(datdba)::text AS owner,
                            pg_encoding_to_char(encoding)::text AS encoding, datcollate::text, datctype::text,
                            datconnlimit, datallowconn, datistemplate,
                            shobj_description(oid, 'pg_database') AS comment
                     FROM pg_database WHERE oid = $1 OR datname = $2";
        let (oid, name) = key.parts();
        let Some(row) = session.row(query, &[&oid, &name]).await? else { return Ok(None) };
        let output = DatabaseOutput {
            oid: column(&row, "oid")?,
            name: column(&row, "name")?,
            owner: column(&row, "owner")?,
            encoding: column(&row, "encoding")?,
            lc_collate: column(&row, "datcollate")?,
            lc_ctype: column(&row, "datctype")?,
            connection_limit: column(&row, "datconnlimit")?,
            allow_connections: column(&row, "datallowconn")?,
            is_template: column(&row, "datistemplate")?,
        };
        Ok(Some(Seen { output, comment: column(&row, "comment")? }))
    }
}

/// What this resource's database is called while it is being made.
fn name_under_way(context: &CallContext) -> String {
    format!("{UNDER_WAY}{}", context.physical_name())
}

impl Database {
    fn creation(&self, name: &str) -> String {
        let mut statement = format!("CREATE DATABASE {}", identifier(name));
        let collate = self.lc_collate.as_ref().or(self.locale.as_ref());
        let ctype = self.lc_ctype.as_ref().or(self.locale.as_ref());
        let texts = [("ENCODING", self.encoding.as_ref()), ("LC_COLLATE", collate), ("LC_CTYPE", ctype)];
        let plain = texts.iter().any(|(_, text)| text.is_some()).then_some(PLAIN_TEMPLATE);
        if let Some(template) = self.template.as_deref().or(plain) {
            statement.push_str(&format!(" TEMPLATE {}", identifier(template)));
        }
        for (option, text) in texts {
            if let Some(text) = text {
                statement.push_str(&format!(" {option} {}", literal(text)));
            }
        }
        statement
    }

    /// Makes the database: it has its name and its mark from one moment to the next.
    async fn make(&self, session: &Session, context: &CallContext) -> Result<Seen<DatabaseOutput>> {
        if DatabaseOutput::observe(session, Key::Name(&self.name), None).await?.is_some() {
            return Err(
                Error::already_exists(format!("there is a database `{}` already", self.name)).at("name")
            );
        }
        let under_way = name_under_way(context);
        // What an earlier attempt left may be a copy of something else.
        session.run(&format!("DROP DATABASE IF EXISTS {}", identifier(&under_way))).await?;
        session.run(&self.creation(&under_way)).await?;
        session.begin().await?;
        let (from, to) = (identifier(&under_way), identifier(&self.name));
        let mark = literal(&new_mark(context));
        session
            .run(&format!("COMMENT ON DATABASE {from} IS {mark}; ALTER DATABASE {from} RENAME TO {to}"))
            .await?;
        session.commit().await?;
        made(session, &self.name, None).await
    }

    fn changes(&self, seen: &DatabaseOutput) -> Vec<String> {
        let name = identifier(&self.name);
        let mut statements = Vec::new();
        if seen.name != self.name {
            statements.push(format!("ALTER DATABASE {} RENAME TO {name}", identifier(&seen.name)));
        }
        let mut options = Vec::new();
        if self.connection_limit != seen.connection_limit {
            options.push(format!("CONNECTION LIMIT {}", self.connection_limit));
        }
        if self.allow_connections != seen.allow_connections {
            options.push(format!("ALLOW_CONNECTIONS {}", self.allow_connections));
        }
        if self.is_template != seen.is_template {
            options.push(format!("IS_TEMPLATE {}", self.is_template));
        }
        if !options.is_empty() {
            statements.push(format!("ALTER DATABASE {name} WITH {}", options.join(" ")));
        }
        statements
    }

    /// The changes that follow the making, in one transaction.
    async fn settle(
        &self,
        session: &Session,
        context: &Context<Connections>,
        seen: &Seen<DatabaseOutput>,
    ) -> Result<DatabaseOutput> {
        let name = identifier(&self.name);
        let mut statements = self.changes(&seen.output);
        if let Some(comment) = seen.comment().marked(context) {
            statements.push(format!("COMMENT ON DATABASE {name} IS {}", literal(&comment)));
        }
        // Last: whoever gives it away may not be able to change it any more.
        if let Some(owner) = self.owner.as_ref().filter(|owner| **owner != seen.output.owner) {
            statements.push(format!("ALTER DATABASE {name} OWNER TO {}", identifier(owner)));
        }
        if seen.output.name != self.name {
            context.config().leave(&seen.output.name);
        }
        if !statements.is_empty() {
            session.begin().await?;
            session.run(&statements.join(";")).await?;
            session.commit().await?;
        }
        Ok(made(session, &self.name, None).await?.output)
    }
}

/// Whether two names mean the same encoding or locale: `UTF-8` and `utf8` do.
fn same_setting(left: &str, right: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect()
    };
    plain(left) == plain(right)
}

impl Converge for Database {
    type Output = DatabaseOutput;
    type Config = Connections;

    fn traits() -> Traits {
        let longest = 63 - UNDER_WAY.len();
        Traits { name_rules: NameRules::new(longest), ..Traits::default() }
    }

    async fn reconcile(
        &self,
        context: &Context<Connections>,
        current: &Current<Self>,
    ) -> Result<DatabaseOutput> {
        check_name(&self.name, "name")?;
        let session = context.config().main().await?;
        session.lock_catalogue(context).await?;
        let found = find(&session, context, current.output.as_ref(), &self.name).await?;
        let seen = match found {
            Some(seen) if seen.output.name != name_under_way(context) => seen,
            _ => self.make(&session, context).await?,
        };
        let made = self.settle(&session, context, &seen).await?;
        session.unlock_catalogue().await?;
        Ok(made)
    }

    async fn read(
        &self,
        context: &Context<Connections>,
        prior: Option<&DatabaseOutput>,
    ) -> Result<Sightings<DatabaseOutput>> {
        let session = context.config().to_read(context.config().database()).await?;
        if let Some(prior) = prior {
            let seen = find(&session, context, Some(prior), &prior.name).await?;
            return Ok(seen.map_or_else(Sightings::absent, |seen| seen.sighting(context)));
        }
        if let Some(seen) = DatabaseOutput::observe(&session, Key::Name(&self.name), None).await? {
            return Ok(seen.sighting(context));
        }
        // One that was being made is ours: nobody else would call it so.
        let under_way = DatabaseOutput::observe(&session, Key::Name(&name_under_way(context)), None).await?;
        Ok(under_way.map_or_else(Sightings::absent, |seen| Sightings::owned(seen.output)))
    }

    async fn delete(&self, context: &Context<Connections>, output: &DatabaseOutput) -> Result<()> {
        let session = context.config().main().await?;
        session.lock_catalogue(context).await?;
        let seen = find_to_delete(&session, context, output, &output.name).await?;
        context.config().leave(&seen.name);
        let name = identifier(&seen.name);
        if seen.is_template {
            session.run(&format!("ALTER DATABASE {name} WITH IS_TEMPLATE false")).await?;
        }
        let how = if self.force { " WITH (FORCE)" } else { "" };
        session.run(&format!("DROP DATABASE {name}{how}")).await?;
        session.unlock_catalogue().await
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let news = &request.current;
        if let Planned::Known(name) = &news.name {
            check_name(name, "name")?;
        }
        let Some(prior) = &request.prior else { return Ok(()) };
        let seen = prior.observed.as_ref().unwrap_or(&prior.outputs);
        let given = |input: &Planned<Option<String>>| input.known().cloned().flatten();
        let locale = |own: &Planned<Option<String>>| given(own).or_else(|| given(&news.locale));
        let chosen = [
            ("encoding", given(&news.encoding), &seen.encoding),
            ("lc_collate", locale(&news.lc_collate), &seen.lc_collate),
            ("lc_ctype", locale(&news.lc_ctype), &seen.lc_ctype),
        ];
        for (input, wanted, is) in chosen {
            if wanted.is_some_and(|wanted| !same_setting(&wanted, is)) {
                plan.replace(input);
            }
        }
        Ok(())
    }

    async fn import(&self, context: &Context<Connections>, id: &str) -> Result<DatabaseOutput> {
        imported(&context.config().to_read(context.config().database()).await?, id).await
    }
}
