//! Resources and data sources with all that is said of them.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostics, Mode, Origin, Path, Value};
use trueup_program::{
    BindingDeclaration, DataDeclaration, Deferral, DriftPolicy, Expression, Place, ReadFailure, Reference,
    ResourceDeclaration, ResourceOptions,
};

use super::addresses::{computed_reference, computed_traversal};
use super::build::Builder;
use super::computed::{Lowered, What, standing};
use super::deferral::deferral;
use crate::declare::{DriftWord, IgnoreChanges, Lifecycle, at};
use crate::eval::references;
use crate::world::{Evaluation, Frame, Instance, Keys, Position, Used};

/// What an instance of a resource is lowered to, and what it depends on.
pub(super) struct LoweredResource {
    pub(super) declaration: Declaration,
    pub(super) used: Used,
    /// What it attaches to others.
    pub(super) bindings: Vec<LoweredBinding>,
}

/// What a resource attaches to another.
pub(super) struct LoweredBinding {
    pub(super) target: Address,
    pub(super) declaration: BindingDeclaration,
    /// Where it is written.
    pub(super) origin: Origin,
}

pub(super) enum Declaration {
    Resource(Box<ResourceDeclaration>),
    Data(Box<DataDeclaration>),
}

impl Builder<'_> {
    /// Lowers all instances of a resource.
    pub(super) fn lower_resource(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
    ) {
        let keys = match evaluation.resource_keys(instance, resource) {
            Ok(keys) => keys,
            Err(wrong) => return self.tell(wrong.located(instance.resource(resource).1.header)),
        };
        if keys == Keys::Pending {
            return;
        }
        let (key, _) = instance.resource(resource);
        if self.world.types.get(key.mode, &key.type_name).is_none() {
            // That nobody has this type was told.
            return;
        }
        for position in keys.positions() {
            let pending_before = evaluation.pending_count();
            let lowered = self.lower_instance(evaluation, instance, resource, &position);
            if evaluation.pending_count() == pending_before {
                self.resources.push(lowered);
            }
        }
    }

    fn lower_instance(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
        position: &Position,
    ) -> LoweredResource {
        let (key, declared) = instance.resource(resource);
        let address = instance.address(resource, position.key());
        let here = standing(instance, resource, position);
        let mut used = Used::new();
        evaluation.used_by_body(here, &declared.body, &mut used);
        for condition in &declared.lifecycle.preconditions {
            evaluation.used_by_condition(here, condition, &mut used);
        }
        let inputs = self.inputs(evaluation, instance, resource, position, &used);
        let mut depends_on = Used::new();
        evaluation.used_by_names(instance, &declared.depends_on, &mut depends_on);
        evaluation.used_by_repetition(instance, position, declared.repetition.as_ref(), &mut depends_on);
        self.used_by_callers(evaluation, instance, &mut depends_on);
        let triggers = self.triggers(evaluation, instance, resource, position, &mut depends_on);
        let deferral = match key.mode {
            Mode::Data => deferral(evaluation, instance, declared, &address),
            Mode::Resource | Mode::Ephemeral => Deferral::default(),
        };
        depends_on.extend(deferral.resources.iter().chain(&deferral.with_upstream).cloned());
        // A resource that depends on itself would wait for ever; what refers to itself is a cycle for the engine to tell.
        depends_on.remove(&address);
        let postconditions =
            self.postconditions(evaluation, instance, resource, position, &mut depends_on, &address);
        let bindings = self.bindings(evaluation, instance, resource, position);
        let provider = self.provider_of(instance, key, declared);
        let place = Some(Place::Source(declared.header));
        used.extend(depends_on.iter().cloned());
        let depends_on = depends_on.into_iter().collect();
        let declaration = match key.mode {
            Mode::Resource => Declaration::Resource(Box::new(ResourceDeclaration {
                provider,
                depends_on,
                replace_triggered_by: triggers,
                postconditions,
                options: options(&declared.lifecycle),
                place,
                ..ResourceDeclaration::new(address, inputs)
            })),
            Mode::Data | Mode::Ephemeral => Declaration::Data(Box::new(DataDeclaration {
                provider,
                depends_on,
                deferral,
                postconditions,
                failure: match declared.check {
                    None => ReadFailure::Error,
                    Some(_) => ReadFailure::Warning,
                },
                place,
                ..DataDeclaration::new(address, inputs)
            })),
        };
        LoweredResource { declaration, used, bindings }
    }

    /// The inputs, checked with all outputs unknown.
    fn inputs(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
        position: &Position,
        used: &Used,
    ) -> Expression {
        let (key, declared) = instance.resource(resource);
        let what = What::Inputs { resource, position: position.clone() };
        let lowered = self.lowered(instance, what, used);
        let evaluated = lowered.within(evaluation);
        let mut wrong = evaluated.diagnostics.has_errors();
        self.tell_all(evaluated.diagnostics);
        if let Some(schema) = self.world.types.get(key.mode, &key.type_name) {
            let subject = instance.address(resource, position.key()).to_string();
            let checked = schema.inputs().check(&evaluated.value, &subject);
            wrong |= checked.diagnostics.has_errors();
            let misused = match key.mode {
                Mode::Resource | Mode::Data => schema.inputs().refuse_ephemeral(&evaluated.value, &subject),
                Mode::Ephemeral => Diagnostics::new(),
            };
            wrong |= misused.has_errors();
            let located =
                checked.diagnostics.into_iter().chain(misused).map(|it| it.located(declared.header));
            self.diagnostics.extend(located);
        }
        // What is wrong is not carried further: it was told once.
        lowered.into_expression(Some(&evaluated.value).filter(|_| !wrong))
    }

    /// What the calls around a module depend on, all that is in it depends on too.
    fn used_by_callers(&self, evaluation: &Evaluation<'_>, instance: &Arc<Instance>, used: &mut Used) {
        let mut inner = instance.clone();
        while let Some(outer) = inner.parent() {
            if let (Some(call), Some(caller)) = (inner.call(&outer), &inner.caller) {
                evaluation.used_by_names(&outer, &call.depends_on, used);
                evaluation.used_by_repetition(&outer, &caller.position, call.repetition.as_ref(), used);
            }
            inner = outer;
        }
    }

    fn triggers(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
        position: &Position,
        used: &mut Used,
    ) -> Vec<Reference> {
        let (_, declared) = instance.resource(resource);
        let mut found = Vec::new();
        for trigger in &declared.lifecycle.replace_triggered_by {
            let frame = Frame::of_resource(evaluation, instance, resource, position);
            let mut meant = Used::new();
            evaluation.used_by(standing(instance, resource, position), trigger, &mut meant);
            if let Position::Any(_) = position {
                used.extend(meant);
                continue;
            }
            match computed_reference(&frame, trigger, &instance.path) {
                Ok((address, path)) => {
                    if meant.is_empty() {
                        let summary = format!("there is no resource {address}");
                        self.tell(at(trigger.origin, summary));
                    }
                    // Without a key, all instances count.
                    found.extend(
                        meant
                            .iter()
                            .map(|address| Reference { address: address.clone(), path: path.clone() }),
                    );
                    used.extend(meant);
                }
                Err(wrong) => self.tell(*wrong),
            }
        }
        found
    }

    fn postconditions(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
        position: &Position,
        depends_on: &mut Used,
        own: &Address,
    ) -> Vec<Expression> {
        let (_, declared) = instance.resource(resource);
        if declared.lifecycle.postconditions.is_empty() {
            return Vec::new();
        }
        let here = standing(instance, resource, position);
        let mut used = Used::new();
        for condition in &declared.lifecycle.postconditions {
            evaluation.used_by_condition(here, condition, &mut used);
        }
        used.remove(own);
        depends_on.extend(used.iter().cloned());
        let what = What::Postconditions { resource, position: position.clone() };
        let lowered = self.lowered(instance, what, &used);
        let evaluated = lowered.within(evaluation);
        self.tell_all(evaluated.diagnostics);
        vec![lowered.into_expression(None)]
    }

    fn bindings(
        &mut self,
        evaluation: &Evaluation<'_>,
        instance: &Arc<Instance>,
        resource: usize,
        position: &Position,
    ) -> Vec<LoweredBinding> {
        let (_, declared) = instance.resource(resource);
        let mut found = Vec::new();
        for (index, bind) in declared.binds.iter().enumerate() {
            if let Position::Any(_) = position {
                // What it goes to may follow from its key.
                continue;
            }
            let frame = Frame::of_resource(evaluation, instance, resource, position);
            let Some(to) = computed_traversal(&frame, &bind.to) else {
                let hint = "what a binding goes to must be known before anything is made";
                self.tell(at(bind.to.origin, "`to` must name a resource").hint(hint));
                continue;
            };
            let mut targets = Used::new();
            evaluation.used_by_names(instance, std::slice::from_ref(&to), &mut targets);
            if targets.is_empty() {
                self.tell(at(to.origin, format!("there is no resource `{to}` to bind to")));
            }
            // Instances that go to one target each are told apart by that; those that share one, by their own keys.
            let shared = bind.to.as_static_traversal().is_some();
            let mut used = Used::new();
            evaluation.used_by(standing(instance, resource, position), &bind.payload, &mut used);
            if references(&bind.payload).iter().any(|it| it.root.text == "self") {
                used.insert(instance.address(resource, position.key()));
            }
            for target in targets {
                let what = What::Binding { resource, position: position.clone(), bind: index };
                let lowered = self.lowered(instance, what, &used);
                let evaluated = lowered.within(evaluation);
                self.tell_all(evaluated.diagnostics);
                self.refuse_ephemeral(&evaluated.value, bind.payload.origin, "what is bound");
                let payload = lowered.into_expression(Some(&evaluated.value));
                let key = match position.key().filter(|_| shared) {
                    None => bind.key.text.clone(),
                    Some(key) => SmolStr::from(format!("{}{key}", bind.key.text)),
                };
                let declaration = BindingDeclaration { key, payload };
                found.push(LoweredBinding { target, declaration, origin: bind.key.origin });
            }
        }
        found
    }

    /// Tells of a value that is recorded and must not be, because it is of one run alone.
    pub(super) fn refuse_ephemeral(&mut self, value: &Value, origin: Origin, what: &str) {
        if value.all_marks().is_ephemeral() {
            let summary = format!("ephemeral value not allowed: {what} is recorded");
            self.tell(at(origin, summary).hint("use a value that is the same in every run"));
        }
    }

    pub(super) fn lowered(&self, instance: &Arc<Instance>, what: What, used: &Used) -> Lowered {
        let reference = |address: &Address| Reference { address: address.clone(), path: Path::ROOT };
        let references = used.iter().map(reference).collect();
        Lowered { world: self.world.clone(), instance: instance.clone(), what, references }
    }
}

