//! A plan without defaults: of what is to be made or read, the inputs that differ from what they are by themselves.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Address, Mode, Value};
use trueup_engine::{Action, Plan};
use trueup_program::Program;
use trueup_provider::Registry;

/// What the inputs of a program's types are by themselves.
pub(crate) struct Defaults(BTreeMap<(Mode, SmolStr), Vec<(SmolStr, Value)>>);

impl Defaults {
    /// Those of all types in the program.
    pub(crate) async fn of(program: &Program, registry: &Registry) -> Self {
        let resources = program.resources.iter().map(|it| &it.address);
        Self::of_types(resources.chain(program.data.iter().map(|it| &it.address)), registry).await
    }

    /// Those of all types in a plan.
    pub(crate) async fn of_plan(plan: &Plan, registry: &Registry) -> Self {
        Self::of_types(plan.actions.iter().map(|it| &it.address), registry).await
    }

    /// Those of the types of some addresses. A type that nobody knows has none; that is told elsewhere.
    async fn of_types<'a>(addresses: impl Iterator<Item = &'a Address>, registry: &Registry) -> Self {
        let mut found = BTreeMap::new();
        for address in addresses {
            let key = (address.mode(), SmolStr::new(address.type_name()));
            if found.contains_key(&key) {
                continue;
            }
            let defaults = match key.0 {
                Mode::Resource => registry.resource(&key.1).await.map(|it| defaults(&it.schema().inputs)),
                Mode::Data => registry.data_source(&key.1).await.map(|it| defaults(it.inputs())),
                Mode::Ephemeral => continue,
            };
            found.insert(key, defaults.unwrap_or_default());
        }
        Defaults(found)
    }

    /// The plan without them.
    pub(crate) fn left_out_of(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for action in &mut plan.actions {
            let key = (action.address.mode(), SmolStr::new(action.address.type_name()));
            let entries = action.inputs.as_entries().filter(|_| !action.inputs.is_secret());
            if let (Action::Create | Action::Read, Some(defaults), Some(entries)) =
                (action.action, self.0.get(&key), entries)
            {
                let is_default = |name: &SmolStr, value: &Value| {
                    defaults.iter().any(|(own, default)| own == name && default.same(value))
                };
                let told = entries.iter().filter(|(name, value)| !is_default(name, value));
                action.inputs = Value::object(told.map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        plan
    }
}

fn defaults(inputs: &Block) -> Vec<(SmolStr, Value)> {
    let set = inputs.attributes.iter();
    set.filter_map(|(name, attribute)| Some((name.clone(), attribute.default.clone()?))).collect()
}
