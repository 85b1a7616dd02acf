//! Deleting all that is in a bucket, every version of it.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};
use trueup_provider::{Error, Result};

use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;

/// Deletes a page of versions after another, until there are none. A run that is cut off goes on where it stopped.
pub(super) async fn empty(aws: &Aws, name: &str) -> Result<()> {
    loop {
        let listed = aws.s3.list_object_versions().bucket(name).send().await;
        let listed = listed.map_err(cannot_see(format!("what is in the bucket `{name}`")))?;
        let versions = listed.versions().iter().map(|version| (version.key(), version.version_id()));
        let markers = listed.delete_markers().iter().map(|marker| (marker.key(), marker.version_id()));
        let objects: Result<Vec<ObjectIdentifier>, _> = versions
            .chain(markers)
            .map(|(key, version)| {
                let version = version.filter(|version| *version != "null").map(ToOwned::to_owned);
                ObjectIdentifier::builder().key(key.unwrap_or_default()).set_version_id(version).build()
            })
            .collect();
        let objects = objects?;
        if objects.is_empty() {
            return Ok(());
        }
        let delete = Delete::builder().set_objects(Some(objects)).quiet(true).build()?;
        let deleted = aws.s3.delete_objects().bucket(name).delete(delete).send().await;
        let deleted = deleted.map_err(cannot(format!("empty the bucket `{name}`")))?;
        // Each object has its own answer.
        if let Some(refused) = deleted.errors().first() {
            let (key, why) = (refused.key().unwrap_or_default(), refused.message().unwrap_or_default());
            return Err(Error::denied(format!("cannot delete `{key}` in the bucket `{name}`: {why}")));
        }
    }
}
