//! What is recorded and no longer declared is deleted (PLAN-5).

use trueup_state::Status;

use super::node::Attributes;
use super::{Draft, Sources};
use crate::plan::{Action, Reason};

pub(super) fn retire(sources: &Sources<'_>, draft: &mut Draft) {
    for (at, node) in draft.nodes.iter_mut().enumerate() {
        if node.is_declared() {
            continue;
        }
        let Some((record, _)) = &node.record else { continue };
        let why = if sources.destroy { Reason::Destroyed } else { Reason::Undeclared };
        let current = record.current.as_ref();
        let unfinished = current.is_some_and(|current| current.status != Status::Ready);
        node.decision.reasons = vec![why];
        node.decision.reasons.extend(unfinished.then_some(Reason::Recovered));
        node.decision.action = if record.meta.retain { Action::Forget } else { Action::Delete };
        let object = current.and_then(|current| current.object.as_ref());
        node.decision.outputs = object.map(|object| object.outputs.clone()).unwrap_or_default();
        draft.attributes[at] = Some(Attributes::default());
    }
}
