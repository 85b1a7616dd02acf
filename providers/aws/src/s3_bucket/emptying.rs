//! Deleting all that is in a bucket, every version of it.

use trueup_provider::{Error, Result};

use crate::client::{BucketCall, Element};
use crate::failure::{cannot, cannot_see};
use crate::settings::Aws;

/// Deletes a page of versions after another, until there are none. A run that is cut off goes on where it stopped.
pub(super) async fn empty(aws: &Aws, name: &str) -> Result<()> {
    loop {
        let listed = aws.s3.read(BucketCall::get(name, "versions"), "ListVersionsResult").await;
        let listed = listed.map_err(cannot_see(format!("what is in the bucket `{name}`")))?;
        let objects = listed.all("Version").chain(listed.all("DeleteMarker"));
        let objects: Vec<Element> = objects.map(identifier).collect();
        if objects.is_empty() {
            return Ok(());
        }
        let delete = objects.into_iter().fold(Element::new("Delete"), Element::with);
        let call = BucketCall::post(name, "delete", &delete.with_text("Quiet", "true"));
        let deleted = aws.s3.read(call, "DeleteResult").await;
        let deleted = deleted.map_err(cannot(format!("empty the bucket `{name}`")))?;
        // Each object has its own answer.
        if let Some(refused) = deleted.child("Error") {
            let (key, why) = (refused.owned_text_of("Key"), refused.owned_text_of("Message"));
            return Err(Error::denied(format!("cannot delete `{key}` in the bucket `{name}`: {why}")));
        }
    }
}

/// The version to delete, of a listed one.
fn identifier(version: &Element) -> Element {
    let object = Element::new("Object").with_text("Key", version.text_of("Key").unwrap_or_default());
    match version.text_of("VersionId") {
        Some(id) if id != "null" => object.with_text("VersionId", id),
        _ => object,
    }
}
