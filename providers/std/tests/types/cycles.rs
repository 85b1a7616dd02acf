//! Cycles through bindings, opened by stubs of commands and requests: the number of objects is the judge.

use std::cell::Cell;

use trueup_core::{Value, value};
use trueup_program::{BindingDeclaration, Expression, Node, Program, ResourceDeclaration};

use crate::bench::{Bench, address, program, reference, resource, secret};
use crate::exec::sh;
use crate::http::without;
use crate::server::{Fault, Server};

/// More points than any of these runs waits at.
const WAITS_MAX: usize = 20_000;

/// A resource whose inputs are these, one of them an expression.
fn with(of: &str, inputs: &Value, name: &str, expression: Expression) -> ResourceDeclaration {
    let entries = inputs.as_entries().unwrap().iter();
    let entries = entries.map(|(name, value)| (name.clone(), Expression::from(value.clone())));
    let entries = entries.chain([(name.into(), expression)]).collect();
    ResourceDeclaration::new(address(of), Expression::new(Node::Object(entries)))
}

fn object(entries: &[(&str, Expression)]) -> Expression {
    let entries = entries.iter().map(|(name, value)| ((*name).into(), value.clone()));
    Expression::new(Node::Object(entries.collect()))
}

/// Two resources, the first of which is told by a binding of what the second gives.
fn cycle(mut left: ResourceDeclaration, right: ResourceDeclaration, payload: Expression) -> Program {
    left.bindings.push(BindingDeclaration { key: "right".into(), payload });
    program([left, right])
}

// Commands.

/// Writes what it is told into a file, and adds an object to the list, each time one more.
const RECORD: &str = r#"
    cat > "$TRUEUP_NAME.told"
    echo $TRUEUP_NAME >> objects
"#;
const ANSWER: &str = r#"echo "{\"id\": \"$TRUEUP_NAME\"}""#;
const CHANGE: &str = r#"cat > "$TRUEUP_NAME.told""#;
const FIND: &str = r#"
    cat > /dev/null
    if grep -qx $TRUEUP_NAME objects 2> /dev/null; then echo "{\"id\": \"$TRUEUP_NAME\"}"; fi"#;
const REMOVE: &str = r#"
    cat > /dev/null
    grep -vx $TRUEUP_NAME objects > kept || true
    mv kept objects
    rm -f "$TRUEUP_NAME.told""#;

/// Makes an object and tells its id.
fn make() -> String {
    format!("{RECORD}{ANSWER}")
}

fn commands() -> Value {
    value!({
        create: (sh(&make())),
        update: (sh(CHANGE)),
        delete: (sh(REMOVE)),
        lookup: (sh(FIND)),
        consistency_window: 0,
    })
}

/// `left` with these inputs and a stub, and `right`, which is given its id and bound to it.
fn exec_cycle(left: &Value) -> Program {
    let peer = object(&[("peer", reference("std_exec.left", "result.id"))]);
    let right = with("std_exec.right", &commands(), "input", peer);
    cycle(resource("std_exec.left", left.clone()), right, reference("std_exec.right", "result.id"))
}

fn stubbed(precreate: &str) -> Value {
    commands().with_entry("precreate", sh(precreate))
}

/// The names of all objects, as often as they were made.
fn objects(bench: &Bench) -> Vec<String> {
    let listed = std::fs::read_to_string(bench.path("objects")).unwrap_or_default();
    listed.lines().map(str::to_owned).collect()
}

fn name_of(bench: &Bench, resource: &str) -> String {
    bench.outputs(resource).get("name").unwrap().as_str().unwrap().to_owned()
}

