//! Data sources: who and where we are, and a role that someone else made.

use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::failure::cannot_see;
use crate::settings::Aws;

/// Whom AWS takes us for: `awsn_caller_identity`.
#[derive(Inputs)]
pub struct CallerIdentity {}

/// Whom AWS takes us for.
#[derive(Outputs)]
pub struct CallerIdentityOutput {
    /// The number of the account.
    account_id: String,
    /// The ARN of the user or role.
    arn: String,
    /// The id of the user or role.
    user_id: String,
}

impl DataSource for CallerIdentity {
    type Output = CallerIdentityOutput;
    type Config = Aws;

    async fn read(&self, context: &Context<Aws>) -> Result<CallerIdentityOutput> {
        let caller = context.config().caller().await?.clone();
        Ok(CallerIdentityOutput { account_id: caller.account, arn: caller.arn, user_id: caller.user_id })
    }
}

/// The region in which objects are made: `awsn_region`.
#[derive(Inputs)]
pub struct CurrentRegion {}

/// The region in which objects are made.
#[derive(Outputs)]
pub struct CurrentRegionOutput {
    /// Its name, such as `eu-central-1`.
    name: String,
    /// The partition it belongs to, which ARNs begin with: nearly always `aws`.
    partition: String,
}

impl DataSource for CurrentRegion {
    type Output = CurrentRegionOutput;
    type Config = Aws;

    async fn read(&self, context: &Context<Aws>) -> Result<CurrentRegionOutput> {
        let aws = context.config();
        Ok(CurrentRegionOutput { name: aws.region.clone(), partition: aws.partition().to_owned() })
    }
}

/// A role that exists already: `awsn_iam_role`.
#[derive(Inputs)]
pub struct ExistingRole {
    /// Its name.
    #[trueup(length(min = 1))]
    name: String,
}

/// A role that exists already.
#[derive(Outputs)]
pub struct ExistingRoleOutput {
    /// Its name.
    #[trueup(mirrors = "name")]
    name: String,
    /// Its ARN.
    arn: String,
    /// What tells it from another role that had its name before.
    unique_id: String,
}

impl DataSource for ExistingRole {
    type Output = ExistingRoleOutput;
    type Config = Aws;

    async fn read(&self, context: &Context<Aws>) -> Result<ExistingRoleOutput> {
        let what = format!("the role `{}`", self.name);
        let seen = context.config().iam.call("GetRole", [("RoleName", self.name.as_str())]).await;
        let seen = seen.map_err(cannot_see(&what))?;
        let role = seen.child("Role");
        let role = role.ok_or_else(|| Error::not_found(format!("there is no role `{}`", self.name)))?;
        let (arn, unique_id) = (role.owned_text_of("Arn"), role.owned_text_of("RoleId"));
        Ok(ExistingRoleOutput { name: self.name.clone(), arn, unique_id })
    }
}
