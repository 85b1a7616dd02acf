//! Endpoints: one for each service and region, by the rules of its partition, unless the configuration names another.
//!
//! The rules are those of the endpoint rule sets that AWS publishes with its service models.

use super::partition::Partition;
use super::service::Service;

/// The configuration that endpoints follow from.
#[derive(Clone, Default)]
pub(super) struct EndpointOptions {
    pub(super) region: String,
    /// A URL that replaces the service's own.
    pub(super) url: Option<String>,
    pub(super) fips: bool,
    pub(super) dual_stack: bool,
}

/// The address of a service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Endpoint {
    scheme: String,
    /// Host and port.
    authority: String,
    /// A path in front of all others; empty, or begins with `/`.
    path: String,
    pub(super) signing_region: String,
    /// The configuration names it. Such a server need not answer to a host name for each bucket.
    is_custom: bool,
}

impl Endpoint {
    /// The endpoint of a service, or the reason why there is none.
    pub(super) fn resolve(service: Service, options: &EndpointOptions) -> Result<Self, String> {
        let region = &options.region;
        if !is_host_label(region) {
            return Err(format!("`{region}` is not the name of a region"));
        }
        let partition = Partition::of(region);
        let signing_region = match service {
            Service::Iam if options.url.is_none() => partition.iam_region(),
            _ => region,
        };
        if let Some(url) = &options.url {
            if options.fips || options.dual_stack {
                return Err("a custom endpoint cannot be combined with FIPS or dual-stack".to_owned());
            }
            return Self::custom(url, signing_region);
        }
        let authority = match service {
            Service::Iam => iam_host(partition, options),
            Service::S3 => s3_host(partition, options)?,
            _ => regional_host(service, partition, options),
        };
        Ok(Endpoint {
            scheme: "https".to_owned(),
            authority,
            path: String::new(),
            signing_region: signing_region.to_owned(),
            is_custom: false,
        })
    }

    fn custom(url: &str, signing_region: &str) -> Result<Self, String> {
        let broken = || format!("the endpoint `{url}` is not the URL of a server");
        let (scheme, rest) = url.split_once("://").ok_or_else(broken)?;
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        let is_known = scheme == "http" || scheme == "https";
        // A user in front of the host would end up in messages.
        if !is_known || authority.is_empty() || authority.contains('@') || url.contains(['?', '#', ' ']) {
            return Err(broken());
        }
        Ok(Endpoint {
            scheme: scheme.to_owned(),
            authority: authority.to_owned(),
            path: path.trim_end_matches('/').to_owned(),
            signing_region: signing_region.to_owned(),
            is_custom: true,
        })
    }

    /// Returns true if S3 takes the bucket as part of the host name.
    pub(super) fn takes_virtual_host(&self, bucket: &str) -> bool {
        // A dot would make two labels, for which there is no certificate.
        !self.is_custom && bucket.len() >= 3 && is_host_label(bucket) && bucket == bucket.to_ascii_lowercase()
    }

    /// The URL of a path and query, on a host with this label in front if one is given.
    pub(super) fn url(&self, host_prefix: Option<&str>, path: &str, query: &str) -> String {
        let Endpoint { scheme, authority, path: base, .. } = self;
        let (prefix, dot) = host_prefix.map_or(("", ""), |prefix| (prefix, "."));
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{scheme}://{prefix}{dot}{authority}{base}{path}{mark}{query}")
    }
}

fn is_host_label(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    bytes.len() <= 63 && is_edge(bytes.first()) && is_edge(bytes.last()) && bytes.iter().all(is_inner)
}

fn regional_host(service: Service, partition: Partition, options: &EndpointOptions) -> String {
    let (name, region) = (service.name(), &options.region);
    let fips = if options.fips { "-fips" } else { "" };
    if options.dual_stack {
        return format!("{name}{fips}.{region}.{}", partition.dual_stack_suffix());
    }
    // GovCloud's plain hosts of these are validated.
    let is_plain = partition == Partition::GovCloud
        && matches!(service, Service::DynamoDb | Service::Logs | Service::Sqs | Service::Sts);
    let fips = if is_plain { "" } else { fips };
    format!("{name}{fips}.{region}.{}", partition.suffix())
}