/// Each object was made once, knows the other, and is as it should be.
fn settled(bench: &Bench, program: &Program, when: &str) {
    assert_eq!(objects(bench).len(), 2, "{when}: {:?}", objects(bench));
    let plan = bench.plan(program);
    assert!(plan.ends_with("No changes"), "{when}: {plan}");
    let (left, right) = (name_of(bench, "left"), name_of(bench, "right"));
    let told = |name: &str| bench.content(&format!("{name}.told"));
    assert!(told(&left).contains(&format!(r#""bindings":{{"right":"{right}"}}"#)), "{when}");
    assert!(told(&right).contains(&format!(r#""input":{{"peer":"{left}"}}"#)), "{when}");
}

/// BIND-4, BIND-5, ADOPT-1
#[test]
fn a_cycle_of_commands_works_on_a_new_stage_as_on_a_live_one() {
    let mut bench = Bench::new();
    let program = exec_cycle(&stubbed(&make()));
    bench.deployed(&program);
    settled(&bench, &program, "new");
    bench.deployed(&program);
    settled(&bench, &program, "live");
    bench.forget();
    bench.deployed(&program);
    settled(&bench, &program, "after lost state");
    bench.destroyed();
    assert_eq!(bench.files(), ["objects"]);
    assert!(objects(&bench).is_empty());
}

/// BIND-4: a stub is made even if the input itself is what closes the cycle.
#[test]
fn a_stub_is_made_before_its_input_is_known() {
    let bench = Bench::new();
    let told = r#"cat > stub.json; echo $TRUEUP_NAME >> objects; echo "{\"id\": \"$TRUEUP_NAME\"}""#;
    // The other one has no stub, so this one has to come first, though it refers to it.
    let peer = object(&[("peer", reference("std_exec.other", "result.id"))]);
    let mut other = resource("std_exec.other", commands());
    other
        .bindings
        .push(BindingDeclaration { key: "first".into(), payload: reference("std_exec.first", "result.id") });
    let program = program([with("std_exec.first", &stubbed(told), "input", peer), other]);
    bench.deployed(&program);
    assert_eq!(objects(&bench).len(), 2);
    assert!(bench.plan(&program).ends_with("No changes"));
    let stub = bench.content("stub.json");
    assert!(stub.contains(r#""operation":"precreate""#) && stub.contains(r#""input":null"#), "{stub}");
    let other = name_of(&bench, "other");
    let finished = bench.content(&format!("{}.told", name_of(&bench, "first")));
    assert!(finished.contains(&format!(r#""input":{{"peer":"{other}"}}"#)), "{finished}");
}

/// BIND-4: without `precreate` there is no stub, and without `update` none could be finished.
#[test]
fn a_cycle_without_a_stub_is_refused() {
    let bench = Bench::new();
    let refused = bench.refused(&exec_cycle(&commands()));
    let expected = "std_exec.left, std_exec.right are bound in a cycle, and none of them can be made before";
    assert!(refused.contains(expected), "{refused}");
    let refused = bench.refused(&exec_cycle(&without(&stubbed(&make()), &["update"])));
    assert!(refused.contains("a stub is finished by `update`, and there is none"), "{refused}");
    let mut bound = resource("std_exec.a", without(&commands(), &["update"]));
    bound.bindings.push(BindingDeclaration { key: "k".into(), payload: value!(1).into() });
    let refused = bench.refused(&program([bound]));
    assert!(refused.contains("what is bound to it changes by `update`, and there is none"), "{refused}");
    assert!(bench.files().is_empty());
}

/// Ends with this exit code or signal between the effect and the answer, the first time.
fn failing_once(record: &str, end: &str) -> String {
    format!("{record}[ -e second ] || {{ touch second; {end}; }}\n{ANSWER}")
}

/// CRASH-1, RETRY-7: whoever can look finds the stub whose outcome is unknown.
#[test]
fn a_stub_that_failed_after_its_effect_is_looked_for() {
    for end in ["exit 124", "exit 137", "exit 143", "kill -9 $$", "exit 75"] {
        let bench = Bench::new();
        let program = exec_cycle(&stubbed(&failing_once(RECORD, end)));
        if end == "exit 75" {
            bench.deployed(&program);
        } else {
            bench.failed(&program);
            bench.deployed(&program);
        }
        settled(&bench, &program, end);
        bench.destroyed();
        assert!(objects(&bench).is_empty(), "{end}");
    }
}

/// CRASH-1: with a token, repeating is the same stub; a blind resource stops and asks.
#[test]
fn a_stub_with_an_unknown_outcome_is_repeated_by_its_token_or_left_to_a_person() {
    let bench = Bench::new();
    let once = "\ncat > \"$TRUEUP_NAME.told\"; echo $TRUEUP_TOKEN >> tokens; [ -e objects ] || echo $TRUEUP_NAME > objects\n";
    let by_token = failing_once(once, "kill -9 $$");
    let inputs = without(&stubbed(&by_token), &["lookup"]);
    let program = exec_cycle(&inputs.with_entry("recover", value!("token")));
    bench.failed(&program);
    bench.deployed(&program);
    settled(&bench, &program, "token");
    let tokens = bench.content("tokens");
    let tokens: Vec<&str> = tokens.lines().collect();
    assert!(tokens.len() == 2 && tokens[0] == tokens[1], "{tokens:?}");
    let bench = Bench::new();
    let program = exec_cycle(&without(&stubbed(&failing_once(RECORD, "kill -9 $$")), &["lookup"]));
    bench.failed(&program);
    assert!(bench.refused(&program).contains("the outcome of an earlier create is unknown"));
    assert_eq!(objects(&bench).len(), 1);
}

/// RETRY-3: proof that nothing happened leaves nothing behind.
#[test]
fn a_stub_that_failed_without_effect_can_be_deployed_again() {
    let bench = Bench::new();
    let precreate = format!("[ -e second ] || {{ touch second; exit 3; }}\n{}", make());
    let program = exec_cycle(&without(&stubbed(&precreate), &["lookup"]));
    assert!(bench.failed(&program).contains("`precreate` failed with exit code 3"));
    assert!(bench.records().is_empty());
    bench.deployed(&program);
    settled(&bench, &program, "failed");
}

/// CRASH-1: the stub is killed after its effect, and the lookup shows it late.
#[test]
fn a_stub_that_a_command_shows_late_is_not_made_again() {
    let bench = Bench::new();
    let lookup =
        format!("echo >> looks; if [ $(wc -l < looks) -lt 4 ]; then cat > /dev/null; exit; fi\n{FIND}");
    let precreate = failing_once(RECORD, "rm -f looks; kill -9 $$");
    let late = stubbed(&precreate).with_entry("lookup", sh(&lookup));
    let program = exec_cycle(&late.with_entry("consistency_window", value!(5)));
    bench.failed(&program);
    bench.deployed(&program);
    settled(&bench, &program, "late");
}

/// CRASH-7
#[test]
fn a_cycle_of_commands_cut_off_anywhere_makes_each_object_once() {
    let program = exec_cycle(&stubbed(&make()));
    // Each stage of the run once: what a run that is cut off has made by then differs only there.
    for lines in 0..3 {
        for early in [false, true] {
            let bench = Bench::new();
            let made = || objects(&bench).len() >= lines;
            let told = || std::fs::read_dir(bench.path(".")).unwrap().count() > lines;
            bench.deploy_cut_off_once(&program, || if early { told() } else { made() });
            bench.deployed(&program);
            settled(&bench, &program, &format!("cut off at {lines}, {early}"));
        }
    }
}

// Requests.

/// A thing of this size, which an update can change.
fn request_inputs(server: &Server) -> Value {
    let one = format!("{}/things/{{id}}", server.url);
    let by_name = format!("{}/things?name={{name}}", server.url);
    let [one, by_name] = [one.as_str(), by_name.as_str()];
    value!({
        read: { url: one },
        delete: { url: one },
        lookup: { url: by_name, pointer: "/items/0" },
        ignore: ["/reads_left"],
        consistency_window: 0,
    })
}

fn things(server: &Server) -> String {
    format!("{}/things", server.url)
}

/// `left`, whose size is the id of `right`, and `right`, whose size is the id of `left`.
fn http_cycle(server: &Server, left: &Value) -> Program {
    let (url, one) = (things(server), format!("{}/things/{{id}}", server.url));
    let [url, one] = [url.as_str(), one.as_str()];
    let left = left
        .with_entry("create", value!({ url: url, body: { name: "{name}", size: "{bindings.right.id}" } }))
        .with_entry("update", value!({ url: one, body: { size: "{bindings.right.id}" } }));
    let body = object(&[("name", value!("{name}").into()), ("size", reference("std_http.left", "id"))]);
    let create = object(&[("url", value!(url).into()), ("body", body)]);
    let right = with("std_http.right", &request_inputs(server), "create", create);
    let payload = object(&[("id", reference("std_http.right", "id"))]);
    cycle(resource("std_http.left", left), right, payload)
}

fn with_stub(server: &Server) -> Value {
    let url = things(server);
    let url = url.as_str();
    request_inputs(server)
        .with_entry("precreate", value!({ url: url, body: { name: "{name}", size: "stub" } }))
}

/// Each thing was made once and has the other's id.
fn connected(bench: &Bench, server: &Server, program: &Program, when: &str) {
    let id = |name: &str| bench.outputs(name).get("id").unwrap().as_str().unwrap().to_owned();
    let mut expected = [(id("left"), id("right")), (id("right"), id("left"))];
    expected.sort();
    let api = server.api();
    let sizes = api.things.iter().map(|(id, it)| (id.to_string(), it["size"].as_str().unwrap().to_owned()));
    let sizes: Vec<_> = sizes.collect();
    drop(api);
    assert_eq!(sizes, expected, "{when}");
    let plan = bench.plan(program);
    assert!(plan.ends_with("No changes"), "{when}: {plan}");
}

/// BIND-4, BIND-5, ADOPT-1
#[test]
fn a_cycle_of_requests_works_on_a_new_stage_as_on_a_live_one() {
    let (mut bench, server) = (Bench::new(), Server::start());
    let program = http_cycle(&server, &with_stub(&server));
    bench.deployed(&program);
    connected(&bench, &server, &program, "new");
    let changes = |server: &Server| server.requests().into_iter().filter(|it| !it.starts_with("GET")).count();
    assert_eq!(changes(&server), 3, "a stub, the other one, and the end of the stub");
    bench.deployed(&program);
    connected(&bench, &server, &program, "live");
    assert_eq!(changes(&server), 0);
    bench.forget();
    bench.deployed(&program);
    connected(&bench, &server, &program, "after lost state");
    bench.destroyed();
    assert!(server.sizes().is_empty());
    let refused = bench.refused(&http_cycle(&server, &request_inputs(&server)));
    assert!(refused.contains("std_http.left, std_http.right are bound in a cycle"), "{refused}");
}

/// CRASH-1, RETRY-7: whatever ends the request for a stub after its effect.
#[test]
fn an_error_after_the_effect_makes_no_second_stub() {
    let faults = [408, 429, 500, 503].map(|status| Fault::Refused(status, ""));
    for fault in faults.into_iter().chain([Fault::Refused(302, ""), Fault::LostAnswer]) {
        for by_token in [false, true] {
            let (bench, server) = (Bench::new(), Server::start());
            let mut left = with_stub(&server);
            if by_token {
                left = without(&left, &["lookup"]).with_entry("recover", value!("token"));
                left = left.with_entry("headers", value!({ "Idempotency-Key": "{token}" }));
            }
            let program = http_cycle(&server, &left);
            server.fault("POST", fault.clone());
            if !bench.deploy(&program).succeeded() {
                bench.deployed(&program);
            }
            connected(&bench, &server, &program, &format!("{fault:?}, by token: {by_token}"));
            bench.destroyed();
            assert!(server.sizes().is_empty(), "{fault:?}");
        }
        let (bench, server) = (Bench::new(), Server::start());
        let program = http_cycle(&server, &without(&with_stub(&server), &["lookup"]));
        server.fault("POST", fault.clone());
        match fault {
            Fault::Refused(429, _) => continue,
            _ => bench.failed(&program),
        };
        assert!(bench.refused(&program).contains("the outcome of an earlier create is unknown"), "{fault:?}");
        assert_eq!(server.sizes().len(), 1, "{fault:?}");
    }
}

/// CRASH-1: a stub that a lookup shows late is not made again, in this run or the next.
#[test]
fn a_stub_that_a_lookup_shows_late_is_not_made_again() {
    let left = |server: &Server| with_stub(server).with_entry("consistency_window", value!(5));
    for fault in [Fault::Refused(503, ""), Fault::LostAnswer] {
        let (bench, server) = (Bench::new(), Server::start());
        let program = http_cycle(&server, &left(&server));
        // The first look is the plan's.
        server.fault("GET", Fault::Status(404, ""));
        server.fault("POST", fault.clone());
        let looks = if matches!(fault, Fault::LostAnswer) { 1 } else { 2 };
        (0..looks).for_each(|_| server.fault("GET", Fault::Status(404, "")));
        if !bench.deploy(&program).succeeded() {
            bench.deployed(&program);
        }
        connected(&bench, &server, &program, &format!("{fault:?}"));
    }
}

/// CRASH-7
#[test]
fn a_cycle_of_requests_cut_off_anywhere_makes_each_object_once() {
    for waits in (1..WAITS_MAX).step_by(7) {
        let (bench, server) = (Bench::new(), Server::start());
        let program = http_cycle(&server, &with_stub(&server));
        let left = Cell::new(waits);
        let killed = bench.deploy_cut_off_once(&program, || {
            left.set(left.get() - 1);
            left.get() == 0
        });
        bench.deployed(&program);
        connected(&bench, &server, &program, &format!("cut off at {waits}"));
        if !killed {
            return;
        }
    }
    panic!("it did not end within {WAITS_MAX} waits");
}

/// SECRET-1, SECRET-5: what is bound stays secret, whatever a command or an API makes of it.
#[test]
fn what_is_bound_stays_secret() {
    let (bench, server) = (Bench::new(), Server::start());
    let bound = |mut to: ResourceDeclaration| {
        let payload = Value::object([("id", secret("hunter2-that-is-bound"))]);
        to.bindings.push(BindingDeclaration { key: "right".into(), payload: payload.into() });
        to
    };
    let echo = commands().with_entry("create", sh("tee told; cat told >&2"));
    let failing = commands().with_entry("create", sh("cat >&2; exit 3"));
    let left = http_cycle(&server, &request_inputs(&server)).resources.remove(0).inputs;
    let http = ResourceDeclaration::new(address("std_http.b"), left.clone());
    bench.deployed(&program([bound(resource("std_exec.a", echo)), bound(http)]));
    assert!(bench.content("told").contains("hunter2"));
    assert_eq!(server.sizes(), [r#""hunter2-that-is-bound""#]);
    let failed = bench.failed(&program([bound(resource("std_exec.c", failing))]));
    assert!(failed.contains("(secret)"), "{failed}");
    server.fault("POST", Fault::Status(400, ""));
    bench.failed(&program([bound(ResourceDeclaration::new(address("std_http.d"), left))]));
    assert!(!bench.told().contains("hunter2"), "{}", bench.told());
}

/// CRUD-2: what was removed outside is made again, and the other one is told.
#[test]
fn an_object_of_a_cycle_that_was_removed_outside_is_made_again() {
    let (bench, server) = (Bench::new(), Server::start());
    let program = http_cycle(&server, &with_stub(&server));
    bench.deployed(&program);
    let id: u64 = bench.outputs("left").get("id").unwrap().as_str().unwrap().parse().unwrap();
    server.api().things.remove(&id);
    for _ in 0..2 {
        if bench.deploy(&program).succeeded() {
            break;
        }
    }
    connected(&bench, &server, &program, "after removal");
}
