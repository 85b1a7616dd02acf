//! CRASH-1 to CRASH-6 as a full cross product: every leftover state × what became of the program × how the type is
//! recovered.

use trueup_core::{Failure, FailureClass};
use trueup_program::{Program, ResourceDeclaration};
use trueup_state::{Record, Status};

use crate::lifecycle::world::{Bench, lit, program, resource};

/// What the program says of the resource.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Declared {
    size: u64,
    colour: &'static str,
}

/// A leftover state: what was deployed before, what was being deployed, and how to know the state.
struct Row {
    name: &'static str,
    before: Option<Declared>,
    during: Option<Declared>,
    is_left: fn(&Record) -> bool,
    /// Whether the provider fails half-way rather than the run being cut off.
    half_made: bool,
}

/// What became of the program since.
type Change = fn(Option<Declared>) -> Option<Declared>;

const FIRST: Declared = Declared { size: 1, colour: "red" };

fn rows() -> Vec<Row> {
    vec![
        Row {
            name: "creating, nothing known",
            before: None,
            during: Some(FIRST),
            is_left: |record| {
                record.current.as_ref().is_some_and(|it| creating(&it.status) && it.object.is_none())
            },
            half_made: false,
        },
        Row {
            name: "creating, half made",
            before: None,
            during: Some(FIRST),
            is_left: |record| {
                record.current.as_ref().is_some_and(|it| creating(&it.status) && it.object.is_some())
            },
            half_made: true,
        },
        Row {
            name: "updating",
            before: Some(FIRST),
            during: Some(Declared { size: 2, ..FIRST }),
            is_left: |record| {
                record.current.as_ref().is_some_and(|it| matches!(it.status, Status::Updating(_)))
            },
            half_made: false,
        },
        Row {
            name: "replacing, new one unfinished",
            before: Some(FIRST),
            during: Some(Declared { colour: "blue", ..FIRST }),
            is_left: |record| {
                let unfinished =
                    record.current.as_ref().is_some_and(|it| creating(&it.status) && it.object.is_none());
                unfinished && !record.deposed.is_empty()
            },
            half_made: false,
        },
        Row {
            name: "replaced, old one not yet deleted",
            before: Some(FIRST),
            during: Some(Declared { colour: "blue", ..FIRST }),
            is_left: |record| {
                let ready = record.current.as_ref().is_some_and(|it| it.status == Status::Ready);
                ready && !record.deposed.is_empty()
            },
            half_made: false,
        },
        Row {
            name: "deleting",
            before: Some(FIRST),
            during: None,
            is_left: |record| record.current.as_ref().is_some_and(|it| it.status == Status::Deleting),
            half_made: false,
        },
    ]
}

fn creating(status: &Status) -> bool {
    matches!(status, Status::Creating(_))
}

fn declaration(kind: &str, declared: Declared) -> ResourceDeclaration {
    resource(&format!("{kind}.a"), [("size", lit(declared.size)), ("colour", lit(declared.colour))])
}

fn program_of(kind: &str, declared: Option<Declared>) -> Program {
    match declared {
        Some(declared) => program([declaration(kind, declared)]),
        None => program([]),
    }
}

/// A bench on which the leftover state stands.
fn left_behind(kind: &str, row: &Row) -> Bench {
    for waits in 0..1_000 {
        let bench = Bench::new();
        if let Some(before) = row.before {
            bench.deployed(&program_of(kind, Some(before)));
        }
        let during = program_of(kind, row.during);
        if row.half_made {
            bench.world.fail("created a", Failure::new(FailureClass::Denied, "half-way"));
            assert!(!bench.deploy(&during).succeeded());
        } else {
            bench.deploy_cut_off(&during, waits);
        }
        if bench.records().get("a").is_some_and(row.is_left) {
            return bench;
        }
    }
    panic!("{kind}: {} was never left behind", row.name);
}

/// CRASH-1, CRASH-2, CRASH-3, CRASH-4, CRASH-5, CRASH-6
#[test]
fn every_leftover_state_ends_where_the_program_wants_it() {
    let changes: [(&str, Change); 4] = [
        ("unchanged", |declared| declared),
        ("changed", |_| Some(Declared { size: 7, colour: "red" })),
        ("changed in a replace field", |_| Some(Declared { size: 1, colour: "green" })),
        ("removed", |_| None),
    ];
    for kind in ["w_thing", "w_token"] {
        for row in rows() {
            for (change, of) in changes {
                let bench = left_behind(kind, &row);
                let wanted = of(row.during);
                let program = program_of(kind, wanted);
                let case = format!("{kind}: {} × {change}", row.name);
                let report = bench.deploy(&program);
                assert!(report.succeeded(), "{case}: {:?}", report.outcomes);
                let cloud = bench.world.cloud();
                let left: Vec<_> =
                    cloud.things.values().map(|thing| (thing.size, thing.colour.clone())).collect();
                drop(cloud);
                let expected: Vec<_> = wanted.iter().map(|it| (it.size, it.colour.to_owned())).collect();
                assert_eq!(left, expected, "{case}");
                assert_eq!(bench.records().len(), expected.len(), "{case}");
                assert!(bench.plan(&program).ends_with("No changes"), "{case}");
            }
        }
    }
}

/// CRASH-1 for blind types: nothing is created twice, nothing forgotten, whatever became of the program.
#[test]
fn a_blind_leftover_stops_every_program_and_is_kept() {
    let row = rows().remove(0);
    for wanted in [Some(FIRST), Some(Declared { size: 7, ..FIRST }), None] {
        let bench = left_behind("w_blind", &row);
        let things = bench.world.things();
        let told = match bench.try_deploy(&program_of("w_blind", wanted)) {
            Ok(report) => format!("{:?}", report.outcomes),
            Err(error) => error.to_string(),
        };
        assert!(told.contains("the outcome of an earlier create is unknown"), "{told}");
        assert_eq!(bench.world.things(), things);
        assert!(bench.records().contains_key("a"));
    }
}
