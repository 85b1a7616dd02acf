//! Bringing recorded objects of older schema versions along, in memory (CRUD-10).

use std::sync::Arc;

use trueup_core::Diagnostics;
use trueup_provider::MigrateRequest;

use super::Sources;
use crate::draft::Draft;
use crate::failures::failed;

pub(super) async fn migrate(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let scope = draft.scope.clone();
    for node in &mut draft.nodes {
        let Some(handler) = node.handler().cloned() else { continue };
        let Some((record, _)) = &mut node.record else { continue };
        let context = sources.context(&scope, &node.address, Some(record));
        let from_type = draft.relocation.former_type(record);
        let mut migrated = Vec::new();
        for (at, generation) in record.generations().enumerate() {
            let Some(state) = &generation.object else { continue };
            let config = node.config.as_ref();
            let request = MigrateRequest { config, state: state.clone(), from_type, context: &context };
            match handler.migrate(request).await {
                Ok(after) if after == *state => {}
                Ok(after) => migrated.push((at, after)),
                Err(failure) => diagnostics.push(failed(&node.address, "migrate", &failure)),
            }
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
