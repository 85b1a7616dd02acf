//! `std_http` when an API is slow, busy, broken or says no.

use trueup_core::{Value, value};

use crate::bench::{Bench, program, resource, secret};
use crate::http::{thing, without};
use crate::server::{Fault, Server};

/// RETRY-1, RETRY-7: the server did nothing, so the request is sent again.
#[test]
fn a_busy_server_is_asked_again() {
    let (bench, server) = (Bench::new(), Server::start());
    server.fault("POST", Fault::Status(503, ""));
    server.fault("POST", Fault::Status(429, "Retry-After: 0\r\n"));
    bench.deployed(&program([resource("std_http.a", thing(&server, 1))]));
    assert_eq!(server.sizes(), ["1"]);
    let posts = server.requests().iter().filter(|it| it.starts_with("POST")).count();
    assert_eq!(posts, 3);
    assert!(bench.told().contains("Throttled { delay: Some(0ns) }"));
}

/// DRIFT-5, INV-15: only 404 and 410 are gone.
#[test]
fn only_not_found_is_gone() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", thing(&server, 1))]);
    bench.deployed(&program);
    server.fault("GET", Fault::Status(401, ""));
    assert!(bench.refused(&program).contains("was answered with 401"));
    for _ in 0..3 {
        server.fault("GET", Fault::Status(500, ""));
    }
    assert!(bench.refused(&program).contains("was answered with 500"));
    server.fault("GET", Fault::LostAnswer);
    assert!(bench.plan(&program).ends_with("No changes"));
    server.fault("GET", Fault::Status(410, ""));
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.action("std_http.a").unwrap().decision(), "drift-recreate");
    server.fault("DELETE", Fault::Status(404, ""));
    bench.destroyed();
}

/// RETRY-3: what can never succeed fails at once, with the API's words.
#[test]
fn a_refusal_is_shown_with_the_words_of_the_api() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = program([resource("std_http.a", without(&thing(&server, 1), &["lookup"]))]);
    for (status, class) in [(400, "invalid"), (403, "denied"), (409, "conflict"), (422, "invalid")] {
        server.fault("POST", Fault::Status(status, ""));
        let failed = bench.failed(&program);
        assert!(failed.contains(&format!("{class}: POST ")), "{failed}");
        assert!(failed.contains(&format!("was answered with {status}: fault")), "{failed}");
    }
    assert!(server.sizes().is_empty());
}

