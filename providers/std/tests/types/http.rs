//! `std_http`, through its life, against a small API on loopback.

use serde_json::json;
use trueup_conformance::{Kit, Outcome};
use trueup_core::{Value, value};

use crate::bench::{Bench, program, reading, resource, secret, std_in};
use crate::server::{Fault, Server};

/// A thing behind the API, found again by its name, and seen as soon as it is there.
pub(crate) fn thing(server: &Server, size: u64) -> Value {
    let (things, one, by_name) = (
        format!("{}/things", server.url),
        format!("{}/things/{{id}}", server.url),
        format!("{}/things?name={{name}}", server.url),
    );
    let [things, one, by_name] = [things.as_str(), one.as_str(), by_name.as_str()];
    value!({
        create: { url: things, body: { name: "{name}", size: size } },
        read: { url: one },
        update: { url: one, body: { size: size } },
        delete: { url: one },
        lookup: { url: by_name, pointer: "/items/0" },
        ignore: ["/reads_left"],
        headers: { "X-Stack": "{stack}/{stage}/{address}" },
        consistency_window: 0,
    })
}

pub(crate) fn without(inputs: &Value, names: &[&str]) -> Value {
    let entries = inputs.as_entries().unwrap().iter().filter(|(name, _)| !names.contains(&name.as_str()));
    Value::object(entries.map(|(name, it)| (name.clone(), it.clone())))
}

fn id_of(state: &trueup_provider::State) -> u64 {
    state.outputs.get("id").unwrap().as_str().unwrap().parse().unwrap()
}

/// CRUD-2, DRIFT-2, CRASH-1, CRASH-7, SECRET-5
#[test]
fn requests_keep_the_contract() {
    let server = Server::start();
    let (tampered, removed, counted) = (server.shared(), server.shared(), server.shared());
    let things = format!("{}/things", server.url);
    let report =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let with_secret = |inputs: Value| {
                let reserve = value!({ url: (things.as_str()), body: { name: "{name}", size: 0 } });
                let inputs = inputs.with_entry("precreate", reserve);
                inputs.with_entry("headers", value!({ Authorization: (secret("Bearer canary-1")) }))
            };
            let kit = Kit::new(std_in("/"), "std_http", with_secret(thing(&server, 1))).await.unwrap();
            kit.updated(with_secret(thing(&server, 2)))
            .replaced(with_secret(thing(&server, 1).with_entry("triggers", value!("other"))))
            .tampered_by(move |state| {
                let api = tampered.clone();
                async move { api.lock().unwrap().things.get_mut(&id_of(&state)).unwrap()["size"] = json!(99) }
            })
            .removed_by(move |state| {
                let api = removed.clone();
                async move { drop(api.lock().unwrap().things.remove(&id_of(&state))) }
            })
            .counted_by(move || {
                let api = counted.clone();
                async move { api.lock().unwrap().things.len() }
            })
            .secret("canary-1")
            .run()
            .await
        });
    report.assert_passed();
    let skipped = report.checks.iter().filter(|(_, it)| matches!(it, Outcome::Skipped(_)));
    assert_eq!(
        skipped.map(|(name, _)| *name).collect::<Vec<_>>(),
        [
            "a_foreign_object_is_found_as_unowned",
            "a_foreign_object_that_is_taken_over_can_be_deleted",
            "a_foreign_object_that_is_taken_over_is_ones_own",
            "an_object_is_imported_by_its_id",
        ]
    );
    assert!(server.api().headers.iter().any(|it| it.contains("Bearer canary-1")));
}

