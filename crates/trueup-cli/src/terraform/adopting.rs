//! From a state of Terraform to records: all that is in it, by steps that are as legal as any others.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, SecretTexts, Value};
use trueup_engine::Random;
use trueup_provider::{
    GenerationNumber, IdempotencyToken, InputValues, Registry, Slot, State, provider_named,
};
use trueup_state::{Attempt, Entry, Metadata, Record, RecordId, Step, Write, transition};
use trueup_terraform::state_file::{
    ConfigurationName, ObjectForm, StateFile, StateInstance, StateResource, address, config_address,
};

/// What is recorded of a state.
#[derive(Default)]
pub(crate) struct Adoption {
    /// The steps that record it.
    pub(crate) writes: Vec<Write>,
    /// The outputs.
    pub(crate) outputs: Vec<(SmolStr, Value)>,
    /// All resources, and how they are.
    pub(crate) resources: BTreeMap<Address, Standing>,
    /// How many data sources are not recorded: each plan reads them.
    pub(crate) data_sources: usize,
}

/// How a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Standing {
    /// Its creation failed half-way, so it is to be replaced.
    pub(crate) tainted: bool,
    /// Whether there is a current object at all.
    pub(crate) present: bool,
    /// How many older objects wait to be deleted.
    pub(crate) deposed: usize,
}

/// The objects of one resource instance.
struct Objects {
    meta: Metadata,
    current: Option<(State, bool)>,
    deposed: Vec<State>,
}

/// All of a state as steps, or everything that is wrong with it.
pub(crate) async fn adoption(
    state: &StateFile,
    registry: &Registry,
    random: &dyn Random,
) -> Result<Adoption, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut adoption = Adoption::default();
    let mut gathered: BTreeMap<Address, Objects> = BTreeMap::new();
    let instances = instances_by_resource(state);
    for resource in &state.resources {
        if resource.mode == "data" {
            adoption.data_sources += resource.instances.len();
            continue;
        }
        let (provider, form) = match form(resource, registry).await {
            Ok(found) => found,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        for instance in &resource.instances {
            if let Err(why) = gather(&mut gathered, resource, instance, &provider, &form, &instances) {
                diagnostics.push(Diagnostic::error(format!("{}: {why}", named(resource))));
            }
        }
    }
    for (name, output) in &state.outputs {
        match output.read() {
            Ok(value) => adoption.outputs.push((name.into(), value)),
            Err(why) => diagnostics.push(Diagnostic::error(format!("the output `{name}`: {why}"))),
        }
    }
    for (address, objects) in gathered {
        let standing = Standing {
            tainted: objects.current.as_ref().is_some_and(|(_, tainted)| *tainted),
            present: objects.current.is_some(),
            deposed: objects.deposed.len(),
        };
        match writes(&address, objects, random) {
            Ok(writes) => adoption.writes.extend(writes),
            Err(why) => diagnostics.push(Diagnostic::error(format!("{address} cannot be recorded: {why}"))),
        }
        adoption.resources.insert(address, standing);
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(adoption) }
}

fn named(resource: &StateResource) -> String {
    let module = resource.module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
    format!("{module}{}.{}", resource.type_name, resource.name)
}

/// The instances of each resource, by its address without keys: that is how states name what something depends on.
fn instances_by_resource(state: &StateFile) -> BTreeMap<Address, Vec<Address>> {
    let mut found: BTreeMap<Address, Vec<Address>> = BTreeMap::new();
    for resource in state.resources.iter().filter(|it| it.mode != "data") {
        for instance in resource.instances.iter().filter(|it| it.deposed.is_none()) {
            // What is no address is told where it is recorded.
            let Ok(address) = address(resource, instance) else { continue };
            found.entry(config_address(&address)).or_default().push(address);
        }
    }
    found
}

async fn form(resource: &StateResource, registry: &Registry) -> Result<(SmolStr, ObjectForm), Diagnostic> {
    if resource.mode != "managed" {
        let what = format!("{}: `{}` is not a mode of resources", named(resource), resource.mode);
        return Err(Diagnostic::error(what));
    }
    let provider = ConfigurationName::read(&resource.provider);
    let provider =
        provider.map_err(|why| Diagnostic::error(format!("{}: {why}", named(resource))))?.recorded();
    let handler = registry.resource_of(&provider, &resource.type_name).await;
    let handler = handler.map_err(|diagnostic| diagnostic.about(named(resource)))?;
    // Terraform's own `terraform_data` is a type of ours.
    let form = match registry.has(provider_named(&provider)) {
        true => ObjectForm::of_own(handler.schema()),
        false => ObjectForm::of_terraform(handler.schema()),
    };
    Ok((provider, form))
}

