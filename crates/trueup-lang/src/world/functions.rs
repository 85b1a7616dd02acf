//! Functions that providers offer: `provider::aws::arn_parse`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Value, nearest};
use trueup_provider::{ProviderFunction, Registry};

use super::Builtin;
use crate::modules::ModuleNode;

/// How the name of such a function begins.
const START: &str = "provider::";

/// The functions that a program may call, each by the provider's name and its own.
#[derive(Default)]
pub(crate) struct ProviderFunctions(BTreeMap<(SmolStr, SmolStr), Found>);

enum Found {
    Function(Arc<dyn ProviderFunction>),
    /// Why it cannot be called.
    Not(String),
}

impl ProviderFunctions {
    /// Finds all that the texts name. Names in comments are found too, which costs a look at the provider's schema.
    pub(crate) async fn find<'t>(
        tree: &ModuleNode,
        texts: impl Iterator<Item = &'t str>,
        builtin: &Builtin,
        registry: &Registry,
    ) -> Self {
        let written: BTreeSet<(&str, &str)> = texts.flat_map(names).collect();
        let mut found = BTreeMap::new();
        if written.is_empty() {
            return ProviderFunctions(found);
        }
        for module in tree.modules() {
            for (local, function) in &written {
                let provider = builtin.meant(&module.module, local);
                let key = (provider.clone(), SmolStr::new(*function));
                if let Entry::Vacant(vacant) = found.entry(key) {
                    vacant.insert(one(registry, &provider, function).await);
                }
            }
        }
        ProviderFunctions(found)
    }

    /// Calls a function by the name that a module gives it.
    pub(crate) fn call(
        &self,
        name: &str,
        node: &ModuleNode,
        builtin: &Builtin,
        arguments: &[Value],
    ) -> Result<Value, String> {
        let (local, function) =
            parts(name).ok_or("a provider's function is named `provider::NAME::FUNCTION`")?;
        let key = (builtin.meant(&node.module, local), SmolStr::new(function));
        match self.0.get(&key) {
            Some(Found::Function(function)) => function.call(arguments),
            Some(Found::Not(why)) => Err(why.clone()),
            None => Err("its provider was not asked".to_owned()),
        }
    }
}

/// Whether a function is a provider's.
pub(crate) fn is_of_provider(name: &str) -> bool {
    name.starts_with(START)
}

async fn one(registry: &Registry, provider: &str, function: &str) -> Found {
    let Some(of) = registry.provider(provider) else {
        return Found::Not(format!("there is no provider `{provider}`"));
    };
    match of.function(function).await {
        Ok(Some(found)) => Found::Function(found),
        Ok(None) => {
            let known = of.function_names().await.unwrap_or_default();
            let near = nearest(function, known.iter().map(SmolStr::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Found::Not(format!("the provider `{provider}` has no function `{function}`{near}"))
        }
        Err(failure) => Found::Not(failure.message),
    }
}

fn parts(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(START)?.split_once("::")
}

/// The provider and function of each name in a text.
fn names(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let sound = |char: char| char.is_alphanumeric() || char == '_' || char == '-' || char == ':';
    text.match_indices(START).filter_map(move |(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|char| !sound(char)).unwrap_or(rest.len());
        parts(&rest[..end])
    })
}
