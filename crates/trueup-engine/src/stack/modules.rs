//! Modules: functions whose resources have a common prefix in their addresses.

use std::collections::BTreeMap;
use std::panic::Location;

use trueup_core::{InstanceKey, ModulePath, ModuleStep};

use super::Stack;

impl Stack<'_> {
    /// Declares a module: all that the function adds has addresses such as `module.net.my_file.readme`. A module takes its
    /// inputs as arguments, and returns its outputs.
    #[track_caller]
    pub fn module<R>(&mut self, name: &str, declare: impl FnOnce(&mut Self) -> R) -> R {
        self.inside(name, None, Location::caller(), declare)
    }

    /// Declares a module for each item, under its key: `module.region["eu"].my_file.readme`.
    #[track_caller]
    pub fn module_each<K: Into<String>, V, R>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = (K, V)>,
        mut declare: impl FnMut(&mut Self, &str, V) -> R,
    ) -> BTreeMap<String, R> {
        let location = Location::caller();
        let mut instances = BTreeMap::new();
        for (key, value) in items {
            let key = key.into();
            let instance = Some(InstanceKey::Key(key.as_str().into()));
            let outputs = self.inside(name, instance, location, |stack| declare(stack, &key, value));
            instances.insert(key, outputs);
        }
        instances
    }

    fn inside<R>(
        &mut self,
        name: &str,
        key: Option<InstanceKey>,
        location: &'static Location<'static>,
        declare: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let step = ModuleStep { name: name.into(), key };
        let path = ModulePath::new(self.module.steps().iter().cloned().chain([step]));
        let path = path.unwrap_or_else(|error| {
            self.mistake(error.to_string(), "give the module a name like `net`", location);
            self.module.clone()
        });
        let outside = std::mem::replace(&mut self.module, path);
        let outputs = declare(self);
        self.module = outside;
        outputs
    }
}
