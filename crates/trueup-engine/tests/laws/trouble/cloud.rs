//! A cloud that keeps books: what exists, who uses what, and each request that no engine should make.
//!
//! It refuses to delete what is in use and to use what is missing, and notes both as mistakes. Faults are scripted per
//! resource and operation. People change it by hand, and that is never held against the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use trueup_core::{Failure, FailureClass};
use trueup_provider::{CallContext, Error, Result, Slot};

/// The number that tells an object from all others.
pub(crate) type ObjectId = u64;

/// The region of objects that nobody configured.
pub(crate) const HOME: u64 = 0;

/// A region in which nobody makes objects.
pub(crate) const ELSEWHERE: u64 = 9;

/// The kinds of objects, each recovered in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The typed contract, found by name.
    Shelf,
    /// The typed contract, made once per token.
    Ticket,
    /// The convergent contract with stubs, found by name.
    Node,
    /// The convergent contract without stubs, found by name.
    Post,
    /// The convergent contract with stubs, made once per token.
    Hub,
    /// The convergent contract, found by a name that the program chooses: a replacement cannot exist beside the original.
    Page,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Shelf, Kind::Ticket, Kind::Node, Kind::Post, Kind::Hub, Kind::Page];

    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Kind::Shelf => "l_shelf",
            Kind::Ticket => "l_ticket",
            Kind::Node => "l_node",
            Kind::Post => "l_post",
            Kind::Hub => "l_hub",
            Kind::Page => "l_page",
        }
    }

    pub(crate) fn is_found_by_name(self) -> bool {
        matches!(self, Kind::Shelf | Kind::Node | Kind::Post | Kind::Page)
    }

    pub(crate) fn is_convergent(self) -> bool {
        matches!(self, Kind::Node | Kind::Post | Kind::Hub | Kind::Page)
    }

    pub(crate) fn has_stubs(self) -> bool {
        matches!(self, Kind::Node | Kind::Hub)
    }
}

/// The settings of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spec {
    pub(crate) size: u64,
    pub(crate) colour: String,
    /// An object that it uses, and may exchange for another.
    pub(crate) needs: Option<ObjectId>,
    /// An object that it uses for good.
    pub(crate) host: Option<ObjectId>,
    /// An output of another, copied.
    pub(crate) note: Option<String>,
    /// The payload of its binding.
    pub(crate) bound: Option<String>,
}

impl Spec {
    fn uses(&self) -> impl Iterator<Item = ObjectId> {
        self.needs.into_iter().chain(self.host)
    }

    /// Whether bringing an object to this takes another object. What is convergent is only told what it is to be.
    fn replaces(&self, object: &Object) -> bool {
        let (colour, host) = (self.colour != object.spec.colour, self.host != object.spec.host);
        match object.kind {
            Kind::Shelf | Kind::Ticket => colour || host,
            Kind::Page => colour,
            Kind::Node | Kind::Post | Kind::Hub => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) region: u64,
    /// Which of the possible names it bears.
    pub(crate) slot: Slot,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) spec: Spec,
    /// An output that types declare stable.
    pub(crate) seal: u64,
    pub(crate) complete: bool,
}

impl Object {
    pub(crate) fn url(&self, id: ObjectId) -> String {
        format!("{id}/{}", self.spec.size)
    }

    pub(crate) fn seal(&self, id: ObjectId) -> String {
        format!("{id}#{}", self.seal)
    }
}

/// A request to the cloud that changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Stub,
    Create,
    Update,
    Delete,
}

/// A request that goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) operation: Operation,
    pub(crate) resource: String,
    pub(crate) effect: FaultEffect,
    pub(crate) class: FailureClass,
    /// Whether it happens to every such request of the run.
    pub(crate) lasts: bool,
}

/// How far a request comes that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultEffect {
    None,
    /// Half of the object is made, and the error says so.
    Half,
    Whole,
}

/// The cloud. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Cloud(Arc<Mutex<Books>>);

#[derive(Default)]
pub(crate) struct Books {
    pub(crate) objects: BTreeMap<ObjectId, Object>,
    /// Requests that no engine should make.
    pub(crate) mistakes: Vec<String>,
    /// The resources whose seals change with their next update.
    pub(crate) restamped: BTreeSet<String>,
    pub(crate) faults: Vec<Fault>,
    /// Faults that happened and that no retry helps.
    pub(crate) failed: Vec<Fault>,
    tokens: BTreeMap<String, ObjectId>,
    made: ObjectId,
    pub(crate) removed_by_hand: BTreeSet<ObjectId>,
    /// Objects that outlived the state and have not been changed since: no record tells what they use.
    pub(crate) unfamiliar: BTreeSet<ObjectId>,
}

impl Cloud {
    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    /// Takes the fault that is scripted for a request.
    pub(super) fn fault(&self, operation: Operation, context: &CallContext) -> Option<Fault> {
        let mut books = self.books();
        let meant = |it: &Fault| it.operation == operation && it.resource == context.address.name();
        let at = books.faults.iter().position(meant)?;
        let fault = books.faults[at].clone();
        if !fault.lasts {
            books.faults.remove(at);
        }
        Some(fault)
    }

