//! `variable`.

use trueup_core::Diagnostics;

use super::blocks::{Words, labels};
use super::conditions::declared_name;
use super::{Condition, Module, at, twice};
use crate::syntax::{Block, BlockShape, Expr, Name};
use crate::types::{TypeConstraint, parse_type};

/// What a module takes from outside.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// What it must be, with the defaults of optional attributes.
    pub constraint: TypeConstraint,
    /// Whether its type is written out.
    pub is_typed: bool,
    /// Stands in where nothing is given.
    pub default: Option<Expr>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is never shown.
    pub sensitive: bool,
    /// Whether it is of one run alone.
    pub ephemeral: bool,
    /// Whether null is a value; if not, null stands for the default.
    pub nullable: bool,
    /// What must hold of it.
    pub validations: Vec<Condition>,
}

impl Variable {
    /// Whether nothing of what it is given may be shown.
    pub(crate) fn is_private(&self) -> bool {
        self.sensitive || self.ephemeral
    }
}

impl Module {
    pub(super) fn declare_variable(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        let Some(text) = declared_name(label, diagnostics) else { return };
        let name = Name::new(text.clone(), label.origin);
        if RESERVED.contains(&text.as_str()) {
            let summary = format!("a variable cannot be named `{text}`");
            diagnostics.push(at(name.origin, summary).hint("a module call has a word of that name"));
            return;
        }
        if let Some(first) = self.variables.get(&text) {
            diagnostics.push(twice(&name, &format!("variable `{text}`"), &first.name));
            return;
        }
        let mut words = Words::of(block, &[BlockShape { name: "validation", labels: 0 }], diagnostics);
        let ty = words.expression("type");
        let is_typed = ty.is_some();
        let constraint = match ty {
            None => TypeConstraint::any(),
            Some(ty) => match parse_type(&ty) {
                Ok(constraint) => constraint,
                Err(wrong) => {
                    diagnostics.extend(wrong);
                    TypeConstraint::any()
                }
            },
        };
        let variable = Variable {
            name,
            constraint,
            is_typed,
            default: words.expression("default"),
            description: words.text("description", diagnostics).map(String::from),
            sensitive: words.flag("sensitive", diagnostics).unwrap_or(false),
            ephemeral: words.flag("ephemeral", diagnostics).unwrap_or(false),
            nullable: words.flag("nullable", diagnostics).unwrap_or(true),
            validations: Condition::decode_all(words.blocks("validation"), diagnostics),
        };
        words.finish(diagnostics);
        self.variables.insert(text, variable);
    }
}

/// Words that a module call has itself.
const RESERVED: &[&str] =
    &["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];
