//! What the provider says of its types, as the engine sees it.

use trueup_core::schema::{Nesting, Presence, Shape};
use trueup_provider::Provider;
use trueup_terraform::Pool;

use crate::bench::Fixture;

#[tokio::test]
async fn schemas_keep_all_that_they_say() {
    let provider = Fixture(6).provider(None, Pool::new(2));
    let nest = provider.resource("fixture6_nest").await.unwrap().unwrap();
    let blocks = &nest.schema().inputs.blocks;
    let nesting = |name: &str| blocks[name].nesting;
    assert_eq!(nesting("single"), Nesting::Single);
    assert_eq!(nesting("group"), Nesting::Group);
    assert_eq!((nesting("several"), blocks["several"].items_max), (Nesting::List, Some(5)));
    assert_eq!(nesting("unordered"), Nesting::Set);
    assert_eq!(nesting("labelled"), Nesting::Map);
    let thing = provider.resource("fixture6_thing").await.unwrap().unwrap();
    let attributes = &thing.schema().inputs.attributes;
    assert_eq!(thing.schema().version, 1);
    assert_eq!(attributes["name"].presence, Presence::Required);
    assert_eq!(attributes["size"].presence, Presence::OptionalComputed);
    assert_eq!(attributes["serial"].presence, Presence::Computed);
    assert!(attributes["secret"].secret && attributes["password_wo"].write_only);
    assert!(attributes["old"].deprecated.is_some());
    let tree = provider.resource("fixture6_tree").await.unwrap().unwrap();
    let attributes = &tree.schema().inputs.attributes;
    assert!(matches!(attributes["one"].shape, Shape::Object(_)));
    assert!(matches!(&attributes["many"].shape, Shape::List(inner) if matches!(**inner, Shape::Object(_))));
    assert!(matches!(attributes["some"].shape, Shape::Set(_)));
    assert!(matches!(attributes["named"].shape, Shape::Map(_)));
    let functions = provider.functions().await.unwrap();
    assert_eq!(functions.keys().collect::<Vec<_>>(), ["reverse", "sum"]);
}
