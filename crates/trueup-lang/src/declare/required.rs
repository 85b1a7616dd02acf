//! `required_providers`: where the providers of a module come from.

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin};
use trueup_provider::ProviderAddress;

use super::provider::{ProviderName, check_written_name};
use super::settings::key;
use super::{Module, at, suggest};
use crate::syntax::{Block, Expr, ExprKind, Literal, ObjectItem};

/// A provider that is asked for.
#[derive(Clone, Debug)]
pub struct ProviderRequirement {
    /// Where it comes from: `hashicorp/aws`.
    pub source: Option<ProviderAddress>,
    /// Which versions will do.
    pub version: Option<SmolStr>,
    /// The configurations that whoever calls this module must pass.
    pub aliases: Vec<ProviderName>,
    /// Where that is said.
    pub origin: Origin,
}

/// What an entry may say.
const WORDS: [&str; 3] = ["source", "version", "configuration_aliases"];

impl Module {
    pub(super) fn require_providers(&mut self, block: &Block, diagnostics: &mut Diagnostics) {
        for inner in block.body.blocks() {
            let hint = format!("write `{} = {{ source = … }}`", inner.name.text);
            diagnostics.push(at(inner.name.origin, "a required provider is not a block").hint(hint));
        }
        for attribute in block.body.attributes() {
            let name = attribute.name.text.clone();
            if block.body.json && name == "//" {
                continue;
            }
            check_written_name(&name, attribute.name.origin, diagnostics);
            let mut required = ProviderRequirement {
                source: None,
                version: None,
                aliases: Vec::new(),
                origin: attribute.name.origin,
            };
            match &attribute.value.kind {
                ExprKind::Literal(Literal::String(_)) => required.version(&attribute.value, diagnostics),
                ExprKind::Object(items) => {
                    items.iter().for_each(|item| required.say(&name, item, diagnostics));
                }
                _ => diagnostics.push(
                    at(attribute.value.origin, "a required provider is an object")
                        .hint("write `aws = { source = \"hashicorp/aws\", version = \"~> 5.0\" }`"),
                ),
            }
            self.settings.required_providers.insert(name, required);
        }
    }
}

impl ProviderRequirement {
    fn say(&mut self, name: &str, item: &ObjectItem, diagnostics: &mut Diagnostics) {
        match key(&item.key) {
            Some("source") => self.source(&item.value, diagnostics),
            Some("version") => self.version(&item.value, diagnostics),
            Some("configuration_aliases") => self.aliases(name, &item.value, diagnostics),
            other => {
                let other = other.unwrap_or_default();
                let diagnostic =
                    at(item.key.origin(), format!("unknown word `{other}` in a required provider"));
                diagnostics.push(suggest(diagnostic, other, WORDS.into_iter()));
            }
        }
    }

    fn source(&mut self, value: &Expr, diagnostics: &mut Diagnostics) {
        let Some(text) = value.as_literal_str() else {
            return diagnostics.push(at(value.origin, "`source` must be a text without expressions"));
        };
        match text.parse() {
            Ok(source) => self.source = Some(source),
            Err(why) => {
                let hint = "write `namespace/type`, such as \"hashicorp/aws\", or `host/namespace/type`";
                let summary = format!("`{text}` is not the source of a provider: {why}");
                diagnostics.push(at(value.origin, summary).hint(hint));
            }
        }
    }

    fn version(&mut self, value: &Expr, diagnostics: &mut Diagnostics) {
        self.version = constraint(value, diagnostics);
    }

    fn aliases(&mut self, name: &str, value: &Expr, diagnostics: &mut Diagnostics) {
        let hint = format!("write `configuration_aliases = [{name}, {name}.west]`");
        let Some(items) = value.as_tuple() else {
            let summary = "`configuration_aliases` must be a list of provider names";
            return diagnostics.push(at(value.origin, summary).hint(hint));
        };
        for item in items {
            let Some(alias) = ProviderName::decode(item, diagnostics) else { continue };
            if alias.local != name {
                let summary = format!("`{alias}` is no configuration of `{name}`");
                diagnostics.push(at(item.origin, summary).hint(hint.clone()));
                continue;
            }
            self.aliases.push(alias);
        }
    }
}

/// A text that says which versions will do.
pub(super) fn constraint(value: &Expr, diagnostics: &mut Diagnostics) -> Option<SmolStr> {
    let text = value.as_literal_str();
    if let Some(text) = text.filter(|text| is_constraint(text)) {
        return Some(text.into());
    }
    diagnostics.push(match text {
        Some(_) => at(value.origin, "this is no version constraint")
            .hint("write it like \">= 5.2, < 6.0\" or \"~> 5.0\""),
        None => at(value.origin, "`version` must be a text without expressions"),
    });
    None
}

/// Whether a text says which versions will do, such as `>= 5.2, != 5.7.1`.
fn is_constraint(text: &str) -> bool {
    text.split(',').all(|part| {
        let part = part.trim();
        let Some(digits) = part.find(|char: char| char.is_ascii_digit()) else { return false };
        let (operator, version) = (part[..digits].trim(), part[digits..].trim());
        let (numbers, suffix) = match version.find(['-', '+']) {
            Some(at) => (&version[..at], &version[at + 1..]),
            None => (version, "x"),
        };
        let mut count = 0;
        let numeric = numbers.split('.').all(|number| {
            count += 1;
            number.parse::<u64>().is_ok()
        });
        let sound = |char: char| char.is_ascii_alphanumeric() || ".-+".contains(char);
        ["", "=", "!=", ">", ">=", "<", "<=", "~>"].contains(&operator)
            && numeric
            && count <= 3
            && !suffix.is_empty()
            && suffix.chars().all(sound)
    })
}

#[cfg(test)]
mod tests {
    use super::is_constraint;

    #[test]
    fn version_constraints_are_told_from_other_texts() {
        for sound in ["5.0", ">= 5.2, < 6", "~> 5.0.1", "!= 1.0.0-beta.2", "=1"] {
            assert!(is_constraint(sound), "{sound}");
        }
        for wrong in ["", "latest", "=> 1.0", "1.2.3.4", ">= 1.0,", "1.x", "1.0-"] {
            assert!(!is_constraint(wrong), "{wrong}");
        }
    }
}
