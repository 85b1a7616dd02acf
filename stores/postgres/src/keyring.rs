//! Keyrings, which the store keeps and cannot read.

use trueup_state::Scope;

use crate::fault::Fault;
use crate::link::Try;
use crate::session::Session;

const GET: &str = "
    SELECT body FROM scopes JOIN keyrings ON keyrings.scope = scopes.id WHERE stack = $1 AND stage = $2";

const ADD_SCOPE: &str = "INSERT INTO scopes (stack, stage) VALUES ($1, $2) ON CONFLICT DO NOTHING";

const ADD: &str = "
    INSERT INTO keyrings (scope, body) SELECT id, $3 FROM scopes WHERE stack = $1 AND stage = $2
    ON CONFLICT DO NOTHING";

const REPLACE: &str = "
    UPDATE keyrings SET body = $3 FROM scopes
    WHERE stack = $1 AND stage = $2 AND keyrings.scope = scopes.id AND body = $4";

pub(crate) async fn get(session: &Session, scope: &Scope) -> Result<Option<String>, Fault> {
    let found = session.query(GET, &[&scope.stack.as_str(), &scope.stage.as_str()]).await?;
    Ok(found.first().map(|row| row.try_get(0)).transpose()?)
}

/// Whether the expected keyring was there and has been replaced. If the call is made again and the new one is there, it
/// was this call that put it there, or another that put the same.
pub(crate) async fn replace(
    session: &Session,
    scope: &Scope,
    expected: Option<&str>,
    keyring: &str,
    attempt: Try,
) -> Result<bool, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let changed = match expected {
        Some(expected) => session.execute(REPLACE, &[&stack, &stage, &keyring, &expected]).await?,
        None => {
            session.execute(ADD_SCOPE, &[&stack, &stage]).await?;
            session.execute(ADD, &[&stack, &stage, &keyring]).await?
        }
    };
    if changed == 0 && attempt == Try::Again {
        return Ok(get(session, scope).await?.as_deref() == Some(keyring));
    }
    Ok(changed == 1)
}
