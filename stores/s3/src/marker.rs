//! The object that says that a store is here, and of which format.
//!
//! It is made with the first thing that is written, never by looking (STATE-13). Whoever makes it also tries whether the
//! service keeps to the conditions of writes: one that ignores them would lose updates without a word.

use object_store::path::Path;
use serde::{Deserialize, Serialize};
use trueup_core::read_json;
use trueup_state::{Cause, StoreError};

use crate::head::FORMAT;
use crate::objects::{Fetched, Objects, Tried};

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u64,
}

fn path(root: &Path) -> Path {
    root.clone().join("trueup")
}

/// Refuses a store of a newer format, and a bucket that cannot be asked or is not there.
pub(crate) async fn check(objects: &Objects, root: &Path) -> Result<(), StoreError> {
    match objects.get_opening(&path(root)).await? {
        Fetched::Object(object) => read(objects, root, &object.text),
        // An object that is not there looks like a bucket that is not; a list tells them apart.
        Fetched::Same | Fetched::Missing => objects.folders(root).await.map(drop),
    }
}

/// Makes the marker if there is none.
pub(crate) async fn place(objects: &Objects, root: &Path) -> Result<(), StoreError> {
    let path = path(root);
    if let Fetched::Object(object) = objects.get(&path, None).await? {
        return read(objects, root, &object.text);
    }
    try_conditions(objects, root).await?;
    let text = serde_json::to_string(&Marker { format: FORMAT })
        .map_err(|error| objects.unavailable("write", Cause::new(error)))?;
    // Whoever else makes it now makes the same.
    objects.create(&path, &text).await
}

/// Writes where something is, once as if nothing were and once as if something else were.
async fn try_conditions(objects: &Objects, root: &Path) -> Result<(), StoreError> {
    let path = root.clone().join(format!("trial-{}", objects.unique()));
    objects.create(&path, "first").await?;
    let another = Some("\"0123456789abcdef0123456789abcdef\"");
    let mut kept = true;
    for condition in [None, another] {
        let tried = objects.try_put(&path, "second", condition).await?;
        kept &= !matches!(tried, Tried::Stored(_));
    }
    objects.delete(vec![path]).await;
    if kept { Ok(()) } else { Err(objects.unsuitable("it overwrites objects that a condition protects")) }
}

fn read(objects: &Objects, root: &Path, text: &str) -> Result<(), StoreError> {
    let marker: Marker = read_json(text)
        .map_err(|error| objects.damaged(Cause::about(format!("{} is unreadable", path(root)), error)))?;
    if marker.format > FORMAT { Err(objects.newer(marker.format)) } else { Ok(()) }
}
