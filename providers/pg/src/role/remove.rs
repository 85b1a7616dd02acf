//! Deleting a role, and what becomes of what it owns.

use trueup_core::FailureClass;
use trueup_provider::{Context, Result};

use super::{Role, RoleOutput};
use crate::catalogued::find_to_delete;
use crate::connections::Connections;
use crate::session::column;
use crate::text::identifier;

/// Drops a role, after what it owns was handed on or dropped, if the inputs say so.
pub(super) async fn remove(role: &Role, context: &Context<Connections>, output: &RoleOutput) -> Result<()> {
    let session = context.config().main().await?;
    let seen = find_to_delete(&session, context, output, &output.name).await?;
    let name = identifier(&seen.name);
    let settling = match (&role.reassign_owned_to, role.drop_owned) {
        (Some(heir), _) => {
            Some(format!("REASSIGN OWNED BY {name} TO {}; DROP OWNED BY {name}", identifier(heir)))
        }
        (None, Some(true)) => Some(format!("DROP OWNED BY {name}")),
        (None, Some(false) | None) => None,
    };
    if let Some(settling) = settling {
        // A role can own things in every database, and each is settled from within.
        let databases = "SELECT DISTINCT d.datname::text FROM pg_shdepend s
             JOIN pg_database d ON d.oid = s.dbid OR (s.dbid = 0 AND d.datname = current_database())
             WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1 AND d.datallowconn";
        let rows = session.rows(databases, &[&seen.oid]).await?;
        let databases = rows.iter().map(|row| column(row, "datname")).collect::<Result<Vec<String>>>()?;
        // One session at a time: calls that wait for each other's would wait forever.
        drop(session);
        for database in databases {
            context.report_progress(&format!("settling what `{}` owns in `{database}`", seen.name));
            let session = context.config().to_change(&database).await?;
            session.begin().await?;
            session.run(&settling).await?;
            session.commit().await?;
        }
    } else {
        drop(session);
    }
    let session = context.config().main().await?;
    session.begin().await?;
    session.run(&format!("DROP ROLE IF EXISTS {name}")).await.map_err(|error| match error.class() {
        FailureClass::Conflict => error.hint(
            "settle what it owns with REASSIGN OWNED or DROP OWNED; next time set `reassign_owned_to` or `drop_owned` \
             before it is deleted",
        ),
        _ => error,
    })?;
    session.commit().await
}
