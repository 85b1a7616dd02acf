//! What a bucket has besides its objects: each aspect has its own calls to look and to set.

use aws_sdk_s3::types::{
    BucketVersioningStatus, PublicAccessBlockConfiguration, ServerSideEncryption,
    ServerSideEncryptionByDefault, ServerSideEncryptionConfiguration, ServerSideEncryptionRule, Tag, Tagging,
    VersioningConfiguration,
};
use trueup_provider::{Context, Result};

use super::{Bucket, BucketOutput, Encryption};
use crate::failure::{cannot, cannot_see, if_found};
use crate::settings::Aws;
use crate::tags::{self as owners, Tags};

pub(super) async fn versioning(aws: &Aws, name: &str) -> Result<bool> {
    let seen = aws.s3.get_bucket_versioning().bucket(name).send().await;
    let seen = seen.map_err(cannot_see(format!("the versioning of the bucket `{name}`")))?;
    Ok(seen.status() == Some(&BucketVersioningStatus::Enabled))
}

/// How objects are encrypted; a bucket of which nothing is said uses S3's own keys.
pub(super) async fn encryption(aws: &Aws, name: &str) -> Result<(Encryption, Option<String>)> {
    let seen = aws.s3.get_bucket_encryption().bucket(name).send().await;
    let seen = if_found(seen.map_err(cannot_see(format!("the encryption of the bucket `{name}`"))))?;
    let rule = seen.as_ref().and_then(|seen| seen.server_side_encryption_configuration()?.rules().first());
    let default = rule.and_then(ServerSideEncryptionRule::apply_server_side_encryption_by_default);
    Ok(match default {
        Some(default) if *default.sse_algorithm() == ServerSideEncryption::AwsKms => {
            (Encryption::Kms, default.kms_master_key_id().map(ToOwned::to_owned))
        }
        _ => (Encryption::S3, None),
    })
}

/// Whether all four ways of becoming public are refused.
pub(super) async fn block_public_access(aws: &Aws, name: &str) -> Result<bool> {
    let seen = aws.s3.get_public_access_block().bucket(name).send().await;
    let seen = if_found(seen.map_err(cannot_see(format!("the public access block of the bucket `{name}`"))))?;
    let seen = seen.and_then(|seen| seen.public_access_block_configuration);
    Ok(seen.is_some_and(|block| {
        let all = [
            block.block_public_acls(),
            block.ignore_public_acls(),
            block.block_public_policy(),
            block.restrict_public_buckets(),
        ];
        all.iter().all(|refused| *refused == Some(true))
    }))
}

pub(super) async fn policy(aws: &Aws, name: &str) -> Result<Option<String>> {
    let seen = aws.s3.get_bucket_policy().bucket(name).send().await;
    let seen = if_found(seen.map_err(cannot_see(format!("the policy of the bucket `{name}`"))))?;
    Ok(seen.and_then(|seen| seen.policy))
}

pub(super) async fn tags(aws: &Aws, name: &str) -> Result<Tags> {
    let seen = aws.s3.get_bucket_tagging().bucket(name).send().await;
    let seen = if_found(seen.map_err(cannot_see(format!("the tags of the bucket `{name}`"))))?;
    let set = seen.map(|seen| seen.tag_set).unwrap_or_default();
    Ok(owners::seen(set.into_iter().map(|tag| (tag.key, tag.value))))
}

/// Brings each aspect that differs to what the program says. Tags come first, so that whatever is cut off is ours.
pub(super) async fn synchronise(wanted: &Bucket, context: &Context<Aws>, seen: &BucketOutput) -> Result<()> {
    let (aws, name) = (context.config(), &seen.bucket);
    let tags = owners::wanted(context, &wanted.tags);
    if tags != seen.tags_all {
        set_tags(aws, name, tags).await?;
    }
    if wanted.versioning != seen.versioning {
        set_versioning(aws, name, wanted.versioning).await?;
    }
    if (wanted.encryption, &wanted.kms_key) != (seen.encryption, &seen.kms_key) {
        set_encryption(aws, name, wanted).await?;
    }
    // A policy that makes something public is taken only after the block is gone, and refused once it is there.
    if wanted.block_public_access != seen.block_public_access {
        set_block_public_access(aws, name, wanted.block_public_access).await?;
    }
    if wanted.policy != seen.policy {
        set_policy(aws, name, wanted.policy.as_ref()).await?;
    }
    Ok(())
}

async fn set_tags(aws: &Aws, name: &str, tags: Tags) -> Result<()> {
    let set: Result<Vec<Tag>, _> =
        tags.into_iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect();
    let tagging = Tagging::builder().set_tag_set(Some(set?)).build()?;
    let put = aws.s3.put_bucket_tagging().bucket(name).tagging(tagging).send().await;
    put.map_err(cannot(format!("tag the bucket `{name}`"))).map(|_| ())
}

async fn set_versioning(aws: &Aws, name: &str, on: bool) -> Result<()> {
    let status = if on { BucketVersioningStatus::Enabled } else { BucketVersioningStatus::Suspended };
    let configuration = VersioningConfiguration::builder().status(status).build();
    let put =
        aws.s3.put_bucket_versioning().bucket(name).versioning_configuration(configuration).send().await;
    put.map_err(cannot(format!("set the versioning of the bucket `{name}`"))).map(|_| ())
}

async fn set_encryption(aws: &Aws, name: &str, wanted: &Bucket) -> Result<()> {
    let algorithm = match wanted.encryption {
        Encryption::S3 => ServerSideEncryption::Aes256,
        Encryption::Kms => ServerSideEncryption::AwsKms,
    };
    let default = ServerSideEncryptionByDefault::builder()
        .sse_algorithm(algorithm)
        .set_kms_master_key_id(wanted.kms_key.clone())
        .build()?;
    let rule = ServerSideEncryptionRule::builder().apply_server_side_encryption_by_default(default).build();
    let configuration = ServerSideEncryptionConfiguration::builder().rules(rule).build()?;
    let putting = aws.s3.put_bucket_encryption().bucket(name);
    let put = putting.server_side_encryption_configuration(configuration).send().await;
    put.map_err(cannot(format!("set the encryption of the bucket `{name}`"))).map(|_| ())
}

async fn set_block_public_access(aws: &Aws, name: &str, on: bool) -> Result<()> {
    let doing = format!("set the public access block of the bucket `{name}`");
    if !on {
        let deleted = aws.s3.delete_public_access_block().bucket(name).send().await;
        return deleted.map_err(cannot(doing)).map(|_| ());
    }
    let block = PublicAccessBlockConfiguration::builder()
        .block_public_acls(true)
        .ignore_public_acls(true)
        .block_public_policy(true)
        .restrict_public_buckets(true)
        .build();
    let put =
        aws.s3.put_public_access_block().bucket(name).public_access_block_configuration(block).send().await;
    put.map_err(cannot(doing)).map(|_| ())
}

async fn set_policy(aws: &Aws, name: &str, policy: Option<&String>) -> Result<()> {
    let doing = format!("set the policy of the bucket `{name}`");
    match policy {
        Some(policy) => {
            let put = aws.s3.put_bucket_policy().bucket(name).policy(policy).send().await;
            put.map_err(cannot(doing)).map(|_| ())
        }
        None => {
            let deleted = aws.s3.delete_bucket_policy().bucket(name).send().await;
            deleted.map_err(cannot(doing)).map(|_| ())
        }
    }
}
