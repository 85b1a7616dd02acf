//! Getting a node ready to be applied: its inputs are evaluated when all they refer to is known.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_program::{ReadFailure, ResourceOptions};
use trueup_provider::{
    Binding, CallContext, DataHandler, DataRequest, EphemeralHandler, GenerationNumber, InputValues,
    ResourceHandler, Slot, State,
};
use trueup_state::{Generation, Metadata};

use super::Run;
use super::apply::Applying;
use super::configuration::Configuration;
use super::premises::hold_premise;
use super::record_writer::RecordWriter;
use super::tasks::refreshes;
use super::tasks::{TaskError, TaskResult};
use crate::call::{Call, read_or_warned};
use crate::draft::node::{Decision, NodeKind};
use crate::draft::{Attributes, Draft, metadata};
use crate::events::{EventKind, Operation};
use crate::failures::invalid;
use crate::index::NodeIndex;
use crate::inputs::NodeInputs;
use crate::plan::Action;
use crate::sighting::{Adopting, Holders};

/// A resource, data source or ephemeral resource with its inputs resolved, or a stub with those that are known.
pub(crate) struct PreparedApply {
    address: Address,
    /// The name of its provider's configuration.
    provider: SmolStr,
    config: Configuration,
    desired: InputValues,
    work: Work,
}

enum Work {
    Stub(Box<Resource>),
    Data(Arc<dyn DataHandler>, ReadFailure),
    Ephemeral(Arc<dyn EphemeralHandler>),
    Resource(Box<Resource>),
}

/// All that is known of a resource before it is applied.
pub(super) struct Resource {
    pub(super) handler: Arc<dyn ResourceHandler>,
    pub(super) bindings: Vec<Binding>,
    pub(super) decision: Decision,
    pub(super) is_deleted_first: bool,
    /// Whether this run has made a stub of it.
    pub(super) is_stubbed: bool,
    /// Whether the configuration of its provider was not known when the run was planned.
    pub(super) is_late: bool,
    /// Addresses that it had before, under whose names its object may be found.
    pub(super) origins: Vec<Address>,
    pub(super) observed: Option<State>,
    pub(super) meta: Metadata,
    pub(super) options: ResourceOptions,
    pub(super) adopting: Adopting,
    pub(super) refresh: bool,
    pub(super) holders: Holders,
}

/// Evaluates the inputs of a node on real values.
pub(crate) fn prepare(run: &Run<'_>, draft: &Draft, at: NodeIndex) -> Result<PreparedApply, TaskError> {
    let node = &draft.nodes[at];
    let Some(inputs) = NodeInputs::of(node, &draft.known()) else {
        unreachable!("only what is declared is applied")
    };
    let NodeInputs { values: desired, bindings, .. } = inputs.sound().map_err(invalid)?;
    if run.bound && !draft.provisional.contains(&at) {
        hold_premise(node, &desired)?;
    }
    let config = Configuration::of(run, draft, at);
    let work = match &node.kind {
        NodeKind::Data { declared, handler } => Work::Data(handler.clone(), declared.failure),
        NodeKind::Ephemeral { handler, .. } => Work::Ephemeral(handler.clone()),
        NodeKind::Resource { handler, .. } => {
            if let Some(binding) = bindings.iter().find(|it| !it.payload.is_wholly_known()) {
                let message = format!("the payload of the binding `{}` is not known", binding.key);
                return Err(Failure::new(FailureClass::Conflict, message).hint("plan again").into());
            }
            let resource = resource(run, draft, at, handler);
            let secret_sources = secret_sources(draft, at, &desired, &bindings);
            let meta = Metadata { secret_sources, ..resource.meta };
            Work::Resource(Box::new(Resource { bindings, meta, ..resource }))
        }
    };
    let (address, provider) = (node.address.clone(), node.provider.clone());
    Ok(PreparedApply { address, provider, config, desired, work })
}

/// The inputs and bindings that something declared would be applied or read with now, or what is wrong with them.
pub(super) fn inputs_now(draft: &Draft, at: NodeIndex) -> Option<Result<NodeInputs, Failure>> {
    let inputs = NodeInputs::of(&draft.nodes[at], &draft.known())?;
    Some(inputs.sound().map_err(invalid))
}

/// A stub: its inputs are what is known of them by now, and nothing is attached to it yet.
pub(crate) fn prepare_stub(run: &Run<'_>, draft: &Draft, at: NodeIndex) -> Result<PreparedApply, TaskError> {
    let node = &draft.nodes[at];
    let desired = inputs_now(draft, at).and_then(Result::ok).map(|now| now.values);
    let desired = desired.or_else(|| node.desired.clone());
    let (Some(handler), Some(desired)) = (node.handler(), desired) else {
        unreachable!("only what is declared and can be a stub is made one")
    };
    // Before anything is recorded of it.
    handler.stub_inputs(&desired).into_result()?;
    let resource = resource(run, draft, at, handler);
    let meta = Metadata { secret_sources: secret_sources(draft, at, &desired, &[]), ..resource.meta };
    let work = Work::Stub(Box::new(Resource { meta, ..resource }));
    let config = Configuration::of(run, draft, at);
    let (address, provider) = (node.address.clone(), node.provider.clone());
    Ok(PreparedApply { address, provider, config, desired, work })
}

