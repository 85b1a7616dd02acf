//! A role as the server has it.

use trueup_core::Secret;
use trueup_provider::Result;

use super::RoleOutput;
use crate::catalogued::{Catalogued, Key, Seen};
use crate::session::{Session, column};

/// A point in time as text that does not depend on settings; what never comes is `infinity`.
pub(crate) fn canonical_time(of: &str) -> String {
    format!(
        "CASE WHEN isfinite({of}) THEN to_char({of}, 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') ELSE {of}::text END"
    )
}

impl Catalogued for RoleOutput {
    const WHAT: &'static str = "role";

    fn oid(&self) -> u32 {
        self.oid
    }

    /// Where nobody may look at its verifier, that is taken to be what it was.
    async fn observe(session: &Session, key: Key<'_>, prior: Option<&Self>) -> Result<Option<Seen<Self>>> {
        let query = format!(
            "SELECT oid, rolname::text, rolcanlogin, rolconnlimit, rolsuper, rolcreatedb, rolcreaterole, rolinherit,
                    rolreplication, rolbypassrls, {} AS valid_until,
                    shobj_description(oid, 'pg_authid') AS comment,
                    ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
                          WHERE m.member = r.oid) AS member_of,
                    has_table_privilege('pg_authid', 'SELECT') AS may_look
             FROM pg_roles r WHERE oid = $1 OR rolname = $2",
            canonical_time("rolvaliduntil")
        );
        let (oid, name) = key.parts();
        let Some(row) = session.row(&query, &[&oid, &name]).await? else { return Ok(None) };
        let oid: u32 = column(&row, "oid")?;
        let verifier = match column(&row, "may_look")? {
            false => prior.and_then(|prior| prior.password_verifier.clone()),
            true => {
                let row = session.row("SELECT rolpassword FROM pg_authid WHERE oid = $1", &[&oid]).await?;
                row.map_or(Ok(None), |row| column::<Option<String>>(&row, "rolpassword"))?.map(Secret::new)
            }
        };
        let valid_until: Option<String> = column(&row, "valid_until")?;
        let output = RoleOutput {
            oid,
            name: column(&row, "rolname")?,
            login: column(&row, "rolcanlogin")?,
            valid_until: valid_until.filter(|time| time != "infinity"),
            connection_limit: column(&row, "rolconnlimit")?,
            superuser: column(&row, "rolsuper")?,
            createdb: column(&row, "rolcreatedb")?,
            createrole: column(&row, "rolcreaterole")?,
            inherit: column(&row, "rolinherit")?,
            replication: column(&row, "rolreplication")?,
            bypassrls: column(&row, "rolbypassrls")?,
            member_of: column::<Vec<String>>(&row, "member_of")?.into_iter().collect(),
            password_verifier: verifier,
        };
        Ok(Some(Seen { output, comment: column(&row, "comment")? }))
    }
}
