use aws_sdk_sqs::types::QueueAttributeName;
use trueup_core::value;
use trueup_provider::State;

use crate::world::World;

fn url(state: &State) -> String {
    state.outputs.get("url").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_queue_keeps_the_contract() {
    let Some(world) = World::of("queue").await else { return };
    let sqs = aws_sdk_sqs::Client::new(&world.sdk());
    let policy = r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}}"#;
    let (tampering, removing, taking, counting) = (sqs.clone(), sqs.clone(), sqs, world.account());
    let kit = world.kit("awsn_sqs_queue", value!({ tags: { team: "web" } })).await;
    let report = kit
        .marked()
        .imported_as(url)
        .updated(value!({ visibility_timeout_seconds: 45, policy: policy, tags: { colour: "red" } }))
        .replaced(value!({ fifo_queue: true, content_based_deduplication: true }))
        .tampered_by(move |state| {
            let sqs = tampering.clone();
            async move {
                let set = sqs.set_queue_attributes().queue_url(url(&state));
                set.attributes(QueueAttributeName::DelaySeconds, "9").send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let sqs = removing.clone();
            async move {
                sqs.delete_queue().queue_url(url(&state)).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let sqs = taking.clone();
            async move {
                sqs.create_queue().queue_name(context.physical_name()).send().await.unwrap();
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
