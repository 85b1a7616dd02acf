//! Signatures, Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;

use super::{CallError, Request};

/// The scope of a signature: service, region and time.
pub(super) struct SigningScope<'a> {
    /// The service, as signatures name it.
    pub(super) service: &'a str,
    pub(super) region: &'a str,
    pub(super) time: SystemTime,
}

/// Returns the headers that sign a request to this URL.
pub(super) fn signature(
    request: &Request,
    url: &str,
    credentials: Credentials,
    scope: &SigningScope<'_>,
) -> Result<Vec<(String, String)>, CallError> {
    // Details could quote what is signed.
    let unsigned = || CallError::NotSent("the request cannot be signed".to_owned());
    let identity = credentials.into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(scope.region)
        .name(scope.service)
        .time(scope.time)
        .settings(settings(scope.service))
        .build()
        .map_err(|_| unsigned())?;
    let headers = request.headers.iter().map(|(name, value)| (*name, value.as_str()));
    let signable = SignableRequest::new(request.method, url, headers, SignableBody::Bytes(&request.body));
    let signed = sign(signable.map_err(|_| unsigned())?, &parameters.into()).map_err(|_| unsigned())?;
    let (instructions, _) = signed.into_parts();
    Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// S3 takes paths as they are, and asks for the digest of the body in a header.
fn settings(service: &str) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if service == "s3" {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The `Authorization` header of a request without a body.
    fn authorization(
        url: &str,
        request: &Request,
        credentials: Credentials,
        scope: &SigningScope<'_>,
    ) -> String {
        let headers = signature(request, url, credentials, scope).unwrap();
        headers.into_iter().find(|(name, _)| name == "authorization").unwrap().1
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// The example of the IAM user guide.
    #[test]
    fn a_request_to_iam_is_signed_as_aws_shows_it() {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let credentials = Credentials::new("AKIDEXAMPLE", secret, None, None, "test");
        let request = Request::new("GET", "/")
            .header("content-type", "application/x-www-form-urlencoded; charset=utf-8".to_owned());
        let scope = SigningScope { service: "iam", region: "us-east-1", time: at(1_440_938_160) };
        assert_eq!(
            authorization(
                "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
                &request,
                credentials,
                &scope
            ),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    /// The example of the S3 API reference: the lifecycle of a bucket.
    #[test]
    fn a_request_to_s3_is_signed_as_aws_shows_it() {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", secret, None, None, "test");
        let scope = SigningScope { service: "s3", region: "us-east-1", time: at(1_369_353_600) };
        assert_eq!(
            authorization(
                "https://examplebucket.s3.amazonaws.com/?lifecycle",
                &Request::new("GET", "/"),
                credentials,
                &scope
            ),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;x-amz-content-sha256;x-amz-date, \
             Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
    }

    #[test]
    fn a_session_token_is_sent_along() {
        let credentials = Credentials::new("AKID", "secret", Some("token".to_owned()), None, "test");
        let scope = SigningScope { service: "sqs", region: "eu-central-1", time: at(0) };
        let headers = signature(
            &Request::new("POST", "/"),
            "https://sqs.eu-central-1.amazonaws.com/",
            credentials,
            &scope,
        );
        assert!(headers.unwrap().contains(&("x-amz-security-token".to_owned(), "token".to_owned())));
    }
}
