//! From records to a state of Terraform: all that its providers manage.

use std::collections::BTreeMap;

use trueup_core::{Address, Diagnostic, Diagnostics, Entries};
use trueup_engine::Random;
use trueup_provider::{ProviderAddress, Registry, State, provider_named};
use trueup_state::{Record, Snapshot, Status};
use trueup_terraform::state_file::{
    ConfigurationName, ObjectForm, STATE_VERSION, StateFile, StateInstance, StateOutput, StateResource,
    config_address, index_key,
};

/// The version of Terraform that is said to have written a state: later ones read it too.
const TERRAFORM_VERSION: &str = "1.11.4";

/// A state, and what could not be part of it.
pub(crate) struct Left {
    /// The state.
    pub(crate) state: StateFile,
    /// Resources that no provider of Terraform manages.
    pub(crate) foreign: Vec<Address>,
}

/// What groups instances in a state: module, type and name, and the provider.
type Group = (Option<String>, Address, String);

/// All that is recorded as a state, or everything that stands against it.
pub(crate) async fn leave(
    snapshot: &Snapshot,
    registry: &Registry,
    random: &dyn Random,
) -> Result<Left, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut foreign = Vec::new();
    let mut groups: BTreeMap<Group, Vec<(Address, StateInstance)>> = BTreeMap::new();
    for (record, _) in &snapshot.records {
        let name = provider_named(&record.meta.provider);
        let own = registry.has(name);
        if own && !ProviderAddress::implied(name).is_builtin() {
            foreign.push(record.address.clone());
            continue;
        }
        match instances(record, registry, own, random).await {
            Ok((provider, instances)) => {
                let address = &record.address;
                let module = (!address.module().is_root()).then(|| address.module().to_string());
                let group = (module, config_address(address), provider);
                let instances = instances.into_iter().map(|instance| (address.clone(), instance));
                groups.entry(group).or_default().extend(instances);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    let mut outputs = BTreeMap::new();
    for (name, value) in snapshot.outputs.iter().filter_map(|it| it.as_entries()).flat_map(Entries::iter) {
        match StateOutput::write(value) {
            Ok(output) => {
                outputs.insert(name.to_string(), output);
            }
            Err(why) => diagnostics.push(Diagnostic::error(format!("the output `{name}`: {why}"))),
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let resources = groups.into_iter().map(|((module, address, provider), mut instances)| {
        instances.sort_by(|left, right| left.0.cmp(&right.0));
        StateResource {
            module,
            mode: "managed".to_owned(),
            type_name: address.type_name().to_owned(),
            name: address.name().to_owned(),
            provider,
            instances: instances.into_iter().map(|(_, instance)| instance).collect(),
        }
    });
    let state = StateFile {
        version: STATE_VERSION,
        terraform_version: TERRAFORM_VERSION.to_owned(),
        serial: 1,
        lineage: lineage(random),
        outputs,
        resources: resources.collect(),
        check_results: serde_json::Value::Null,
    };
    foreign.sort();
    Ok(Left { state, foreign })
}

/// What tells a state from others: a UUID.
fn lineage(random: &dyn Random) -> String {
    let text: String = random.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

/// The instances of a record, deposed ones too, and the configuration of its provider.
async fn instances(
    record: &Record,
    registry: &Registry,
    own: bool,
    random: &dyn Random,
) -> Result<(String, Vec<StateInstance>), Diagnostic> {
    let Record { address, meta, .. } = record;
    let about = |why: String| Diagnostic::error(format!("{address}: {why}"));
    let handler = registry.resource_of(&meta.provider, address.type_name()).await;
    let handler = handler.map_err(|diagnostic| diagnostic.about(address.to_string()))?;
    let form =
        if own { ObjectForm::of_own(handler.schema()) } else { ObjectForm::of_terraform(handler.schema()) };
    let provider = ConfigurationName::of_record(&meta.provider).map_err(about)?;
    let mut dependencies: Vec<String> =
        meta.dependencies.iter().map(|it| config_address(it).to_string()).collect();
    dependencies.sort();
    dependencies.dedup();
    let unfinished = || {
        about("an operation on it is not finished".to_owned())
            .hint("finish it with `trueup deploy`, then export")
    };
    let written = |object: &State| -> Result<StateInstance, Diagnostic> {
        let instance = form.write(object).map_err(about)?;
        Ok(StateInstance { index_key: index_key(address), dependencies: dependencies.clone(), ..instance })
    };
    let mut found = Vec::new();
    if let Some(current) = &record.current {
        let object = current.object.as_ref().ok_or_else(unfinished)?;
        let status = match &current.status {
            Status::Ready => None,
            Status::Creating(_) => Some("tainted".to_owned()),
            Status::Updating(_) | Status::Deleting => return Err(unfinished()),
        };
        found.push(StateInstance { status, ..written(object)? });
    }
    for generation in &record.deposed {
        let object = generation.object.as_ref().ok_or_else(unfinished)?;
        let key: String = random.bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        found.push(StateInstance { deposed: Some(key), ..written(object)? });
    }
    Ok((provider.to_string(), found))
}
