//! Moves, imports, removals, and how resources are treated.

use std::time::Duration;

use trueup::{Removal, RetrySettings, Stack, Timeouts};

use super::{Parcel, World};
use crate::shelf::Thing;

fn one(stack: &mut Stack<'_>, name: &str) -> trueup::Declared<super::ParcelOutput> {
    stack.add(name, Parcel::args().name("one").size(1u64))
}

/// MOVE-1, MOVE-3: a resource moves to another name and into a module, and a module gets another name.
#[test]
fn what_moves_keeps_its_object() {
    let world = World::new();
    world.deploy(|stack| drop(one(stack, "old")));
    world.shelf.calls();
    world.deploy(|stack| {
        let new = stack.module("rack", |stack| one(stack, "new"));
        stack.moved("y_parcel.old", &new);
    });
    world.deploy(|stack| {
        stack.module("outer", |stack| {
            stack.module("inner", |stack| one(stack, "new"));
        });
        stack.moved_module("module.rack", "module.outer.module.inner");
    });
    // Within a module, addresses are relative to it.
    world.deploy(|stack| {
        stack.module("outer", |stack| {
            let newest = one(stack, "newest");
            stack.moved("module.inner.y_parcel.new", &newest);
        });
    });
    assert_eq!((world.shelf.calls(), world.shelf.len()), (Vec::<String>::new(), 1));
}

/// ADOPT-7: the type sees the inputs of the resource that the object becomes.
#[test]
fn an_import_adopts_the_object_and_knows_the_inputs() {
    let world = World::new();
    let id = world.shelf.put(Thing { name: "one".to_owned(), size: 7, ..Thing::default() });
    let other = world.shelf.put(Thing { name: "other".to_owned(), ..Thing::default() });
    let import = |id: u64| {
        move |stack: &mut Stack<'_>| {
            let it = one(stack, "it");
            stack.import(&it, id.to_string());
        }
    };
    let program = world.declared(import(other)).unwrap();
    let options = trueup::DeployOptions::new("test");
    let refused = trueup::run(world.engine().plan(&program, &options.plan)).unwrap_err().to_string();
    assert!(refused.contains(&format!("{other} is not called one")), "{refused}");
    world.deploy(import(id));
    assert_eq!(world.shelf.calls(), ["update one"]);
    assert_eq!(world.shelf.get(id).unwrap().size, 1);
}

/// What is no longer declared is deleted, or forgotten if the stack says so.
#[test]
fn what_is_removed_is_deleted_or_forgotten() {
    let world = World::new();
    let both = |stack: &mut Stack<'_>| {
        stack.add("kept", Parcel::args().name("kept").size(1u64));
        stack.module("rack", |stack| {
            stack.add("gone", Parcel::args().name("gone").size(1u64));
        });
    };
    world.deploy(both);
    world.deploy(|stack| {
        stack.removed("y_parcel.kept", Removal::Forget);
        stack.removed("module.rack", Removal::Delete);
    });
    assert!(world.shelf.named("kept").is_some() && world.shelf.named("gone").is_none());
    assert!(world.plan(|_| {}).to_string().ends_with("No changes"));
}

/// REPLACE-9, RETRY-2, APPLY-13: options, retries by type, and replacement with another resource.
#[test]
fn a_stack_says_how_its_resources_are_treated() {
    let world = World::new();
    let declare = |size: u64| {
        move |stack: &mut Stack<'_>| {
            let cause = stack.add("cause", Parcel::args().name("cause").size(size));
            let effect = stack.add("effect", Parcel::args().name("effect").size(1u64));
            stack.replace_with(&effect, &cause);
            let options = stack.options(&effect);
            options.timeouts = Some(Box::new(Timeouts::all(Duration::from_secs(5))));
            options.delete_first = Some(true);
            options.parallelism_class = Some("slow".into());
            stack.parallelism_class("slow", 1);
            stack
                .retry_type::<Parcel, _>(RetrySettings { attempts_max: Some(2), ..RetrySettings::default() });
        }
    };
    let program = world.declared(declare(1)).unwrap();
    assert_eq!(program.type_retries["y_parcel"].attempts_max, Some(2));
    assert_eq!((program.parallelism[0].name.as_str(), program.parallelism[0].limit), ("slow", 1));
    world.deploy(declare(1));
    world.shelf.calls();
    world.deploy(declare(2));
    assert_eq!(world.shelf.calls(), ["update cause", "delete effect", "create effect in home"]);
}
