//! The data source `pg_role`: a role that someone else manages.

use std::collections::BTreeSet;

use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::catalogued::{Catalogued, Key};
use crate::connections::Connections;
use crate::role::RoleOutput;

/// A role that someone else manages, by its name.
#[derive(Inputs)]
pub struct ExistingRole {
    /// Its name.
    #[trueup(length(min = 1, max = 63))]
    name: String,
}

/// A role that someone else manages.
#[derive(Outputs)]
pub struct ExistingRoleOutput {
    /// The server's number for it.
    oid: u32,
    /// Its name.
    name: String,
    /// Whether it may connect.
    login: bool,
    /// Whether it may do everything.
    superuser: bool,
    /// When its password ceases to count, in UTC.
    valid_until: Option<String>,
    /// How many connections it may have at a time; -1 for any number.
    connection_limit: i32,
    /// The roles of which it is a member.
    member_of: BTreeSet<String>,
}

impl DataSource for ExistingRole {
    type Output = ExistingRoleOutput;
    type Config = Connections;

    async fn read(&self, context: &Context<Connections>) -> Result<ExistingRoleOutput> {
        let session = context.config().main().await?;
        let seen = RoleOutput::observe(&session, Key::Name(&self.name), None).await?;
        let missing = || Error::not_found(format!("there is no role `{}`", self.name)).at("name");
        let role = seen.ok_or_else(missing)?.output;
        Ok(ExistingRoleOutput {
            oid: role.oid,
            name: role.name,
            login: role.login,
            superuser: role.superuser,
            valid_until: role.valid_until,
            connection_limit: role.connection_limit,
            member_of: role.member_of,
        })
    }
}
