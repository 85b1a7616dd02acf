//! The provider's configuration, and the clients made of it.
//!
//! Credentials and region come as with every tool for AWS: from what is written here, else from the environment, the
//! shared files and profiles, single sign-on, a process, a web identity, or the machine's role. `aws-config` looks for
//! them when the first request is signed. Retries are the engine's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use tokio::sync::OnceCell;
use trueup_core::Secret;
use trueup_provider::{Error, Inputs, Result};

use crate::client::{
    Client, Connection, JsonClient, JsonDialect, Partition, QueryClient, RestJsonClient, S3Client, Service,
};
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

/// The versions of the services' APIs.
const IAM_VERSION: &str = "2010-05-08";
const STS_VERSION: &str = "2011-06-15";

/// The clients, and what all types need to know.
pub struct Aws {
    pub(crate) api: RestJsonClient,
    pub(crate) dynamodb: JsonClient,
    pub(crate) iam: QueryClient,
    pub(crate) lambda: RestJsonClient,
    pub(crate) logs: JsonClient,
    pub(crate) s3: S3Client,
    pub(crate) sqs: JsonClient,
    sts: QueryClient,
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
    /// Everything from the environment and the shared files, but for a region that is known otherwise.
    pub(crate) fn from_environment(region: Option<String>) -> Self {
        Settings {
            region,
            profile: None,
            endpoint: None,
            access_key: None,
            secret_key: None,
            session_token: None,
            timeout: 60.0,
        }
    }

    /// The clients, for a stack in this folder.
    pub(crate) async fn configure(self, folder: PathBuf) -> Result<Aws> {
        let timeout = Duration::from_secs_f64(self.timeout);
        let config = self.load(timeout).await?;
        let Some(region) = config.region().map(ToString::to_string) else {
            return Err(Error::invalid("no region is configured").at("region").hint(
                "set `region` in the provider's configuration, AWS_REGION, or the region of the profile",
            ));
        };
        let connection = Connection::new(&config, timeout);
        let client = |service| Client::new(&connection, &config, service);
        Ok(Aws {
            api: RestJsonClient::new(client(Service::ApiGateway)),
            dynamodb: JsonClient::new(client(Service::DynamoDb), JsonDialect::DYNAMODB),
            iam: QueryClient::new(client(Service::Iam), IAM_VERSION),
            lambda: RestJsonClient::new(client(Service::Lambda)),
            logs: JsonClient::new(client(Service::Logs), JsonDialect::LOGS),
            s3: S3Client::new(client(Service::S3)),
            sqs: JsonClient::new(client(Service::Sqs), JsonDialect::SQS),
            sts: QueryClient::new(client(Service::Sts), STS_VERSION),
            region,
            folder,
            caller: OnceCell::new(),
        })
    }

    /// The settings of the SDK.
    pub(crate) async fn load(self, timeout: Duration) -> Result<SdkConfig> {
        let timeouts = TimeoutConfig::builder().read_timeout(timeout).operation_timeout(timeout).build();
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
        Partition::of(&self.region).name()
    }

    /// A path as a program writes it: a relative one begins at the stack's folder.
    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        self.folder.join(Path::new(path))
    }

    /// Whom AWS takes us for; asked once.
    pub(crate) async fn caller(&self) -> Result<&Caller> {
        let ask = || async {
            let answer = self.sts.call("GetCallerIdentity", []).await;
            let answer = answer.map_err(cannot_see("whose the credentials are"))?;
            let text = |name| answer.owned_text_of(name);
            Ok(Caller { account: text("Account"), arn: text("Arn"), user_id: text("UserId") })
        };
        self.caller.get_or_try_init(ask).await
    }
}
