use trueup_core::{Value, value};
use trueup_provider::{State, Verdict};

use crate::iam::TRUST;
use crate::world::World;

fn text(state: &State, output: &str) -> String {
    state.outputs.get(output).unwrap().as_str().unwrap().to_owned()
}

/// A role that Lambda may act as, and a folder `code` with a function that answers with its environment.
async fn prepared(world: &World) -> String {
    let iam = aws_sdk_iam::Client::new(&world.sdk());
    let role = iam.create_role().role_name(format!("{}-worker", world.stack));
    let role = role.assume_role_policy_document(TRUST).send().await.unwrap();
    write_code(world, "hello");
    role.role.unwrap().arn
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
    let lambda = aws_sdk_lambda::Client::new(&world.sdk());
    let (tampering, removing, taking, counting) = (lambda.clone(), lambda.clone(), lambda, world.account());
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
            let lambda = tampering.clone();
            async move {
                let changing = lambda.update_function_configuration().function_name(text(&state, "name"));
                changing.timeout(77).send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let lambda = removing.clone();
            async move {
                lambda.delete_function().function_name(text(&state, "name")).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let (lambda, role) = (taking.clone(), role_of_others.clone());
            async move {
                let blob =
                    aws_sdk_lambda::primitives::Blob::new([b"PK\x05\x06".as_slice(), &[0; 18]].concat());
                let code = aws_sdk_lambda::types::FunctionCode::builder().zip_file(blob).build();
                let creating =
                    lambda.create_function().function_name(context.physical_name()).role(role).code(code);
                let creating = creating.runtime(aws_sdk_lambda::types::Runtime::Python312).handler("a.b");
                creating.send().await.unwrap();
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
    let lambda = aws_sdk_lambda::Client::new(&world.sdk());
    let driver = world.driver("awsn_lambda_function").await;
    let inputs = driver.inputs(&function(&role, &value!({ environment: { NAME: "you" } }))).unwrap();
    let state = driver.apply(&inputs, None, None).await.unwrap();
    let call = || lambda.invoke().function_name(text(&state, "name")).send();
    let said = String::from_utf8(call().await.unwrap().payload.unwrap().into_inner()).unwrap();
    assert_eq!(said, r#""hello you""#);
    assert_eq!(driver.plan(&inputs, Some(&state), Some(&state)).await.unwrap().verdict, Verdict::NoOp);
    write_code(&world, "good day");
    let plan = driver.plan(&inputs, Some(&state), Some(&state)).await.unwrap();
    assert_eq!(plan.verdict, Verdict::Update);
    let changed = driver.apply(&inputs, Some(&state), Some(&state)).await.unwrap();
    assert_eq!(plan.outputs.get("code_sha256"), changed.outputs.get("code_sha256"));
    let said = String::from_utf8(call().await.unwrap().payload.unwrap().into_inner()).unwrap();
    assert_eq!(said, r#""good day you""#);
    world.account().sweep().await;
}

#[tokio::test]
async fn an_alias_keeps_the_contract() {
    let Some(world) = World::of("alias").await else { return };
    let role = prepared(&world).await;
    let lambda = aws_sdk_lambda::Client::new(&world.sdk());
    let functions = world.driver("awsn_lambda_function").await;
    let jobs = format!("{}-jobs", world.stack);
    let inputs =
        functions.inputs(&function(&role, &value!({ name: (jobs.as_str()), publish: true }))).unwrap();
    let made = functions.apply(&inputs, None, None).await.unwrap();
    let arn = text(&made, "arn");
    let (tampering, removing, counting) = (lambda.clone(), lambda.clone(), lambda.clone());
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
            let (lambda, jobs) = (tampering.clone(), tampered.clone());
            async move {
                let changing = lambda.update_alias().function_name(jobs).name(text(&state, "name"));
                changing.description("by hand").send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let (lambda, jobs) = (removing.clone(), removed.clone());
            async move {
                lambda.delete_alias().function_name(jobs).name(text(&state, "name")).send().await.unwrap();
            }
        })
        .counted_by(move || {
            let (lambda, jobs) = (counting.clone(), counted.clone());
            async move { lambda.list_aliases().function_name(jobs).send().await.unwrap().aliases().len() }
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
