//! Someone who changes the cloud by hand, between runs and during them.

use trueup_provider::CallContext;

use crate::cloud::{Cloud, Kind, Spec};
use crate::scenario::{STACK, STAGE, address, page_name};

/// Something that is done by hand. Numbers count through what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// An object is deleted, whoever uses it.
    Delete(u64),
    /// An object gets another size.
    Resize(u64, u64),
    /// An object gets another colour.
    Recolour(u64),
    /// An object is made under the name that a resource of this number would have.
    Squat(Kind, u64),
}

/// Does it. What was done, in words.
pub(crate) fn perform(cloud: &Cloud, deed: &Deed) -> String {
    let there: Vec<String> = cloud.truth().into_keys().collect();
    let pick = |at: u64| there.get(at as usize % there.len().max(1)).cloned();
    match deed {
        Deed::Delete(at) => pick(*at).map(|id| {
            cloud.delete_by_hand(&id);
            format!("{id} is deleted")
        }),
        Deed::Resize(at, size) => pick(*at).map(|id| {
            cloud.change_by_hand(&id, |spec| spec.size = *size);
            format!("{id} gets size {size}")
        }),
        Deed::Recolour(at) => pick(*at).map(|id| {
            cloud.change_by_hand(&id, |spec| "grey".clone_into(&mut spec.colour));
            format!("{id} is painted grey")
        }),
        Deed::Squat(kind, number) => {
            let name = match kind {
                Kind::Page => page_name(*number),
                _ => CallContext::new(STACK, STAGE, address(*kind, *number)).physical_name(),
            };
            let spec = Spec { size: 77, colour: "beige".to_owned(), ..Spec::default() };
            cloud.put_by_hand(*kind, name, spec);
            Some(format!("a {} is made under the name of number {number}", kind.word()))
        }
    }
    .unwrap_or_else(|| "there was nothing to do it to".to_owned())
}
