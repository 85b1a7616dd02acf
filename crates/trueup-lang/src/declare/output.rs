//! `output`.

use trueup_core::Diagnostics;

use super::blocks::{Words, labels};
use super::conditions::declared_name;
use super::resource::traversals;
use super::{Condition, Module, twice};
use crate::syntax::{Block, BlockShape, Expr, Name, StaticTraversal};

/// What a module gives to the outside.
#[derive(Debug)]
pub struct Output {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Expr,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is never shown.
    pub sensitive: bool,
    /// Whether it is of one run alone.
    pub ephemeral: bool,
    /// What must be done before it counts.
    pub depends_on: Vec<StaticTraversal>,
    /// What must hold before it is given.
    pub preconditions: Vec<Condition>,
}

impl Module {
    pub(super) fn declare_output(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        let Some(text) = declared_name(label, diagnostics) else { return };
        let name = Name::new(text.clone(), label.origin);
        if let Some(first) = self.outputs.get(&text) {
            diagnostics.push(twice(&name, &format!("output `{text}`"), &first.name));
            return;
        }
        let mut words = Words::of(block, &[BlockShape { name: "precondition", labels: 0 }], diagnostics);
        let value = words.required("value", diagnostics);
        let description = words.text("description", diagnostics).map(String::from);
        let sensitive = words.flag("sensitive", diagnostics).unwrap_or(false);
        let depends_on = traversals(words.expression("depends_on"), "depends_on", diagnostics);
        let preconditions = Condition::decode_all(words.blocks("precondition"), diagnostics);
        let ephemeral = words.flag("ephemeral", diagnostics).unwrap_or(false);
        words.finish(diagnostics);
        if let Some(value) = value {
            let output = Output { name, value, description, sensitive, ephemeral, depends_on, preconditions };
            self.outputs.insert(text, output);
        }
    }
}
