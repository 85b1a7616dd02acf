//! What the types say of themselves, from which the reference is made.

use trueup_core::schema::{Block, Shape};
use trueup_provider::{Provider, Registry};
use trueup_provider_aws::aws_provider;

/// The attributes of a block that say nothing of themselves, with those of the structures inside.
fn undocumented(of: &str, block: &Block) -> Vec<String> {
    let mut found = Vec::new();
    for (name, attribute) in &block.attributes {
        let path = format!("{of}.{name}");
        if let Shape::Object(inner) = &attribute.shape {
            found.extend(undocumented(&path, inner));
        }
        if !attribute.doc.ends_with('.') {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn every_type_and_attribute_is_documented() {
    let provider = aws_provider("/");
    let (types, sources) =
        (provider.resource_types().await.unwrap(), provider.data_source_types().await.unwrap());
    assert_eq!((types.len(), sources.len()), (12, 3));
    let mut found = undocumented("awsn", &provider.config_schema().await.unwrap());
    let registry = Registry::new().with(provider);
    for name in types {
        let handler = registry.resource(&name).await.unwrap();
        assert!(!handler.schema().inputs.doc.is_empty(), "{name}");
        found.extend(undocumented(&name, &handler.schema().inputs));
        found.extend(undocumented(&name, &handler.schema().outputs));
    }
    assert!(found.is_empty(), "{found:?}");
}
