//! Which resource holds which object, so that no object is ever held by two (ADOPT-4, RETRY-6, DELETE-9).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::State;

/// The objects that records hold, by type and identity. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holders(Arc<Mutex<BTreeMap<Object, Vec<Address>>>>);

/// A type and an identity.
type Object = (String, Value);

impl Holders {
    /// Notes that a resource holds an object.
    pub(crate) fn note(&self, address: &Address, object: &State) {
        if let (Some(identity), Ok(mut held)) = (&object.identity, self.0.lock()) {
            let holders = held.entry((address.type_name().to_owned(), identity.clone())).or_default();
            if !holders.contains(address) {
                holders.push(address.clone());
            }
        }
    }

    /// Refuses an object that another resource, or an older generation of any, holds already.
    pub(crate) fn refuse_held(&self, address: &Address, object: &State) -> Result<(), Failure> {
        let Some(identity) = &object.identity else { return Ok(()) };
        let key = (address.type_name().to_owned(), identity.clone());
        let holder =
            self.0.lock().ok().and_then(|held| held.get(&key).and_then(|them| them.first().cloned()));
        match holder {
            None => Ok(()),
            Some(holder) => {
                let message = format!("the object that would be {address} is held by {holder}: {identity}");
                Err(Failure::new(FailureClass::AlreadyExists, message).hint(
                    "if it was renamed, say so with `moved`; if it is being replaced, use `delete_first`",
                ))
            }
        }
    }

    /// Whether a resource other than this one holds the object.
    pub(crate) fn is_held_by_another(&self, address: &Address, object: &State) -> bool {
        let Some(identity) = &object.identity else { return false };
        let key = (address.type_name().to_owned(), identity.clone());
        let held = self.0.lock();
        held.is_ok_and(|held| {
            held.get(&key).is_some_and(|holders| holders.iter().any(|holder| holder != address))
        })
    }
}
