//! Which changes defer the read of a data source to apply, as in Terraform: those of resources that it names itself, that
//! it or a module around it is said to depend on, and, where it states conditions, those of anything upstream.

use std::sync::Arc;

use trueup_core::Address;
use trueup_program::Deferral;

use crate::declare::{Repetition, Resource};
use crate::syntax::{StaticStep, StaticTraversal};
use crate::world::{Evaluation, Instance, Used};

/// The resources whose changes defer the read of a data source in an instance of a module.
pub(super) fn deferral(
    evaluation: &Evaluation<'_>,
    instance: &Arc<Instance>,
    declared: &Resource,
    own: &Address,
) -> Deferral {
    let (mut resources, mut with_upstream) = (Used::new(), Used::new());
    evaluation.resources_named_in_body(instance, &declared.body, &mut resources);
    match &declared.repetition {
        None => {}
        Some(Repetition::Count(repeated) | Repetition::ForEach(repeated)) => {
            evaluation.resources_named(instance, repeated, &mut resources);
        }
    }
    for name in &declared.depends_on {
        // Modules and values change by what they are made of.
        let found = if is_resource(name) { &mut resources } else { &mut with_upstream };
        evaluation.used_by_names(instance, &[without_keys(name)], found);
    }
    let mut inner = instance.clone();
    while let Some(outer) = inner.parent() {
        if let Some(call) = inner.call(&outer) {
            evaluation.used_by_names(&outer, &call.depends_on, &mut with_upstream);
        }
        inner = outer;
    }
    let lifecycle = &declared.lifecycle;
    if !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty() {
        // A change upstream may be what makes a condition hold.
        with_upstream.insert(own.clone());
    }
    Deferral {
        resources: resources.into_iter().collect(),
        with_upstream: with_upstream.into_iter().collect(),
    }
}

fn is_resource(name: &StaticTraversal) -> bool {
    !matches!(name.root.text.as_str(), "var" | "local" | "module")
}

/// The same, with all instances of it.
fn without_keys(name: &StaticTraversal) -> StaticTraversal {
    let mut name = name.clone();
    name.steps.retain(|step| matches!(step, StaticStep::Attribute(_)));
    name
}
