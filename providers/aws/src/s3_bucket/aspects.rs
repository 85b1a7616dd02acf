//! What a bucket has besides its objects: each aspect has its own calls to look and to set.

use trueup_provider::{Context, Result};

use super::{Bucket, BucketOutput, Encryption};
use crate::client::{BucketCall, Element};
use crate::failure::{cannot, cannot_see, if_found};
use crate::settings::Aws;
use crate::tags::{self as owners, Tags};

pub(super) async fn versioning(aws: &Aws, name: &str) -> Result<bool> {
    let seen = aws.s3.read(BucketCall::get(name, "versioning"), "VersioningConfiguration").await;
    let seen = seen.map_err(cannot_see(format!("the versioning of the bucket `{name}`")))?;
    Ok(seen.text_of("Status") == Some("Enabled"))
}

/// How objects are encrypted; a bucket of which nothing is said uses S3's own keys.
pub(super) async fn encryption(aws: &Aws, name: &str) -> Result<(Encryption, Option<String>)> {
    let call = BucketCall::get(name, "encryption");
    let seen = aws.s3.read(call, "ServerSideEncryptionConfiguration").await;
    let seen = if_found(seen.map_err(cannot_see(format!("the encryption of the bucket `{name}`"))))?;
    let rule = seen.as_ref().and_then(|seen| seen.child("Rule"));
    let default = rule.and_then(|rule| rule.child("ApplyServerSideEncryptionByDefault"));
    Ok(match default {
        Some(default) if default.text_of("SSEAlgorithm") == Some("aws:kms") => {
            (Encryption::Kms, default.text_of("KMSMasterKeyID").map(ToOwned::to_owned))
        }
        _ => (Encryption::S3, None),
    })
}

/// The four ways of becoming public.
const PUBLIC_WAYS: [&str; 4] =
    ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"];

/// Whether all four ways of becoming public are refused.
pub(super) async fn block_public_access(aws: &Aws, name: &str) -> Result<bool> {
    let call = BucketCall::get(name, "publicAccessBlock");
    let seen = aws.s3.read(call, "PublicAccessBlockConfiguration").await;
    let seen = if_found(seen.map_err(cannot_see(format!("the public access block of the bucket `{name}`"))))?;
    Ok(seen.is_some_and(|block| PUBLIC_WAYS.iter().all(|way| block.text_of(way) == Some("true"))))
}

pub(super) async fn policy(aws: &Aws, name: &str) -> Result<Option<String>> {
    let seen = aws.s3.read_text(BucketCall::get(name, "policy")).await;
    if_found(seen.map_err(cannot_see(format!("the policy of the bucket `{name}`"))))
}

pub(super) async fn tags(aws: &Aws, name: &str) -> Result<Tags> {
    let seen = aws.s3.read(BucketCall::get(name, "tagging"), "Tagging").await;
    let seen = if_found(seen.map_err(cannot_see(format!("the tags of the bucket `{name}`"))))?;
    let set = seen.as_ref().and_then(|seen| seen.child("TagSet"));
    Ok(owners::seen_in_xml(set.into_iter().flat_map(|set| set.all("Tag"))))
}

/// Tags as S3 takes them, in an element of this name.
pub(super) fn tag_elements(name: &str, tags: Tags) -> Element {
    tags.into_iter().fold(Element::new(name), |set, (key, value)| {
        set.with(Element::new("Tag").with_text("Key", &key).with_text("Value", &value))
    })
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
    let tagging = Element::new("Tagging").with(tag_elements("TagSet", tags));
    let put = aws.s3.send(BucketCall::put(name, "tagging", &tagging)).await;
    put.map_err(cannot(format!("tag the bucket `{name}`")))
}

async fn set_versioning(aws: &Aws, name: &str, on: bool) -> Result<()> {
    let status = if on { "Enabled" } else { "Suspended" };
    let configuration = Element::new("VersioningConfiguration").with_text("Status", status);
    let put = aws.s3.send(BucketCall::put(name, "versioning", &configuration)).await;
    put.map_err(cannot(format!("set the versioning of the bucket `{name}`")))
}

async fn set_encryption(aws: &Aws, name: &str, wanted: &Bucket) -> Result<()> {
    let algorithm = match wanted.encryption {
        Encryption::S3 => "AES256",
        Encryption::Kms => "aws:kms",
    };
    let mut default = Element::new("ApplyServerSideEncryptionByDefault").with_text("SSEAlgorithm", algorithm);
    if let Some(key) = &wanted.kms_key {
        default = default.with_text("KMSMasterKeyID", key);
    }
    let configuration =
        Element::new("ServerSideEncryptionConfiguration").with(Element::new("Rule").with(default));
    let put = aws.s3.send(BucketCall::put(name, "encryption", &configuration)).await;
    put.map_err(cannot(format!("set the encryption of the bucket `{name}`")))
}

async fn set_block_public_access(aws: &Aws, name: &str, on: bool) -> Result<()> {
    let configuration = Element::new("PublicAccessBlockConfiguration");
    let configuration = PUBLIC_WAYS.iter().fold(configuration, |all, way| all.with_text(way, "true"));
    let call = if on {
        BucketCall::put(name, "publicAccessBlock", &configuration)
    } else {
        BucketCall::delete(name, "publicAccessBlock")
    };
    let set = aws.s3.send(call).await;
    set.map_err(cannot(format!("set the public access block of the bucket `{name}`")))
}

async fn set_policy(aws: &Aws, name: &str, policy: Option<&String>) -> Result<()> {
    let call = match policy {
        Some(policy) => BucketCall::put_text(name, "policy", policy),
        None => BucketCall::delete(name, "policy"),
    };
    aws.s3.send(call).await.map_err(cannot(format!("set the policy of the bucket `{name}`")))
}
