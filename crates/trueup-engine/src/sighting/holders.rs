//! Which resource holds which object, so that no object is ever held by two (ADOPT-4, RETRY-6, DELETE-9).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indexmap::IndexMap;
use indexmap::map::Entry;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{Configured, State};
use trueup_state::{ConfigurationNumber, Generation, Record, Status};

use crate::mutations::planted;
use crate::providers::{Place, Places, place};

/// The objects that records hold, by type and identity. The same identity may be another object's in another place, and
/// one object may have several identities: types that tell places are held by these too. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Holders(Arc<Shared>);

#[derive(Default)]
struct Shared {
    by_type: Mutex<IndexMap<SmolStr, OfType>>,
    /// Held while places are found out, so that nobody searches among some of them.
    placing: tokio::sync::Mutex<()>,
    /// How many deletes have ended.
    deletes_ended: AtomicU64,
}

impl Shared {
    /// Each change leaves a valid table, so one whose lock is poisoned is still used.
    fn by_type(&self) -> MutexGuard<'_, IndexMap<SmolStr, OfType>> {
        self.by_type.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The objects of one type.
#[derive(Default)]
struct OfType {
    by_identity: IndexMap<Value, Holding>,
    /// Of types that tell places, those whose places are known.
    by_place: IndexMap<Value, Vec<ObjectHolder>>,
    /// Those whose places are still to be found out: when they are noted, providers may not be ready.
    unplaced: Vec<ObjectHolder>,
    /// The deletes of this run, by the identity of the object, and by its place where that is known.
    deletions: IndexMap<Value, Vec<Arc<Deletion>>>,
    /// Holders whose object is gone: what is in its place now is another object.
    gone: IndexMap<Address, ObjectHolder>,
}

/// Which holders of an object count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claims {
    All,
    /// Those whose object is still there, as far as this run knows.
    OfLiveObjects,
}

/// A delete that this run began.
struct Deletion {
    holder: ObjectHolder,
    /// Its number among the deletes that ended.
    ended: OnceLock<Moment>,
}

/// A moment of a run, told by the number of deletes that have ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

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

impl ObjectHolder {
    /// The resource of a recorded generation.
    pub(crate) fn recorded(address: &Address, provider: &SmolStr, generation: &Generation) -> Self {
        ObjectHolder {
            address: address.clone(),
            provider: provider.clone(),
            configuration: generation.configuration,
            inputs: generation.inputs().map(|inputs| inputs.effective.clone()),
        }
    }
}

/// A place to look at: the configuration that leads to it, and the inputs of what is sought there.
pub(crate) struct Spot<'a> {
    pub(crate) places: &'a Places<'a>,
    pub(crate) config: Option<&'a Configured>,
    pub(crate) inputs: Option<&'a Value>,
}