/// RETRY-4: the object is made once and looked at until it is ready.
#[test]
fn an_object_is_waited_for_until_it_is_ready() {
    let (bench, server) = (Bench::new(), Server::start());
    server.api().reads_until_ready = 4;
    let wait = value!({ pointer: "/status", values: ["ready"], failed: ["broken"], interval: 1 });
    let waiting = thing(&server, 1).with_entry("wait", wait);
    let waiting = waiting.with_entry("wait", waiting.get("wait").unwrap().with_entry("interval", quick()));
    let program = program([resource("std_http.a", waiting)]);
    bench.deployed(&program);
    assert_eq!(bench.outputs("a").get("response").unwrap().get("status"), Some(&value!("ready")));
    assert_eq!(server.sizes(), ["1"]);
    assert!(bench.told().contains("it is not ready: `/status` is \\\"starting\\\""));
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// RETRY-4: an API may show an object only a while after it has made it.
#[test]
fn an_object_that_cannot_be_seen_yet_is_waited_for() {
    let (bench, server) = (Bench::new(), Server::start());
    server.api().reads_until_ready = 1;
    let wait = value!({ pointer: "/status", values: ["ready"], interval: (quick()) });
    let waiting = without(&thing(&server, 1), &["lookup"]).with_entry("wait", wait);
    server.fault("GET", Fault::Status(404, ""));
    bench.deployed(&program([resource("std_http.a", waiting)]));
    assert_eq!(server.requests().iter().filter(|it| it.starts_with("POST")).count(), 1);
}

/// The shortest interval there is.
fn quick() -> Value {
    Value::number("0.001".parse().unwrap())
}

/// CRASH-2: an object that will never be ready is kept in the record, so that it can be removed.
#[test]
fn an_object_that_will_never_be_ready_is_a_failure() {
    let (bench, server) = (Bench::new(), Server::start());
    server.api().reads_until_ready = 2;
    server.api().ends_as = "broken";
    let wait = value!({ pointer: "/status", values: ["ready"], failed: ["broken"], interval: (quick()) });
    let failed =
        bench.failed(&program([resource("std_http.a", thing(&server, 1).with_entry("wait", wait.clone()))]));
    assert!(failed.contains("it will never be ready: `/status` is \"broken\""), "{failed}");
    bench.destroyed();
    assert!(server.sizes().is_empty());
    let blind = without(&thing(&server, 1), &["read"]).with_entry("wait", wait);
    assert!(bench.refused(&program([resource("std_http.a", blind)])).contains("there is no `read`"));
}

/// RETRY-4, CRASH-7: a run that is killed while it waits goes on waiting in the next one.
#[test]
fn waiting_goes_on_after_a_kill() {
    let (bench, server) = (Bench::new(), Server::start());
    server.api().reads_until_ready = 3;
    let wait = value!({ pointer: "/status", values: ["ready"], interval: 3600 });
    let program =
        |wait: &Value| program([resource("std_http.a", thing(&server, 1).with_entry("wait", wait.clone()))]);
    let waits = || bench_waits(&server);
    assert!(bench.deploy_cut_off_once(&program(&wait), waits));
    bench.deployed(&program(&wait.with_entry("interval", quick())));
    assert_eq!(server.sizes(), ["1"]);
    assert_eq!(server.requests().iter().filter(|it| it.starts_with("POST")).count(), 1);
}

/// Whether the object was made and looked at.
fn bench_waits(server: &Server) -> bool {
    server.api().requests.iter().any(|it| it.starts_with("GET /things/1"))
}

/// RETRY-1: what may be repeated is repeated, whether or not it went through.
#[test]
fn an_update_or_delete_whose_answer_is_lost_is_sent_again() {
    let (bench, server) = (Bench::new(), Server::start());
    bench.deployed(&program([resource("std_http.a", thing(&server, 1))]));
    server.fault("PUT", Fault::LostAnswer);
    bench.deployed(&program([resource("std_http.a", thing(&server, 2))]));
    assert_eq!(server.sizes(), ["2"]);
    server.fault("DELETE", Fault::LostAnswer);
    bench.destroyed();
    assert!(server.sizes().is_empty());
}

/// APPLY-13
#[test]
fn an_answer_that_does_not_come_is_indeterminate() {
    let (bench, server) = (Bench::new(), Server::start());
    let slow = thing(&server, 1).with_entry("timeout", value!(1));
    server.fault("POST", Fault::Silence);
    let failed = bench.failed(&program([resource("std_http.a", slow.clone())]));
    assert!(failed.contains("indeterminate") && failed.contains("no answer within 1 s"), "{failed}");
    bench.deployed(&program([resource("std_http.a", slow)]));
    assert_eq!(server.sizes(), ["1"]);
}

#[test]
fn an_endless_answer_is_cut_off() {
    let (bench, server) = (Bench::new(), Server::start());
    server.fault("POST", Fault::Flood(5 * 1024 * 1024));
    let failed = bench.failed(&program([resource("std_http.a", thing(&server, 1))]));
    assert!(failed.contains("the answer has more than 4 MiB"), "{failed}");
}

#[test]
fn what_cannot_be_sent_is_told_before_it_is() {
    let bench = Bench::new();
    let failed = |create: Value| bench.failed(&program([resource("std_http.a", value!({ create: create }))]));
    assert!(failed(value!({ url: "ftp://x" })).contains("not the URL of a web address"));
    assert!(failed(value!({ url: "http://x/{nam}" })).contains("there is no `{nam}`"));
    assert!(failed(value!({ url: "http://x/{id}" })).contains("`{id}` is not known here"));
    let header = value!({ url: "http://x", headers: { "a b": "c" } });
    assert!(failed(header).contains("the header `a b` cannot be sent"));
    // Nobody listens on this port, so nothing can have happened.
    assert!(
        failed(value!({ url: "http://127.0.0.1:1/" }))
            .contains("retryable: POST http://127.0.0.1:1/ cannot be sent")
    );
}

/// An API that does not say how it calls the object it made.
#[test]
fn an_answer_without_an_id_is_told() {
    let (bench, server) = (Bench::new(), Server::start());
    let inputs = without(&thing(&server, 1), &["lookup"]).with_entry("id", value!("/data/id"));
    let failed = bench.failed(&program([resource("std_http.a", inputs)]));
    assert!(failed.contains("the answer to `create` has no id at `/data/id`"), "{failed}");
}

/// SECRET-1, SECRET-5: neither in URLs, headers and bodies nor in what the API answers.
#[test]
fn secrets_stay_secret_whatever_the_api_says() {
    let (bench, server) = (Bench::new(), Server::start());
    let url = format!("{}/things/hunter2-in-path/{{name}}?key=hunter2-in-query", server.url);
    let create = value!({
        url: (Value::from(url.as_str()).into_secret()),
        body: { name: "x", size: 1, password: (secret("hunter2-in-body")) },
        headers: { Authorization: (secret("hunter2-in-header")) },
    });
    let inputs = thing(&server, 1).with_entry("create", create);
    let inputs = inputs.with_entry("secret_responses", value!(["/status"]));
    let program = program([resource("std_http.a", without(&inputs, &["lookup"]))]);
    server.fault("POST", Fault::Status(400, ""));
    let failed = bench.failed(&program);
    assert!(failed.contains("POST (secret) was answered with 400"), "{failed}");
    bench.deployed(&program);
    assert_eq!(server.api().things[&1]["password"], "hunter2-in-body");
    let response = bench.outputs("a").get("response").unwrap().clone();
    assert!(response.get("password").unwrap().is_secret() && response.get("status").unwrap().is_secret());
    bench.destroyed();
    assert!(!bench.told().contains("hunter2"));
}

/// A read that searches finds nothing: that is gone, too.
#[test]
fn nothing_at_the_pointer_of_a_read_is_gone() {
    let (bench, server) = (Bench::new(), Server::start());
    let by_name = format!("{}/things?name={{name}}", server.url);
    let read = value!({ url: (by_name.as_str()), pointer: "/items/0" });
    let program = program([resource("std_http.a", thing(&server, 1).with_entry("read", read))]);
    bench.deployed(&program);
    assert!(bench.plan(&program).ends_with("No changes"));
    server.api().things.clear();
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.action("std_http.a").unwrap().decision(), "drift-recreate");
}

