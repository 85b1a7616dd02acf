use trueup_core::{Value, value};
use trueup_provider::State;

use crate::world::World;

fn text(state: &State, output: &str) -> String {
    state.outputs.get(output).unwrap().as_str().unwrap().to_owned()
}

pub(crate) const TRUST: &str = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}"#;

fn document(action: &str) -> String {
    format!(
        r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Action":"{action}","Resource":"*"}}]}}"#
    )
}

fn role(description: &str, inline: Value, managed: Value) -> Value {
    value!({ assume_role_policy: TRUST, description: description, inline_policies: inline, managed_policy_arns: managed })
}

#[tokio::test]
async fn a_role_keeps_the_contract() {
    let Some(world) = World::of("role").await else { return };
    let iam = aws_sdk_iam::Client::new(&world.sdk());
    let read = iam.create_policy().policy_name(format!("{}-read", world.stack));
    let read = read.policy_document(document("s3:Get*")).send().await.unwrap();
    let read = read.policy.unwrap().arn.unwrap();
    let (tampering, removing, taking, counting) = (iam.clone(), iam.clone(), iam, world.account());
    let (send, receive) = (document("sqs:SendMessage"), document("sqs:ReceiveMessage"));
    let first = role("one", value!({ send: send, receive: receive }), value!([]));
    let second = role("two", value!({ send: (document("sqs:*")) }), value!([read]));
    let kit = world.kit("awsn_iam_role", first).await;
    let report = kit
        .marked()
        .imported_as(|state| text(state, "name"))
        .updated(second)
        .replaced(value!({ assume_role_policy: TRUST, path: "/service/" }))
        .tampered_by(move |state| {
            let iam = tampering.clone();
            async move {
                iam.delete_role_policy()
                    .role_name(text(&state, "name"))
                    .policy_name("send")
                    .send()
                    .await
                    .unwrap();
            }
        })
        .removed_by(move |state| {
            let iam = removing.clone();
            async move {
                let name = text(&state, "name");
                for policy in iam.list_role_policies().role_name(&name).send().await.unwrap().policy_names {
                    iam.delete_role_policy().role_name(&name).policy_name(policy).send().await.unwrap();
                }
                iam.delete_role().role_name(name).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let iam = taking.clone();
            async move {
                let creating = iam.create_role().role_name(context.physical_name());
                creating.assume_role_policy_document(TRUST).send().await.unwrap();
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.roles().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn a_policy_keeps_the_contract() {
    let Some(world) = World::of("policy").await else { return };
    let iam = aws_sdk_iam::Client::new(&world.sdk());
    let (tampering, removing, taking, counting) = (iam.clone(), iam.clone(), iam, world.account());
    let kit = world.kit("awsn_iam_policy", value!({ policy: (document("s3:GetObject")) })).await;
    let report = kit
        .marked()
        .imported_as(|state| text(state, "arn"))
        .updated(value!({ policy: (document("s3:PutObject")), tags: { colour: "red" } }))
        .replaced(value!({ policy: (document("s3:GetObject")), path: "/team/" }))
        .tampered_by(move |state| {
            let iam = tampering.clone();
            async move {
                let changing = iam.create_policy_version().policy_arn(text(&state, "arn"));
                changing.policy_document(document("*")).set_as_default(true).send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let iam = removing.clone();
            async move {
                iam.delete_policy().policy_arn(text(&state, "arn")).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let iam = taking.clone();
            async move {
                let creating = iam.create_policy().policy_name(context.physical_name());
                creating.policy_document(document("*")).send().await.unwrap();
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.policies().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

/// CRUD-8: a document in other words is neither a change nor drift; IAM keeps five versions, and a sixth change works.
#[tokio::test]
async fn a_policy_in_other_words_is_no_change() {
    let Some(world) = World::of("reworded").await else { return };
    let driver = world.driver("awsn_iam_policy").await;
    let inputs = |document: &str| driver.inputs(&value!({ policy: document })).unwrap();
    let mut state = driver.apply(&inputs(&document("s3:GetObject")), None, None).await.unwrap();
    let reworded = r#"{ "Statement": { "Resource": ["*"], "Action": ["S3:GetObject"], "Effect": "Allow" }, "Version": "2012-10-17" }"#;
    let plan = driver.plan(&inputs(reworded), Some(&state), Some(&state)).await.unwrap();
    assert_eq!(plan.verdict, trueup_provider::Verdict::NoOp, "{:?}", plan.changes);
    for action in ["a:a", "a:b", "a:c", "a:d", "a:e", "a:f"] {
        state = driver.apply(&inputs(&document(action)), Some(&state), None).await.unwrap();
        assert!(text(&state, "policy").contains(action));
    }
    driver.delete(&inputs(&document("a:f")), &state).await.unwrap();
}
