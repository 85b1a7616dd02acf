//! Where the bucket is and who asks for it.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use trueup_core::KnownSecrets;
use trueup_state::{Cause, StoreError};

use crate::bounded::Bounded;
use crate::merging::Limits;

/// How long one request may take; the largest object is a few megabytes.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// Where the bucket is and who asks for it.
///
/// This crate reads no environment: whoever opens a store hands on the variables that it should know.
#[derive(Clone, Default)]
pub struct S3Config {
    /// The bucket, which must be there.
    pub bucket: String,
    /// What the names of all objects begin with, so that a bucket can hold other things too.
    pub prefix: String,
    /// The region; else the one that the environment names, else `us-east-1`.
    pub region: Option<String>,
    /// The address of a service other than Amazon's; else the one that the environment names.
    pub endpoint: Option<String>,
    /// Whether the bucket's name is part of the host's name. Services other than Amazon's mostly want it in the path.
    pub virtual_hosted: bool,
    /// Environment variables as the tools of AWS know them: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`,
    /// `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` and so on. Others are left alone. Without credentials among them, the
    /// metadata service of the machine is asked.
    pub environment: Vec<(String, String)>,
    /// How large things may grow.
    pub limits: Limits,
}

impl S3Config {
    /// Where the store is, for people.
    pub fn location(&self) -> String {
        let prefix = self.prefix.trim_matches('/');
        let separator = if prefix.is_empty() { "" } else { "/" };
        let at = self.endpoint.as_ref().map(|endpoint| format!(" at {}", without_credentials(endpoint)));
        format!("s3://{}{separator}{prefix}{}", self.bucket, at.unwrap_or_default())
    }

    /// The credentials in the environment, which a service may repeat.
    pub(crate) fn secrets(&self) -> KnownSecrets {
        let value =
            |name| self.environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let public: Vec<&str> = value("AWS_ACCESS_KEY_ID").into_iter().collect();
        let secrets = KnownSecrets::default();
        for name in ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"] {
            value(name).into_iter().for_each(|secret| secrets.learn_credential(secret, &public));
        }
        secrets
    }

    pub(crate) fn connect(&self) -> Result<Arc<dyn ObjectStore>, StoreError> {
        let mut builder = AmazonS3Builder::new();
        for (name, value) in &self.environment {
            if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>()
                && name.starts_with("AWS_")
            {
                builder = builder.with_config(key, value);
            }
        }
        if let Some(region) = &self.region {
            builder = builder.with_region(region);
        }
        if let Some(endpoint) = &self.endpoint {
            // Both, since the environment may name one for S3 alone, which would count more.
            builder = builder.with_endpoint(endpoint).with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
        }
        let options = ClientOptions::new().with_timeout(REQUEST_TIME_MAX).with_allow_http(true);
        // Retries are ours: whether a write that failed has happened is asked before it is tried again.
        let no_retries = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let store = builder
            .with_bucket_name(&self.bucket)
            .with_virtual_hosted_style_request(self.virtual_hosted)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_disable_bulk_delete(true)
            .with_http_connector(Bounded::default())
            .with_client_options(options)
            .with_retry(no_retries)
            .build();
        match store {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(StoreError::Unavailable {
                attempted: "open",
                location: self.location(),
                cause: Cause::new(error),
            }),
        }
    }
}

/// An address without the user and password that people put into some.
fn without_credentials(endpoint: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let separator = if path.is_empty() { "" } else { "/" };
            format!("{scheme}://{host}{separator}{path}")
        }
        None => endpoint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_tells_no_password() {
        let config = S3Config {
            bucket: "states".to_owned(),
            prefix: "/team/".to_owned(),
            endpoint: Some("http://ada:hunter2@minio:9000".to_owned()),
            ..S3Config::default()
        };
        assert_eq!(config.location(), "s3://states/team at http://minio:9000");
    }
}
