//! Expressions of the language, as the engine sees them.

use std::fmt;
use std::sync::Arc;

use trueup_core::schema::Block as Schema;
use trueup_core::{Diagnostics, Severity, Value};
use trueup_program::{Computed, Evaluated, Expression, Node, Place, Reference, Scope};

use super::body::body_value;
use crate::world::{Evaluation, Frame, Instance, Position, World, for_each};

/// Something that the engine evaluates when it knows what it refers to.
pub(super) struct Lowered {
    pub(super) world: Arc<World>,
    pub(super) instance: Arc<Instance>,
    pub(super) what: What,
    pub(super) references: Vec<Reference>,
}

/// What is evaluated, by its position in its module.
pub(super) enum What {
    /// The inputs of a resource or data source, and its preconditions.
    Inputs { resource: usize, position: Position },
    /// The postconditions of a resource or data source.
    Postconditions { resource: usize, position: Position },
    /// What a resource attaches to another.
    Binding { resource: usize, position: Position, bind: usize },
    /// An output.
    Output(usize),
    /// A provider's configuration.
    Provider { index: usize, schema: Arc<Schema> },
    /// The id of an object to adopt.
    Import { index: usize, position: Position },
    /// A check; what it finds is a warning.
    Check(usize),
}

impl Lowered {
    /// The value as far as it is known in a scope, and all that is wrong.
    fn value(&self, evaluation: &Evaluation<'_>) -> Value {
        let Lowered { instance, what, .. } = self;
        let module = &instance.node.module;
        match what {
            What::Inputs { resource, position } => {
                let (key, declared) = instance.resource(*resource);
                let frame = Frame::of_resource(evaluation, instance, *resource, position);
                evaluation.conditions(&frame, &declared.lifecycle.preconditions, "a precondition");
                match evaluation.world.types.get(key.mode, &key.type_name) {
                    Some(schema) => body_value(&frame, &declared.body, schema.inputs(), &[], declared.header),
                    None => Value::NULL,
                }
            }
            What::Postconditions { resource, position } => {
                let (_, declared) = instance.resource(*resource);
                let frame = Frame::after_resource(evaluation, instance, *resource, position);
                evaluation.conditions(&frame, &declared.lifecycle.postconditions, "a postcondition");
                Value::NULL
            }
            What::Binding { resource, position, bind } => {
                let (_, declared) = instance.resource(*resource);
                let frame = Frame::after_resource(evaluation, instance, *resource, position);
                frame.evaluate(&declared.binds[*bind].payload)
            }
            What::Output(index) => match evaluation.output(instance, *index) {
                Ok(value) => value,
                Err(wrong) => {
                    evaluation.tell(wrong);
                    Value::NULL
                }
            },
            What::Provider { index, schema } => {
                let declared = &module.providers[*index];
                let frame = Frame::of_module(evaluation, instance);
                body_value(&frame, &declared.body, schema, &[], declared.header)
            }
            What::Import { index, position } => {
                let import = &module.imports[*index];
                let frame = Frame::of_module(evaluation, instance);
                frame.at_position(position.clone(), import.for_each.as_ref()).evaluate(&import.id)
            }
            What::Check(index) => {
                let check = &module.checks[*index];
                let frame = Frame::of_check(evaluation, instance, &check.name.text);
                for assertion in &check.assertions {
                    if let Some(message) = evaluation.violated(&frame, assertion) {
                        evaluation.tell(crate::declare::remark(assertion.condition.origin, message));
                    }
                }
                Value::NULL
            }
        }
    }

    /// The value in an evaluation that others share, and all that is wrong with this one.
    pub(super) fn within(&self, evaluation: &Evaluation<'_>) -> Evaluated {
        let (value, diagnostics) = evaluation.apart(|| self.value(evaluation));
        Evaluated { value, diagnostics }
    }

    /// The value in a scope, and all that is wrong.
    fn in_scope(&self, scope: &dyn Scope) -> Evaluated {
        let evaluation = Evaluation::new(&self.world, scope);
        let value = self.value(&evaluation);
        let mut diagnostics = evaluation.into_told();
        if matches!(self.what, What::Check(_)) {
            // A check never stops anything, not even one that cannot be evaluated.
            let mut softened = Diagnostics::new();
            softened.extend(diagnostics.into_iter().map(|mut it| {
                it.severity = Severity::Warning;
                it
            }));
            diagnostics = softened;
        }
        Evaluated { value, diagnostics }
    }

    /// An expression for the engine: a plain value if it refers to nothing and is known already.
    pub(super) fn into_expression(self, now: Option<&Value>) -> Expression {
        // What belongs to one run is another thing at apply, and no part of a program.
        let fixed = |value: &&Value| value.is_wholly_known() && !value.all_marks().is_ephemeral();
        let literal = now.filter(|value| self.references.is_empty() && fixed(value));
        match literal {
            Some(value) => {
                let expression = Expression::from(value.clone());
                match value.origin() {
                    Some(origin) => expression.at(Place::Source(origin)),
                    None => expression,
                }
            }
            None => Expression::new(Node::Computed(Arc::new(self))),
        }
    }
}

impl Computed for Lowered {
    fn references(&self) -> &[Reference] {
        &self.references
    }

    fn evaluate(&self, scope: &dyn Scope) -> Evaluated {
        self.in_scope(scope)
    }
}

impl fmt::Debug for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.what {
            What::Inputs { resource, position } => {
                format!("inputs of {}", self.instance.address(*resource, position.key()))
            }
            What::Postconditions { resource, position } => {
                format!("postconditions of {}", self.instance.address(*resource, position.key()))
            }
            What::Binding { resource, position, .. } => {
                format!("binding of {}", self.instance.address(*resource, position.key()))
            }
            What::Output(index) => format!("output {index}"),
            What::Provider { index, .. } => format!("provider {index}"),
            What::Import { index, .. } => format!("import {index}"),
            What::Check(index) => format!("check {index}"),
        };
        write!(f, "computed {what}")
    }
}

/// Where the expressions of an instance of a resource stand.
pub(super) fn standing<'a>(
    instance: &'a Arc<Instance>,
    resource: usize,
    position: &'a Position,
) -> crate::world::Standing<'a> {
    let (_, declared) = instance.resource(resource);
    crate::world::Standing { instance, position, for_each: for_each(declared.repetition.as_ref()) }
}
