//! What a call is told besides its request.

use tokio_util::sync::CancellationToken;
use trueup_core::Address;
use trueup_provider::{
    CallContext, GenerationNumber, IdempotencyToken, NameRules, Owner, ProgressSink, Slot,
};

use super::Caller;
use crate::events::EventKind;

impl Caller<'_> {
    /// The context of a call for a generation of a resource. Names follow from the address of its first creation.
    pub(crate) fn context(
        &self,
        address: &Address,
        origin: &Address,
        generation: GenerationNumber,
        slot: Slot,
        token: Option<IdempotencyToken>,
    ) -> CallContext {
        CallContext {
            owner: Owner {
                stack: self.scope.stack.clone(),
                stage: self.scope.stage.clone(),
                origin: origin.clone(),
            },
            address: address.clone(),
            generation,
            slot: Some(slot),
            token,
            pending: None,
            cancellation: CancellationToken::new(),
            clock: self.clock.clone(),
            progress: self.progress_of(address),
            warnings: self.warnings.of(address),
            name_rules: NameRules::default(),
            secrets: self.registry.secrets().clone(),
            metas: self.provider_metas.and_then(|metas| metas.get(address.module())).cloned(),
        }
    }

    fn progress_of(&self, address: &Address) -> ProgressSink {
        let Some(run) = &self.run else { return ProgressSink::new(|_| {}) };
        let (events, address) = (run.events.clone(), address.clone());
        ProgressSink::new(move |doing| events.tell(&address, EventKind::Progress { doing: doing.to_owned() }))
    }
}
