//! Random values: drawn once, kept, replaced by their keepers, told nowhere if they are secret.

use trueup_conformance::Kit;
use trueup_core::{Value, value};

use crate::bench::{Bench, program, referring, resource, std_in};

/// A type of random values, its inputs and others that replace it.
const TYPES: [(&str, &str); 6] = [
    ("std_random_string", "{ length = 12 }"),
    ("std_random_password", "{ length = 12 }"),
    ("std_random_id", "{ byte_length = 4 }"),
    ("std_random_uuid", "{}"),
    ("std_random_integer", "{ max = 9999999, min = 1 }"),
    ("std_random_pet", "{ length = 5 }"),
];

fn inputs(of: &str) -> Value {
    match of {
        "std_random_string" | "std_random_password" => value!({ length: 12 }),
        "std_random_id" => value!({ byte_length: 4 }),
        "std_random_integer" => value!({ min: 1, max: 9_999_999 }),
        "std_random_pet" => value!({ length: 5 }),
        _ => value!({}),
    }
}

/// CRASH-1, CRUD-14
#[test]
fn random_values_keep_the_contract() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (of, shown) in TYPES {
        assert_eq!(inputs(of).to_string(), shown);
        let report = runtime.block_on(async {
            let kit = Kit::new(std_in("/"), of, inputs(of)).await.unwrap();
            let replaced = inputs(of).with_entry("keepers", value!({ version: 2 }));
            kit.replaced(replaced).kept_in_state().run().await
        });
        assert!(report.passed(), "{of}: {report}");
    }
}

/// PLAN-2, PLAN-4, UNKNOWN-7
#[test]
fn a_random_value_stays_until_its_keepers_change() {
    let bench = Bench::new();
    let of = |version: u64| {
        let resources = TYPES.map(|(of, _)| {
            let keepers = value!({ version: version });
            resource(&format!("{of}.{of}"), inputs(of).with_entry("keepers", keepers))
        });
        program(resources)
    };
    bench.deployed(&of(1));
    let seen = |bench: &Bench| TYPES.map(|(of, _)| bench.outputs(of));
    let first = seen(&bench);
    assert!(bench.plan(&of(1)).ends_with("No changes"));
    bench.deployed(&of(1));
    assert_eq!(seen(&bench), first);
    assert!(bench.plan(&of(2)).contains("Plan: 6 to replace"));
    bench.deployed(&of(2));
    let second = seen(&bench);
    assert!(first.iter().zip(&second).all(|(first, second)| !first.same(second)), "{first:?} {second:?}");
    bench.destroyed();
}

/// SECRET-1, SECRET-5: the password reaches the file that it is for, and nothing else.
#[test]
fn a_password_is_told_to_nobody() {
    let bench = Bench::new();
    let password = resource("std_random_password.p", value!({ length: 20, special: false }));
    let file = referring("std_file.a", &value!({ path: "a" }), "content", "std_random_password.p", "result");
    let program = program([password, file]);
    bench.plan(&program);
    bench.deployed(&program);
    bench.plan(&program);
    let drawn = bench.content("a");
    assert_eq!(drawn.len(), 20);
    bench.destroyed();
    assert!(!bench.told().contains(&drawn));
}

/// CRUD-7, CRUD-11
#[test]
fn impossible_draws_are_refused() {
    let bench = Bench::new();
    let failed = |of: &str, inputs: Value| bench.failed(&program([resource(of, inputs)]));
    assert!(failed("std_random_string.a", value!({ length: 2, min_lower: 3 })).contains("too few"));
    assert!(failed("std_random_integer.a", value!({ min: 2, max: 1 })).contains("no number from 2 to 1"));
    let refused = bench.refused(&program([resource("std_random_id.a", value!({ byte_length: 0 }))]));
    assert!(refused.contains("byte_length"), "{refused}");
}
