//! Names of providers: where one comes from, by which name the engine knows it, and the names of its configurations.
//!
//! A provider that is found elsewhere has an *address*: host, namespace and type. Its *name* here is the shortest text
//! that says as much: `aws` for `registry.terraform.io/hashicorp/aws`, `grafana/grafana` for another namespace, the whole
//! address for another host. Records keep the name, so a provider can be found again when no program speaks of it.
//!
//! A *configuration* of a provider is named after it: `aws`, `aws.west`, and `module.net.aws` for one that a module has.

use std::fmt;
use std::str::FromStr;

use smol_str::SmolStr;

/// The host of an address that names none.
const HOST: &str = "registry.terraform.io";
/// The namespace of an address that names none.
const NAMESPACE: &str = "hashicorp";

/// Where a provider comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProviderAddress {
    /// The registry's host, `registry.terraform.io` unless said otherwise.
    pub host: SmolStr,
    /// Whose it is, `hashicorp` unless said otherwise.
    pub namespace: SmolStr,
    /// What it is, such as `aws`.
    pub kind: SmolStr,
}

impl ProviderAddress {
    /// The one that a type's or provider's name implies where a program says nothing else.
    pub fn implied(kind: &str) -> Self {
        match kind {
            "terraform" => ProviderAddress {
                host: "terraform.io".into(),
                namespace: "builtin".into(),
                kind: kind.into(),
            },
            _ => ProviderAddress { host: HOST.into(), namespace: NAMESPACE.into(), kind: kind.into() },
        }
    }

    /// Whether it is the one that comes with Terraform itself, and with us.
    pub fn is_builtin(&self) -> bool {
        self.host == "terraform.io" && self.namespace == "builtin"
    }

    /// The shortest text that says as much.
    pub fn name(&self) -> SmolStr {
        match (self.host.as_str(), self.namespace.as_str()) {
            _ if self.is_builtin() => self.kind.clone(),
            (HOST, NAMESPACE) => self.kind.clone(),
            (HOST, namespace) => SmolStr::from(format!("{namespace}/{}", self.kind)),
            _ => SmolStr::from(self.to_string()),
        }
    }
}

impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

impl FromStr for ProviderAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, kind) = match parts.as_slice() {
            [kind] => (HOST, NAMESPACE, *kind),
            [namespace, kind] => (HOST, *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => return Err("it has more than three parts".to_owned()),
        };
        if !is_host(host) {
            return Err(format!("`{host}` is not the name of a host"));
        }
        for part in [namespace, kind] {
            if !is_part(part) {
                return Err(format!("`{part}` is not made of letters, digits, `-` and `_`"));
            }
        }
        if let Some(short) = kind.strip_prefix("terraform-provider-") {
            return Err(format!("a provider is named without `terraform-provider-`: `{short}`"));
        }
        let lower = |part: &str| SmolStr::from(part.to_lowercase());
        Ok(ProviderAddress { host: lower(host), namespace: lower(namespace), kind: lower(kind) })
    }
}

fn is_part(text: &str) -> bool {
    let sound = |char: char| char.is_alphanumeric() || char == '-' || char == '_';
    !text.is_empty() && text.chars().all(sound) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, "443"));
    let named = host.contains('.') || host == "localhost" || text.contains(':');
    named && host.split('.').all(is_part) && port.parse::<u16>().is_ok()
}

/// The provider whose configuration has this name: `aws` for `aws`, `aws.west` and `module.net.aws.west`.
pub fn provider_named(configuration: &str) -> &str {
    let mut rest = configuration;
    while let Some((_, inner)) = rest.strip_prefix("module.").and_then(|rest| rest.split_once('.')) {
        rest = inner;
    }
    // Hosts have dots of their own.
    let kind = rest.rfind('/').map_or(0, |slash| slash + 1);
    rest[kind..].find('.').map_or(rest, |dot| &rest[..kind + dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_terraform_reads_them_and_told_as_short_as_possible() {
        for (text, full, name) in [
            ("aws", "registry.terraform.io/hashicorp/aws", "aws"),
            ("HashiCorp/AWS", "registry.terraform.io/hashicorp/aws", "aws"),
            ("grafana/grafana", "registry.terraform.io/grafana/grafana", "grafana/grafana"),
            ("example.com:8443/a/b", "example.com:8443/a/b", "example.com:8443/a/b"),
            ("terraform.io/builtin/terraform", "terraform.io/builtin/terraform", "terraform"),
        ] {
            let address: ProviderAddress = text.parse().unwrap();
            assert_eq!((address.to_string().as_str(), address.name().as_str()), (full, name));
        }
        for wrong in ["", "a/b/c/d", "host/a/b", "a b/c", "-a/b", "a/terraform-provider-b", "x.y:99999/a/b"] {
            assert!(wrong.parse::<ProviderAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_configuration_tells_its_provider() {
        for (configuration, provider) in [
            ("aws", "aws"),
            ("aws.west", "aws"),
            ("module.net.aws", "aws"),
            ("module.net.module.inner.aws.west", "aws"),
            ("grafana/grafana.eu", "grafana/grafana"),
            ("module.m.example.com:8443/a/b.west", "example.com:8443/a/b"),
        ] {
            assert_eq!(provider_named(configuration), provider);
        }
    }
}
