//! MOVE: renames.

use trueup_program::{MoveDeclaration, Program};

use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing, thing_from};

fn moved(mut program: Program, moves: &[(&str, &str)]) -> Program {
    let declared = moves
        .iter()
        .map(|(from, to)| MoveDeclaration { from: from.parse().unwrap(), to: to.parse().unwrap() });
    program.moves = declared.collect();
    program
}

/// MOVE-1
#[test]
fn a_move_keeps_the_object_its_origin_and_rewrites_dependencies() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let before = bench.records();
    bench.world.calls();
    let after = moved(program([thing("z", 1), thing_from("b", "z")]), &[("w_thing.a", "w_thing.z")]);
    insta::assert_snapshot!(bench.plan(&after), @r"
    > w_thing.a -> w_thing.z
    • w_thing.b
    • w_thing.z (moved)
    Plan: 1 to move
    ");
    bench.deployed(&after);
    assert!(bench.world.calls().iter().all(|call| call.starts_with("read")));
    let records = bench.records();
    assert_eq!(records["z"].id, before["a"].id);
    assert_eq!(records["z"].origin, address("w_thing.a"));
    assert_eq!(records["b"].meta.dependencies, [address("w_thing.z")]);
    assert!(bench.plan(&after).ends_with("No changes"), "moved already");
    // Its name follows its origin, so lost state would still find it.
    bench.deployed(&moved(
        program([resource("w_thing.z", [("colour", lit("blue"))]), thing_from("b", "z")]),
        &[],
    ));
    assert_eq!(bench.world.cloud().things.len(), 2);
}

/// MOVE-1: a whole chain takes new names at once.
#[test]
fn what_moves_together_keeps_depending_on_each_other() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing_from("b", "a")]));
    let moves = [("w_thing.a", "w_thing.x"), ("w_thing.b", "w_thing.y")];
    bench.deployed(&moved(program([thing("x", 1), thing_from("y", "x")]), &moves));
    assert_eq!(bench.records()["y"].meta.dependencies, [address("w_thing.x")]);
    assert_eq!(bench.world.cloud().things.len(), 2);
}

/// MOVE-1: also said on the resource itself.
#[test]
fn renamed_from_is_a_move() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let mut renamed = thing("z", 1);
    renamed.renamed_from = Some(address("w_thing.a"));
    bench.deployed(&program([renamed]));
    assert_eq!(bench.records().into_keys().collect::<Vec<_>>(), ["z"]);
    assert_eq!(bench.world.cloud().things.len(), 1);
}

/// MOVE-1: what was under way moves along.
#[test]
fn deposed_and_unfinished_generations_move_along() {
    use trueup_core::{Failure, FailureClass};
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    bench.world.fail("delete a", Failure::new(FailureClass::Denied, "not yours"));
    bench.deploy(&program([resource("w_thing.a", [("colour", lit("blue"))])]));
    let after = program([resource("w_thing.z", [("colour", lit("blue"))])]);
    bench.deployed(&moved(after, &[("w_thing.a", "w_thing.z")]));
    assert_eq!(bench.world.cloud().things.len(), 1);
    assert!(bench.records()["z"].deposed.is_empty());
}

/// MOVE-1, CRASH-1: an interrupted create is found under the names that it was begun with.
#[test]
fn an_interrupted_create_moves_along() {
    use trueup_core::{Failure, FailureClass};
    let bench = Bench::new();
    bench.world.fail("hang up a", Failure::new(FailureClass::Indeterminate, "the connection broke"));
    assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
    bench.deployed(&moved(program([thing("z", 1)]), &[("w_thing.a", "w_thing.z")]));
    assert_eq!(bench.world.cloud().things.len(), 1, "what came of it is taken up");
    let record = bench.records().remove("z").unwrap();
    assert_eq!((record.current.unwrap().number.0, record.origin), (0, address("w_thing.a")));
}

/// MOVE-2
#[test]
fn chains_collapse_and_what_cannot_be_is_refused() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let chain = moved(
        program([thing("d", 1), thing("b", 1)]),
        &[("w_thing.a", "w_thing.c"), ("w_thing.c", "w_thing.d")],
    );
    assert!(bench.plan(&chain).starts_with("> w_thing.a -> w_thing.d"));
    let refused =
        |moves: &[(&str, &str)]| bench.refused(&moved(program([thing("c", 1), thing("b", 1)]), moves));
    insta::assert_snapshot!(refused(&[("w_thing.a", "w_thing.b")]), @"error: w_thing.a cannot move to w_thing.b: there is a resource already (remove one of them from state, or the move)");
    insta::assert_snapshot!(refused(&[("w_thing.a", "w_thing.c"), ("w_thing.b", "w_thing.c")]), @"error: two resources are said to move to w_thing.c (remove one of the moves)");
    insta::assert_snapshot!(refused(&[("w_thing.a", "w_blind.c")]), @"error: w_thing.a cannot move to w_blind.c: they are of different types (declare a new resource instead)");
    insta::assert_snapshot!(refused(&[("w_thing.a", "w_thing.b"), ("w_thing.b", "w_thing.a")]), @r"
    error: the moves of w_thing.a go round in a circle (swap resources in two steps, by a third name)
    error: the moves of w_thing.b go round in a circle (swap resources in two steps, by a third name)
    ");
}

