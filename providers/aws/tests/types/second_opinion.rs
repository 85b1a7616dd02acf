//! Another emulator, which was written by others from the same documentation, and takes other things amiss.

use std::collections::BTreeSet;

use trueup_engine::Stack;
use trueup_provider_aws::{
    Alias, Api, DeadLetter, Function, Grant, IamPolicy, Integration, Queue, Role, Route, Table,
};
use trueup_test_servers::emulator::Emulator;

use crate::bench::Bench;
use crate::iam::TRUST;
use crate::world::World;

/// One of each type that it knows well enough: buckets, stages and log groups it gets wrong.
fn declared(stack: &mut Stack<'_>) {
    let reading = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:Describe*","Resource":"*"}]}"#;
    let reading = stack.add("reading", IamPolicy::args().policy(reading));
    let managed = reading.arn().map(|arn| BTreeSet::from([arn]));
    let role = stack.add("worker", Role::args().assume_role_policy(TRUST).managed_policy_arns(managed));
    let dead = stack.add("dead", Queue::args());
    let dead = dead.arn().map(|arn| DeadLetter::after(3, arn));
    let jobs = stack.add("jobs", Queue::args().dead_letter(dead));
    let items = stack.add("items", Table::args().hash_key("id"));
    let function =
        Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code("code");
    let function = stack.add("worker", function.publish(true));
    stack.bind(&function, "jobs", jobs.arn().map(Grant::to));
    stack.bind(&function, "items", items.arn().map(Grant::to));
    let alias = stack.add(
        "live",
        Alias::args().name("live").function_name(function.arn()).function_version(function.version()),
    );
    let api = stack.add("main", Api::args());
    let integration =
        stack.add("worker", Integration::args().api_id(api.id()).integration_uri(alias.invoke_arn()));
    let route = Route::args().api_id(api.id()).route_key("GET /jobs").target(integration.target());
    stack.add("jobs", route);
}

/// PLAN-1, ADOPT-2, DELETE-1
#[tokio::test]
async fn another_emulator_agrees() {
    let Some(world) = World::emulated_by(Emulator::Moto).await else { return };
    world.write_code("code", "def handler(event, context):\n    return 1\n");
    let mut bench = Bench::new(&world);
    let program = bench.program(declared);
    bench.deployed(&program).await;
    assert_eq!(world.account().census().await, program.resources.len());
    assert!(bench.plan(&program).await.ends_with("No changes"), "{}", bench.plan(&program).await);
    bench.forget();
    bench.deployed(&program).await;
    assert_eq!(world.account().census().await, program.resources.len());
    bench.destroyed(&program).await;
    assert_eq!(world.account().census().await, 0);
}
