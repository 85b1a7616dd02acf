//! Data sources, instances and modules.

use std::collections::BTreeMap;

use trueup::{Expr, Stack, value};

use super::{Census, Parcel, World};

/// What a module is given, and what it gives: plain Rust.
struct Rack {
    boxes: BTreeMap<String, u64>,
    label: Expr<String>,
}

struct RackOutputs {
    sizes: Vec<Expr<u64>>,
    door: Expr<String>,
}

fn rack(stack: &mut Stack<'_>, inputs: Rack) -> RackOutputs {
    let boxes = stack
        .add_each("part", inputs.boxes, |key, size| Parcel::args().name(format!("part of {key}")).size(size));
    let label = inputs.label.map(|label| format!("door of {label}"));
    let door = stack.add("door", Parcel::args().name(label).size(1u64));
    RackOutputs { sizes: boxes.values().map(|part| part.size()).collect(), door: door.name() }
}

/// APPLY-12: outputs of data sources, instances and modules are references like any other.
#[test]
fn modules_instances_and_data_are_one_typed_program() {
    let world = World::new();
    let declare = |stack: &mut Stack<'_>| {
        let first = stack.add("first", Parcel::args().name("first").size(3u64));
        let outputs = stack.module("rack", |stack| {
            rack(
                stack,
                Rack { boxes: [("a".to_owned(), 1), ("b".to_owned(), 2)].into(), label: first.name() },
            )
        });
        let shelves =
            stack.add_count("shelf", 2, |index| Parcel::args().name(format!("shelf {index}")).size(index));
        let census = stack.data("all", Census::args().least(1u64));
        stack.depends_on(&census, &shelves[1]);
        stack.output("door", outputs.door);
        stack.output::<Vec<u64>>("sizes", trueup::list(outputs.sizes));
        stack.output("some", census.count().map(|count| count > 0));
    };
    let report = world.deploy(declare);
    let mut addresses: Vec<String> = report.outcomes.iter().map(|(address, _)| address.to_string()).collect();
    addresses.retain(|address| !address.starts_with("data."));
    let expected = [
        "module.rack.y_parcel.door",
        "module.rack.y_parcel.part[\"a\"]",
        "module.rack.y_parcel.part[\"b\"]",
        "y_parcel.first",
        "y_parcel.shelf[0]",
        "y_parcel.shelf[1]",
    ];
    addresses.sort();
    assert_eq!(addresses, expected);
    let outputs = report.outputs.unwrap();
    assert_eq!(outputs.get("door"), Some(&value!("door of first")));
    assert_eq!(outputs.get("sizes"), Some(&value!([1, 2])));
    assert_eq!(outputs.get("some"), Some(&value!(true)));
    assert!(world.plan(declare).to_string().ends_with("No changes"));
}

/// DELETE-4, APPLY-12: what is destroyed gives nothing any more, and can be destroyed again.
#[test]
fn a_second_destroy_has_nothing_to_do() {
    let world = World::new();
    let declare = |stack: &mut Stack<'_>| {
        let first = stack.add("first", Parcel::args().name("first").size(3u64));
        let census = stack.data("all", Census::args().least(1u64));
        stack.depends_on(&census, &first);
        stack.output("name", first.name());
        stack.output("count", census.count());
    };
    assert_eq!(world.deploy(declare).outputs, Some(value!({ name: "first", count: 1 })));
    for _ in 0..2 {
        assert_eq!(world.destroy(declare).outputs, Some(value!({})));
        assert_eq!(world.shelf.len(), 0);
    }
    assert_eq!(world.deploy(declare).outputs, Some(value!({ name: "first", count: 1 })));
}

/// STATE-12: an instance keeps its identity with its key, whatever comes before it.
#[test]
fn instances_keep_their_objects_by_key() {
    let world = World::new();
    let regions = |names: &'static [&'static str]| {
        move |stack: &mut Stack<'_>| {
            let items = names.iter().map(|name| (*name, 1u64));
            stack.module_each("region", items, |stack, key, size| {
                stack.add("it", Parcel::args().name(key).size(size));
            });
        }
    };
    world.deploy(regions(&["b", "c"]));
    world.shelf.calls();
    world.deploy(regions(&["a", "c"]));
    assert_eq!(world.shelf.calls(), ["create a in home", "delete b"]);
}
