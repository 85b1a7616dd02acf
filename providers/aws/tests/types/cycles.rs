//! Cycles of functions, roles and queues, opened by stubs: the number of objects is the judge.

use std::task::Poll;

use serde_json::json;
use trueup_core::{Address, Value, value};
use trueup_program::{BindingDeclaration, Expression, Node, Program, Reference, map};
use trueup_provider_aws::{Function, Grant, Queue, Role};
use trueup_test_servers::sized;

use crate::bench::{Bench, failures};
use crate::iam::TRUST;
use crate::proxy::Answer;
use crate::raw::texts;
use crate::world::World;

const CODE: &str = "def handler(event, context):\n    return 'hello'\n";

fn path(function: &str) -> String {
    format!("/2015-03-31/functions/{function}")
}

fn allows(action: &str, resource: &str) -> String {
    json!({
        "Version": "2012-10-17",
        "Statement": [{ "Effect": "Allow", "Action": action, "Resource": resource }],
    })
    .to_string()
}

/// A queue that is bound to a function, and whose policy speaks of that function. The function's role is none of that.
fn function_and_queue(bench: &Bench<'_>) -> Program {
    bench.program(|stack| {
        let role = stack.add("worker", Role::args().assume_role_policy(TRUST));
        let function = stack.add(
            "worker",
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code("code"),
        );
        let policy = function.arn().map(|arn| {
            let only = json!({ "ArnEquals": { "aws:SourceArn": arn } });
            let statement = json!({
                "Effect": "Allow", "Principal": { "Service": "lambda.amazonaws.com" },
                "Action": "sqs:SendMessage", "Resource": "*", "Condition": only,
            });
            json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string()
        });
        let queue = stack.add("jobs", Queue::args().policy(policy.map(Some)));
        let grant = queue.arn().zip(queue.url()).map(|(arn, url)| Grant::to(arn).at(url));
        stack.bind(&function, "jobs", grant);
    })
}

fn reference(to: &str, output: &str) -> Expression {
    let address: Address = to.parse().unwrap();
    Expression::new(Node::Reference(Reference { address, path: output.parse().unwrap() }))
}

/// A role that may call a function, and whose ARN that function is told by a binding.
fn role_and_function(bench: &Bench<'_>) -> Program {
    let mut program = bench.program(|stack| {
        let role = stack.add("worker", Role::args().assume_role_policy(TRUST));
        let function = stack.add(
            "worker",
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code("code"),
        );
        stack.add("jobs", Queue::args());
        let calls = function.arn().map(|arn| allows("lambda:InvokeFunction", &arn));
        stack.add("caller", Role::args().assume_role_policy(TRUST).inline_policies(map([("call", calls)])));
    });
    let function = program.resources.iter_mut().find(|it| it.address.type_name() == "awsn_lambda_function");
    let told = Node::Map(vec![("CALLER".into(), reference("awsn_iam_role.caller", "arn"))]);
    let payload = Node::Object(vec![
        ("arn".into(), reference("awsn_sqs_queue.jobs", "arn")),
        ("environment".into(), Expression::new(told)),
    ]);
    function
        .unwrap()
        .bindings
        .push(BindingDeclaration { key: "jobs".into(), payload: Expression::new(payload) });
    program
}

async fn settled(world: &World, bench: &Bench<'_>, program: &Program, when: &str) {
    assert_eq!(world.account().census().await, program.resources.len(), "{when}");
    let plan = bench.plan(program).await;
    assert!(plan.ends_with("No changes"), "{when}: {plan}");
}

/// BIND-4, BIND-5: on a new stage, on the live one, after lost state; and it is gone at the end.
#[tokio::test]
async fn a_cycle_of_a_function_and_a_queue_works_on_a_new_stage_as_on_a_live_one() {
    let Some(world) = World::of("queues").await else { return };
    world.write_code("code", CODE);
    let mut bench = Bench::new(&world);
    let program = function_and_queue(&bench);
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "new").await;
    let function = &world.account().functions().await[0];
    assert!(function.environment.contains_key("JOBS_URL"), "{:?}", function.environment);
    let invocations = format!("{}/invocations", path(&function.name));
    assert_eq!(world.raw().rest("lambda", "POST", &invocations, None).await, "hello");
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "live").await;
    bench.forget();
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "after lost state").await;
    bench.destroyed(&program).await;
    assert_eq!(world.account().census().await, 0);
}

/// BIND-4, BIND-5
#[tokio::test]
async fn a_cycle_of_a_role_and_a_function_works_on_a_new_stage_as_on_a_live_one() {
    let Some(world) = World::of("roles").await else { return };
    world.write_code("code", CODE);
    let mut bench = Bench::new(&world);
    let program = role_and_function(&bench);
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "new").await;
    let function = &world.account().functions().await[0];
    assert!(function.environment["CALLER"].contains("caller"), "{:?}", function.environment);
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "live").await;
    bench.forget();
    bench.deployed(&program).await;
    settled(&world, &bench, &program, "after lost state").await;
    bench.destroyed(&program).await;
    assert_eq!(world.account().census().await, 0);
}

