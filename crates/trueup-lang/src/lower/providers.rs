//! Providers: whether they can be had, how they are configured, and which configuration serves what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block as Schema;
use trueup_core::{Diagnostic, Diagnostics, Mode, Origin, nearest};
use trueup_program::ProviderDeclaration;
use trueup_provider::Registry;

use super::bodies::check_names;
use super::build::Builder;
use super::computed::What;
use super::resources::Located;
use crate::declare::{Module, ModuleCall, ProviderMeta, Resource, ResourceKey, at};
use crate::modules::ModuleNode;
use crate::world::{
    Builtin, Evaluation, Instance, Position, Standing, TypeSchema, Types, Used, implied, named,
};

/// What each provider takes; nothing is said of those that cannot be had.
#[derive(Default)]
pub(super) struct Configs {
    /// As its configuration.
    configs: BTreeMap<SmolStr, Arc<Schema>>,
    /// From modules, about themselves; of providers that are told something.
    pub(super) metas: BTreeMap<SmolStr, Arc<Schema>>,
}

impl Builder<'_> {
    /// Lowers the configurations that a module has.
    pub(super) fn lower_providers(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        configs: &Configs,
    ) {
        let here = Standing { instance, position: &Position::One, for_each: None };
        let module = &instance.node.module;
        for (index, declared) in module.providers.iter().enumerate().filter(|(_, it)| instance.counts(it)) {
            let meant = self.world.builtin.meant(module, &declared.name.local);
            let Some(schema) = configs.configs.get(&meant).cloned() else { continue };
            let name = instance.configuration_name(&meant, &declared.name);
            let subject = format!("provider {name}");
            check_names(&declared.body, &schema, &subject, &mut self.diagnostics);
            let mut used = Used::new();
            evaluation.used_by_body(here, &declared.body, &mut used);
            let lowered = self.lowered(instance, What::Provider { index, schema: schema.clone() }, &used);
            let evaluated = lowered.within(evaluation);
            self.tell_all(evaluated.diagnostics);
            let checked = schema.check(&evaluated.value, &subject);
            self.diagnostics.extend(checked.diagnostics.into_iter().map(|it| it.located(declared.header)));
            let config = lowered.into_expression(Some(&evaluated.value));
            self.program.providers.push(ProviderDeclaration { name, config });
        }
    }

    /// The configurations of a module and of all that are in it, what these tell providers, and the ephemeral resources
    /// that they may refer to, whatever else is wrong with them.
    pub(super) fn lower_all_providers(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        configs: &Configs,
    ) {
        self.lower_providers(evaluation, instance, configs);
        self.lower_metas(evaluation, instance, configs);
        let resources = instance.node.module.resources.keys().enumerate();
        for (at, _) in resources.filter(|(_, key)| key.mode == Mode::Ephemeral) {
            self.lower_resource(evaluation, instance, at);
        }
        for call in 0..instance.node.module.calls.len() {
            let children = evaluation.children(instance, call);
            for child in children.iter().flat_map(|children| children.instances.iter()) {
                self.lower_all_providers(evaluation, child, configs);
            }
        }
    }

    /// Holds what a call passes against what there is and what is expected.
    pub(super) fn check_passed(&mut self, instance: &Instance, call: &ModuleCall, called: &ModuleNode) {
        let world = self.world.clone();
        let (module, builtin) = (&instance.node.module, &world.builtin);
        for (theirs, ours) in &call.providers {
            if instance.configuration(ours, builtin).is_none() {
                self.tell(unconfigured(instance, ours));
            }
            let (wanted, given) =
                (builtin.meant(&called.module, &theirs.local), builtin.meant(module, &ours.local));
            if wanted != given {
                let summary = format!(
                    "`{theirs}` is the provider `{wanted}` in the module, and `{ours}` is `{given}` here"
                );
                let hint = "say the same `source` in `required_providers` of both";
                self.tell(at(ours.origin, summary).hint(hint));
            }
        }
        let required = called.module.settings.required_providers.values();
        for alias in required.flat_map(|required| &required.aliases) {
            if !call.providers.iter().any(|(theirs, _)| theirs.is(alias)) {
                let summary = format!("module `{}` expects the provider `{alias}`", call.name.text);
                let hint = format!("write `providers = {{ {alias} = … }}` in the call");
                self.tell(at(call.header, summary).hint(hint));
            }
        }
        let repeated = call.repetition.is_some() || !call.depends_on.is_empty();
        if let Some(own) = called.modules().into_iter().find_map(configured_within).filter(|_| repeated) {
            let summary =
                "a module that configures providers can have neither `count`, `for_each` nor `depends_on`";
            let hint = format!(
                "configure the provider outside, and pass it to module `{}` with `providers = {{ … }}`",
                call.name.text
            );
            self.tell(at(own, summary).hint(hint));
        }
    }

    /// The configuration that serves a resource, if it is not simply the one that its type implies.
    pub(super) fn provider_of(
        &mut self,
        instance: &Arc<Instance>,
        key: &ResourceKey,
        declared: &Resource,
    ) -> Option<SmolStr> {
        let named = named(key, declared);
        match instance.configuration(&named, &self.world.builtin) {
            Some(name) => Some(name).filter(|name| name != implied(&key.type_name)),
            None => {
                self.tell(unconfigured(instance, &named));
                None
            }
        }
    }
}