    /// The error that a fault is answered with.
    pub(super) fn fail(&self, fault: Fault) -> Error {
        let error = Failure::new(fault.class.clone(), "scripted").into();
        if matches!(fault.class, FailureClass::Fatal | FailureClass::Denied) {
            self.books().failed.push(fault);
        }
        error
    }
}

impl Books {
    /// Makes an object of this name, for one token only once.
    pub(super) fn create(
        &mut self,
        (kind, region, name): (Kind, u64, String),
        context: &CallContext,
        spec: Spec,
    ) -> Result<ObjectId> {
        let token = context.token.map(|token| token.to_string()).unwrap_or_default();
        if let Some(known) = self.tokens.get(&token).filter(|_| !kind.is_found_by_name()) {
            return Ok(*known);
        }
        if kind == Kind::Page && !self.find(kind, region, &name).is_empty() {
            return Err(Error::already_exists("the name is taken"));
        }
        self.refuse_missing(context, &spec)?;
        let object = Object {
            kind,
            name,
            region,
            slot: context.slot.expect("nothing is created under nobody's name"),
            tags: context.tags(),
            spec,
            seal: 0,
            complete: true,
        };
        let id = self.put(object);
        self.tokens.insert(token, id);
        Ok(id)
    }

    /// Changes an object.
    pub(super) fn update(
        &mut self,
        (id, region): (ObjectId, u64),
        context: &CallContext,
        spec: Spec,
        fails: bool,
    ) -> Result<ObjectId> {
        self.read(id, region)?;
        self.refuse_missing(context, &spec)?;
        let restamped = self.restamped.remove(context.address.name());
        let Some(object) = self.objects.get_mut(&id) else { return Err(Error::not_found("no such object")) };
        if spec.replaces(object) {
            self.mistakes.push(format!("{} changes {:?} in place to {spec:?}", context.address, object.spec));
        }
        object.spec = spec;
        object.tags = context.tags();
        object.complete = true;
        object.seal += u64::from(restamped);
        if !fails {
            self.unfamiliar.remove(&id);
        }
        Ok(id)
    }

    pub(super) fn delete(&mut self, id: ObjectId, region: u64, context: &CallContext) -> Result<ObjectId> {
        self.read(id, region)?;
        let users: Vec<ObjectId> = self
            .objects
            .iter()
            .filter(|(_, it)| it.spec.uses().any(|used| used == id))
            .map(|it| *it.0)
            .collect();
        if let Some(user) = users.iter().find(|user| !self.unfamiliar.contains(user)) {
            let used_by = self.objects[user].name.clone();
            self.mistakes.push(format!("{} deletes {id} while {user} ({used_by}) uses it", context.address));
        }
        if let Some(user) = users.first() {
            return Err(Error::conflict(format!("{user} uses it")));
        }
        self.objects.remove(&id);
        Ok(id)
    }

    pub(super) fn read(&self, id: ObjectId, region: u64) -> Result<&Object> {
        let found = self.objects.get(&id).filter(|object| object.region == region);
        found.ok_or_else(|| Error::not_found("no such object"))
    }

    /// The objects of a name.
    pub(super) fn find(&self, kind: Kind, region: u64, name: &str) -> Vec<(ObjectId, Object)> {
        let bears = |it: &Object| it.kind == kind && it.region == region && it.name == name;
        let found = self.objects.iter().filter(|(_, object)| bears(object));
        found.map(|(id, object)| (*id, object.clone())).collect()
    }

    /// Puts an object there that belongs to nobody.
    pub(crate) fn put(&mut self, object: Object) -> ObjectId {
        self.made += 1;
        self.objects.insert(self.made, object);
        self.made
    }

    /// From now on nobody knows what the objects use.
    pub(crate) fn lose_sight(&mut self) {
        self.unfamiliar = self.objects.keys().copied().collect();
    }

    /// Removes by hand some of the objects of which no record tells what they use.
    pub(crate) fn remove_unfamiliar(&mut self, goes: impl Fn(ObjectId, &Object) -> bool) {
        for id in std::mem::take(&mut self.unfamiliar) {
            if self.objects.get(&id).is_some_and(|object| goes(id, object)) {
                self.objects.remove(&id);
                self.removed_by_hand.insert(id);
            } else {
                self.unfamiliar.insert(id);
            }
        }
    }

    fn refuse_missing(&mut self, context: &CallContext, spec: &Spec) -> Result<()> {
        let Some(missing) = spec.uses().find(|used| !self.objects.contains_key(used)) else { return Ok(()) };
        if !self.removed_by_hand.contains(&missing) {
            self.mistakes.push(format!("{} is to use {missing}, which is gone", context.address));
        }
        Err(Error::invalid(format!("there is no object {missing}")))
    }
}
