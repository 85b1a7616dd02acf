//! Which resource holds which object, so that no object is ever held by two (ADOPT-4, RETRY-6, DELETE-9).

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::State;
use trueup_state::Record;

/// The objects that records hold, by provider's configuration, type and identity: the same id may be another object's in
/// another region. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holders {
    held: Arc<Mutex<IndexMap<(SmolStr, SmolStr), OfType>>>,
    /// The configuration whose objects this is about.
    provider: SmolStr,
}

/// The objects of one type, by identity.
type OfType = IndexMap<Value, Holding>;

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

impl Holders {
    /// The same, about the objects of this configuration.
    pub(crate) fn under(&self, provider: &SmolStr) -> Self {
        Holders { held: self.held.clone(), provider: provider.clone() }
    }

    /// Notes that a resource holds an object.
    pub(crate) fn note(&self, address: &Address, object: &State) {
        let (Some(identity), Ok(mut held)) = (&object.identity, self.held.lock()) else { return };
        let of_type = held.entry(self.key(address)).or_default();
        let holding = of_type
            .entry(identity.clone())
            .or_insert_with(|| Holding { first: address.clone(), others: Vec::new() });
        if !holding.all().any(|holder| holder == address) {
            holding.others.push(address.clone());
        }
    }

    /// Refuses an object that another resource, or an older generation of any, holds already. What a resource itself
    /// held as its current object and took for gone may be found again.
    pub(crate) fn refuse_held(
        &self,
        address: &Address,
        object: &State,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let Some(identity) = &object.identity else { return Ok(()) };
        let other = |holding: &Holding| holding.all().find(|holder| *holder != address).cloned();
        let deposed = record.into_iter().flat_map(|record| &record.deposed);
        let mut deposed = deposed.filter_map(|generation| generation.object.as_ref()?.identity.as_ref());
        let own = deposed.any(|held| held.same(identity)).then(|| address.clone());
        match self.of(address, identity, other).flatten().or(own) {
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
        let others = |holding: &Holding| holding.all().any(|holder| holder != address);
        self.of(address, identity, others).unwrap_or(false)
    }

    /// What there is to say of who holds the object of this identity that a resource would be.
    fn of<T>(&self, address: &Address, identity: &Value, tell: impl FnOnce(&Holding) -> T) -> Option<T> {
        let held = self.held.lock().ok()?;
        held.get(&self.key(address))?.get(identity).map(tell)
    }

    fn key(&self, address: &Address) -> (SmolStr, SmolStr) {
        (self.provider.clone(), address.type_name().into())
    }
}
