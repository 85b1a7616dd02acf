//! `moved`, `removed` and `import`.

use trueup_core::{Diagnostics, Origin};

use super::blocks::{Words, labels};
use super::provider::ProviderName;
use super::{Module, at};
use crate::syntax::{Block, BlockShape, Expr, StaticTraversal};

/// Something that has another address than before.
#[derive(Debug)]
pub struct Moved {
    /// The address before.
    pub from: StaticTraversal,
    /// The address now.
    pub to: StaticTraversal,
    /// Where that is said.
    pub header: Origin,
}

/// Something that is no longer declared, and what becomes of its object.
#[derive(Debug)]
pub struct Removed {
    /// The address it had.
    pub from: StaticTraversal,
    /// Whether the object is deleted.
    pub destroy: bool,
    /// Where that is said.
    pub header: Origin,
}

/// An object to adopt by its id.
#[derive(Debug)]
pub struct Import {
    /// The resource it becomes; may depend on `each`.
    pub to: Expr,
    /// Its id; or what identifies it, as an object.
    pub id: Expr,
    /// One for each of these.
    pub for_each: Option<Expr>,
    /// The provider to ask.
    pub provider: Option<ProviderName>,
    /// Where that is said.
    pub header: Origin,
}

impl Module {
    pub(super) fn declare_moved(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = labels(&block, diagnostics) else { return };
        let header = block.header;
        let mut words = Words::of(block, &[], diagnostics);
        let from = address(words.required("from", diagnostics), diagnostics);
        let to = address(words.required("to", diagnostics), diagnostics);
        words.finish(diagnostics);
        if let (Some(from), Some(to)) = (from, to) {
            self.moved.push(Moved { from, to, header });
        }
    }

    pub(super) fn declare_removed(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = labels(&block, diagnostics) else { return };
        let header = block.header;
        let mut words = Words::of(block, &[BlockShape { name: "lifecycle", labels: 0 }], diagnostics);
        let from = address(words.required("from", diagnostics), diagnostics);
        let mut destroy = true;
        if let Some(lifecycle) = words.block("lifecycle", diagnostics) {
            let mut inner = Words::of(lifecycle, &[], diagnostics);
            destroy = inner.flag("destroy", diagnostics).unwrap_or(true);
            inner.finish(diagnostics);
        }
        words.finish(diagnostics);
        if let Some(from) = from {
            self.removed.push(Removed { from, destroy, header });
        }
    }

    pub(super) fn declare_import(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = labels(&block, diagnostics) else { return };
        let header = block.header;
        let mut words = Words::of(block, &[], diagnostics);
        let to = words.required("to", diagnostics);
        let for_each = words.expression("for_each");
        let provider = words.expression("provider").and_then(|it| ProviderName::decode(&it, diagnostics));
        let id = match (words.attribute("id"), words.attribute("identity")) {
            (Some(id), None) => Some(id.value),
            (None, Some(identity)) => Some(identity.value),
            (Some(_), Some(identity)) => {
                let summary = "`id` and `identity` cannot stand together";
                diagnostics.push(at(identity.name.origin, summary).hint("remove one of them"));
                None
            }
            (None, None) => {
                let summary = "an import needs `id` or `identity`";
                diagnostics.push(at(header, summary).hint("add `id = …`"));
                None
            }
        };
        words.finish(diagnostics);
        if let (Some(to), Some(id)) = (to, id) {
            self.imports.push(Import { to, id, for_each, provider, header });
        }
    }
}

fn address(value: Option<Expr>, diagnostics: &mut Diagnostics) -> Option<StaticTraversal> {
    let value = value?;
    let address = value.as_static_traversal();
    if address.is_none() {
        let hint = "write it without quotes, such as `aws_instance.web` or `module.net`";
        diagnostics.push(at(value.origin, "an address is expected here").hint(hint));
    }
    address
}
