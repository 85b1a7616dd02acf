use serde_json::json;
use trueup_core::{Value, value};
use trueup_provider::{State, Verdict};

use crate::world::World;

fn name(state: &State) -> String {
    state.outputs.get("name").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_table_keeps_the_contract() {
    let Some(world) = World::of("table").await else { return };
    let raw = world.raw();
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let kit = world
        .kit("awsn_dynamodb_table", value!({ hash_key: "id", stream: "NEW_IMAGE", ttl_attribute: "gone" }))
        .await;
    let indexes = value!({ by_size: { hash_key: "kind", range_key: "size", attributes: ["name"] } });
    // The real DynamoDB lets an hour pass between two changes of this.
    let expires = if world.is_emulated() { "expires" } else { "gone" };
    let updated = value!({
        hash_key: "id", key_types: { size: "N" }, global_indexes: indexes, capacity: { read: 2, write: 1 },
        ttl_attribute: expires, tags: { team: "web" }
    });
    let report = kit
        .marked()
        .imported_as(name)
        .updated(updated)
        .replaced(value!({ hash_key: "id", range_key: "time" }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let none = json!({ "StreamEnabled": false });
                let input = json!({ "TableName": name(&state), "StreamSpecification": none });
                raw.json("DynamoDB_20120810.UpdateTable", input).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.json("DynamoDB_20120810.DeleteTable", json!({ "TableName": name(&state) })).await;
            }
        })
        .taken_by(move |context, _| {
            let raw = taking.clone();
            async move {
                let input = json!({
                    "TableName": context.physical_name(),
                    "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
                    "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
                    "BillingMode": "PAY_PER_REQUEST",
                });
                raw.json("DynamoDB_20120810.CreateTable", input).await;
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.tables().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

/// PLAN-8: what a key is made of cannot be changed either.
#[tokio::test]
async fn a_key_of_another_type_takes_another_table() {
    let Some(world) = World::of("types").await else { return };
    let driver = world.driver("awsn_dynamodb_table").await;
    let inputs = |types: Value| driver.inputs(&value!({ hash_key: "id", key_types: types })).unwrap();
    let texts = inputs(value!({ other: "N" }));
    let state = driver.apply(&texts, None, None).await.unwrap();
    let verdict =
        async |types| driver.plan(&inputs(types), Some(&state), Some(&state)).await.unwrap().verdict;
    assert_eq!(verdict(value!({ other: "N" })).await, Verdict::NoOp);
    assert_eq!(verdict(value!({ id: "N" })).await, Verdict::Replace);
    driver.delete(&texts, &state).await.unwrap();
}
