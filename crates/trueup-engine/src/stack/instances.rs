//! Several resources of one name, told apart by a key.

use std::collections::BTreeMap;

use trueup_core::InstanceKey;
use trueup_provider::{Args, Managed};

use super::{Declared, Stack};

impl Stack<'_> {
    /// Adds a resource for each item, under its key: `my_file.page["index"]`. Keys are best taken from what the program
    /// says: an instance keeps its identity as long as its key stays.
    #[track_caller]
    pub fn add_each<K: Into<String>, V, A: Args, By>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = (K, V)>,
        mut args: impl FnMut(&str, V) -> A,
    ) -> BTreeMap<String, Declared<<A::Of as Managed<By>>::Output>>
    where
        A::Of: Managed<By>,
    {
        let mut instances = BTreeMap::new();
        // A loop rather than a closure: only functions pass on who called.
        for (key, value) in items {
            let key = key.into();
            let args = args(&key, value);
            let declared = self.add_instance(name, Some(InstanceKey::Key(key.as_str().into())), args);
            instances.insert(key, declared);
        }
        instances
    }

    /// Adds so many resources of one kind: `my_worker.pool[0]` and so on.
    #[track_caller]
    pub fn add_count<A: Args, By>(
        &mut self,
        name: &str,
        count: u64,
        mut args: impl FnMut(u64) -> A,
    ) -> Vec<Declared<<A::Of as Managed<By>>::Output>>
    where
        A::Of: Managed<By>,
    {
        let mut instances = Vec::new();
        for index in 0..count {
            instances.push(self.add_instance(name, Some(InstanceKey::Index(index)), args(index)));
        }
        instances
    }
}
