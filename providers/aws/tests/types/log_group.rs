use trueup_core::value;

use crate::world::World;

#[tokio::test]
async fn a_log_group_keeps_the_contract() {
    let Some(world) = World::of("log-group").await else { return };
    let logs = aws_sdk_cloudwatchlogs::Client::new(&world.sdk());
    let (tampering, removing, taking, counting) = (logs.clone(), logs.clone(), logs, world.account());
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
            let logs = tampering.clone();
            async move {
                logs.put_retention_policy()
                    .log_group_name(name(&state))
                    .retention_in_days(30)
                    .send()
                    .await
                    .unwrap();
            }
        })
        .removed_by(move |state| {
            let logs = removing.clone();
            async move {
                logs.delete_log_group().log_group_name(name(&state)).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let logs = taking.clone();
            async move {
                logs.create_log_group().log_group_name(context.physical_name()).send().await.unwrap();
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
