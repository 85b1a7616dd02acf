//! Names in states: of resources, of their instances, and of the configurations of providers.

use std::fmt;

use serde_json::Value as Json;
use smol_str::SmolStr;
use trueup_core::{Address, InstanceKey, ModulePath, ModuleStep};
use trueup_provider::{ProviderAddress, provider_named};

use super::{StateInstance, StateResource};

/// The address of an instance of a resource.
pub fn address(resource: &StateResource, instance: &StateInstance) -> Result<Address, String> {
    let StateResource { module, type_name, name, .. } = resource;
    let prefix = module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
    let text = format!("{prefix}{type_name}.{name}");
    let address: Address = text.parse().map_err(|error| format!("`{text}` is no address: {error}"))?;
    let key = match &instance.index_key {
        None | Some(Json::Null) => None,
        Some(Json::String(key)) => Some(InstanceKey::Key(key.into())),
        Some(other) => {
            let index =
                other.as_u64().or_else(|| other.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as u64));
            Some(InstanceKey::Index(
                index.ok_or_else(|| format!("`{other}` is not the key of an instance of {text}"))?,
            ))
        }
    };
    Ok(address.with_key(key))
}

/// The key of an instance, as it stands in states.
pub fn index_key(address: &Address) -> Option<Json> {
    address.key().map(|key| match key {
        InstanceKey::Index(index) => (*index).into(),
        InstanceKey::Key(key) => key.as_str().into(),
    })
}

/// The address without any keys: what all instances have in common.
pub fn config_address(address: &Address) -> Address {
    let steps = address.module().steps().iter().map(|step| ModuleStep { name: step.name.clone(), key: None });
    let module = ModulePath::new(steps).unwrap_or_default();
    address.in_module(module).with_key(None)
}

/// A configuration of a provider, as states name it: `module.net.provider["registry.terraform.io/hashicorp/aws"].west`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigurationName {
    /// The module that has it; empty for the root module.
    pub module: String,
    /// The provider.
    pub provider: ProviderAddress,
    /// Which of several.
    pub alias: Option<SmolStr>,
}

impl ConfigurationName {
    /// Reads the name in a state.
    pub fn read(text: &str) -> Result<Self, String> {
        let none = || format!("`{text}` is not a configuration of a provider");
        let (module, rest) = match text.strip_prefix("provider") {
            Some(rest) => ("", rest),
            None => text.split_once(".provider").ok_or_else(none)?,
        };
        let (provider, alias) = if let Some(quoted) = rest.strip_prefix("[\"") {
            let (source, alias) = quoted.split_once("\"]").ok_or_else(none)?;
            let provider = source.parse().map_err(|why| format!("`{source}` is no provider: {why}"))?;
            (provider, alias.strip_prefix('.'))
        } else {
            // As Terraform 0.12 wrote it: a name instead of an address.
            let local = rest.strip_prefix('.').ok_or_else(none)?;
            let (local, alias) =
                local.split_once('.').map_or((local, None), |(local, alias)| (local, Some(alias)));
            (ProviderAddress::implied(local), alias)
        };
        Ok(ConfigurationName { module: module.to_owned(), provider, alias: alias.map(SmolStr::new) })
    }

    /// What records call it.
    pub fn recorded(&self) -> SmolStr {
        let module = if self.module.is_empty() { String::new() } else { format!("{}.", self.module) };
        let alias = self.alias.as_ref().map(|alias| format!(".{alias}")).unwrap_or_default();
        SmolStr::from(format!("{module}{}{alias}", self.provider.name()))
    }

    /// The configuration that a record names.
    pub fn of_record(recorded: &str) -> Result<Self, String> {
        let name = provider_named(recorded);
        let none = || format!("`{recorded}` is not a configuration of a provider");
        let (module, alias) = recorded.split_once(name).ok_or_else(none)?;
        let provider = match name {
            "terraform" => ProviderAddress::implied(name),
            name => name.parse().map_err(|why| format!("`{name}` is no provider: {why}"))?,
        };
        let alias = alias.strip_prefix('.').map(SmolStr::new);
        Ok(ConfigurationName { module: module.trim_end_matches('.').to_owned(), provider, alias })
    }
}

impl fmt::Display for ConfigurationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_empty() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        self.alias.as_ref().map_or(Ok(()), |alias| write!(f, ".{alias}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_named_as_terraform_names_them() {
        for (text, recorded) in [
            ("provider[\"registry.terraform.io/hashicorp/aws\"]", "aws"),
            ("provider[\"registry.terraform.io/hashicorp/aws\"].west", "aws.west"),
            ("module.net.provider[\"registry.terraform.io/hashicorp/aws\"].west", "module.net.aws.west"),
            ("module.a.module.b.provider[\"example.com/x/y\"]", "module.a.module.b.example.com/x/y"),
            ("provider[\"terraform.io/builtin/terraform\"]", "terraform"),
        ] {
            let read = ConfigurationName::read(text).unwrap();
            assert_eq!((read.recorded().as_str(), read.to_string().as_str()), (recorded, text));
            assert_eq!(ConfigurationName::of_record(recorded).unwrap(), read);
        }
        assert_eq!(ConfigurationName::read("provider.aws.west").unwrap().recorded(), "aws.west");
        for wrong in ["", "aws", "provider", "provider[\"x", "provider[\"a b\"]"] {
            assert!(ConfigurationName::read(wrong).is_err(), "{wrong}");
        }
    }
}
