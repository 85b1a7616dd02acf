//! Which resource holds which object, so that no object is ever held by two (ADOPT-4, RETRY-6, DELETE-9).

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use indexmap::map::Entry;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{Configured, State};
use trueup_state::{ConfigurationNumber, Record};

use crate::places::{Place, Places};

/// The objects that records hold, by type and identity. The same identity may be another object's in another place.
/// Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holders(Arc<Mutex<IndexMap<SmolStr, OfType>>>);

/// The objects of one type, by identity.
type OfType = IndexMap<Value, Holding>;

/// Who holds an object: nearly always one alone.
struct Holding {
    first: ObjectHolder,
    others: Vec<ObjectHolder>,
}

impl Holding {
    fn all(&self) -> impl Iterator<Item = &ObjectHolder> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Takes out a resource that is not the only one.
    fn release(&mut self, address: &Address) {
        self.others.retain(|holder| holder.address != *address);
        if self.first.address == *address && !self.others.is_empty() {
            self.first = self.others.remove(0);
        }
    }
}

/// A resource that holds an object, and where.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ObjectHolder {
    pub(crate) address: Address,
    /// The name of the provider's configuration.
    pub(crate) provider: SmolStr,
    /// The configuration that the object was made with.
    pub(crate) configuration: Option<ConfigurationNumber>,
    pub(crate) inputs: Option<Value>,
}

/// A place to look at: the configuration that leads to it, and the inputs of what is sought there.
pub(crate) struct Spot<'a> {
    pub(crate) places: &'a Places<'a>,
    pub(crate) config: Option<&'a Configured>,
    pub(crate) inputs: Option<&'a Value>,
}

impl Spot<'_> {
    /// Whether what somebody holds is here. Where nobody can tell, configurations of one name count as one, and those that
    /// say the same.
    async fn is_of(&self, holder: &ObjectHolder) -> bool {
        let Spot { places, config, inputs } = self;
        let here = config.zip(*inputs).and_then(|(config, inputs)| places.handler.place(config, inputs));
        if let Some(here) = here
            && let (Some(number), Some(inputs)) = (holder.configuration, &holder.inputs)
            && let Some(there) = places.of_object(&holder.provider, number, inputs).await
        {
            return here == there;
        }
        let number = config.and_then(|config| places.recorded.known_number(config));
        holder.provider == places.provider || (number.is_some() && holder.configuration == number)
    }

    /// Whether an older generation of a record holds an object of this identity here. Two of one identity are made only
    /// where they do not see each other, so one that was made with another configuration is not here.
    async fn is_of_older(&self, identity: &Value, record: Option<&Record>) -> bool {
        for older in record.into_iter().flat_map(|record| &record.deposed) {
            let held = older.object.as_ref().and_then(|object| object.identity.as_ref());
            let elsewhere = match self.config {
                Some(config) => self.places.elsewhere(config, older).await,
                None => None,
            };
            if held.is_some_and(|held| held.same(identity))
                && elsewhere.is_none_or(|it| it.place == Place::Alike)
            {
                return true;
            }
        }
        false
    }
}

impl Holders {
    /// Notes that a resource holds an object.
    pub(crate) fn note(&self, holder: ObjectHolder, object: &State) {
        let (Some(identity), Ok(mut held)) = (&object.identity, self.0.lock()) else { return };
        let of_type = held.entry(holder.address.type_name().into()).or_default();
        match of_type.entry(identity.clone()) {
            Entry::Vacant(free) => {
                free.insert(Holding { first: holder, others: Vec::new() });
            }
            Entry::Occupied(mut held) => {
                if !held.get().all().any(|known| *known == holder) {
                    held.get_mut().others.push(holder);
                }
            }
        }
    }

    /// Refuses an object that another resource, or an older generation of any, holds already. What a resource itself
    /// held as its current object and took for gone may be found again.
    pub(crate) async fn refuse_held(
        &self,
        spot: Spot<'_>,
        address: &Address,
        object: &State,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let Some(identity) = &object.identity else { return Ok(()) };
        let own = spot.is_of_older(identity, record).await.then(|| address.clone());
        match self.other_holder(&spot, address, identity).await.or(own) {
            None => Ok(()),
            Some(holder) => {
                let message = format!("the object that would be {address} is held by {holder}: {identity}");
                Err(Failure::new(FailureClass::AlreadyExists, message).hint(
                    "if it was renamed, say so with `moved`; if it is being replaced, use `delete_first`",
                ))
            }
        }
    }

    /// Leaves the object to another resource that holds it, if one does, and says whether one did. Of several that give it
    /// up at the same time, the last finds nobody to leave it to.
    pub(crate) async fn leave_to_another(&self, spot: Spot<'_>, address: &Address, object: &State) -> bool {
        let Some(identity) = &object.identity else { return false };
        while let Some(other) = self.other_holder(&spot, address, identity).await {
            let Ok(mut held) = self.0.lock() else { return false };
            let of_type = held.get_mut(address.type_name());
            let Some(holding) = of_type.and_then(|of_type| of_type.get_mut(identity)) else { return false };
            // The other one may have given it up while its place was found out.
            if holding.all().any(|holder| holder.address == other) {
                holding.release(address);
                return true;
            }
        }
        false
    }

    /// Another resource that holds the object of this identity in this place.
    async fn other_holder(&self, spot: &Spot<'_>, address: &Address, identity: &Value) -> Option<Address> {
        for holder in self.others(address, identity) {
            if spot.is_of(&holder).await {
                return Some(holder.address);
            }
        }
        None
    }

    /// Those but this one that hold an object of this identity, wherever that is.
    fn others(&self, address: &Address, identity: &Value) -> Vec<ObjectHolder> {
        let Ok(held) = self.0.lock() else { return Vec::new() };
        let holding = held.get(address.type_name()).and_then(|of_type| of_type.get(identity));
        let all = holding.into_iter().flat_map(Holding::all);
        all.filter(|holder| holder.address != *address).cloned().collect()
    }
}
