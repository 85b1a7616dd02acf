//! Privileges, who holds them, and the steps from what is held to what is wanted.

use std::collections::BTreeSet;

use tokio_postgres::Row;
use trueup_core::FieldType as _;
use trueup_provider::{FieldType, Result};

use crate::session::{Session, column};
use crate::text::identifier;

/// What may be done with an object. Which of them an object has depends on its kind.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Privilege {
    /// Reading rows, or the value of a sequence.
    #[trueup(rename = "SELECT")]
    Select,
    /// Adding rows.
    #[trueup(rename = "INSERT")]
    Insert,
    /// Changing rows, or the value of a sequence.
    #[trueup(rename = "UPDATE")]
    Update,
    /// Removing rows.
    #[trueup(rename = "DELETE")]
    Delete,
    /// Emptying a table.
    #[trueup(rename = "TRUNCATE")]
    Truncate,
    /// Referring to a table from another.
    #[trueup(rename = "REFERENCES")]
    References,
    /// Having something run when a table changes.
    #[trueup(rename = "TRIGGER")]
    Trigger,
    /// Vacuuming, analysing and locking a table (PostgreSQL 17).
    #[trueup(rename = "MAINTAIN")]
    Maintain,
    /// Using a schema, sequence, type, language, wrapper or server.
    #[trueup(rename = "USAGE")]
    Usage,
    /// Creating things in a database, schema or tablespace.
    #[trueup(rename = "CREATE")]
    Create,
    /// Connecting to a database.
    #[trueup(rename = "CONNECT")]
    Connect,
    /// Making temporary tables in a database.
    #[trueup(rename = "TEMPORARY")]
    Temporary,
    /// Calling a function.
    #[trueup(rename = "EXECUTE")]
    Execute,
}

impl Privilege {
    /// As SQL and the catalogue have it.
    fn keyword(self) -> String {
        self.encode().ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// One of the catalogue, if this provider knows it.
    fn parse(keyword: &str) -> Option<Privilege> {
        Privilege::decode(&keyword.into()).ok()
    }
}

/// What a role holds, and what of it it may grant to others.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Held {
    pub(crate) privileges: BTreeSet<Privilege>,
    pub(crate) grantable: BTreeSet<Privilege>,
}

impl Held {
    /// From the columns `privileges` and `grantable`.
    pub(crate) fn of(row: &Row) -> Result<Held> {
        let set = |name| -> Result<BTreeSet<Privilege>> {
            let keywords: Vec<String> = column(row, name)?;
            Ok(keywords.iter().filter_map(|keyword| Privilege::parse(keyword)).collect())
        };
        Ok(Held { privileges: set("privileges")?, grantable: set("grantable")? })
    }
}

/// The columns `privileges` and `grantable`: what a role holds by a list of grants. Both are SQL.
pub(crate) fn held_columns(acl: &str, grantee: &str) -> String {
    let of = |which: &str| {
        format!(
            "ARRAY(SELECT DISTINCT privilege_type::text FROM aclexplode({acl}) WHERE grantee = {grantee} {which})"
        )
    };
    format!("{} AS privileges, {} AS grantable", of(""), of("AND is_grantable"))
}

/// What a role is to hold.
pub(crate) struct Wanted<'a> {
    pub(crate) privileges: &'a BTreeSet<Privilege>,
    pub(crate) with_grant_option: bool,
}

/// A change of what a role holds.
pub(crate) struct Step {
    /// `GRANT`, `REVOKE` or `REVOKE GRANT OPTION FOR`.
    verb: &'static str,
    privileges: BTreeSet<Privilege>,
    option: bool,
}

