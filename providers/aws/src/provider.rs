//! The provider and the names of its types.

use std::path::PathBuf;

use trueup_provider::NativeProvider;

use crate::api::{Api, Integration, Route, Stage};
use crate::data::{CallerIdentity, CurrentRegion, ExistingRole};
use crate::dynamodb_table::Table;
use crate::iam::{IamPolicy, Role};
use crate::lambda::{Alias, Function};
use crate::log_group::LogGroup;
use crate::s3_bucket::Bucket;
use crate::settings::{Aws, Settings};
use crate::sqs_queue::Queue;

/// The provider `awsn`, for a stack in this folder: there begin relative paths, such as those of a function's code.
pub fn aws_provider(folder: impl Into<PathBuf>) -> NativeProvider<Aws> {
    let folder = folder.into();
    NativeProvider::configured("awsn", move |settings: Settings| settings.configure(folder.clone()))
        .converge::<Bucket>("s3_bucket")
        .crud::<Queue>("sqs_queue")
        .converge::<Table>("dynamodb_table")
        .converge::<Role>("iam_role")
        .crud::<IamPolicy>("iam_policy")
        .crud::<LogGroup>("cloudwatch_log_group")
        .converge::<Function>("lambda_function")
        .crud::<Alias>("lambda_alias")
        .converge::<Api>("apigatewayv2_api")
        .crud::<Integration>("apigatewayv2_integration")
        .crud::<Route>("apigatewayv2_route")
        .crud::<Stage>("apigatewayv2_stage")
        .data::<CallerIdentity>("caller_identity")
        .data::<CurrentRegion>("region")
        .data::<ExistingRole>("iam_role")
}