/// MOVE-2, MOVE-3: and once it has, the move is a no-op.
#[test]
fn a_module_moves_with_all_that_is_in_it() {
    let bench = Bench::new();
    let inside = |module: &str| {
        let part = |name: &str| format!("{module}.w_thing.{name}");
        program([
            resource(&part("a"), [("size", lit(1))]),
            resource(&part("b"), [("from", output(&part("a"), "url"))]),
            resource(&format!("{module}.module.deep.w_thing.c"), []),
        ])
    };
    bench.deployed(&inside("module.net"));
    let before = bench.world.cloud().things.clone();
    let after = moved(inside("module.lan[0]"), &[("module.net", "module.lan[0]")]);
    insta::assert_snapshot!(bench.plan(&after), @r"
    > module.net.w_thing.a -> module.lan[0].w_thing.a
    > module.net.w_thing.b -> module.lan[0].w_thing.b
    > module.net.module.deep.w_thing.c -> module.lan[0].module.deep.w_thing.c
    • module.lan[0].w_thing.a (moved)
    • module.lan[0].w_thing.b (moved)
    • module.lan[0].module.deep.w_thing.c (moved)
    Plan: 3 to move
    ");
    bench.deployed(&after);
    assert_eq!(bench.world.cloud().things, before);
    assert_eq!(bench.records()["b"].meta.dependencies, [address("module.lan[0].w_thing.a")]);
    assert!(bench.plan(&after).ends_with("No changes"));
}

/// MOVE-2
#[test]
fn two_records_never_end_at_one_address() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let chained = moved(program([thing("c", 1)]), &[("w_thing.a", "w_thing.b"), ("w_thing.b", "w_thing.c")]);
    assert!(bench.refused(&chained).contains("would both move to w_thing.c"));
    let mixed = moved(program([thing("a", 1), thing("b", 1)]), &[("w_thing.a", "module.m")]);
    assert!(bench.refused(&mixed).contains("one is a resource, the other a module"));
}

/// A `count` that comes or goes does not touch the object.
#[test]
fn a_resource_that_gets_a_count_is_the_first_of_many() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let counted = program([resource("w_thing.a[0]", []), resource("w_thing.a[1]", [])]);
    insta::assert_snapshot!(bench.plan(&counted), @r"
    > w_thing.a -> w_thing.a[0]
    • w_thing.a[0] (moved)
    + w_thing.a[1] (new)
    Plan: 1 to create, 1 to move
    ");
    bench.deployed(&counted);
    insta::assert_snapshot!(bench.plan(&program([thing("a", 1)])), @r"
    > w_thing.a[0] -> w_thing.a
    • w_thing.a (moved)
    - w_thing.a[1] (undeclared)
    Plan: 1 to delete, 1 to move
    ");
}

/// PLAN-20
#[test]
fn a_type_may_take_over_the_state_of_another() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 3), thing_from("b", "a")]));
    let before = bench.world.cloud().things.clone();
    let user = resource("w_thing.b", [("from", output("w_token.a", "url"))]);
    let taken = program([resource("w_token.a", [("size", lit(3))]), user]);
    let taken = moved(taken, &[("w_thing.a", "w_token.a")]);
    insta::assert_snapshot!(bench.plan(&taken), @r"
    > w_thing.a -> w_token.a
    • w_thing.b
    • w_token.a (moved)
    Plan: 1 to move
    ");
    bench.deployed(&taken);
    assert_eq!(bench.world.cloud().things, before);
    assert!(bench.plan(&taken).ends_with("No changes"));
    // Not the other way: `w_thing` takes nothing over.
    let back = moved(program([thing("a", 3), thing_from("b", "a")]), &[("w_token.a", "w_thing.a")]);
    assert!(bench.refused(&back).contains("they are of different types"));
}

/// MOVE-1, DELETE-1: cut off anywhere, records depend on addresses that records have.
#[test]
fn a_move_cut_off_anywhere_keeps_the_order_of_deletes() {
    // What depends on it comes before and after it in the order of addresses.
    let all = |name: &str| program([thing(name, 1), thing_from("b", name), thing_from("y", name)]);
    for waits in 0.. {
        let bench = Bench::new();
        bench.deployed(&all("k"));
        let after = moved(all("m"), &[("w_thing.k", "w_thing.m")]);
        let finished = bench.deploy_cut_off(&after, waits);
        bench.world.calls();
        assert!(bench.destroy().succeeded());
        let mut calls = bench.world.calls();
        calls.retain(|call| call.starts_with("delete "));
        let last = calls.last().map(String::as_str);
        assert!(matches!(last, Some("delete k" | "delete m")), "cut off after {waits} waits: {calls:?}");
        if finished {
            break;
        }
    }
}

/// ADOPT-4: without the state nobody knows which of the two it is, and it must not become both.
#[test]
fn an_object_that_two_resources_find_is_given_to_neither() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let mut lost = Bench::new();
    lost.world = bench.world.clone();
    let both = moved(program([thing("a", 1), thing("z", 1)]), &[("w_thing.a", "w_thing.z")]);
    let told = lost.refused(&both);
    assert!(told.contains("w_thing.a and w_thing.z find the same object"), "{told}");
    assert!(told.contains("trueup import"), "{told}");
    assert_eq!(lost.world.cloud().things.len(), 1);
}
