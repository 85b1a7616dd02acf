//! The provider's configuration, and the clients made of it.
//!
//! Credentials and region come as with every tool for AWS: from what is written here, else from the environment, the
//! shared files and profiles, single sign-on, a process, a web identity, or the machine's role. The SDK looks for them
//! when the first request is signed, and repeats nothing: how often something is tried is the engine's to say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_sdk_sts::config::Credentials;
use tokio::sync::OnceCell;
use trueup_core::Secret;
use trueup_provider::{Error, Inputs, Result};

use crate::failure::cannot_see;

/// The configuration of the provider `awsn`. All of it may be left out.
#[derive(Inputs)]
#[trueup(all_or_none("access_key", "secret_key"))]
#[trueup(required_with("session_token", "access_key"))]
#[trueup(at_most_one_of("access_key", "profile"))]
pub struct Settings {
    /// The region in which objects are made. Else `AWS_REGION`, or what the profile says.
    region: Option<String>,
    /// The profile of the shared configuration that gives credentials. Else `AWS_PROFILE`.
    profile: Option<String>,
    /// Where all services answer, such as an emulator's address. Else `AWS_ENDPOINT_URL`.
    #[trueup(pattern = "^https?://")]
    endpoint: Option<String>,
    /// An access key, where no other source of credentials will do.
    access_key: Option<String>,
    /// The secret that belongs to the access key.
    secret_key: Option<Secret<String>>,
    /// The token that belongs to a temporary access key.
    session_token: Option<Secret<String>>,
    /// How long AWS may take to answer a request, in seconds.
    #[trueup(default = 60.0, range(min = 0.001, max = 3600))]
    timeout: f64,
}

/// The clients, and what all types need to know.
pub struct Aws {
    pub(crate) api: aws_sdk_apigatewayv2::Client,
    pub(crate) dynamodb: aws_sdk_dynamodb::Client,
    pub(crate) iam: aws_sdk_iam::Client,
    pub(crate) lambda: aws_sdk_lambda::Client,
    pub(crate) logs: aws_sdk_cloudwatchlogs::Client,
    pub(crate) s3: aws_sdk_s3::Client,
    pub(crate) sqs: aws_sdk_sqs::Client,
    sts: aws_sdk_sts::Client,
    pub(crate) region: String,
    folder: PathBuf,
    caller: OnceCell<Caller>,
}

/// Whom AWS takes us for.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) account: String,
    pub(crate) arn: String,
    pub(crate) user_id: String,
}

impl Settings {
    /// The clients, for a stack in this folder.
    pub(crate) async fn configure(self, folder: PathBuf) -> Result<Aws> {
        let config = self.load().await?;
        let Some(region) = config.region().map(ToString::to_string) else {
            return Err(Error::invalid("no region is configured").at("region").hint(
                "set `region` in the provider's configuration, AWS_REGION, or the region of the profile",
            ));
        };
        // An emulator has no name for each bucket.
        let path_style = config.endpoint_url().is_some();
        let s3 = aws_sdk_s3::config::Builder::from(&config).force_path_style(path_style).build();
        Ok(Aws {
            api: aws_sdk_apigatewayv2::Client::new(&config),
            dynamodb: aws_sdk_dynamodb::Client::new(&config),
            iam: aws_sdk_iam::Client::new(&config),
            lambda: aws_sdk_lambda::Client::new(&config),
            logs: aws_sdk_cloudwatchlogs::Client::new(&config),
            s3: aws_sdk_s3::Client::from_conf(s3),
            sqs: aws_sdk_sqs::Client::new(&config),
            sts: aws_sdk_sts::Client::new(&config),
            region,
            folder,
            caller: OnceCell::new(),
        })
    }

    async fn load(self) -> Result<SdkConfig> {
        let patience = Duration::from_secs_f64(self.timeout);
        let timeouts = TimeoutConfig::builder().read_timeout(patience).operation_timeout(patience).build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .app_name(AppName::new("trueup")?);
        if let Some(region) = self.region {
            loader = loader.region(Region::new(region));
        }
        if let Some(profile) = self.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(endpoint) = self.endpoint {
            loader = loader.endpoint_url(endpoint);
        }
        if let (Some(id), Some(secret)) = (self.access_key, self.secret_key) {
            let token = self.session_token.map(Secret::into_exposed);
            loader = loader.credentials_provider(Credentials::new(
                id,
                secret.into_exposed(),
                token,
                None,
                "trueup",
            ));
        }
        Ok(loader.load().await)
    }
}

impl Aws {
    /// The partition: `aws`, or one of those whose regions are apart from the others.
    pub(crate) fn partition(&self) -> &'static str {
        match self.region.split('-').next() {
            Some("cn") => "aws-cn",
            Some("us") if self.region.starts_with("us-gov-") => "aws-us-gov",
            _ => "aws",
        }
    }

    /// A path as a program writes it: a relative one begins at the stack's folder.
    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        self.folder.join(Path::new(path))
    }

    /// Whom AWS takes us for; asked once.
    pub(crate) async fn caller(&self) -> Result<&Caller> {
        let ask = || async {
            let answer = self.sts.get_caller_identity().send().await;
            let answer = answer.map_err(cannot_see("whose the credentials are"))?;
            let text = |text: Option<String>| text.unwrap_or_default();
            Ok(Caller { account: text(answer.account), arn: text(answer.arn), user_id: text(answer.user_id) })
        };
        self.caller.get_or_try_init(ask).await
    }
}