fn unconfigured(instance: &Instance, named: &crate::declare::ProviderName) -> Diagnostic {
    match instance.caller {
        None => {
            let hint = format!("configure it with `provider \"{}\" {{ … }}`", named.local);
            at(named.origin, format!("there is no provider `{named}`")).hint(hint)
        }
        Some(_) => {
            let summary = format!("no provider `{named}` is passed to {}", instance.path);
            at(named.origin, summary).hint(format!("write `providers = {{ {named} = … }}` in the call"))
        }
    }
}

/// Where a module configures a provider, if it does.
fn configured_within(node: &ModuleNode) -> Option<Origin> {
    node.module.providers.iter().find(|own| !own.is_empty()).map(|own| own.header)
}

/// The types that a tree of modules uses, and what the configurations of its providers take.
pub(super) async fn find_schemas(
    tree: &ModuleNode,
    registry: &Registry,
    builtin: &Builtin,
    diagnostics: &mut Diagnostics,
) -> (Types, Configs) {
    let mut found =
        Finding { registry, builtin, diagnostics, configs: Configs::default(), broken: BTreeSet::new() };
    let mut types = Types::default();
    let mut settled: BTreeMap<(Mode, SmolStr), SmolStr> = BTreeMap::new();
    for node in tree.modules() {
        for declared in &node.module.providers {
            found.config(&node.module, &declared.name.local, declared.name.origin).await;
        }
        for (local, meta) in &node.module.settings.provider_metas {
            if is_used(&node.module, local) {
                found.meta(&node.module, local, meta).await;
            }
        }
        for (key, declared) in &node.module.resources {
            let name = (key.mode, key.type_name.clone());
            let origin = declared.provider.as_ref().map_or(declared.type_origin, |named| named.origin);
            let local = named(key, declared).local;
            let Some(provider) = found.config(&node.module, &local, origin).await else { continue };
            match settled.get(&name) {
                None => {}
                Some(first) if *first == provider => continue,
                Some(first) => {
                    let summary = format!(
                        "`{}` is of the provider `{first}` elsewhere in this program, and of `{provider}` here",
                        key.type_name
                    );
                    let hint = "one program can have a type from one provider only";
                    found.diagnostics.push(at(declared.type_origin, summary).hint(hint));
                    continue;
                }
            }
            settled.insert(name.clone(), provider.clone());
            let schema = match key.mode {
                Mode::Resource => {
                    registry.resource_of(&provider, &key.type_name).await.map(TypeSchema::Resource)
                }
                Mode::Data => registry.data_source_of(&provider, &key.type_name).await.map(TypeSchema::Data),
                Mode::Ephemeral => {
                    registry.ephemeral_of(&provider, &key.type_name).await.map(TypeSchema::Ephemeral)
                }
            };
            match schema {
                Ok(schema) => {
                    types.0.insert(name, schema);
                }
                Err(diagnostic) => found.diagnostics.push(diagnostic.located(declared.type_origin)),
            }
        }
    }
    (types, found.configs)
}

/// Whether a module has resources of a provider. To others it has nothing to tell.
fn is_used(module: &Module, local: &str) -> bool {
    module.resources.iter().any(|(key, declared)| named(key, declared).local == local)
}

/// Providers being loaded, each once.
struct Finding<'a> {
    registry: &'a Registry,
    builtin: &'a Builtin,
    diagnostics: &'a mut Diagnostics,
    configs: Configs,
    broken: BTreeSet<SmolStr>,
}

impl Finding<'_> {
    /// Finds what a provider takes from modules about themselves.
    async fn meta(&mut self, module: &Module, local: &SmolStr, meta: &ProviderMeta) {
        let Some(provider) = self.config(module, local, meta.origin).await else { return };
        let Some(found) = self.registry.provider(&provider) else { return };
        match found.meta_schema().await {
            Ok(Some(schema)) => drop(self.configs.metas.insert(provider, schema)),
            Ok(None) => {
                let summary = format!("the provider `{provider}` takes no `provider_meta`");
                self.diagnostics.push(at(meta.header, summary).hint("remove the block"));
            }
            Err(failure) => self.diagnostics.push(at(meta.origin, failure.message)),
        }
    }

    /// Loads the provider that a module means by a name. Its name, if it can be had; why not is told once, where it is
    /// used first.
    async fn config(&mut self, module: &Module, local: &SmolStr, origin: Origin) -> Option<SmolStr> {
        let provider = self.builtin.meant(module, local);
        if self.broken.contains(&provider) {
            return None;
        }
        if self.configs.configs.contains_key(&provider) {
            return Some(provider);
        }
        let wrong = match self.registry.provider(&provider) {
            Some(found) => match found.config_schema().await {
                Ok(schema) => {
                    self.configs.configs.insert(provider.clone(), schema);
                    return Some(provider);
                }
                Err(failure) => {
                    let summary = format!("cannot load the provider `{provider}`: {}", failure.message);
                    let mut wrong = at(origin, summary);
                    wrong.hints = failure.hints;
                    wrong
                }
            },
            None => at(origin, format!("there is no provider `{provider}`")),
        };
        let required = module.settings.required_providers.get(local);
        let wrong = match (required, nearest(local, self.registry.names())) {
            (None, Some(meant)) if meant != local.as_str() => {
                wrong.hint(format!("did you mean the built-in provider `{meant}`?"))
            }
            (None, None) if wrong.hints.is_empty() => {
                let known: Vec<&str> = self.registry.names().collect();
                wrong.hint(format!("the built-in providers are `{}`", known.join("`, `")))
            }
            _ => wrong,
        };
        self.diagnostics.push(wrong);
        self.broken.insert(provider);
        None
    }
}
