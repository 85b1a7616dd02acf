//! `std_http` when an API refuses a request that had its effect: the number of objects is the judge.

use trueup_core::{Value, value};

use crate::bench::{Bench, program, resource};
use crate::http::{thing, without};
use crate::server::{Fault, Server};

/// Statuses that leave open whether a request had an effect.
const UNKNOWN: [u16; 9] = [302, 408, 431, 499, 500, 502, 503, 504, 599];

/// Statuses that prove that it had none.
const FAILED: [u16; 6] = [400, 402, 404, 407, 422, 428];

fn by_token(server: &Server) -> Value {
    let inputs = without(&thing(server, 1), &["lookup"]).with_entry("recover", value!("token"));
    inputs.with_entry("headers", value!({ "Idempotency-Key": "{token}" }))
}

fn blind(server: &Server) -> Value {
    without(&thing(server, 1), &["lookup"])
}

fn posts(server: &Server) -> usize {
    server.requests().iter().filter(|it| it.starts_with("POST")).count()
}

/// Deploys until it succeeds, and expects that to be the first or second time.
fn deploy_twice_at_most(bench: &Bench, inputs: &Value) {
    let program = program([resource("std_http.a", inputs.clone())]);
    if !bench.deploy(&program).succeeded() {
        bench.deployed(&program);
    }
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// CRASH-1, RETRY-7: whoever can look, looks before another one is made.
#[test]
fn an_error_after_the_effect_makes_no_second_object_if_it_can_be_looked_up() {
    for fault in UNKNOWN.map(|status| Fault::Refused(status, "")).into_iter().chain(after_any_effect()) {
        let (bench, server) = (Bench::new(), Server::start());
        server.fault("POST", fault.clone());
        deploy_twice_at_most(&bench, &thing(&server, 1));
        assert_eq!((server.sizes().len(), posts(&server)), (1, 1), "{fault:?}");
        bench.destroyed();
        assert!(server.sizes().is_empty(), "{fault:?}");
    }
}

/// CRASH-1: with a token, repeating is the same create.
#[test]
fn an_error_after_the_effect_is_repeated_with_the_token() {
    for fault in UNKNOWN.map(|status| Fault::Refused(status, "")).into_iter().chain(after_any_effect()) {
        let (bench, server) = (Bench::new(), Server::start());
        server.fault("POST", fault.clone());
        deploy_twice_at_most(&bench, &by_token(&server));
        assert_eq!((server.sizes().len(), posts(&server)), (1, 2), "{fault:?}");
    }
}

/// What ends a request after its effect besides an unknown status: too many requests, and no answer at all.
fn after_any_effect() -> [Fault; 3] {
    [Fault::Refused(429, ""), Fault::Refused(429, "Retry-After: 0\r\n"), Fault::LostAnswer]
}

/// CRASH-1: a blind resource stops and asks.
#[test]
fn an_error_after_the_effect_leaves_a_blind_resource_to_a_person() {
    for fault in UNKNOWN.map(|status| Fault::Refused(status, "")).into_iter().chain([Fault::LostAnswer]) {
        let (bench, server) = (Bench::new(), Server::start());
        let program = program([resource("std_http.a", blind(&server))]);
        server.fault("POST", fault.clone());
        let failed = bench.failed(&program);
        assert!(failed.contains("indeterminate: POST"), "{fault:?}: {failed}");
        assert!(bench.refused(&program).contains("the outcome of an earlier create is unknown"), "{fault:?}");
        assert_eq!((server.sizes().len(), posts(&server)), (1, 1), "{fault:?}");
    }
}

/// RETRY-3: what is proof that nothing happened leaves nothing behind.
#[test]
fn a_refusal_without_effect_can_be_deployed_again() {
    for status in FAILED {
        for inputs in [thing, |server: &Server, _| by_token(server), |server: &Server, _| blind(server)] {
            let (bench, server) = (Bench::new(), Server::start());
            let program = program([resource("std_http.a", inputs(&server, 1))]);
            server.fault("POST", Fault::Status(status, ""));
            assert!(bench.failed(&program).contains(&format!("was answered with {status}")));
            assert!(bench.records().is_empty(), "{status}");
            bench.deployed(&program);
            assert_eq!(server.sizes(), ["1"], "{status}");
        }
    }
}

/// RETRY-1: what an API means by a status is the program's word.
#[test]
fn outcomes_are_declared_per_resource() {
    let with = |inputs: Value, code: &str, outcome: &str| {
        inputs.with_entry("outcomes", Value::object([(code, Value::from(outcome))]))
    };
    let (bench, server) = (Bench::new(), Server::start());
    let of = |inputs: Value| program([resource("std_http.a", inputs)]);
    // Blind, and yet repeated: nothing happened.
    server.fault("POST", Fault::Status(503, ""));
    bench.deployed(&of(with(blind(&server), "503", "retry")));
    assert_eq!((server.sizes().len(), posts(&server)), (1, 2));
    bench.destroyed();
    server.fault("POST", Fault::Status(502, ""));
    bench.deployed(&of(blind(&server).with_entry("retry_statuses", value!([502]))));
    bench.destroyed();
    // Nothing happened, and repeating does not help.
    server.fault("POST", Fault::Status(500, ""));
    let refused = of(with(blind(&server), "500", "failed"));
    assert!(bench.failed(&refused).contains("invalid: POST"));
    bench.deployed(&refused);
    bench.destroyed();
    // It may have happened, whatever others mean by it.
    server.fault("POST", Fault::Refused(422, ""));
    let unknown = of(with(thing(&server, 1), "422", "unknown"));
    assert!(bench.failed(&unknown).contains("indeterminate: POST"));
    bench.deployed(&unknown);
    assert_eq!(server.sizes(), ["1"]);
    for (code, outcome, told) in
        [("5xx", "retry", "`5xx` is not a number from 100 to 999"), ("503", "again", "outcomes")]
    {
        let refused = bench.refused(&of(with(thing(&server, 1), code, outcome)));
        assert!(refused.contains(told), "{refused}");
    }
}

/// A change of outcomes is only noted.
#[test]
fn declaring_outcomes_changes_no_object() {
    let (bench, server) = (Bench::new(), Server::start());
    bench.deployed(&program([resource("std_http.a", thing(&server, 1))]));
    server.requests();
    let noted = thing(&server, 1).with_entry("outcomes", value!({ "503": "retry" }));
    bench.deployed(&program([resource("std_http.a", noted)]));
    assert!(server.requests().iter().all(|it| it.starts_with("GET")));
}
