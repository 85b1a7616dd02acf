use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use trueup_core::{Value, value};
use trueup_provider::{State, Verdict};

use crate::iam::TRUST;
use crate::raw::texts;
use crate::world::World;

fn text(state: &State, output: &str) -> String {
    state.outputs.get(output).unwrap().as_str().unwrap().to_owned()
}

/// A role that Lambda may act as, and a folder `code` with a function that answers with its environment.
async fn prepared(world: &World) -> String {
    let fields = [("RoleName", &*format!("{}-worker", world.stack)), ("AssumeRolePolicyDocument", TRUST)];
    let created = world.raw().iam("CreateRole", &fields).await;
    write_code(world, "hello");
    texts(&created, "Arn").remove(0)
}

/// The path of a function.
fn path(function: &str) -> String {
    format!("/2015-03-31/functions/{function}")
}

fn write_code(world: &World, greeting: &str) {
    let folder = world.folder().join("code");
    std::fs::create_dir_all(&folder).unwrap();
    let code = format!(
        "import os\n\ndef handler(event, context):\n    return '{greeting} ' + os.environ.get('NAME', '?')\n"
    );
    std::fs::write(folder.join("main.py"), code).unwrap();
}

fn function(role: &str, more: &Value) -> Value {
    let base = value!({ role: role, runtime: "python3.13", handler: "main.handler", code: "code" });
    more.as_entries().unwrap().iter().fold(base, |base, (name, value)| base.with_entry(name, value.clone()))
}

#[tokio::test]
async fn a_function_keeps_the_contract() {
    let Some(world) = World::of("function").await else { return };
    let role = prepared(&world).await;
    let raw = world.raw();
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let secret = value!("hunter2hunter2").into_secret();
    let first =
        function(&role, &value!({ environment: { NAME: "a", KEY: (secret.clone()) }, publish: true }));
    let caller = "arn:aws:execute-api:eu-central-1:123456789012:abcdef/*";
    let invokers = value!({ api: { principal: "apigateway.amazonaws.com", source_arn: caller } });
    let second = function(
        &role,
        &value!({ timeout: 9, description: "d", environment: { KEY: secret }, publish: true, invokers: invokers, tags: { team: "web" } }),
    );
    let other = function(&role, &value!({ name: (format!("{}-other", world.stack)) }));
    let kit = world.kit("awsn_lambda_function", first).await;
    let role_of_others = role.clone();
    let report = kit
        .secret("hunter2hunter2")
        .marked()
        .imported_as(|state| text(state, "arn"))
        .updated(second)
        .replaced(other)
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let path = format!("{}/configuration", path(&text(&state, "name")));
                raw.rest("lambda", "PUT", &path, Some(json!({ "Timeout": 77 }))).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.rest("lambda", "DELETE", &path(&text(&state, "name")), None).await;
            }
        })
        .taken_by(move |context, _| {
            let (raw, role) = (taking.clone(), role_of_others.clone());
            async move {
                let empty = STANDARD.encode([b"PK\x05\x06".as_slice(), &[0; 18]].concat());
                let input = json!({
                    "FunctionName": context.physical_name(),
                    "Role": role,
                    "Code": { "ZipFile": empty },
                    "Runtime": "python3.12",
                    "Handler": "a.b",
                });
                raw.rest("lambda", "POST", "/2015-03-31/functions", Some(input)).await;
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.functions().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

/// CRUD-8, PLAN-8: a change of the code is seen at plan, though no input changed; and the code really runs.
#[tokio::test]
async fn changed_code_is_a_change_of_the_function() {
    let Some(world) = World::of("code").await else { return };
    let role = prepared(&world).await;
    let raw = world.raw();
    let driver = world.driver("awsn_lambda_function").await;
    let inputs = driver.inputs(&function(&role, &value!({ environment: { NAME: "you" } }))).unwrap();
    let state = driver.apply(&inputs, None, None).await.unwrap();
    let invocations = format!("{}/invocations", path(&text(&state, "name")));
    let call = || raw.rest("lambda", "POST", &invocations, None);
    assert_eq!(call().await, "hello you");
    assert_eq!(driver.plan(&inputs, Some(&state), Some(&state)).await.unwrap().verdict, Verdict::NoOp);
    write_code(&world, "good day");
    let plan = driver.plan(&inputs, Some(&state), Some(&state)).await.unwrap();
    assert_eq!(plan.verdict, Verdict::Update);
    let changed = driver.apply(&inputs, Some(&state), Some(&state)).await.unwrap();
    assert_eq!(plan.outputs.get("code_sha256"), changed.outputs.get("code_sha256"));
    assert_eq!(call().await, "good day you");
    world.account().sweep().await;
}

#[tokio::test]
async fn an_alias_keeps_the_contract() {
    let Some(world) = World::of("alias").await else { return };
    let role = prepared(&world).await;
    let raw = world.raw();
    let functions = world.driver("awsn_lambda_function").await;
    let jobs = format!("{}-jobs", world.stack);
    let inputs =
        functions.inputs(&function(&role, &value!({ name: (jobs.as_str()), publish: true }))).unwrap();
    let made = functions.apply(&inputs, None, None).await.unwrap();
    let arn = text(&made, "arn");
    let (tampering, removing, counting) = (raw.clone(), raw, world.account());
    let (imported, tampered, removed, counted) = (jobs.clone(), jobs.clone(), jobs.clone(), jobs.clone());
    let jobs = jobs.as_str();
    let kit = world
        .kit("awsn_lambda_alias", value!({ name: "live", function_name: jobs, function_version: "1" }))
        .await;
    let report = kit
        .imported_as(move |state| format!("{imported}/{}", text(state, "name")))
        .updated(value!({ name: "live", function_name: arn, description: "what is live" }))
        .replaced(value!({ name: "next", function_name: jobs }))
        .tampered_by(move |state| {
            let (raw, jobs) = (tampering.clone(), tampered.clone());
            async move {
                let path = format!("{}/aliases/{}", path(&jobs), text(&state, "name"));
                raw.rest("lambda", "PUT", &path, Some(json!({ "Description": "by hand" }))).await;
            }
        })
        .removed_by(move |state| {
            let (raw, jobs) = (removing.clone(), removed.clone());
            async move {
                let path = format!("{}/aliases/{}", path(&jobs), text(&state, "name"));
                raw.rest("lambda", "DELETE", &path, None).await;
            }
        })
        .counted_by(move || {
            let (account, jobs) = (counting.clone(), counted.clone());
            async move { account.aliases(&jobs).await }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

/// CRUD-8: the example of the contract.
#[tokio::test]
async fn a_function_by_its_name_or_its_arn_is_the_same() {
    let Some(world) = World::of("arn").await else { return };
    let driver = world.driver("awsn_lambda_alias").await;
    let inputs = |function: &str| driver.inputs(&value!({ name: "live", function_name: function })).unwrap();
    let arn = "arn:aws:lambda:eu-central-1:123456789012:function:jobs";
    let changes = |from: &str, to: &str| driver.handler().input_changes(&inputs(from), &inputs(to)).len();
    assert_eq!((changes("jobs", arn), changes(arn, "jobs"), changes(arn, "other")), (0, 0, 1));
}
