//! Bringing recorded objects of older schema versions along, in memory (CRUD-10).

use std::sync::Arc;

use trueup_core::Diagnostics;
use trueup_provider::{CallContext, MigrateRequest, ResourceHandler};

use super::Sources;
use crate::call::Call;
use crate::draft::node::Node;
use crate::draft::{Draft, Relocation};
use crate::events::Operation;
use crate::failures::describe_failure;

/// Whether a record may have to be brought along. Most are current, and need no call to tell.
fn may_migrate(handler: &dyn ResourceHandler, node: &Node<'_>, relocation: &Relocation) -> bool {
    let Some((record, _)) = &node.record else { return false };
    let version = handler.schema().version;
    let mut states = record.generations().filter_map(|generation| generation.object.as_ref());
    handler.migrates_current()
        || relocation.former_type(record).is_some()
        || states.any(|state| state.schema_version != version)
}

pub(super) async fn migrate(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for node in &mut draft.nodes {
        let Some(handler) = node.handler().cloned() else { continue };
        if !may_migrate(&*handler, node, &draft.relocation) {
            continue;
        }
        let policy = sources.calls.policy_of(node);
        let Some((record, _)) = &mut node.record else { continue };
        let call = Call::new(&node.address, &node.provider, Operation::Read, policy);
        let context = sources.context(&node.address, Some(record));
        let from_type = draft.relocation.former_type(record);
        let mut migrated = Vec::new();
        for (at, generation) in record.generations().enumerate() {
            let Some(state) = &generation.object else { continue };
            let config = node.config.as_ref();
            let migrate = async |context: &CallContext| {
                handler.migrate(MigrateRequest { config, state: state.clone(), from_type, context }).await
            };
            match sources.calls.retried(call, &context, migrate).await {
                Ok(after) if after == *state => {}
                Ok(after) => migrated.push((at, after)),
                Err(failure) => diagnostics.push(describe_failure(&node.address, "migrate", &failure)),
            }
        }
        if sources.calls.has_timed_out() {
            // The others are of the same provider more often than not.
            break;
        }
        if !migrated.is_empty() {
            draft.unmigrated.insert(record.id, record.clone());
        }
        for (at, after) in migrated {
            // Only what changes takes storage of its own.
            let record = Arc::make_mut(record);
            let mut generations = record.deposed.iter_mut().chain(&mut record.current);
            if let Some(generation) = generations.nth(at) {
                generation.object = Some(after);
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}
