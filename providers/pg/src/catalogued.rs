//! Objects that the catalogue knows by a number and a name, and that have a comment: roles, databases, schemas, extensions.

use std::future::Future;

use trueup_provider::{CallContext, Context, Error, Result, Sightings};

use crate::connections::Connections;
use crate::mark::Comment;
use crate::session::Session;

/// The outputs of an object in the catalogue.
pub(crate) trait Catalogued: Sized + Send + Sync {
    /// What it is, for people.
    const WHAT: &'static str;

    /// The server's number for it.
    fn oid(&self) -> u32;

    /// The object of this key, as it is now. `prior` is what was known of it, for what cannot be read back.
    fn observe(
        session: &Session,
        key: Key<'_>,
        prior: Option<&Self>,
    ) -> impl Future<Output = Result<Option<Seen<Self>>>> + Send;
}

/// How an object is looked for: by the server's number, which a new name does not change, or by name.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Oid(u32),
    Name(&'a str),
}

impl<'a> Key<'a> {
    /// The parameters of a query that takes a number and a name, of which one is null.
    pub(crate) fn parts(self) -> (Option<u32>, Option<&'a str>) {
        match self {
            Key::Oid(oid) => (Some(oid), None),
            Key::Name(name) => (None, Some(name)),
        }
    }
}

/// An object that is there, and its comment.
pub(crate) struct Seen<O> {
    pub(crate) output: O,
    pub(crate) comment: Option<String>,
}

impl<O> Seen<O> {
    pub(crate) fn comment(&self) -> Comment<'_> {
        Comment::parse(self.comment.as_deref())
    }

    pub(crate) fn sighting(self, context: &CallContext) -> Sightings<O> {
        let ownership = self.comment().ownership(context);
        Sightings::recognised(self.output, ownership)
    }
}

/// The object that is managed: the one it was, or one of its name that is marked as ours.
pub(crate) async fn find<O: Catalogued>(
    session: &Session,
    context: &CallContext,
    prior: Option<&O>,
    name: &str,
) -> Result<Option<Seen<O>>> {
    if let Some(known) = prior
        && let Some(seen) = O::observe(session, Key::Oid(known.oid()), prior).await?
    {
        return Ok(Some(seen));
    }
    let named = O::observe(session, Key::Name(name), prior).await?;
    Ok(named.filter(|seen| seen.comment().is_ours(context)))
}

/// Looks from a database: at the object that was, or for one of this name, whoever's it is.
pub(crate) async fn look<O: Catalogued>(
    context: &Context<Connections>,
    database: &str,
    prior: Option<&O>,
    name: &str,
) -> Result<Sightings<O>> {
    let session = context.config().to_read(database).await?;
    let seen = match prior {
        Some(_) => find(&session, context, prior, name).await?,
        None => O::observe(&session, Key::Name(name), None).await?,
    };
    Ok(seen.map_or_else(Sightings::absent, |seen| seen.sighting(context)))
}

/// The object to delete, or that it is gone. One that another stack has taken over since is not deleted (DELETE-9).
pub(crate) async fn find_to_delete<O: Catalogued>(
    session: &Session,
    context: &CallContext,
    prior: &O,
    name: &str,
) -> Result<O> {
    let found = find(session, context, Some(prior), name).await?;
    let found = found.ok_or_else(|| Error::not_found(format!("the {} `{name}` is gone", O::WHAT)))?;
    if found.comment().is_of_another(context) {
        let message = format!("the {} `{name}` belongs to another stack now, as its comment says", O::WHAT);
        return Err(Error::conflict(message).hint("forget it here: `trueup state rm`"));
    }
    Ok(found.output)
}

/// An object that must be there, since it was just made or changed.
pub(crate) async fn made<O: Catalogued>(session: &Session, name: &str, prior: Option<&O>) -> Result<Seen<O>> {
    let seen = O::observe(session, Key::Name(name), prior).await?;
    seen.ok_or_else(|| Error::conflict(format!("the {} `{name}` vanished while it was changed", O::WHAT)))
}

/// The object that a person names.
pub(crate) async fn imported<O: Catalogued>(session: &Session, name: &str) -> Result<O> {
    let seen = O::observe(session, Key::Name(name), None).await?;
    let missing = || {
        Error::not_found(format!(
            "there is no {} `{name}` seen from the database `{}`",
            O::WHAT,
            session.database()
        ))
    };
    Ok(seen.ok_or_else(missing)?.output)
}
