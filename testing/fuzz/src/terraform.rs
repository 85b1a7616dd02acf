//! Terraform's own files: states, lock files, CLI configuration, version constraints. Whatever reads is written in a form
//! that reads as the same.

use std::path::Path;

use trueup_core::Type;
use trueup_core::schema::{Attribute, Block, ResourceSchema};
use trueup_terraform::state_file::{ConfigurationName, ObjectForm, StateFile, address};
use trueup_terraform_find::{Configuration, Lock, VersionConstraints};

use crate::text;

pub(crate) const LOCKS: &[&str] = &[
    "# why\nprovider \"registry.terraform.io/hashicorp/aws\" {\n  version     = \"5.1.0\"\n  constraints = \"~> 5.0\"\n  \
     hashes = [\n    \"h1:abc=\",\n    \"zh:00\",\n  ]\n}\n",
    "provider_installation {\n  dev_overrides { \"acme/x\" = \"bin\" }\n  filesystem_mirror {\n    path = \"/m\"\n    \
     include = [\"*/*/*\"]\n  }\n  direct {}\n}\nplugin_cache_dir = \"~/c\"\n",
    ">= 1.2, < 2.0.0-beta1, != 1.3.0+meta, ~> 1.2.3",
];

pub(crate) const STATES: &[&str] = &[
    r#"{"version":4,"serial":1,"lineage":"l","outputs":{"o":{"value":["a"],"type":["list","string"],"sensitive":true}},
    "resources":[{"module":"module.m[0]","mode":"managed","type":"t_x","name":"n",
    "provider":"module.m.provider[\"registry.terraform.io/hashicorp/t\"].west","instances":[{"index_key":"k","status":"tainted",
    "schema_version":0,"attributes":{"id":"1","any":{"type":["tuple",["number"]],"value":[1]},"tags":{"a":"b"},"many":[{"k":"v"}]},
    "sensitive_attributes":[[{"type":"get_attr","value":"tags"},{"type":"index","value":{"type":"string","value":"a"}}]],
    "private":"AA==","dependencies":["t_x.m"]}]}]}"#,
    r#"{"version":4}"#,
];

pub(crate) fn check_lock(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let _ = Configuration::read(text, Path::new("/folder"), None);
    if let Ok(lock) = Lock::read(text) {
        assert_eq!(Lock::read(&lock.to_string()), Ok(lock));
    }
    if let Ok(constraints) = text.parse::<VersionConstraints>() {
        assert_eq!(constraints.to_string().parse(), Ok(constraints));
    }
}

pub(crate) fn check_state(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(state) = StateFile::read(text) else { return };
    assert_eq!(StateFile::read(&state.to_text()).as_ref(), Ok(&state));
    for output in state.outputs.values() {
        let _ = output.read();
    }
    let form = form();
    for resource in &state.resources {
        if let Ok(name) = ConfigurationName::read(&resource.provider) {
            let _ = ConfigurationName::of_record(&name.recorded());
        }
        for instance in &resource.instances {
            let _ = address(resource, instance);
            if let Ok(object) = form.read(instance) {
                let written = form.write(&object).expect("what was read can be written");
                assert_eq!(
                    form.read(&written).expect("what was written can be read").outputs,
                    object.outputs
                );
            }
        }
    }
}

fn form() -> ObjectForm {
    let many = Type::list(Type::object([("k", Type::String)]));
    let attributes =
        [("id", Type::String), ("any", Type::Any), ("tags", Type::map(Type::String)), ("many", many)];
    let attributes = attributes.map(|(name, ty)| (name.into(), Attribute::optional(ty)));
    let block = Block { attributes: attributes.into_iter().collect(), ..Block::default() };
    ObjectForm::of_terraform(&ResourceSchema { version: 0, inputs: block.clone(), outputs: block })
}
