//! Conditions that people state: of variables, resources, outputs, and of the whole (`check`).

use smol_str::SmolStr;
use trueup_core::Diagnostics;

use super::blocks::{Words, labels};
use super::{Module, at, twice};
use crate::syntax::{Block, BlockShape, Expr, Name};

/// Something that must hold, and what to say if it does not.
#[derive(Debug)]
pub struct Condition {
    /// What must hold.
    pub condition: Expr,
    /// What to say.
    pub message: Expr,
}

/// Something that should hold of the whole; a warning if it does not.
#[derive(Debug)]
pub struct Check {
    /// Its name.
    pub name: Name,
    /// What should hold.
    pub assertions: Vec<Condition>,
}

impl Condition {
    pub(super) fn decode(block: Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [] = labels(&block, diagnostics)?;
        let mut words = Words::of(block, &[], diagnostics);
        let condition = words.required("condition", diagnostics);
        let message = words.required("error_message", diagnostics);
        words.finish(diagnostics);
        Some(Condition { condition: condition?, message: message? })
    }

    pub(super) fn decode_all(blocks: Vec<Block>, diagnostics: &mut Diagnostics) -> Vec<Self> {
        blocks.into_iter().filter_map(|block| Condition::decode(block, diagnostics)).collect()
    }
}

impl Module {
    pub(super) fn declare_check(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        let Some(text) = declared_name(label, diagnostics) else { return };
        let name = Name::new(text, label.origin);
        if let Some(first) = self.checks.iter().find(|other| other.name.text == name.text) {
            diagnostics.push(twice(&name, &format!("check `{}`", name.text), &first.name));
            return;
        }
        let header = block.header;
        const NESTED: &[BlockShape<'static>] =
            &[BlockShape { name: "assert", labels: 0 }, BlockShape { name: "data", labels: 2 }];
        let mut words = Words::of(block, NESTED, diagnostics);
        let assertions = Condition::decode_all(words.blocks("assert"), diagnostics);
        if let Some(data) = words.block("data", diagnostics) {
            self.declare_scoped_data(data, name.text.clone(), diagnostics);
        }
        words.finish(diagnostics);
        if assertions.is_empty() {
            let hint = "write `assert { condition = …  error_message = … }`";
            diagnostics.push(at(header, format!("check `{}` asserts nothing", name.text)).hint(hint));
        }
        self.checks.push(Check { name, assertions });
    }
}

/// The name of a declaration, from its label.
pub(super) fn declared_name(label: &crate::syntax::Label, diagnostics: &mut Diagnostics) -> Option<SmolStr> {
    if trueup_core::is_identifier(&label.text) {
        return Some(label.text.clone());
    }
    let summary = format!("`{}` is not a name", label.text);
    let hint = "names are letters, digits, `_` and `-`, and begin with a letter or `_`";
    diagnostics.push(at(label.origin, summary).hint(hint));
    None
}