/// PLAN-1, PLAN-2, PLAN-3, DRIFT-2: from nothing to nothing.
#[test]
fn an_object_is_made_changed_repaired_and_deleted() {
    let (bench, server) = (Bench::new(), Server::start());
    let of = |size| program([resource("std_http.a", thing(&server, size))]);
    bench.deployed(&of(1));
    assert_eq!(server.sizes(), ["1"]);
    let outputs = bench.outputs("a");
    assert_eq!(outputs.get("id"), Some(&value!("1")));
    assert_eq!(outputs.get("response").unwrap().get("size"), Some(&value!(1)));
    assert!(server.api().headers.iter().any(|it| it.ends_with("stack/test/std_http.a")));
    assert!(bench.plan(&of(1)).ends_with("No changes"));
    server.requests();
    bench.deployed(&of(2));
    let asked: Vec<String> = server.requests().into_iter().filter(|it| !it.starts_with("GET")).collect();
    assert_eq!(asked, [r#"PUT /things/1 {"size":2}"#]);
    server.api().things.get_mut(&1).unwrap()["size"] = json!(9);
    let plan = bench.plan(&of(2));
    assert!(plan.contains("~ std_http.a (drift)") && plan.contains("observed.size: 2 <- 9"), "{plan}");
    bench.deployed(&of(2));
    assert_eq!(server.sizes(), ["2"]);
    server.api().things.clear();
    bench.deployed(&of(2));
    assert_eq!(server.sizes(), ["2"]);
    bench.destroyed();
    assert!(server.sizes().is_empty());
}

/// PLAN-4: without `update`, what is asked for replaces; how it authenticates never does.
#[test]
fn without_update_a_change_replaces() {
    let (bench, server) = (Bench::new(), Server::start());
    let of = |size| without(&thing(&server, size), &["update"]);
    bench.deployed(&program([resource("std_http.a", of(1))]));
    let rotated = of(1).with_entry("headers", value!({ Authorization: (secret("hunter2")) }));
    let rotated = program([resource("std_http.a", rotated)]);
    assert!(bench.plan(&rotated).contains("Plan: 1 to update"));
    bench.deployed(&rotated);
    assert!(bench.plan(&rotated).ends_with("No changes"));
    let changed = program([resource("std_http.a", of(2))]);
    assert!(bench.plan(&changed).contains("Plan: 1 to replace"));
    bench.deployed(&changed);
    assert_eq!(server.sizes(), ["2"]);
    assert_eq!(bench.outputs("a").get("id"), Some(&value!("2")));
    assert!(!bench.told().contains("hunter2"));
}

/// ADOPT-1
#[test]
fn an_object_is_found_again_after_lost_state() {
    let (mut bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", thing(&server, 1))]);
    bench.deployed(&program);
    bench.forget();
    bench.deployed(&program);
    assert_eq!(server.sizes(), ["1"]);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// CRASH-1, RETRY-1: the answer to a create is lost; the object is found and not made twice.
#[test]
fn a_create_whose_answer_is_lost_is_recovered_by_lookup() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", thing(&server, 1))]);
    server.fault("POST", Fault::LostAnswer);
    let failed = bench.failed(&program);
    assert!(failed.contains("indeterminate: POST") && failed.contains("was not answered"), "{failed}");
    assert_eq!(server.sizes(), ["1"]);
    bench.deployed(&program);
    assert_eq!(server.sizes(), ["1"]);
    bench.destroyed();
    assert!(server.sizes().is_empty());
}

/// CRASH-1: the same by repeating with the same token.
#[test]
fn a_create_whose_answer_is_lost_is_repeated_with_its_token() {
    let (bench, server) = (Bench::new(), Server::start());
    let by_token = without(&thing(&server, 1), &["lookup"]);
    let by_token = by_token.with_entry("recover", value!("token"));
    let by_token = by_token.with_entry("headers", value!({ "Idempotency-Key": "{token}" }));
    let program = program([resource("std_http.a", by_token)]);
    server.fault("POST", Fault::LostAnswer);
    bench.deployed(&program);
    assert_eq!(server.sizes(), ["1"]);
}

/// CRASH-1: and without either, a person has to say.
#[test]
fn a_create_whose_answer_is_lost_leaves_a_blind_resource_to_a_person() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", without(&thing(&server, 1), &["lookup"]))]);
    server.fault("POST", Fault::LostAnswer);
    bench.failed(&program);
    assert!(bench.refused(&program).contains("the outcome of an earlier create is unknown"));
    assert_eq!(server.sizes(), ["1"]);
}

/// Encrypted, with a certificate made by the provider itself; and not trusted unless it is said so.
#[test]
fn requests_are_encrypted_and_certificates_checked() {
    use crate::bench::referring;
    let bench = Bench::new();
    let key = resource("std_tls_key.k", value!({}));
    let inputs = value!({ ip_addresses: ["127.0.0.1"] });
    let cert = referring("std_tls_cert.c", &inputs, "private_key_pem", "std_tls_key.k", "private_key_pem");
    bench.deployed(&program([key.clone(), cert.clone()]));
    let text = |of: &str, name: &str| bench.outputs(of).get(name).unwrap().as_str().unwrap().to_owned();
    let (cert_pem, key_pem) = (text("c", "cert_pem"), text("k", "private_key_pem"));
    let server = Server::start_encrypted(&cert_pem, &key_pem);
    let untrusted = resource("std_http.a", without(&thing(&server, 1), &["lookup"]));
    let failed = bench.failed(&program([key.clone(), cert.clone(), untrusted]));
    assert!(failed.contains("cannot be sent") && failed.contains("certificate"), "{failed}");
    let trusted = thing(&server, 1).with_entry("ca_pem", value!(cert_pem.as_str()));
    bench.deployed(&program([key, cert, resource("std_http.a", trusted)]));
    assert_eq!(server.sizes(), ["1"]);
}

/// The data source.
#[test]
fn a_web_address_is_read() {
    let (bench, server) = (Bench::new(), Server::start());
    let url = format!("{}/things?name=x", server.url);
    let report = bench.deployed(&reading("data.std_http.a", value!({ url: (url.as_str()) })));
    let seen = report.outputs.unwrap().get("seen").unwrap().clone();
    assert_eq!(seen.get("status"), Some(&value!(200)));
    assert_eq!(seen.get("response").unwrap().to_string(), "{ items = [] }");
    server.fault("GET", Fault::Status(403, ""));
    let refused = bench.refused(&reading("data.std_http.a", value!({ url: (url.as_str()) })));
    assert!(refused.contains("was answered with 403: fault"), "{refused}");
    server.fault("GET", Fault::Status(404, ""));
    let accepted = value!({ url: (url.as_str()), statuses: [404] });
    let report = bench.deployed(&reading("data.std_http.a", accepted));
    assert!(report.outputs.unwrap().to_string().contains("404"));
}