/// The secrets that these inputs and bindings are made of, and those of what is recorded: an update may fail, and an older
/// generation is deleted later.
fn secret_sources(
    draft: &Draft,
    at: NodeIndex,
    desired: &InputValues,
    bindings: &[Binding],
) -> Option<Value> {
    let record = draft.nodes[at].record.as_ref().map(|(record, _)| record);
    let generations = || record.into_iter().flat_map(|record| record.generations());
    let attempts = || generations().filter_map(Generation::attempt);
    let objects = generations().filter_map(|generation| generation.object.as_ref()?.inputs.as_ref());
    let inputs = objects.chain(attempts().map(|attempt| &attempt.inputs)).chain([desired]);
    let inputs = inputs.flat_map(|InputValues { written, effective }| [written, effective]);
    let attached = generations().flat_map(|generation| &generation.bindings);
    let attached = attached.chain(attempts().flat_map(|attempt| &attempt.bindings)).chain(bindings);
    draft.secrets.sources_of(inputs.chain(attached.map(|binding| &binding.payload)))
}

/// What is known of a resource, but for what is attached to it.
fn resource(run: &Run<'_>, draft: &Draft, at: NodeIndex, handler: &Arc<dyn ResourceHandler>) -> Resource {
    let node = &draft.nodes[at];
    let options = node.declared().map(|declared| declared.options.clone()).unwrap_or_default();
    let is_stubbed = draft.stubbed.contains(&at);
    Resource {
        handler: handler.clone(),
        bindings: Vec::new(),
        decision: node.decision.clone(),
        is_deleted_first: node.is_deleted_first(),
        is_stubbed,
        is_late: node.config.is_none(),
        origins: draft.origins(run.program, at).split_off(1),
        // What was seen was another object than the stub.
        observed: node.seen().filter(|_| !is_stubbed).cloned(),
        meta: metadata(draft, at),
        adopting: Adopting::of(options.adopt, run.options.plan.adopt),
        options,
        refresh: refreshes(node),
        holders: draft.holders.clone(),
    }
}

impl PreparedApply {
    pub(crate) async fn run(self, run: &Run<'_>, writer: &RecordWriter) -> Result<TaskResult, TaskError> {
        let PreparedApply { address, provider, config, desired, work } = self;
        let config = config.ready(run).await?;
        match work {
            Work::Stub(resource) => {
                // Boxed, because few resources are stubs and each would have the room for it.
                Box::pin(Applying::new(run, writer, address, config, desired, resource).stub()).await
            }
            Work::Data(handler, failure) => {
                run.admit(&address, Action::Read, &desired.effective)?;
                run.emit(Some(&address), EventKind::started(Operation::Read, &desired.effective));
                let context =
                    run.calls.context(&address, &address, GenerationNumber::FIRST, Slot::FIRST, None);
                let read = async |context: &CallContext| {
                    handler.read(DataRequest { config: &config, inputs: &desired, context }).await
                };
                let call = Call::new(
                    &address,
                    &provider,
                    Operation::Read,
                    run.calls.policy(address.type_name(), None, None),
                );
                let read = run.calls.retried(call, &context, read).await;
                let outputs = read_or_warned(read, failure, handler.outputs(), &context)?;
                let attributes = Attributes::new(desired.effective.clone(), outputs);
                Ok(TaskResult { action: Action::Read, attributes: Some(attributes), bindings: Vec::new() })
            }
            Work::Ephemeral(handler) => {
                let context =
                    run.calls.context(&address, &address, GenerationNumber::FIRST, Slot::FIRST, None);
                let open = async |context: &CallContext| {
                    handler.open(DataRequest { config: &config, inputs: &desired, context }).await
                };
                let call = Call::new(
                    &address,
                    &provider,
                    Operation::Read,
                    run.calls.policy(address.type_name(), None, None),
                );
                let opened = run.calls.retried(call, &context, open).await?;
                let outputs = run.ephemerals.hold(&address, opened);
                let attributes = Attributes::new(desired.effective.clone(), outputs);
                Ok(TaskResult { action: Action::Read, attributes: Some(attributes), bindings: Vec::new() })
            }
            Work::Resource(resource) => {
                Applying::new(run, writer, address, config, desired, resource).apply().await
            }
        }
    }
}
