use trueup_core::value;
use trueup_provider::State;

use crate::world::World;

fn name(state: &State) -> String {
    state.outputs.get("bucket").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_bucket_keeps_the_contract() {
    let Some(world) = World::of("bucket").await else { return };
    let raw = world.raw();
    let name_of_it = world.driver("awsn_s3_bucket").await.context.physical_name();
    let policy = format!(
        r#"{{"Version":"2012-10-17","Statement":{{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::{name_of_it}/*","Condition":{{"Bool":{{"aws:SecureTransport":false}}}}}}}}"#
    );
    let other = format!("{}-other", world.stack);
    let region = world.region();
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let kit = world.kit("awsn_s3_bucket", value!({ versioning: true, tags: { team: "web" } })).await;
    let report = kit
        .marked()
        .imported_as(name)
        .updated(value!({ block_public_access: false, encryption: "aws:kms", policy: policy }))
        .replaced(value!({ bucket: other }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let suspended =
                    "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
                raw.s3("PUT", &format!("/{}?versioning", name(&state)), suspended).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                raw.s3("DELETE", &format!("/{}", name(&state)), "").await;
            }
        })
        .taken_by(move |context, _| {
            let (raw, region) = (taking.clone(), region.clone());
            async move {
                let bucket = context.physical_name();
                let here = format!(
                    "<CreateBucketConfiguration><LocationConstraint>{region}</LocationConstraint></CreateBucketConfiguration>"
                );
                raw.s3("PUT", &format!("/{bucket}"), &here).await;
                let tags = "<Tagging><TagSet><Tag><Key>owner</Key><Value>else</Value></Tag></TagSet></Tagging>";
                raw.s3("PUT", &format!("/{bucket}?tagging"), tags).await;
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.buckets().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

/// DELETE-3: what is in a bucket is only deleted where the program says so.
#[tokio::test]
async fn a_bucket_that_holds_something_is_deleted_only_by_force() {
    let Some(world) = World::of("force").await else { return };
    let raw = world.raw();
    let driver = world.driver("awsn_s3_bucket").await;
    let kept = driver.inputs(&value!({ versioning: true })).unwrap();
    let state = driver.apply(&kept, None, None).await.unwrap();
    for body in ["one", "two"] {
        raw.s3("PUT", &format!("/{}/a", name(&state)), body).await;
    }
    raw.s3("DELETE", &format!("/{}/a", name(&state)), "").await;
    let refused = driver.delete(&kept, &state).await.unwrap_err().failure;
    assert_eq!(refused.class, trueup_core::FailureClass::Conflict, "{refused}");
    assert!(refused.hints[0].contains("force_destroy"), "{refused:?}");
    let forced = driver.inputs(&value!({ versioning: true, force_destroy: true })).unwrap();
    driver.delete(&forced, &state).await.unwrap();
    assert!(world.account().buckets().await.is_empty());
}
