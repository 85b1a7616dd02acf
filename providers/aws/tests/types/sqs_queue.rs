use serde_json::json;
use trueup_core::value;
use trueup_provider::State;

use crate::world::World;

fn url(state: &State) -> String {
    state.outputs.get("url").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_queue_keeps_the_contract() {
    let Some(world) = World::of("queue").await else { return };
    let raw = world.raw();
    let policy = r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}}"#;
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let kit = world.kit("awsn_sqs_queue", value!({ tags: { team: "web" } })).await;
    let report = kit
        .marked()
        .imported_as(url)
        .updated(value!({ visibility_timeout_seconds: 45, policy: policy, tags: { colour: "red" } }))
        .replaced(value!({ fifo_queue: true, content_based_deduplication: true }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let input = json!({ "QueueUrl": url(&state), "Attributes": { "DelaySeconds": "9" } });
                raw.json("AmazonSQS.SetQueueAttributes", input).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.json("AmazonSQS.DeleteQueue", json!({ "QueueUrl": url(&state) })).await;
            }
        })
        .taken_by(move |context, _| {
            let raw = taking.clone();
            async move {
                raw.json("AmazonSQS.CreateQueue", json!({ "QueueName": context.physical_name() })).await;
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.queues().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}
