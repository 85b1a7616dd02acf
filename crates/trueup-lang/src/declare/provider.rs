//! `provider`, and the names by which resources and modules refer to providers.

use std::fmt;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin};

use super::blocks::{Words, labels};
use super::required::constraint;
use super::{Module, at, remark};
use crate::syntax::{Block, Body, Expr, ObjectKey, StaticStep, StaticTraversal};

/// How a provider is configured.
#[derive(Debug)]
pub struct ProviderConfig {
    /// Its name here, with its alias.
    pub name: ProviderName,
    /// Which versions will do, beside those that `required_providers` say.
    pub version: Option<SmolStr>,
    /// Its block's first line, to point at.
    pub header: Origin,
    /// What it is told.
    pub body: Body,
}

/// A provider as a module names it: `aws`, `aws.west`.
#[derive(Clone, Debug)]
pub struct ProviderName {
    /// The local name.
    pub local: SmolStr,
    /// Which of several configurations.
    pub alias: Option<SmolStr>,
    /// Where it stands.
    pub origin: Origin,
}

impl ProviderName {
    pub(super) fn decode(value: &Expr, diagnostics: &mut Diagnostics) -> Option<Self> {
        let name = value.as_static_traversal().and_then(|it| ProviderName::from_traversal(&it, value.origin));
        if name.is_none() {
            let hint = "write `aws` or `aws.west`, without quotes";
            diagnostics.push(at(value.origin, "a provider is named by its name and alias").hint(hint));
        }
        name
    }

    fn from_traversal(traversal: &StaticTraversal, origin: Origin) -> Option<Self> {
        let local = traversal.root.text.clone();
        match traversal.steps.as_slice() {
            [] => Some(ProviderName { local, alias: None, origin }),
            [StaticStep::Attribute(alias)] => {
                Some(ProviderName { local, alias: Some(alias.clone()), origin })
            }
            _ => None,
        }
    }

    /// Whether both name the same.
    pub fn is(&self, other: &ProviderName) -> bool {
        self.local == other.local && self.alias == other.alias
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.alias {
            Some(alias) => write!(f, "{}.{alias}", self.local),
            None => f.write_str(&self.local),
        }
    }
}

/// Tells of a local name that no provider can have. Upper case is let pass in the names of types.
pub(super) fn check_local_name(name: &str, origin: Origin, diagnostics: &mut Diagnostics) {
    let known = |char: char| char.is_alphanumeric() || char == '-';
    let sound = name.chars().all(known) && !name.starts_with('-') && !name.ends_with('-');
    if !sound || name.is_empty() || name.contains("--") {
        let hint = "such names are letters, digits and single dashes between them";
        diagnostics.push(at(origin, format!("`{name}` is not the name of a provider")).hint(hint));
    }
}

/// The same of a name that is written as one.
pub(super) fn check_written_name(name: &str, origin: Origin, diagnostics: &mut Diagnostics) {
    check_local_name(name, origin, diagnostics);
    if name.chars().any(char::is_uppercase) {
        let hint = format!("write `{}`", name.to_lowercase());
        diagnostics.push(at(origin, "names of providers are in lower case").hint(hint));
    }
}

/// The entries of `providers = { aws = aws.west }`.
pub(super) fn provider_names(
    value: &Expr,
    diagnostics: &mut Diagnostics,
) -> Vec<(ProviderName, ProviderName)> {
    let Some(items) = value.as_object() else {
        let hint = "write `providers = { aws = aws.west }`";
        diagnostics.push(at(value.origin, "`providers` must be a map of provider names").hint(hint));
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        let theirs = match &item.key {
            ObjectKey::Name(name) => {
                Some(ProviderName { local: name.text.clone(), alias: None, origin: name.origin })
            }
            ObjectKey::Expr(key) => ProviderName::decode(key.without_parentheses(), diagnostics),
        };
        let ours = ProviderName::decode(&item.value, diagnostics);
        found.extend(theirs.zip(ours));
    }
    found
}

impl Module {
    pub(super) fn declare_provider(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        check_written_name(&label.text, label.origin, diagnostics);
        let local = label.text.clone();
        let (header, origin, json) = (block.header, label.origin, block.body.json);
        let mut words = Words::of(block, &[], diagnostics);
        let alias = words.text("alias", diagnostics);
        let version = words.attribute("version").and_then(|version| {
            let hint = "say it in `terraform { required_providers { … } }`";
            diagnostics
                .push(remark(version.origin, "`version` in a provider block is deprecated").hint(hint));
            constraint(&version.value, diagnostics)
        });
        let name = ProviderName { local, alias, origin };
        if let Some(first) = self.providers.iter().find(|other| other.name.is(&name)) {
            let summary = format!("provider `{name}` is configured twice");
            diagnostics.push(at(header, summary).repeating(Some(first.header)).hint("give one an `alias`"));
            return;
        }
        self.providers.push(ProviderConfig { name, version, header, body: Body { json, ..words.rest() } });
    }
}