impl Spot<'_> {
    /// The place, if the type can tell.
    fn place(&self) -> Option<Value> {
        place(&*self.places.handler, self.config?, self.inputs?)
    }

    /// The keys under which deletes of the object of this identity are noted. Asks the type, so never under the lock.
    fn keys(&self, identity: &Value) -> Vec<Value> {
        std::iter::once(identity.clone()).chain(self.place()).collect()
    }

    /// The place of what somebody holds, if the type can tell.
    async fn place_of(&self, holder: &ObjectHolder) -> Option<Value> {
        let inputs = holder.inputs.as_ref()?;
        match holder.configuration {
            Some(number) => self.places.of_object(&holder.provider, number, inputs).await,
            // Before configurations were recorded, there was one of each name.
            None if holder.provider == self.places.provider => {
                place(&*self.places.handler, self.config?, inputs)
            }
            None => None,
        }
    }

    /// Whether what somebody holds under the same identity is here. Where nobody can tell, configurations of one name count
    /// as one, and those that say the same.
    async fn is_of(&self, holder: &ObjectHolder) -> bool {
        let Spot { places, config, .. } = self;
        if let Some(here) = self.place()
            && let Some(there) = self.place_of(holder).await
        {
            return here == there;
        }
        let number = config.and_then(|config| places.recorded.known_number(config));
        holder.provider == places.provider || (number.is_some() && holder.configuration == number)
    }

    /// Whether an older generation of a record holds an object of this identity here. Two of one identity are made only
    /// where they do not see each other, so one that was made with another configuration is not here.
    async fn is_of_older(&self, identity: &Value, record: Option<&Record>) -> bool {
        let Some(record) = record else { return false };
        for older in &record.deposed {
            if record.current.is_none() && older.status == Status::Ready {
                // What was to replace it never came to be, so it takes its place back.
                continue;
            }
            let held = older.object.as_ref().and_then(|object| object.identity.as_ref());
            if let (Some(config), Some(inputs)) = (self.config, self.inputs)
                && held.is_some()
                && self.places.is_object_of(config, inputs, older).await
            {
                return true;
            }
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
    /// Notes that a resource holds an object of a type that tells places, or of one that does not.
    pub(crate) fn note(&self, holder: ObjectHolder, object: &State, tells_place: bool) {
        let Some(identity) = &object.identity else { return };
        let mut held = self.0.by_type();
        let of_type = held.entry(holder.address.type_name().into()).or_default();
        if of_type.gone.get(&holder.address) == Some(&holder) {
            of_type.gone.swap_remove(&holder.address);
        }
        if tells_place {
            of_type.unplaced.push(holder.clone());
        }
        match of_type.by_identity.entry(identity.clone()) {
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

    /// Notes that the current object of a resource is gone. Other resources are still refused what has its identity, since it
    /// may come back; but nothing is left to this one any more (DELETE-9).
    pub(crate) fn note_gone(&self, holder: ObjectHolder) {
        let mut held = self.0.by_type();
        held.entry(holder.address.type_name().into())
            .or_default()
            .gone
            .insert(holder.address.clone(), holder);
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
        let other = self.other_holder(&spot, address, identity, Claims::All).await.map(|(other, _)| other);
        match other.or(own) {
            None => Ok(()),
            Some(holder) => {
                let message = format!("the object that would be {address} is held by {holder}: {identity}");
                let failure = Failure::new(FailureClass::AlreadyExists, message).hint(
                    "if it was renamed, say so with `moved`; if it is being replaced, use `delete_first`",
                );
                Err(match holder == *address {
                    true => failure,
                    false => failure
                        .hint(format!("or deploy the change by which {holder} gives it up first, alone")),
                })
            }
        }
    }

    /// Leaves the object of a generation to another resource that holds it, if one does, and says whether one did. Of several
    /// that give it up at the same time, the last finds nobody to leave it to, and deletes it. The configuration in use counts
    /// where none is recorded.
    pub(crate) async fn is_left_to_another(
        &self,
        places: &Places<'_>,
        config: Option<&Configured>,
        address: &Address,
        generation: &Generation,
    ) -> bool {
        let Some(identity) = generation.object.as_ref().and_then(|object| object.identity.as_ref()) else {
            return false;
        };
        let made_with = places.made_with(generation).await;
        let inputs = generation.inputs().map(|inputs| &inputs.effective);
        let spot = Spot { places, config: made_with.as_ref().or(config), inputs };
        // Whoever gets this object as an answer first holds it and then looks for its deletes. Here the order is the other way
        // round, so that at least one of the two sees the other (DELETE-13).
        let keys = spot.keys(identity);
        self.note_delete(&spot, address, generation, &keys);
        while let Some((other, place)) =
            self.other_holder(&spot, address, identity, Claims::OfLiveObjects).await
        {
            let mut held = self.0.by_type();
            let Some(of_type) = held.get_mut(address.type_name()) else { return false };
            // The other one may have given it up while its place was found out.
            let is_left = match place {
                Some(place) => of_type.leave_place(&place, &other, address),
                None => of_type.leave_identity(identity, &other, address),
            };
            if is_left {
                of_type.forget_delete(&keys, address);
                return true;
            }
        }
        false
    }

    fn note_delete(&self, spot: &Spot<'_>, address: &Address, generation: &Generation, keys: &[Value]) {
        let mut held = self.0.by_type();
        let holder = ObjectHolder::recorded(address, &spot.places.provider, generation);
        let deletion = Arc::new(Deletion { holder, ended: OnceLock::new() });
        let of_type = held.entry(address.type_name().into()).or_default();
        for key in keys {
            of_type.deletions.entry(key.clone()).or_default().push(deletion.clone());
        }
    }

    /// Whether this run began a delete of any object of this type.
    pub(crate) fn deletes_any(&self, type_name: &str) -> bool {
        self.0.by_type().get(type_name).is_some_and(|of_type| !of_type.deletions.is_empty())
    }

    /// The present moment, for [`Holders::deleted_since`].
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.0.deletes_ended.load(Ordering::Relaxed))
    }

    /// Notes that the deletes of an object of a resource have ended: what has its identity from now on is another.
    pub(crate) fn note_delete_ended(&self, address: &Address, object: &State) {
        let Some(identity) = &object.identity else { return };
        let held = self.0.by_type();
        let deletions = held.get(address.type_name()).and_then(|of_type| of_type.deletions.get(identity));
        let ended = Moment(self.0.deletes_ended.fetch_add(1, Ordering::Relaxed) + 1);
        for deletion in deletions.into_iter().flatten().filter(|it| it.holder.address == *address) {
            deletion.ended.get_or_init(|| ended);
        }
    }

    /// Another resource whose delete may have taken this object away since a moment (DELETE-13).
    pub(crate) async fn deleted_since(
        &self,
        since: Moment,
        spot: Spot<'_>,
        address: &Address,
        object: &State,
    ) -> Option<Address> {
        let here = spot.keys(object.identity.as_ref()?);
        let deletions: Vec<Arc<Deletion>> = {
            let held = self.0.by_type();
            let of_type = held.get(address.type_name())?;
            let deletions = here.iter().filter_map(|key| of_type.deletions.get(key)).flatten();
            let meanwhile = deletions.filter(|it| it.ended.get().is_none_or(|ended| *ended > since));
            meanwhile.filter(|it| it.holder.address != *address).cloned().collect()
        };
        for deletion in deletions {
            if spot.is_of(&deletion.holder).await {
                return Some(deletion.holder.address.clone());
            }
        }
        None
    }

    /// Another resource that holds the object of this spot and identity, and the place if that tells.
    async fn other_holder(
        &self,
        spot: &Spot<'_>,
        address: &Address,
        identity: &Value,
        claims: Claims,
    ) -> Option<(Address, Option<Value>)> {
        let here = spot.place();
        if let Some(here) = &here {
            self.find_places(spot, address.type_name()).await;
            if let Some(other) = self.other_in(here, address, claims) {
                return Some((other, Some(here.clone())));
            }
        }
        for holder in self.others(address, identity, claims) {
            // What is known to be here was found by its place, unless it was given up.
            let is_placed = here.is_some() && spot.place_of(&holder).await.is_some();
            if !is_placed && spot.is_of(&holder).await {
                return Some((holder.address, None));
            }
        }
        None
    }

    /// Finds out the places of all objects of a type that were noted since the last time.
    async fn find_places(&self, spot: &Spot<'_>, type_name: &str) {
        let _placing = self.0.placing.lock().await;
        let unplaced =
            self.0.by_type().get_mut(type_name).map(|of_type| std::mem::take(&mut of_type.unplaced));
        let mut found = Vec::new();
        for holder in unplaced.unwrap_or_default() {
            if let Some(place) = spot.place_of(&holder).await {
                found.push((place, holder));
            }
        }
        let mut held = self.0.by_type();
        let Some(of_type) = held.get_mut(type_name) else { return };
        for (place, holder) in found {
            let known = of_type.by_place.entry(place).or_default();
            if !known.contains(&holder) {
                known.push(holder);
            }
        }
    }

    /// A resource but this one that holds the object in a place.
    fn other_in(&self, place: &Value, address: &Address, claims: Claims) -> Option<Address> {
        let held = self.0.by_type();
        let of_type = held.get(address.type_name())?;
        let mut holders = of_type.by_place.get(place)?.iter();
        holders.find(|it| of_type.is_other(it, address, claims)).map(|holder| holder.address.clone())
    }

    /// Those but this one that hold an object of this identity, wherever that is.
    fn others(&self, address: &Address, identity: &Value, claims: Claims) -> Vec<ObjectHolder> {
        let held = self.0.by_type();
        let Some(of_type) = held.get(address.type_name()) else { return Vec::new() };
        let all = of_type.by_identity.get(identity).into_iter().flat_map(Holding::all);
        all.filter(|it| of_type.is_other(it, address, claims)).cloned().collect()
    }
}

impl OfType {
    /// Whether this is another resource than the one at an address, and its claim counts.
    fn is_other(&self, holder: &ObjectHolder, address: &Address, claims: Claims) -> bool {
        let is_gone = || self.gone.get(&holder.address) == Some(holder) && !planted!(LeaveToTheGone);
        holder.address != *address && (claims == Claims::All || !is_gone())
    }

    /// Takes a resource out of the holders of a place, if another one is still among them.
    fn leave_place(&mut self, place: &Value, other: &Address, address: &Address) -> bool {
        let Some(holders) = self.by_place.get_mut(place) else { return false };
        let is_there = holders.iter().any(|holder| holder.address == *other);
        if is_there {
            holders.retain(|holder| holder.address != *address);
        }
        is_there
    }

    /// The same of those of an identity.
    fn leave_identity(&mut self, identity: &Value, other: &Address, address: &Address) -> bool {
        let Some(holding) = self.by_identity.get_mut(identity) else { return false };
        let is_there = holding.all().any(|holder| holder.address == *other);
        if is_there && !planted!(LeaveToEachOther) {
            holding.release(address);
        }
        is_there
    }

    /// Forgets that a resource was about to delete an object.
    fn forget_delete(&mut self, keys: &[Value], address: &Address) {
        for key in keys {
            if let Some(deletions) = self.deletions.get_mut(key) {
                deletions.retain(|it| it.holder.address != *address || it.ended.get().is_some());
            }
        }
    }
}