fn gather(
    gathered: &mut BTreeMap<Address, Objects>,
    resource: &StateResource,
    instance: &StateInstance,
    provider: &SmolStr,
    form: &ObjectForm,
    instances: &BTreeMap<Address, Vec<Address>>,
) -> Result<(), String> {
    let address = address(resource, instance)?;
    let object = with_repeated_secrets(form.read(instance)?);
    let depended = instance.dependencies.iter().filter_map(|text| text.parse::<Address>().ok());
    let depended = depended.filter_map(|resource| instances.get(&resource)).flatten();
    let mut dependencies: Vec<Address> = depended.filter(|it| **it != address).cloned().collect();
    dependencies.sort();
    dependencies.dedup();
    let meta = Metadata { provider: provider.clone(), dependencies, ..Metadata::default() };
    let objects = gathered.entry(address).or_insert_with(|| Objects {
        meta: meta.clone(),
        current: None,
        deposed: Vec::new(),
    });
    if instance.deposed.is_some() {
        objects.deposed.push(object);
        return Ok(());
    }
    if objects.current.is_some() {
        return Err("two instances have the same key".to_owned());
    }
    let tainted = match instance.status.as_deref() {
        None | Some("") => false,
        Some("tainted") => true,
        Some(other) => return Err(format!("`{other}` is not a status that is known")),
    };
    objects.meta = meta;
    objects.current = Some((object, tainted));
    Ok(())
}

/// An object with a mark on each value that repeats one of its secrets (SECRET-9). Terraform marks what its program marked:
/// of a secret tag it marks `tags`, and not `tags_all`.
fn with_repeated_secrets(object: State) -> State {
    let inputs = object.inputs.iter().flat_map(|inputs| [&inputs.written, &inputs.effective]);
    let secrets = SecretTexts::of(inputs.chain([&object.outputs]));
    let mark = |inputs: InputValues| InputValues {
        written: secrets.mark(&inputs.written),
        effective: secrets.mark(&inputs.effective),
    };
    State {
        inputs: object.inputs.map(mark),
        outputs: secrets.mark(&object.outputs),
        identity: object.identity.as_ref().map(|identity| secrets.mark(identity)),
        ..object
    }
}

/// The steps that lead to a record of these objects.
fn writes(address: &Address, objects: Objects, random: &dyn Random) -> Result<Vec<Write>, String> {
    let id = RecordId::from_bytes(random.bytes());
    let Objects { meta, current, deposed } = objects;
    let adopted = |object: State| Step::Adopted {
        address: address.clone(),
        origin: address.clone(),
        meta: meta.clone(),
        number: GenerationNumber::FIRST,
        slot: Slot::FIRST,
        object,
    };
    let begun = |number: GenerationNumber, object: Option<&State>| Step::CreateBegun {
        address: address.clone(),
        origin: address.clone(),
        meta: meta.clone(),
        number,
        slot: Slot(number.0),
        attempt: attempt(object, random),
    };
    let mut steps = Vec::new();
    let mut number = GenerationNumber::FIRST;
    for object in deposed {
        match number {
            GenerationNumber::FIRST => steps.push(adopted(object)),
            _ => steps.extend([begun(number, Some(&object)), Step::Settled { number, object }]),
        }
        number = number.next();
    }
    match current {
        Some((object, true)) => {
            steps.extend([begun(number, Some(&object)), Step::Answered { number, object }]);
        }
        Some((object, false)) if number == GenerationNumber::FIRST => steps.push(adopted(object)),
        Some((object, false)) => {
            steps.extend([begun(number, Some(&object)), Step::Settled { number, object }]);
        }
        // All that is left waits to be deleted.
        None => steps.extend([begun(number, None), Step::Abandoned { number }]),
    }
    let mut record: Option<Record> = None;
    let mut writes = Vec::new();
    for step in steps {
        let entry = Entry::new(id, step);
        record = transition(record, &entry).map_err(|illegal| illegal.to_string())?;
        writes.push(Write { expected: None, entry, record: record.clone().map(Arc::new) });
    }
    Ok(writes)
}

/// The attempt that led to an object, as far as that is known.
fn attempt(object: Option<&State>, random: &dyn Random) -> Attempt {
    let inputs = object.map(|object| match &object.inputs {
        Some(inputs) => inputs.clone(),
        None => InputValues { written: object.outputs.clone(), effective: object.outputs.clone() },
    });
    let nothing = || Value::object::<&str>([]);
    let inputs = inputs.unwrap_or_else(|| InputValues { written: nothing(), effective: nothing() });
    let token = IdempotencyToken::from_bytes(random.bytes());
    Attempt { inputs, bindings: Vec::new(), token, pending: None, stub: false }
}
