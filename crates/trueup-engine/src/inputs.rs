//! The inputs and bindings of a node, evaluated and checked: the same way when a program is validated, planned and
//! applied.

use trueup_core::Diagnostics;
use trueup_core::schema::Block;
use trueup_program::{BindingDeclaration, Expression, Scope};
use trueup_provider::{Binding, InputValues};

use crate::draft::node::{Node, NodeKind};

/// What the expressions of a node come to.
pub(crate) struct NodeInputs {
    /// The inputs, checked and with defaults. After a mistake they hold what there is.
    pub(crate) values: InputValues,
    /// What others attach to it.
    pub(crate) bindings: Vec<Binding>,
    /// What is wrong with either.
    pub(crate) diagnostics: Diagnostics,
    /// Whether all of it could be evaluated, whatever the schema says of it.
    pub(crate) is_evaluated: bool,
}

impl NodeInputs {
    /// Evaluates the expressions of a node as far as the scope knows values; `None` if the program does not declare it.
    pub(crate) fn of(node: &Node<'_>, scope: &dyn Scope) -> Option<Self> {
        let (inputs, bound, block) = declared(node)?;
        let evaluated = inputs.evaluate(scope);
        let mut diagnostics = evaluated.diagnostics;
        if !node.is_ephemeral() {
            diagnostics.extend(block.refuse_ephemeral(&evaluated.value, &node.address));
        }
        let mut bindings = Vec::new();
        for binding in bound {
            let payload = binding.payload.evaluate(scope);
            diagnostics.extend(payload.diagnostics);
            bindings.push(Binding::new(binding.key.clone(), payload.value));
        }
        let is_evaluated = !diagnostics.has_errors();
        let checked = block.check(&evaluated.value, &node.address);
        if is_evaluated {
            // What could not be evaluated would only be found wrong once more.
            diagnostics.extend(checked.diagnostics);
        }
        let values = InputValues { effective: block.with_defaults(&checked.value), written: checked.value };
        Some(NodeInputs { values, bindings: Binding::resolved(bindings), diagnostics, is_evaluated })
    }

    /// The same, if nothing is wrong with it.
    pub(crate) fn sound(self) -> Result<Self, Diagnostics> {
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok(self) }
    }
}

/// The expressions of a node, and the schema of its inputs.
fn declared<'n>(node: &'n Node<'_>) -> Option<(&'n Expression, &'n [BindingDeclaration], &'n Block)> {
    Some(match &node.kind {
        NodeKind::Resource { declared, handler } => {
            let declared = (*declared)?;
            (&declared.inputs, declared.bindings.as_slice(), &handler.schema().inputs)
        }
        NodeKind::Data { declared, handler } => (&declared.inputs, &[], handler.inputs()),
        NodeKind::Ephemeral { declared, handler } => (&declared.inputs, &[], handler.schema()),
    })
}
