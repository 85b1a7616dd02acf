//! What a provider is called everywhere: host, namespace and type.

use std::fmt;
use std::str::FromStr;

/// The host that is meant where a source names none.
pub const DEFAULT_HOST: &str = "registry.terraform.io";

/// The namespace that is meant where a source names none.
pub const DEFAULT_NAMESPACE: &str = "hashicorp";

/// Where the providers are that Terraform has built in.
const BUILTIN: (&str, &str) = ("terraform.io", "builtin");

/// The longest source that is read, in bytes.
const SOURCE_LENGTH_MAX: usize = 512;

/// A provider's address: `registry.terraform.io/hashicorp/aws`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProviderAddress {
    host: String,
    namespace: String,
    kind: String,
}

/// Why a source is no address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{source_text}` is not the source of a provider: {why}")]
pub struct AddressError {
    source_text: String,
    why: String,
}

impl ProviderAddress {
    /// The provider of a local name for which no source is given.
    pub fn of_local_name(name: &str) -> Result<Self, AddressError> {
        match name {
            "terraform" => {
                let (host, namespace) = BUILTIN;
                Ok(ProviderAddress { host: host.into(), namespace: namespace.into(), kind: name.into() })
            }
            _ => name.parse(),
        }
    }

    /// The host of its registry.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Who publishes it.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its own name, `aws`, with which the names of its types usually begin.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether Terraform has it built in, so that there is nothing to be found.
    pub fn is_builtin(&self) -> bool {
        (self.host.as_str(), self.namespace.as_str()) == BUILTIN
    }

    /// As short as people write it: without what is meant anyway.
    pub fn short(&self) -> String {
        match self.host == DEFAULT_HOST {
            true => format!("{}/{}", self.namespace, self.kind),
            false => self.to_string(),
        }
    }
}

impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

impl FromStr for ProviderAddress {
    type Err = AddressError;

    fn from_str(source: &str) -> Result<Self, AddressError> {
        let wrong =
            |why: &str| AddressError { source_text: source.chars().take(80).collect(), why: why.to_owned() };
        if source.len() > SOURCE_LENGTH_MAX {
            return Err(wrong("it is too long"));
        }
        let parts: Vec<&str> = source.split('/').collect();
        let (host, namespace, kind) = match parts.as_slice() {
            [kind] => (DEFAULT_HOST, DEFAULT_NAMESPACE, *kind),
            [namespace, kind] => (DEFAULT_HOST, *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => return Err(wrong("it has more than three parts")),
        };
        let name = |part: &str, what: &str| {
            let lower = part.to_lowercase();
            match is_name(&lower) || part == "-" {
                true => Ok(lower),
                false => Err(wrong(&format!(
                    "its {what} must be letters, digits and dashes, and neither begin nor end with a dash"
                ))),
            }
        };
        let host = host.to_lowercase();
        if !is_host(&host) {
            return Err(wrong("its host is no host name"));
        }
        let (namespace, kind) = (name(namespace, "namespace")?, name(kind, "type")?);
        if let Some(bare) = kind.strip_prefix("terraform-provider-") {
            let why =
                format!("write `{bare}`: `terraform-provider-` belongs to the name of its program alone");
            return Err(wrong(&why));
        }
        Ok(ProviderAddress { host, namespace, kind })
    }
}

/// It becomes part of paths, so nothing that leads elsewhere may stand in it.
fn is_name(part: &str) -> bool {
    let sound = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_');
    !part.is_empty() && part.chars().all(sound) && !part.starts_with('-') && !part.ends_with('-')
}

/// A name with dots, or one with a port: what a bare word without either means is a namespace.
fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let ported = port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let labels = name.split('.').all(is_name);
    labels && (port.is_none() && (name.contains('.') || name == "localhost") || ported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let read: Result<ProviderAddress, _> = source.parse();
        match read {
            Ok(address) => assert_eq!(address.to_string(), expected),
            Err(error) => assert!(error.to_string().contains(expected), "{source}: {error}"),
        }
    }

    #[test]
    fn what_a_source_leaves_out_is_meant() {
        check("aws", "registry.terraform.io/hashicorp/aws");
        check("Integrations/GitHub", "registry.terraform.io/integrations/github");
        check("tf.example.com/acme/widgets", "tf.example.com/acme/widgets");
        check("localhost:8080/acme/widgets", "localhost:8080/acme/widgets");
        check("registry.terraform.io/-/aws", "registry.terraform.io/-/aws");
    }

    #[test]
    fn what_is_no_source_is_refused() {
        check("", "its type must be");
        check("a/b/c/d", "more than three parts");
        check("../../etc", "no host name");
        check("a b/c", "its namespace must be");
        check("host/a/b", "no host name");
        check("example.com:99999/a/b", "no host name");
        check("acme/terraform-provider-widgets", "write `widgets`");
        check(&"a".repeat(600), "too long");
    }

    #[test]
    fn the_provider_terraform_is_built_in() {
        assert!(ProviderAddress::of_local_name("terraform").unwrap().is_builtin());
        assert_eq!(ProviderAddress::of_local_name("aws").unwrap().short(), "hashicorp/aws");
    }
}
