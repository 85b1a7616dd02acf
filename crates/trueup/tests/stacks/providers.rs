//! Configurations of providers.

use trueup::Stack;

use super::{Parcel, ShelfSettings, World};

/// A resource has the default configuration of its provider, or the one that it is added with.
#[test]
fn resources_use_the_configuration_that_they_are_added_with() {
    let world = World::new();
    let declare = |stack: &mut Stack<'_>| {
        stack.configure(ShelfSettings::args().region("north"));
        let south = stack.configure_as("south", ShelfSettings::args().region("south"));
        stack.add("near", Parcel::args().name("near").size(1u64));
        let far = stack.using(&south, |stack| {
            stack.module("rack", |stack| stack.add("far", Parcel::args().name("far").size(1u64)))
        });
        stack.output("far", far.region());
    };
    let outputs = world.deploy(declare).outputs.unwrap();
    assert_eq!(outputs.to_string(), r#"{ far = "south" }"#);
    let mut calls = world.shelf.calls();
    calls.sort();
    assert_eq!(calls, ["create far in south", "create near in north"]);
    assert!(world.plan(declare).to_string().ends_with("No changes"));
    world.destroy(declare);
    assert_eq!(world.shelf.len(), 0);
}
