//! What the types say of themselves, from which the reference is made.

use trueup_core::schema::{Block, Shape};
use trueup_provider::{Provider, Registry};
use trueup_provider_std::{Randomness, terraform_provider};

use crate::bench::{Bench, std_in};

/// The attributes of a block that say nothing of themselves, with those of the structures inside.
fn undocumented(of: &str, block: &Block) -> Vec<String> {
    let mut found = Vec::new();
    for (name, attribute) in &block.attributes {
        let path = format!("{of}.{name}");
        if let Shape::Object(inner) = &attribute.shape {
            found.extend(undocumented(&path, inner));
        }
        if !attribute.doc.ends_with(['.', '!']) {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_type_and_attribute_is_documented() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let provider = std_in("/");
        let (types, sources) =
            (provider.resource_types().await.unwrap(), provider.data_source_types().await.unwrap());
        assert_eq!((types.len(), sources.len()), (12, 3));
        let registry = Registry::new().with(provider).with(terraform_provider(Randomness::default()));
        let mut found = Vec::new();
        for name in types.into_iter().chain(["terraform_data".into()]) {
            let handler = registry.resource(&name).await.unwrap();
            let schema = handler.schema();
            assert!(!schema.inputs.doc.is_empty(), "{name}");
            found.extend(undocumented(&name, &schema.inputs));
            found.extend(undocumented(&name, &schema.outputs));
        }
        for name in sources {
            let handler = registry.data_source(&name).await.unwrap();
            found.extend(undocumented(&name, handler.inputs()));
            found.extend(undocumented(&name, handler.outputs()));
        }
        assert_eq!(found, [""; 0]);
    });
}

/// CRASH-1: who cannot recover says so where people choose.
#[test]
fn types_that_may_be_blind_say_so() {
    let bench = Bench::new();
    let registry = bench.registry();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in ["std_exec", "std_http"] {
        let handler = runtime.block_on(registry.resource(name)).unwrap();
        let told = handler.schema().inputs.doc.replace('\n', " ");
        assert!(told.contains("the resource is blind"), "{told}");
    }
}

/// PLAN-11
#[test]
fn a_mistyped_type_is_corrected() {
    let bench = Bench::new();
    let program = crate::bench::program([crate::bench::resource("std_fiel.a", trueup_core::value!({}))]);
    assert!(bench.refused(&program).contains("did you mean `std_file`?"));
}
