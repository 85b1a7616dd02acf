use serde_json::json;
use trueup_core::value;

use crate::world::World;

#[tokio::test]
async fn a_log_group_keeps_the_contract() {
    let Some(world) = World::of("log-group").await else { return };
    let raw = world.raw();
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let other = format!("{}/other", world.stack);
    let name =
        |state: &trueup_provider::State| state.outputs.get("name").unwrap().as_str().unwrap().to_owned();
    let kit = world.kit("awsn_cloudwatch_log_group", value!({ retention_in_days: 7 })).await;
    let report = kit
        .marked()
        .imported_as(name)
        .updated(value!({ tags: { colour: "red" } }))
        .replaced(value!({ name: other }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let input = json!({ "logGroupName": name(&state), "retentionInDays": 30 });
                raw.json("Logs_20140328.PutRetentionPolicy", input).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.json("Logs_20140328.DeleteLogGroup", json!({ "logGroupName": name(&state) })).await;
            }
        })
        .taken_by(move |context, _| {
            let raw = taking.clone();
            async move {
                let input = json!({ "logGroupName": context.physical_name() });
                raw.json("Logs_20140328.CreateLogGroup", input).await;
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.log_groups().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}
