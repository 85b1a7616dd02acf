//! `terraform` and `stack`: what is said about the program itself.

use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin, Value};
use trueup_front_end::StateSettings;
use trueup_program::RetrySettings;

use super::blocks::{Words, labels, unsupported};
use super::lifecycle::{decode_retry, duration};
use super::required::ProviderRequirement;
use super::{Module, at, remark};
use crate::eval::{calls_functions, references};
use crate::syntax::{Block, BlockShape, Body, Expr, ExprKind, Literal, ObjectKey};

/// What is said about the program itself.
#[derive(Debug, Default)]
pub struct Settings {
    /// Where a `stack` block stands.
    pub stack: Option<Origin>,
    /// The stack's name, and where it is said.
    pub name: Option<(SmolStr, Origin)>,
    /// Where state is kept: attributes as they stand, for whoever opens stores.
    pub state: Option<StateSettings>,
    /// Stages that are not destroyed without a further question.
    pub protected_stages: Vec<SmolStr>,
    /// How many operations run at a time.
    pub parallelism: Option<usize>,
    /// How failed operations are repeated.
    pub retry: RetrySettings,
    /// The same for one type, by its name.
    pub type_retries: BTreeMap<SmolStr, RetrySettings>,
    /// How long one operation may take.
    pub timeout: Option<Duration>,
    /// Classes of resources that share a limit.
    pub limits: IndexMap<SmolStr, usize>,
    /// The providers that are asked for, by their local names.
    pub required_providers: IndexMap<SmolStr, ProviderRequirement>,
    /// What the module tells providers of itself, by their local names.
    pub provider_metas: IndexMap<SmolStr, ProviderMeta>,
}

/// What a module tells a provider of itself.
#[derive(Debug)]
pub struct ProviderMeta {
    /// Where the provider is named.
    pub origin: Origin,
    /// Its block's first line, to point at.
    pub header: Origin,
    /// What it is told.
    pub body: Body,
}

/// The version of Terraform whose language this is.
const LANGUAGE: [u64; 3] = [1, 11, 0];

impl Module {
    pub(super) fn declare_terraform(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = labels(&block, diagnostics) else { return };
        const NESTED: &[BlockShape<'static>] = &[
            BlockShape { name: "required_providers", labels: 0 },
            BlockShape { name: "backend", labels: 1 },
            BlockShape { name: "cloud", labels: 0 },
            BlockShape { name: "provider_meta", labels: 1 },
        ];
        let mut words = Words::of(block, NESTED, diagnostics);
        if let Some(version) = words.expression("required_version") {
            match version.as_literal_str() {
                None => diagnostics.push(at(version.origin, "`required_version` must be a text")),
                Some(text) => match allows(text, LANGUAGE) {
                    Some(true) => {}
                    Some(false) => {
                        let summary =
                            format!("this program asks for Terraform {text}; the language here is 1.11");
                        diagnostics.push(
                            at(version.origin, summary).hint("relax `required_version` if it would do"),
                        );
                    }
                    None => {
                        let hint = "write it like \">= 1.5, < 2.0\"";
                        diagnostics.push(at(version.origin, "this is no version constraint").hint(hint));
                    }
                },
            }
        }
        for word in ["backend", "cloud"] {
            for block in words.blocks(word) {
                let summary = format!("`{word}` is not used: it says where Terraform keeps its state");
                let hint = "say where trueup keeps its own with `stack { state \"sqlite\" { … } }`";
                diagnostics.push(remark(block.header, summary).hint(hint));
            }
        }
        for block in words.blocks("required_providers") {
            self.require_providers(&block, diagnostics);
        }
        if let Some(experiments) = words.attribute("experiments") {
            diagnostics.push(unsupported(experiments.origin, "`experiments`", "remove it"));
        }
        for block in words.blocks("provider_meta") {
            self.declare_meta(block, diagnostics);
        }
        words.finish(diagnostics);
    }

    fn declare_meta(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        let (provider, header, origin) = (label.text.clone(), block.header, label.origin);
        if self.settings.provider_metas.contains_key(&provider) {
            let summary = format!("`provider_meta` of `{provider}` stands twice in this module");
            return diagnostics.push(at(header, summary).hint("put both into one"));
        }
        refuse_computed(&block.body, diagnostics);
        let meta = ProviderMeta { origin, header, body: block.body };
        self.settings.provider_metas.insert(provider, meta);
    }