impl Wanted<'_> {
    pub(crate) fn is_met_by(&self, held: &Held) -> bool {
        *self.privileges == held.privileges && self.grantable() == held.grantable
    }

    fn grantable(&self) -> BTreeSet<Privilege> {
        if self.with_grant_option { self.privileges.clone() } else { BTreeSet::new() }
    }

    /// The steps from what is held to this.
    pub(crate) fn steps(&self, held: &Held) -> Vec<Step> {
        let less = |left: &BTreeSet<Privilege>, right: &BTreeSet<Privilege>| left - right;
        let has = if self.with_grant_option { &held.grantable } else { &held.privileges };
        let options: BTreeSet<Privilege> =
            less(&held.grantable, &self.grantable()).intersection(self.privileges).copied().collect();
        let steps = [
            Step { verb: "REVOKE", privileges: less(&held.privileges, self.privileges), option: false },
            Step { verb: "REVOKE GRANT OPTION FOR", privileges: options, option: false },
            Step { verb: "GRANT", privileges: less(self.privileges, has), option: self.with_grant_option },
        ];
        steps.into_iter().filter(|step| !step.privileges.is_empty()).collect()
    }
}

impl Step {
    /// The statement, for a thing such as `TABLE "a"."b"` and a role.
    pub(crate) fn sql(&self, on: &str, role: &str) -> String {
        let privileges: Vec<String> = self.privileges.iter().map(|it| it.keyword()).collect();
        let privileges = privileges.join(", ");
        let to = if self.verb == "GRANT" { "TO" } else { "FROM" };
        let option = if self.option { " WITH GRANT OPTION" } else { "" };
        format!("{} {privileges} ON {on} {to} {}{option}", self.verb, grantee(role))
    }
}

/// The step that takes all away.
pub(crate) fn revocation(held: &Held) -> Option<Step> {
    Wanted { privileges: &BTreeSet::new(), with_grant_option: false }.steps(held).into_iter().next()
}

/// Everyone, as programs write it. No role can have this name.
const EVERYONE: &str = "public";

fn grantee(role: &str) -> String {
    if role == EVERYONE { "PUBLIC".to_owned() } else { identifier(role) }
}

/// The number of a role; everyone is 0.
pub(crate) async fn role_oid(session: &Session, role: &str) -> Result<Option<u32>> {
    if role == EVERYONE {
        return Ok(Some(0));
    }
    let row = session.row("SELECT oid FROM pg_roles WHERE rolname = $1", &[&role]).await?;
    row.map(|row| column(&row, "oid")).transpose()
}

/// Privileges, for people.
pub(crate) fn listed(privileges: &BTreeSet<Privilege>) -> String {
    let names: Vec<String> = privileges.iter().map(|it| it.keyword()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Privilege::{Insert, Select, Update};

    fn check(
        wanted: &[Privilege],
        option: bool,
        held: &[Privilege],
        grantable: &[Privilege],
        steps: &[&str],
    ) {
        let set = |of: &[Privilege]| of.iter().copied().collect::<BTreeSet<_>>();
        let held = Held { privileges: set(held), grantable: set(grantable) };
        let privileges = set(wanted);
        let wanted = Wanted { privileges: &privileges, with_grant_option: option };
        let told: Vec<String> = wanted.steps(&held).iter().map(|step| step.sql("TABLE \"t\"", "a")).collect();
        assert_eq!(told, steps);
        assert_eq!(wanted.is_met_by(&held), steps.is_empty());
    }

    #[test]
    fn only_what_differs_is_granted_and_revoked() {
        check(&[Select, Insert], false, &[], &[], &[r#"GRANT SELECT, INSERT ON TABLE "t" TO "a""#]);
        check(&[Select], false, &[Select], &[], &[]);
        check(
            &[Select],
            false,
            &[Select, Update],
            &[Select, Update],
            &[
                r#"REVOKE UPDATE ON TABLE "t" FROM "a""#,
                r#"REVOKE GRANT OPTION FOR SELECT ON TABLE "t" FROM "a""#,
            ],
        );
        check(&[Select], true, &[Select], &[], &[r#"GRANT SELECT ON TABLE "t" TO "a" WITH GRANT OPTION"#]);
    }
}
