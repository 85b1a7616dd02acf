//! A small world outside: named things with properties, kept in memory, that resource types under test manage.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use trueup::{Error, Result, Value};

/// A shelf of things. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Shelf(Arc<Mutex<World>>);

#[derive(Default)]
pub(crate) struct World {
    pub(crate) things: BTreeMap<u64, Thing>,
    pub(crate) tokens: BTreeMap<String, u64>,
    pub(crate) calls: Vec<String>,
    next: u64,
}

/// A thing with an id that the shelf chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Thing {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) tags: BTreeMap<String, String>,
}

impl Shelf {
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("no test panics while it holds the shelf")
    }

    /// Notes a call, for tests that ask what was called with what.
    pub(crate) fn note(&self, call: impl Into<String>) {
        self.world().calls.push(call.into());
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.world().calls)
    }

    pub(crate) fn put(&self, thing: Thing) -> u64 {
        let mut world = self.world();
        world.next += 1;
        let id = world.next;
        world.things.insert(id, thing);
        id
    }

    /// Puts a thing there once for each token.
    pub(crate) fn put_once(&self, token: &str, thing: Thing) -> u64 {
        let known = self.world().tokens.get(token).copied();
        known.unwrap_or_else(|| {
            let id = self.put(thing);
            self.world().tokens.insert(token.to_owned(), id);
            id
        })
    }

    pub(crate) fn get(&self, id: u64) -> Result<Thing> {
        self.world().things.get(&id).cloned().ok_or_else(|| Error::not_found(format!("no thing {id}")))
    }

    pub(crate) fn set(&self, id: u64, thing: Thing) -> Result<()> {
        match self.world().things.get_mut(&id) {
            Some(own) => {
                *own = thing;
                Ok(())
            }
            None => Err(Error::not_found(format!("no thing {id}"))),
        }
    }

    pub(crate) fn take(&self, id: u64) -> Result<()> {
        self.world().things.remove(&id).map(|_| ()).ok_or_else(|| Error::not_found(format!("no thing {id}")))
    }

    pub(crate) fn named(&self, name: &str) -> Option<(u64, Thing)> {
        self.world()
            .things
            .iter()
            .find(|(_, thing)| thing.name == name)
            .map(|(id, thing)| (*id, thing.clone()))
    }

    pub(crate) fn len(&self) -> usize {
        self.world().things.len()
    }
}

/// The id in the outputs of a thing.
pub(crate) fn id(outputs: &Value) -> u64 {
    outputs.get("id").and_then(Value::as_number).and_then(trueup::Number::as_u64).expect("outputs have an id")
}
