//! Which resource holds which object, so that no object is ever held by two (ADOPT-4, RETRY-6, DELETE-9).

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::State;

/// The objects that records hold, by type and identity. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holders(Arc<Mutex<IndexMap<Object, Holding>>>);

/// A type and an identity.
type Object = (SmolStr, Value);

/// Who holds an object: nearly always one alone.
struct Holding {
    first: Address,
    others: Vec<Address>,
}

impl Holding {
    fn all(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// The object of this identity that a resource would be.
fn object_of(address: &Address, identity: &Value) -> Object {
    (address.type_name().into(), identity.clone())
}

impl Holders {
    /// Notes that a resource holds an object.
    pub(crate) fn note(&self, address: &Address, object: &State) {
        if let (Some(identity), Ok(mut held)) = (&object.identity, self.0.lock()) {
            let holding = held
                .entry(object_of(address, identity))
                .or_insert_with(|| Holding { first: address.clone(), others: Vec::new() });
            if !holding.all().any(|holder| holder == address) {
                holding.others.push(address.clone());
            }
        }
    }

    /// Refuses an object that another resource, or an older generation of any, holds already.
    pub(crate) fn refuse_held(&self, address: &Address, object: &State) -> Result<(), Failure> {
        let Some(identity) = &object.identity else { return Ok(()) };
        let key = object_of(address, identity);
        let holder = self.0.lock().ok().and_then(|held| held.get(&key).map(|holding| holding.first.clone()));
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
        let key = object_of(address, identity);
        let held = self.0.lock();
        held.is_ok_and(|held| {
            held.get(&key).is_some_and(|holding| holding.all().any(|holder| holder != address))
        })
    }
}