/// UNKNOWN-2: what is only noted leaves nothing unknown for those who refer to it.
#[test]
fn a_change_that_is_only_noted_promises_the_same_outputs() {
    let (bench, server) = (Bench::new(), Server::start());
    bench.deployed(&program([resource("std_http.a", thing(&server, 1))]));
    server.requests();
    let noted = program([resource("std_http.a", thing(&server, 1).with_entry("timeout", value!(7)))]);
    let plan = bench.try_plan(&noted).unwrap();
    let action = plan.action("std_http.a").unwrap();
    assert_eq!((&*action.decision(), action.outputs.is_wholly_known()), ("update", true));
    bench.deployed(&noted);
    assert!(server.requests().iter().all(|it| it.starts_with("GET")));
}

/// The proxy is the one that was handed in, and is told to nobody if it makes no sense.
#[test]
fn proxies_come_from_what_was_handed_in() {
    use trueup_conformance::Driver;
    use trueup_provider_std::{Surroundings, std_provider};
    let (proxy, target) = (Server::start(), Server::start());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let created = |variable: (&str, &str)| {
        runtime.block_on(async {
            let surroundings = Surroundings::new("/").with_environment([variable]);
            let driver = Driver::new(std_provider(surroundings), "std_http", &value!({})).await.unwrap();
            let desired = driver.inputs(&without(&thing(&target, 1), &["read", "lookup"])).unwrap();
            driver.apply(&desired, None, None).await.map_err(|failed| failed.failure.to_string())
        })
    };
    assert!(created(("HTTP_PROXY", &proxy.url)).is_ok());
    assert_eq!((proxy.requests().len(), target.requests().len()), (1, 0));
    assert!(created(("https_proxy", &proxy.url)).is_ok());
    assert_eq!((proxy.requests().len(), target.requests().len()), (0, 1));
    let refused = created(("HTTP_PROXY", "http://user:hunter2@:x")).unwrap_err();
    assert!(
        refused.contains("`HTTP_PROXY` does not name a proxy") && !refused.contains("hunter2"),
        "{refused}"
    );
}