fn options(lifecycle: &Lifecycle) -> ResourceOptions {
    ResourceOptions {
        retain: lifecycle.retain,
        protect: lifecycle.prevent_destroy,
        adopt: lifecycle.adopt,
        drift: match lifecycle.drift {
            None | Some(DriftWord::Fix) => DriftPolicy::Fix,
            Some(DriftWord::Warn) => DriftPolicy::Warn,
            Some(DriftWord::Ignore) => DriftPolicy::Ignore,
        },
        ignore_changes: match &lifecycle.ignore_changes {
            IgnoreChanges::None => Vec::new(),
            IgnoreChanges::All => vec![Path::ROOT],
            IgnoreChanges::Paths(paths) => paths.iter().map(|(path, _)| path.clone()).collect(),
        },
        delete_first: lifecycle
            .delete_first
            .or(lifecycle.create_before_destroy.filter(|first| *first).map(|_| false)),
        timeouts: lifecycle.timeouts.map(Box::new),
        retry: lifecycle.retry,
        parallelism_class: lifecycle.limit.clone(),
    }
}

/// A diagnostic with a place, if it has none.
pub(super) trait Located {
    fn located(self, origin: Origin) -> Self;
}

impl Located for trueup_core::Diagnostic {
    fn located(mut self, origin: Origin) -> Self {
        self.origin.get_or_insert(origin);
        self
    }
}