fn s3_host(partition: Partition, options: &EndpointOptions) -> Result<String, String> {
    if options.fips && partition == Partition::China {
        return Err("S3 has no FIPS endpoints in this partition".to_owned());
    }
    let fips = if options.fips { "-fips" } else { "" };
    let dual_stack = if options.dual_stack { "dualstack." } else { "" };
    Ok(format!("s3{fips}.{dual_stack}{}.{}", options.region, partition.suffix()))
}

/// IAM has one host for all regions of a partition, and no rule for its name.
fn iam_host(partition: Partition, options: &EndpointOptions) -> String {
    let (suffix, dual_stack_suffix) = (partition.suffix(), partition.dual_stack_suffix());
    match (partition, options.fips, options.dual_stack) {
        (Partition::GovCloud, _, false) => "iam.us-gov.amazonaws.com".to_owned(),
        (Partition::GovCloud, _, true) => "iam.us-gov.api.aws".to_owned(),
        (Partition::Commercial, false, false) => "iam.amazonaws.com".to_owned(),
        (Partition::Commercial, true, true) => "iam-fips.global.api.aws".to_owned(),
        (Partition::Iso | Partition::IsoB, true, false) => {
            format!("iam-fips.{}.{suffix}", partition.iam_region())
        }
        (_, true, false) => format!("iam-fips.{suffix}"),
        (_, true, true) => format!("iam-fips.{dual_stack_suffix}"),
        (_, false, true) => format!("iam.global.{dual_stack_suffix}"),
        (_, false, false) => format!("iam.{}.{suffix}", partition.iam_region()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(region: &str, variant: &str) -> EndpointOptions {
        EndpointOptions {
            region: region.to_owned(),
            url: None,
            fips: variant.contains("fips"),
            dual_stack: variant.contains("dual"),
        }
    }

    fn url(service: Service, region: &str, variant: &str) -> String {
        match Endpoint::resolve(service, &options(region, variant)) {
            Ok(endpoint) => endpoint.url(None, "", ""),
            Err(reason) => reason,
        }
    }

    /// Every service in every partition, plain, by FIPS, by dual-stack and by both.
    #[test]
    fn each_service_has_its_host_in_each_partition() {
        let regions = [
            "eu-central-1",
            "cn-north-1",
            "eusc-de-east-1",
            "us-gov-west-1",
            "us-iso-east-1",
            "us-isob-east-1",
            "eu-isoe-west-1",
            "us-isof-south-1",
        ];
        let mut table = String::new();
        for region in regions {
            for service in Service::ALL {
                for variant in ["", "fips", "dual", "fips dual"] {
                    table += &format!("{}\n", url(service, region, variant));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    /// Rows of AWS's own test cases.
    #[test]
    fn hosts_are_those_of_the_published_rule_sets() {
        for (service, region, variant, expected) in [
            (Service::Sqs, "af-south-1", "", "https://sqs.af-south-1.amazonaws.com"),
            (Service::Sqs, "us-gov-east-1", "fips", "https://sqs.us-gov-east-1.amazonaws.com"),
            (Service::Sqs, "us-gov-east-1", "fips dual", "https://sqs-fips.us-gov-east-1.api.aws"),
            (
                Service::Sts,
                "cn-north-1",
                "fips dual",
                "https://sts-fips.cn-north-1.api.amazonwebservices.com.cn",
            ),
            (Service::Lambda, "us-gov-east-1", "fips", "https://lambda-fips.us-gov-east-1.amazonaws.com"),
            (Service::Lambda, "eu-west-3", "dual", "https://lambda.eu-west-3.api.aws"),
            (
                Service::ApiGateway,
                "us-isob-east-1",
                "fips",
                "https://apigateway-fips.us-isob-east-1.sc2s.sgov.gov",
            ),
            (Service::Logs, "us-gov-west-1", "fips", "https://logs.us-gov-west-1.amazonaws.com"),
            (Service::DynamoDb, "ca-central-1", "fips", "https://dynamodb-fips.ca-central-1.amazonaws.com"),
            (Service::Iam, "eu-central-1", "", "https://iam.amazonaws.com"),
            (Service::Iam, "us-east-1", "fips", "https://iam-fips.amazonaws.com"),
            (Service::Iam, "us-east-1", "dual", "https://iam.global.api.aws"),
            (Service::Iam, "cn-northwest-1", "fips", "https://iam-fips.amazonaws.com.cn"),
            (Service::Iam, "cn-northwest-1", "dual", "https://iam.global.api.amazonwebservices.com.cn"),
            (Service::Iam, "cn-northwest-1", "", "https://iam.cn-north-1.amazonaws.com.cn"),
            (Service::Iam, "us-iso-east-1", "fips", "https://iam-fips.us-iso-east-1.c2s.ic.gov"),
            (Service::Iam, "eu-isoe-west-1", "fips", "https://iam-fips.cloud.adc-e.uk"),
            (Service::Iam, "us-gov-west-1", "fips dual", "https://iam.us-gov.api.aws"),
            (Service::S3, "us-west-2", "dual", "https://s3.dualstack.us-west-2.amazonaws.com"),
            (Service::S3, "us-gov-west-1", "fips", "https://s3-fips.us-gov-west-1.amazonaws.com"),
            (Service::S3, "cn-north-1", "fips", "S3 has no FIPS endpoints in this partition"),
        ] {
            assert_eq!(url(service, region, variant), expected, "{service:?} {region} {variant}");
        }
    }

    #[test]
    fn iam_signs_for_the_region_of_its_endpoint() {
        let region = |service, region, url: Option<&str>| {
            let options = EndpointOptions { url: url.map(ToOwned::to_owned), ..options(region, "") };
            Endpoint::resolve(service, &options).unwrap().signing_region
        };
        assert_eq!(region(Service::Iam, "eu-central-1", None), "us-east-1");
        assert_eq!(region(Service::Iam, "cn-northwest-1", None), "cn-north-1");
        assert_eq!(region(Service::Iam, "us-gov-east-1", None), "us-gov-west-1");
        assert_eq!(region(Service::Iam, "eu-central-1", Some("http://127.0.0.1:4566")), "eu-central-1");
        assert_eq!(region(Service::Sts, "eu-central-1", None), "eu-central-1");
    }

    #[test]
    fn a_custom_endpoint_replaces_the_host() {
        let custom = |url: &str, variant: &str| {
            let options = EndpointOptions { url: Some(url.to_owned()), ..options("eu-central-1", variant) };
            Endpoint::resolve(Service::S3, &options).map(|endpoint| endpoint.url(None, "/a", "b=1"))
        };
        assert_eq!(custom("http://127.0.0.1:4566", "").unwrap(), "http://127.0.0.1:4566/a?b=1");
        assert_eq!(custom("https://proxy.example/aws/", "").unwrap(), "https://proxy.example/aws/a?b=1");
        assert!(custom("http://127.0.0.1:4566", "fips").is_err());
        assert!(custom("http://127.0.0.1:4566", "dual").is_err());
        for broken in
            ["127.0.0.1", "ftp://host", "https://", "https://a:b@host", "https://host?x", "https://a b"]
        {
            assert!(custom(broken, "").is_err(), "{broken}");
        }
    }

    #[test]
    fn a_bucket_is_part_of_the_host_where_it_can_be() {
        let endpoint = Endpoint::resolve(Service::S3, &options("eu-central-1", "")).unwrap();
        assert!(endpoint.takes_virtual_host("pictures"));
        assert_eq!(
            endpoint.url(Some("pictures"), "/", "versioning"),
            "https://pictures.s3.eu-central-1.amazonaws.com/?versioning"
        );
        let long = "a".repeat(64);
        for bucket in ["pictures.of.cats", "Pictures", "ab", "a_b", "-pictures", "", long.as_str()] {
            assert!(!endpoint.takes_virtual_host(bucket), "{bucket}");
        }
        let options =
            EndpointOptions { url: Some("http://localhost".to_owned()), ..options("eu-central-1", "") };
        assert!(!Endpoint::resolve(Service::S3, &options).unwrap().takes_virtual_host("pictures"));
    }

    #[test]
    fn a_region_that_is_no_host_label_is_refused() {
        for region in ["", "eu-central-1.evil.example", "eu central", "a/b", "a@b", "-a"] {
            assert!(Endpoint::resolve(Service::Sqs, &options(region, "")).is_err(), "{region}");
        }
    }
}
