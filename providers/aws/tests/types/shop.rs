//! A stack of thirty resources and more, of every type, and the whole life of it.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use serde_json::json;
use trueup_engine::Stack;
use trueup_program::{Program, map};
use trueup_provider_aws::{
    Access, Alias, Api, Bucket, DeadLetter, Function, Grant, IamPolicy, Integration, Invoker, LogGroup,
    Queue, Role, Route, Stage, Table,
};

use crate::bench::Bench;
use crate::iam::TRUST;
use crate::world::World;

/// What changes between deploys.
#[derive(Clone, Copy)]
struct Shape {
    timeout: u64,
    key: &'static str,
    workers: usize,
}

const FIRST: Shape = Shape { timeout: 5, key: "id", workers: 3 };

/// Three workers behind one API: each with a role, a log group, a function, an alias, an integration and a route, a queue
/// with one for dead letters, a table and a bucket, bound to it.
fn shop(stack: &mut Stack<'_>, shape: Shape) {
    let reading = stack.add(
        "reading",
        IamPolicy::args().policy(
            r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"logs:Describe*","Resource":"*"}]}"#,
        ),
    );
    let api = stack.add("main", Api::args().description("the shop"));
    stack.add("live", Stage::args().api_id(api.id()));
    for worker in ["orders", "bills", "parcels"].into_iter().take(shape.workers) {
        let role = stack.add(
            worker,
            Role::args()
                .assume_role_policy(TRUST)
                .managed_policy_arns(reading.arn().map(|arn| BTreeSet::from([arn]))),
        );
        let logs = stack.add(worker, LogGroup::args().retention_in_days(7u64));
        let dead = stack.add(&format!("{worker}_dead"), Queue::args());
        let dead_letter = dead.arn().map(|arn| DeadLetter::after(3, arn));
        let queue = stack.add(worker, Queue::args().dead_letter(dead_letter));
        let table = stack.add(worker, Table::args().hash_key(shape.key).tags(map([("worker", worker)])));
        let bucket = stack.add(worker, Bucket::args().versioning(true));
        let calls = api
            .execution_arn()
            .map(|arn| Invoker::new("apigateway.amazonaws.com", Some(format!("{arn}/*/*"))));
        let function = stack.add(
            worker,
            Function::args()
                .role(role.arn())
                .runtime("python3.13")
                .handler("main.handler")
                .code("code")
                .timeout(shape.timeout)
                .log_group(logs.name())
                .invokers(map([("api", calls)])),
        );
        let grant = queue.arn().zip(queue.url()).map(|(arn, url)| Grant::to(arn).at(url));
        stack.bind(&function, "queue", grant);
        stack.bind(
            &function,
            "table",
            table.arn().map(|arn| Grant::to(arn).allowing([Access::Read, Access::Write])),
        );
        stack.bind(&function, "bucket", bucket.arn().map(Grant::to));
        let alias = stack.add(worker, Alias::args().name("live").function_name(function.arn()));
        let integration =
            stack.add(worker, Integration::args().api_id(api.id()).integration_uri(alias.invoke_arn()));
        stack.add(
            worker,
            Route::args().api_id(api.id()).route_key(format!("POST /{worker}")).target(integration.target()),
        );
    }
    stack.output("endpoint", api.endpoint());
}

fn declared(bench: &Bench<'_>, shape: Shape) -> Program {
    bench.program(|stack| shop(stack, shape))
}

async fn set_timeout_by_hand(world: &World, function: &str, seconds: u64) {
    let path = format!("/2015-03-31/functions/{function}/configuration");
    world.raw().rest("lambda", "PUT", &path, Some(json!({ "Timeout": seconds }))).await;
}

/// Wherever it ends, nothing is left behind: on the real AWS it would cost money.
///
/// PLAN-1, APPLY-2, DRIFT-2, REPLACE-1, BIND-1, ADOPT-2, DELETE-1: deploy, drift, update, replace, lose the state and find
/// everything again, destroy; and the account is as empty as before.
#[tokio::test]
async fn a_stack_of_thirty_resources_lives_its_whole_life() {
    let Some(world) = World::of("shop").await else { return };
    world.write_code("code", "def handler(event, context):\n    return 'hello'\n");
    let mut bench = Bench::new(&world);
    assert_eq!(world.account().census().await, 0);
    let lived = AssertUnwindSafe(Box::pin(live(&world, &mut bench))).catch_unwind().await;
    if let Err(panicked) = lived {
        world.account().sweep().await;
        std::panic::resume_unwind(panicked);
    }
    bench.destroyed(&declared(&bench, FIRST)).await;
    assert_eq!(world.account().census().await, 0);
}

async fn live(world: &World, bench: &mut Bench<'_>) {
    let first = declared(bench, FIRST);
    assert!(first.resources.len() >= 30, "{}", first.resources.len());
    bench.deployed(&first).await;
    let all = world.account().census().await;
    assert_eq!(all, first.resources.len());
    assert!(bench.plan(&first).await.ends_with("No changes"), "{}", bench.plan(&first).await);

    let functions = world.account().functions().await;
    let environment = &functions[0].environment;
    for variable in ["QUEUE_URL", "QUEUE_ARN", "TABLE_NAME", "BUCKET_NAME"] {
        assert!(environment.contains_key(variable), "{environment:?}");
    }
    set_timeout_by_hand(world, &functions[0].name, 77).await;
    let drifted = bench.plan(&first).await;
    assert!(drifted.contains("Plan: 1 to update") && drifted.contains("drift"), "{drifted}");
    bench.deployed(&first).await;

    let changed = declared(bench, Shape { timeout: 9, ..FIRST });
    bench.deployed(&changed).await;
    assert!(world.account().functions().await.iter().all(|function| function.timeout == 9));

    let rekeyed = declared(bench, Shape { timeout: 9, key: "number", workers: 3 });
    let plan = bench.plan(&rekeyed).await;
    assert!(plan.contains("3 to replace"), "{plan}");
    bench.deployed(&rekeyed).await;
    assert_eq!(world.account().census().await, all);

    bench.forget();
    let found = bench.plan(&rekeyed).await;
    assert!(!found.contains("to create"), "{found}");
    bench.deployed(&rekeyed).await;
    assert_eq!(world.account().census().await, all);
    assert!(bench.plan(&rekeyed).await.ends_with("No changes"), "{}", bench.plan(&rekeyed).await);

    bench.deployed(&declared(bench, Shape { timeout: 9, key: "number", workers: 1 })).await;
    assert!(world.account().census().await < all);
}
