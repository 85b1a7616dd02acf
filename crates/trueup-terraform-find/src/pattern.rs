//! Which providers an installation method is for: `include` and `exclude`.

use std::str::FromStr;

use trueup_provider::ProviderAddress;

/// Which providers are meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Only these; `None`: all.
    pub include: Option<Vec<AddressPattern>>,
    /// Not these, whatever else is said.
    pub exclude: Vec<AddressPattern>,
}

/// An address any part of which may be `*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressPattern {
    host: Part,
    namespace: Part,
    kind: Part,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Any,
    Only(String),
}

impl Selection {
    /// Whether a provider is meant.
    pub fn has(&self, address: &ProviderAddress) -> bool {
        let included = self.include.as_ref().is_none_or(|list| list.iter().any(|it| it.matches(address)));
        included && !self.exclude.iter().any(|it| it.matches(address))
    }
}

impl AddressPattern {
    fn matches(&self, address: &ProviderAddress) -> bool {
        let meets = |part: &Part, name: &str| match part {
            Part::Any => true,
            Part::Only(only) => only == name,
        };
        meets(&self.host, &address.host)
            && meets(&self.namespace, &address.namespace)
            && meets(&self.kind, &address.kind)
    }
}

impl FromStr for AddressPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let meant = ProviderAddress::implied("");
        let (host, namespace, kind) = match parts.as_slice() {
            [namespace, kind] => (meant.host.as_str(), *namespace, *kind),
            [host, namespace, kind] => (*host, *namespace, *kind),
            _ => return Err(format!("`{text}` is neither HOST/NAMESPACE/TYPE nor NAMESPACE/TYPE")),
        };
        let part = |text: &str| if text == "*" { Part::Any } else { Part::Only(text.to_lowercase()) };
        Ok(AddressPattern { host: part(host), namespace: part(namespace), kind: part(kind) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(include: &[&str], exclude: &[&str], address: &str, expected: bool) {
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let include = (!include.is_empty()).then(|| patterns(include));
        let selection = Selection { include, exclude: patterns(exclude) };
        assert_eq!(selection.has(&address.parse().unwrap()), expected, "{selection:?} {address}");
    }

    #[test]
    fn exclusion_counts_more_than_inclusion() {
        check(&[], &[], "aws", true);
        check(&["hashicorp/*"], &[], "aws", true);
        check(&["hashicorp/*"], &["hashicorp/aws"], "aws", false);
        check(&["example.com/*/*"], &[], "aws", false);
        check(&["*/*/*"], &[], "example.com/acme/x", true);
        check(&["*/*"], &[], "example.com/acme/x", false);
        check(&["Example.com/acme/x"], &[], "example.com/acme/x", true);
    }
}
