//! What the types say of themselves, from which the reference is made.

use trueup_core::schema::{Block, Shape};
use trueup_provider::{Provider, Registry};
use trueup_provider_pg::pg_provider;

use crate::kit::run;

/// The attributes of a block that say nothing of themselves, with those of the structures inside.
fn undocumented(of: &str, block: &Block) -> Vec<String> {
    let mut found = Vec::new();
    for (name, attribute) in &block.attributes {
        let path = format!("{of}.{name}");
        let mut shape = &attribute.shape;
        while let Shape::List(inner) | Shape::Set(inner) | Shape::Map(inner) = shape {
            shape = inner;
        }
        if let Shape::Object(inner) = shape {
            found.extend(undocumented(&path, inner));
        }
        if !attribute.doc.ends_with('.') {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_type_and_attribute_is_documented() {
    run(async {
        let provider = pg_provider(|_| None);
        let mut found = undocumented("pg", &provider.config_schema().await.unwrap());
        let (types, sources) =
            (provider.resource_types().await.unwrap(), provider.data_source_types().await.unwrap());
        assert_eq!((types.len(), sources.len()), (7, 2));
        let registry = Registry::new().with(provider);
        for name in types {
            let handler = registry.resource(&name).await.unwrap();
            found.extend(undocumented(&name, &handler.schema().inputs));
            found.extend(undocumented(&name, &handler.schema().outputs));
        }
        for name in sources {
            let handler = registry.data_source(&name).await.unwrap();
            found.extend(undocumented(&name, handler.inputs()));
            found.extend(undocumented(&name, handler.outputs()));
        }
        assert_eq!(found, [""; 0]);
    });
}
