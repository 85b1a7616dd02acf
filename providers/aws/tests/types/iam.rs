use trueup_core::{Value, value};
use trueup_provider::State;

use crate::raw::texts;
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
    let raw = world.raw();
    let read = [("PolicyName", &*format!("{}-read", world.stack)), ("PolicyDocument", &document("s3:Get*"))];
    let read = texts(&raw.iam("CreatePolicy", &read).await, "Arn").remove(0);
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
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
            let raw = tampering.clone();
            async move {
                let fields = [("RoleName", &*text(&state, "name")), ("PolicyName", "send")];
                raw.iam("DeleteRolePolicy", &fields).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                let name = text(&state, "name");
                let name = ("RoleName", name.as_str());
                for policy in texts(&raw.iam("ListRolePolicies", &[name]).await, "member") {
                    raw.iam("DeleteRolePolicy", &[name, ("PolicyName", &policy)]).await;
                }
                raw.iam("DeleteRole", &[name]).await;
            }
        })
        .taken_by(move |context, _| {
            let raw = taking.clone();
            async move {
                let name = context.physical_name();
                let fields = [("RoleName", name.as_str()), ("AssumeRolePolicyDocument", TRUST)];
                raw.iam("CreateRole", &fields).await;
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
    let raw = world.raw();
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let kit = world.kit("awsn_iam_policy", value!({ policy: (document("s3:GetObject")) })).await;
    let report = kit
        .marked()
        .imported_as(|state| text(state, "arn"))
        .updated(value!({ policy: (document("s3:PutObject")), tags: { colour: "red" } }))
        .replaced(value!({ policy: (document("s3:GetObject")), path: "/team/" }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let (arn, document) = (text(&state, "arn"), document("*"));
                let fields = [
                    ("PolicyArn", arn.as_str()),
                    ("PolicyDocument", document.as_str()),
                    ("SetAsDefault", "true"),
                ];
                raw.iam("CreatePolicyVersion", &fields).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.iam("DeletePolicy", &[("PolicyArn", &*text(&state, "arn"))]).await;
            }
        })
        .taken_by(move |context, _| {
            let raw = taking.clone();
            async move {
                let (name, document) = (context.physical_name(), document("*"));
                let fields = [("PolicyName", name.as_str()), ("PolicyDocument", document.as_str())];
                raw.iam("CreatePolicy", &fields).await;
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
