//! Objects that come into sight late, behind an API and behind commands: the number of objects is the judge.

use trueup_core::{Value, value};

use crate::bench::{Bench, program, resource};
use crate::exec::sh;
use crate::http::{thing, without};
use crate::server::{Fault, Server};

/// Longer than a test takes from a write to the next look, and shared out among a few looks.
const WINDOW: u64 = 5;

fn late(server: &Server) -> Value {
    thing(server, 1).with_entry("consistency_window", value!(WINDOW))
}

/// The next looks find nothing.
fn hide(server: &Server, looks: usize) {
    (0..looks).for_each(|_| server.fault("GET", Fault::Status(404, "")));
}

/// DRIFT-10: a replica that does not know of a new object yet does not make it gone.
#[test]
fn an_object_that_a_replica_does_not_show_yet_is_not_made_again() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", late(&server))]);
    bench.deployed(&program);
    hide(&server, 2);
    bench.deployed(&program);
    assert_eq!(server.sizes(), ["1"]);
    // Nor after an update.
    let changed = thing(&server, 2).with_entry("consistency_window", value!(WINDOW));
    let changed = crate::bench::program([resource("std_http.a", changed)]);
    bench.deployed(&changed);
    hide(&server, 1);
    assert!(bench.plan(&changed).ends_with("No changes"));
}

/// CRASH-1: the answer is lost, and the lookup is late.
#[test]
fn a_lost_create_that_a_lookup_shows_late_is_not_made_again() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", late(&server))]);
    server.fault("POST", Fault::LostAnswer);
    bench.failed(&program);
    hide(&server, 2);
    bench.deployed(&program);
    assert_eq!(server.sizes(), ["1"]);
}

/// RETRY-7: a create that failed after its effect, and the lookup is late.
#[test]
fn a_refused_create_that_a_lookup_shows_late_is_not_repeated() {
    let (bench, server) = (Bench::new(), Server::start());
    // The first look is the plan's.
    server.fault("GET", Fault::Status(404, ""));
    server.fault("POST", Fault::Refused(503, ""));
    hide(&server, 2);
    bench.deployed(&program([resource("std_http.a", late(&server))]));
    assert_eq!(server.sizes(), ["1"]);
}

/// CRASH-1: the same with commands.
#[test]
fn a_lost_create_that_a_command_shows_late_is_not_made_again() {
    let bench = Bench::new();
    // It shows the object at the third look.
    let lookup =
        "cat > /dev/null; echo >> looks; [ $(wc -l < looks) -lt 3 ] || { test ! -e objects || echo '{}'; }";
    let create = "cat > /dev/null; echo >> objects; rm looks; [ -e second ] || { touch second; kill -9 $$; }; echo '{}'";
    let inputs =
        value!({ create: (sh(create)), lookup: (sh(lookup)), update: ["true"], consistency_window: WINDOW });
    let program = program([resource("std_exec.a", inputs)]);
    bench.failed(&program);
    bench.deployed(&program);
    assert_eq!(bench.content("objects").lines().count(), 1);
}

/// DRIFT-10: a window of zero believes at once, and how long it is says nothing of the object.
#[test]
fn a_window_is_set_per_resource_and_changes_no_object() {
    let (bench, server) = (Bench::new(), Server::start());
    let of = |inputs: Value| program([resource("std_http.a", inputs)]);
    bench.deployed(&of(thing(&server, 1)));
    hide(&server, 1);
    let plan = bench.try_plan(&of(thing(&server, 1))).unwrap();
    assert_eq!(plan.action("std_http.a").unwrap().decision(), "drift-recreate");
    server.requests();
    bench.deployed(&of(late(&server)));
    bench.deployed(&of(without(&late(&server), &["consistency_window"])));
    assert!(server.requests().iter().all(|it| it.starts_with("GET")));
    let negative = thing(&server, 1).with_entry("consistency_window", value!(-1));
    assert!(bench.refused(&of(negative)).contains("consistency_window"));
}

/// DELETE-12: a `delete` command that succeeds has removed the object, also where `read` always prints something. Such a
/// destroy used to wait for ten seconds and then fail.
#[test]
fn a_read_that_always_prints_something_holds_no_delete_up() {
    let bench = Bench::new();
    let read = sh("echo >> reads; echo '{}'");
    let inputs = value!({ create: (sh("echo '{}'")), read: (read), delete: ["true"] });
    bench.deployed(&program([resource("std_exec.a", inputs.clone())]));
    let reads = || bench.content("reads").lines().count();
    let before = reads();
    bench.destroyed();
    assert_eq!(reads(), before);
    // What a later run could find is watched for as long as the window lasts, and then counts as deleted all the same.
    let found = inputs.with_entry("lookup", value!(["true"])).with_entry("consistency_window", value!(1));
    bench.deployed(&program([resource("std_exec.a", found)]));
    let before = reads();
    bench.destroyed();
    assert!(reads() > before);
    assert!(bench.told().contains("the object is still there"), "{}", bench.told());
}