    pub(super) fn declare_stack(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = labels(&block, diagnostics) else { return };
        const NESTED: &[BlockShape<'static>] =
            &[BlockShape { name: "state", labels: 1 }, BlockShape { name: "retry", labels: 0 }];
        self.settings.stack.get_or_insert(block.header);
        let mut words = Words::of(block, NESTED, diagnostics);
        if let Some(name) = words.attribute("name") {
            match name.value.as_literal_str() {
                Some(text) if is_stack_name(text) => {
                    self.settings.name = Some((text.into(), name.value.origin));
                }
                _ => {
                    let hint = "letters, digits, `_`, `-` and `.`, at most 64 of them";
                    diagnostics.push(at(name.value.origin, "this is not a stack's name").hint(hint));
                }
            }
        }
        if let Some(state) = words.block("state", diagnostics) {
            self.declare_state(&state, diagnostics);
        }
        if let Some(stages) = words.expression("protected_stages") {
            let texts = stages
                .as_tuple()
                .map(|items| items.iter().map(Expr::as_literal_str).collect::<Option<Vec<_>>>());
            match texts.flatten() {
                Some(texts) => self.settings.protected_stages.extend(texts.into_iter().map(SmolStr::new)),
                None => diagnostics.push(at(stages.origin, "`protected_stages` must be a list of texts")),
            }
        }
        if let Some(parallelism) = words.expression("parallelism") {
            self.settings.parallelism = limit(&parallelism);
            if self.settings.parallelism.is_none() {
                diagnostics.push(at(parallelism.origin, "`parallelism` must be a whole number from 1 on"));
            }
        }
        if let Some(timeout) = words.expression("timeout") {
            self.settings.timeout = duration(&timeout, "timeout", diagnostics);
        }
        for retry in words.blocks("retry") {
            self.declare_retry(retry, diagnostics);
        }
        if let Some(limits) = words.expression("limits") {
            self.declare_limits(&limits, diagnostics);
        }
        words.finish(diagnostics);
    }

    fn declare_state(&mut self, block: &Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(block, diagnostics) else { return };
        let (kind, origin) = (label.text.clone(), block.header);
        let mut options = Vec::new();
        for attribute in block.body.attributes() {
            match attribute.value.as_literal_str() {
                Some(text) => {
                    options.push((attribute.name.text.clone(), Value::from(text).with_origin(origin)));
                }
                None => diagnostics.push(
                    at(attribute.value.origin, "what a store is told must be a text without expressions")
                        .hint("use an environment variable for what must not stand here"),
                ),
            }
        }
        for block in block.body.blocks() {
            diagnostics.push(at(block.name.origin, format!("unknown word `{}` in state", block.name.text)));
        }
        self.settings.state = Some(StateSettings { kind, settings: Value::object(options) });
    }

    /// `retry { … }` for all resources, or `retry "aws_instance" { … }` for those of one type.
    fn declare_retry(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let type_name = block.labels.first().map(|label| label.text.clone());
        if block.labels.len() > 1 {
            let summary = "`retry` takes one label at most: a resource type";
            diagnostics.push(at(block.header, summary).hint("write a block for each type"));
        }
        let settings = decode_retry(block, diagnostics);
        match type_name {
            Some(type_name) => drop(self.settings.type_retries.insert(type_name, settings)),
            None => self.settings.retry = settings,
        }
    }

    fn declare_limits(&mut self, value: &Expr, diagnostics: &mut Diagnostics) {
        const HINT: &str = "write `limits = { database = 2 }`";
        let Some(items) = value.as_object() else {
            return diagnostics.push(at(value.origin, "`limits` must be a map of limits").hint(HINT));
        };
        for item in items {
            match (key(&item.key), limit(&item.value)) {
                (Some(name), Some(limit)) => {
                    self.settings.limits.insert(name.into(), limit);
                }
                _ => {
                    diagnostics.push(at(item.value.origin, "a limit is a whole number from 1 on").hint(HINT));
                }
            }
        }
    }
}

/// What a module tells of itself is the same in every run.
fn refuse_computed(body: &Body, diagnostics: &mut Diagnostics) {
    for attribute in body.attributes() {
        if calls_functions(&attribute.value) || !references(&attribute.value).is_empty() {
            let summary = "`provider_meta` takes no references and calls no functions";
            diagnostics.push(at(attribute.value.origin, summary).hint("write the value itself"));
        }
    }
    body.blocks().for_each(|block| refuse_computed(&block.body, diagnostics));
}

/// A whole number from 1 on.
fn limit(value: &Expr) -> Option<usize> {
    let ExprKind::Literal(Literal::Number(number)) = &value.without_parentheses().kind else { return None };
    number.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0)
}

/// The key of an object's entry, if it is written out.
pub(super) fn key(key: &ObjectKey) -> Option<&str> {
    match key {
        ObjectKey::Name(name) => Some(&name.text),
        ObjectKey::Expr(expression) => expression.as_literal_str(),
    }
}

fn is_stack_name(text: &str) -> bool {
    let fits = (1..=64).contains(&text.len()) && !text.starts_with(['.', '-']);
    fits && text.chars().all(|char| char.is_ascii_alphanumeric() || "_-.".contains(char))
}

/// Whether a version satisfies a constraint such as `>= 1.5, < 2.0`; `None` if it is none.
fn allows(constraint: &str, version: [u64; 3]) -> Option<bool> {
    let mut allowed = true;
    for part in constraint.split(',') {
        let part = part.trim();
        let digits = part.find(|char: char| char.is_ascii_digit())?;
        let (operator, wanted) = (part[..digits].trim(), part[digits..].trim());
        let numbers: Vec<u64> = wanted.split('.').map(|it| it.parse().ok()).collect::<Option<_>>()?;
        let mut bound = [0; 3];
        bound.get_mut(..numbers.len())?.copy_from_slice(&numbers);
        allowed &= match operator {
            "" | "=" => version == bound,
            "!=" => version != bound,
            ">" => version > bound,
            ">=" => version >= bound,
            "<" => version < bound,
            "<=" => version <= bound,
            // The last number given may grow, those before it may not.
            "~>" => {
                let fixed = numbers.len().saturating_sub(1).max(1);
                version >= bound && version[..fixed] == bound[..fixed]
            }
            _ => return None,
        };
    }
    Some(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_constraints_mean_what_they_mean_in_terraform() {
        for (constraint, allowed) in [
            (">= 1.5", Some(true)),
            (">= 1.5, < 2.0.0", Some(true)),
            ("~> 1.11", Some(true)),
            ("~> 1.11.0", Some(true)),
            ("~> 1.10.0", Some(false)),
            ("~> 0.12", Some(false)),
            ("1.11.0", Some(true)),
            ("= 1.11.1", Some(false)),
            ("!= 1.11.0", Some(false)),
            ("< 1.11", Some(false)),
            ("latest", None),
            ("=> 1.0", None),
            ("1.2.3.4", None),
            ("", None),
        ] {
            assert_eq!(allows(constraint, LANGUAGE), allowed, "{constraint}");
        }
    }
}
