use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};
use trueup_core::value;
use trueup_provider::State;

use crate::world::World;

fn name(state: &State) -> String {
    state.outputs.get("bucket").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_bucket_keeps_the_contract() {
    let Some(world) = World::of("bucket").await else { return };
    let s3 = world.s3();
    let name_of_it = world.driver("awsn_s3_bucket").await.context.physical_name();
    let policy = format!(
        r#"{{"Version":"2012-10-17","Statement":{{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::{name_of_it}/*","Condition":{{"Bool":{{"aws:SecureTransport":false}}}}}}}}"#
    );
    let other = format!("{}-other", world.stack);
    let region = world.region();
    let (tampering, removing, taking, counting) = (s3.clone(), s3.clone(), s3, world.account());
    let kit = world.kit("awsn_s3_bucket", value!({ versioning: true, tags: { team: "web" } })).await;
    let report = kit
        .marked()
        .imported_as(name)
        .updated(value!({ block_public_access: false, encryption: "aws:kms", policy: policy }))
        .replaced(value!({ bucket: other }))
        .tampered_by(move |state| {
            let s3 = tampering.clone();
            async move {
                let suspended =
                    VersioningConfiguration::builder().status(BucketVersioningStatus::Suspended).build();
                let put = s3.put_bucket_versioning().bucket(name(&state)).versioning_configuration(suspended);
                put.send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let s3 = removing.clone();
            async move {
                s3.delete_bucket().bucket(name(&state)).send().await.unwrap();
            }
        })
        .taken_by(move |context, _| {
            let (s3, region) = (taking.clone(), region.clone());
            async move {
                let tag = aws_sdk_s3::types::Tag::builder().key("owner").value("else").build().unwrap();
                let tagging = aws_sdk_s3::types::Tagging::builder().tag_set(tag).build().unwrap();
                let bucket = context.physical_name();
                let here = aws_sdk_s3::types::CreateBucketConfiguration::builder()
                    .location_constraint(region.as_str().into())
                    .build();
                s3.create_bucket().bucket(&bucket).create_bucket_configuration(here).send().await.unwrap();
                s3.put_bucket_tagging().bucket(&bucket).tagging(tagging).send().await.unwrap();
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
    let s3 = world.s3();
    let driver = world.driver("awsn_s3_bucket").await;
    let kept = driver.inputs(&value!({ versioning: true })).unwrap();
    let state = driver.apply(&kept, None, None).await.unwrap();
    for body in ["one", "two"] {
        let body = aws_sdk_s3::primitives::ByteStream::from_static(body.as_bytes());
        s3.put_object().bucket(name(&state)).key("a").body(body).send().await.unwrap();
    }
    s3.delete_object().bucket(name(&state)).key("a").send().await.unwrap();
    let refused = driver.delete(&kept, &state).await.unwrap_err().failure;
    assert_eq!(refused.class, trueup_core::FailureClass::Conflict, "{refused}");
    assert!(refused.hints[0].contains("force_destroy"), "{refused:?}");
    let forced = driver.inputs(&value!({ versioning: true, force_destroy: true })).unwrap();
    driver.delete(&forced, &state).await.unwrap();
    assert!(world.account().buckets().await.is_empty());
}
