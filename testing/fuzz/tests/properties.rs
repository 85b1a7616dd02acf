//! The properties of the fuzz targets, for a few seconds: on random bytes, and on seeds that were damaged as a fuzzer
//! damages them.

#![allow(clippy::disallowed_methods, reason = "real time must not be wasted")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use trueup_fuzz::{TARGETS, Target};

/// Nothing so short may take longer, on any machine.
const TIME_MAX: Duration = Duration::from_secs(20);

/// One change to a text.
#[derive(Clone, Debug)]
enum Damage {
    Remove {
        at: usize,
        length: usize,
    },
    Insert {
        at: usize,
        bytes: Vec<u8>,
    },
    Repeat {
        at: usize,
        length: usize,
        times: usize,
    },
    Flip {
        at: usize,
        bit: u8,
    },
    /// A part of another seed.
    Splice {
        at: usize,
        from: usize,
        length: usize,
        seed: usize,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0..4_000_usize;
    let words = prop::sample::select(vec![
        "\"",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "${",
        "%{",
        "\\",
        "\n",
        "null",
        "1e999999",
        "-",
        ".",
        "*",
        "\u{feff}",
        "é",
        "<<E\n",
        "#",
        "/*",
        ":",
        ",",
        "=",
        "$secret",
        "$unknown",
        "99999999999999999999",
        "...",
        "?",
    ]);
    let bytes = prop_oneof![
        words.prop_map(|word| word.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, length)| Damage::Remove { at, length }),
        (at.clone(), bytes).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        (at.clone(), 1..60_usize, 2..50_usize).prop_map(|(at, length, times)| Damage::Repeat {
            at,
            length,
            times
        }),
        (at.clone(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (at.clone(), at, 1..200_usize, 0..10_usize).prop_map(|(at, from, length, seed)| Damage::Splice {
            at,
            from,
            length,
            seed
        }),
    ]
}

fn damaged(target: &Target, seed: usize, damages: &[Damage]) -> Vec<u8> {
    let seed_bytes = |seed: usize| target.seeds[seed % target.seeds.len()].as_bytes();
    let part = |bytes: &[u8], at: usize, length: usize| {
        let start = at % (bytes.len() + 1);
        bytes[start..(start + length).min(bytes.len())].to_vec()
    };
    let mut bytes = seed_bytes(seed).to_vec();
    for damage in damages {
        let place = |at: usize| at % (bytes.len() + 1);
        match damage {
            Damage::Remove { at, length } => {
                let at = place(*at);
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Damage::Insert { at, bytes: inserted } => {
                let at = place(*at);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Damage::Repeat { at, length, times } => {
                let (at, repeated) = (place(*at), part(&bytes, *at, *length).repeat(*times));
                bytes.splice(at..at, repeated);
            }
            Damage::Flip { at, bit } => {
                let at = place(*at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
            }
            Damage::Splice { at, from, length, seed } => {
                let at = place(*at);
                bytes.splice(at..at, part(seed_bytes(*seed), *from, *length));
            }
        }
    }
    bytes
}

/// Panics within count as failures, and are shrunk. The ordinary run has a fifth of the cases, a soak four times as many.
fn run(target: &Target, cases: u32) {
    let cases = trueup_test_servers::sized(cases / 5, cases * 4);
    let check = |bytes: &[u8]| {
        let began = Instant::now();
        (target.check)(bytes);
        assert!(began.elapsed() < TIME_MAX, "{} took {:?}", String::from_utf8_lossy(bytes), began.elapsed());
    };
    for seed in target.seeds {
        check(seed.as_bytes());
    }
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    runner
        .run(&bytes, |bytes| {
            check(&bytes);
            Ok(())
        })
        .expect(target.name);
    let damages = (any::<usize>(), prop::collection::vec(damage(), 1..6));
    let on_seed = |(seed, damages): (usize, Vec<Damage>)| {
        check(&damaged(target, seed, &damages));
        Ok(())
    };
    runner.run(&damages, on_seed).expect(target.name);
}

fn target(name: &str) -> &'static Target {
    static ALL: [Target; TARGETS.len()] = TARGETS;
    ALL.iter().find(|target| target.name == name).expect("a target of this name")
}

#[test]
fn fuzzed_addresses() {
    run(target("addresses"), 10_000);
}

#[test]
fn fuzzed_expressions() {
    run(target("expressions"), 4_000);
}

#[test]
fn fuzzed_journal() {
    run(target("journal"), 2_000);
}

#[test]
fn fuzzed_lock_files() {
    run(target("lock_files"), 5_000);
}

#[test]
fn fuzzed_plans() {
    run(target("plans"), 2_000);
}

/// SERVE-8.
#[test]
fn fuzzed_plugin() {
    run(target("plugin"), 10_000);
}

#[test]
fn fuzzed_stacks() {
    run(target("stacks"), 500);
}

#[test]
fn fuzzed_state_files() {
    run(target("state_files"), 5_000);
}

#[test]
fn fuzzed_values() {
    run(target("values"), 10_000);
}

/// Each target that is listed has its file for the fuzzer, and a test above.
#[test]
fn every_target_is_fuzzed_and_tested() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/libfuzzer");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).expect("the fuzzer's manifest");
    for target in TARGETS {
        let path = format!("{root}/targets/{}.rs", target.name);
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(source.contains(&format!("\"{}\"", target.name)), "{path} should check its target");
        assert!(
            manifest.contains(&format!("name = \"{}\"", target.name)),
            "the manifest should list {}",
            target.name
        );
        assert!(include_str!("properties.rs").contains(&format!("run(target(\"{}\")", target.name)));
    }
}