/// BIND-10, CRASH-1: the answer to the request for a stub is lost.
#[tokio::test]
async fn a_stub_whose_answer_was_lost_is_found_again() {
    for (program, request) in [
        (function_and_queue as fn(&Bench<'_>) -> Program, "POST /2015-03-31/functions "),
        (role_and_function, "CreateRole"),
    ] {
        let Some(world) = World::emulated().await else { return };
        world.write_code("code", CODE);
        let bench = Bench::new(&world);
        let program = program(&bench);
        world.proxy().fault(request, 1, Answer::Lost);
        let report = bench.deploy(&program).await;
        if !report.succeeded() {
            bench.deployed(&program).await;
        }
        settled(&world, &bench, &program, &format!("{request}: {:?}", failures(&report))).await;
        bench.destroyed(&program).await;
        assert_eq!(world.account().census().await, 0, "{request}");
    }
}

/// BIND-10, CRASH-7: cut off after some requests, and run again.
#[tokio::test]
async fn a_cycle_cut_off_after_any_request_is_finished_by_the_next_run() {
    let Some(world) = World::emulated().await else { return };
    world.write_code("code", CODE);
    for requests in (1..).step_by(sized(12, 1)) {
        let bench = Bench::new(&world);
        let program = function_and_queue(&bench);
        let before = world.proxy().heard("");
        let finished = {
            let mut deploy = Box::pin(bench.deploy(&program));
            std::future::poll_fn(|task| {
                if deploy.as_mut().poll(task).is_ready() {
                    return Poll::Ready(true);
                }
                if world.proxy().heard("") - before >= requests {
                    return Poll::Ready(false);
                }
                Poll::Pending
            })
            .await
        };
        world.proxy().idle().await;
        bench.take_lease_away().await;
        bench.deployed(&program).await;
        settled(&world, &bench, &program, &format!("cut off after {requests} requests")).await;
        bench.destroyed(&program).await;
        assert_eq!(world.account().census().await, 0, "cut off after {requests} requests");
        if finished {
            return;
        }
    }
}

/// BIND-4: a stub of a function has no code, no variables and nobody who may call it.
#[tokio::test]
async fn a_stub_of_a_function_runs_nothing() {
    let Some(world) = World::of("stub").await else { return };
    let raw = world.raw();
    let name = format!("{}-worker", world.stack);
    let created = raw.iam("CreateRole", &[("RoleName", &*name), ("AssumeRolePolicyDocument", TRUST)]).await;
    let role = texts(&created, "Arn").remove(0);
    let driver = world.driver("awsn_lambda_function").await;
    let unknown = || Value::unknown(trueup_core::Type::Any);
    let secret = value!("hunter2").into_secret();
    let inputs = value!({
        role: (role.as_str()), runtime: "python3.13", handler: "main.handler", code: (unknown()),
        environment: { KEY: secret }, layers: (unknown()), invokers: (unknown()),
    });
    let stub = driver.precreate(&driver.inputs(&inputs).unwrap()).await.unwrap().unwrap();
    let name = stub.outputs.get("name").unwrap().as_str().unwrap().to_owned();
    let functions = world.account().functions().await;
    assert!(functions.len() == 1 && functions[0].environment.is_empty());
    let answered = raw.rest("lambda", "POST", &format!("{}/invocations", path(&name)), None).await;
    assert!(answered["errorType"].is_string() || answered["errorMessage"].is_string(), "{answered}");
    let policy = raw.rest("lambda", "GET", &format!("{}/policy", path(&name)), None).await;
    assert!(!policy.to_string().contains("Allow"), "{policy}");
    // Made twice it is still one.
    driver.precreate(&driver.inputs(&inputs).unwrap()).await.unwrap().unwrap();
    assert_eq!(world.account().functions().await.len(), 1);
    let early = inputs.with_entry("role", unknown());
    let refused = driver.precreate(&driver.inputs(&early).unwrap()).await.err().unwrap().failure;
    assert!(refused.to_string().contains("before its `role` is known"), "{refused}");
    world.account().sweep().await;
}

/// BIND-4: a stub of a role allows nothing, and unless its own trust is known, trusts nobody.
#[tokio::test]
async fn a_stub_of_a_role_allows_nothing() {
    let Some(world) = World::of("stub-role").await else { return };
    let raw = world.raw();
    let driver = world.driver("awsn_iam_role").await;
    let unknown = || Value::unknown(trueup_core::Type::Any);
    let inputs = value!({
        assume_role_policy: (unknown()),
        inline_policies: { all: (allows("*", "*")) },
        managed_policy_arns: ["arn:aws:iam::aws:policy/AdministratorAccess"],
    });
    let stub = driver.precreate(&driver.inputs(&inputs).unwrap()).await.unwrap().unwrap();
    let name = stub.outputs.get("name").unwrap().as_str().unwrap().to_owned();
    let named = [("RoleName", name.as_str())];
    assert!(texts(&raw.iam("ListRolePolicies", &named).await, "member").is_empty());
    assert!(texts(&raw.iam("ListAttachedRolePolicies", &named).await, "PolicyArn").is_empty());
    let trust = stub.outputs.get("assume_role_policy").unwrap().as_str().unwrap().to_owned();
    assert!(trust.contains(r#""Effect":"Deny""#) && !trust.contains("Allow"), "{trust}");
    // A live role keeps what it is allowed, whoever takes it for a stub.
    let whole = inputs.with_entry("assume_role_policy", value!(TRUST));
    let whole = driver.inputs(&whole).unwrap();
    driver.apply(&whole, Some(&stub), None).await.unwrap();
    driver.precreate(&whole).await.unwrap().unwrap();
    assert_eq!(texts(&raw.iam("ListRolePolicies", &named).await, "member"), ["all"]);
    assert_eq!(world.account().roles().await.len(), 1);
    world.account().sweep().await;
}
