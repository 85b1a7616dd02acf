//! Which provider a module means by a name, and which configuration of it.
//!
//! Within a module, `aws` is what its `required_providers` say, or a provider that is built in, or the one that the name
//! implies. Which configuration serves a resource is asked from the inside out: one of the module itself, one that the
//! call passes, or the one without alias that the caller has.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use trueup_core::ModulePath;
use trueup_provider::{ProviderAddress, Registry};

use super::Instance;
use crate::declare::{Module, ProviderConfig, ProviderName, Resource, ResourceKey};

/// The providers that are built in: a program that says no source means these.
#[derive(Default)]
pub(crate) struct Builtin(BTreeSet<SmolStr>);

impl Builtin {
    pub(crate) fn of(registry: &Registry) -> Self {
        Builtin(registry.names().map(SmolStr::new).collect())
    }

    /// The provider that a module means by a name.
    pub(crate) fn meant(&self, module: &Module, local: &str) -> SmolStr {
        let required = module.settings.required_providers.get(local);
        match required.and_then(|required| required.source.as_ref()) {
            Some(source) if source.is_builtin() => source.kind.clone(),
            Some(source) if self.0.contains(&source.name()) => {
                SmolStr::from(format!("{}/{}", source.namespace, source.kind))
            }
            Some(source) => source.name(),
            None if self.0.contains(local) => local.into(),
            None => ProviderAddress::implied(local).name(),
        }
    }
}

/// The configuration that a resource names, or the one that its type implies.
pub(crate) fn named(key: &ResourceKey, declared: &Resource) -> ProviderName {
    declared.provider.clone().unwrap_or_else(|| ProviderName {
        local: implied(&key.type_name).into(),
        alias: None,
        origin: declared.type_origin,
    })
}

/// The name of the provider that a type's name implies.
pub(crate) fn implied(type_name: &str) -> &str {
    type_name.split('_').next().unwrap_or(type_name)
}

impl Instance {
    /// The name of the configuration that this module means, as the engine knows it; `None` if there is none.
    pub(crate) fn configuration(&self, name: &ProviderName, builtin: &Builtin) -> Option<SmolStr> {
        let module = &self.node.module;
        let meant = builtin.meant(module, &name.local);
        if name.alias.is_none() {
            return Some(self.usual_configuration(&meant, builtin));
        }
        if module.providers.iter().any(|own| own.name.is(name) && self.counts(own)) {
            return Some(self.configuration_name(&meant, name));
        }
        let parent = self.parent()?;
        let (_, ours) = self.passed(&parent).find(|(theirs, _)| theirs.is(name))?;
        parent.configuration(ours, builtin)
    }

    /// The configuration without alias of a provider, which modules have in common with those that call them.
    fn usual_configuration(&self, meant: &SmolStr, builtin: &Builtin) -> SmolStr {
        let module = &self.node.module;
        let usual =
            |name: &ProviderName| name.alias.is_none() && builtin.meant(module, &name.local) == *meant;
        if let Some(own) = module.providers.iter().find(|own| usual(&own.name) && self.counts(own)) {
            return self.configuration_name(meant, &own.name);
        }
        let Some(parent) = self.parent() else { return meant.clone() };
        let passed = self.passed(&parent).find(|(theirs, _)| usual(theirs));
        let passed = passed.and_then(|(_, ours)| parent.configuration(ours, builtin));
        passed.unwrap_or_else(|| parent.usual_configuration(meant, builtin))
    }

    /// The configurations that the call of this module passes: its own name for each, and the caller's.
    fn passed<'a>(&self, parent: &'a Instance) -> impl Iterator<Item = &'a (ProviderName, ProviderName)> {
        self.call(parent).into_iter().flat_map(|call| &call.providers)
    }

    /// Whether a block configures something. In a module that another calls, an empty one is an old way to say that a
    /// configuration is expected; where none is passed, one with an alias has its provider's defaults, and one without
    /// is the caller's.
    pub(crate) fn counts(&self, own: &ProviderConfig) -> bool {
        let Some(parent) = self.parent() else { return true };
        let passed = || self.passed(&parent).any(|(theirs, _)| theirs.is(&own.name));
        !own.is_empty() || own.name.alias.is_some() && !passed()
    }

    /// The name by which the engine knows a configuration of this module.
    pub(crate) fn configuration_name(&self, meant: &SmolStr, name: &ProviderName) -> SmolStr {
        let alias = name.alias.as_ref().map_or(String::new(), |alias| format!(".{alias}"));
        match self.path == ModulePath::ROOT {
            true => SmolStr::from(format!("{meant}{alias}")),
            false => SmolStr::from(format!("{}.{meant}{alias}", self.path)),
        }
    }
}

impl ProviderConfig {
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.body.items.is_empty()
    }
}
