//! Mirrors on servers, by Terraform's provider network mirror protocol.

use std::collections::BTreeMap;

use reqwest::Url;
use semver::Version;
use serde::Deserialize;
use trueup_provider::ProviderAddress;

use super::client::{Client, answered};
use super::{Offer, RemoteError};
use crate::package::Platform;

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    versions: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Release {
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: String,
    #[serde(default)]
    hashes: Vec<String>,
}

pub(super) async fn versions(
    client: &Client<'_>,
    mirror: &str,
    address: &ProviderAddress,
) -> Result<Vec<Version>, RemoteError> {
    let url = place(mirror, address, "index.json")?;
    let index = client.json::<Index>(&url, url.host_str()).await?;
    let versions = index.into_iter().flat_map(|index| index.versions.into_keys());
    Ok(versions.filter_map(|version| version.parse().ok()).collect())
}

pub(super) async fn offer(
    client: &Client<'_>,
    mirror: &str,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<Offer, RemoteError> {
    let url = place(mirror, address, &format!("{version}.json"))?;
    let release = client.json::<Release>(&url, url.host_str()).await?;
    let absent = || RemoteError::Absent { what: format!("the mirror {mirror} has no version {version}") };
    let mut archives = release.ok_or_else(absent)?.archives;
    let Some(archive) = archives.remove(&platform.to_string()) else {
        let platforms: Vec<String> = archives.into_keys().collect();
        let what = format!(
            "the mirror {mirror} has version {version} not for {platform}, only for {}",
            platforms.join(", ")
        );
        return Err(RemoteError::Absent { what });
    };
    let place = url.join(&archive.url).map_err(|error| answered(&url, format!("no URL: {error}")))?;
    // Mirrors are the user's own: what they say is enough, and nothing of it is signed.
    Ok(Offer { url: place, archive_digest: None, expected: archive.hashes, signed: Vec::new(), key: None })
}

fn place(mirror: &str, address: &ProviderAddress, path: &str) -> Result<Url, RemoteError> {
    let slash = if mirror.ends_with('/') { "" } else { "/" };
    let text = format!("{mirror}{slash}{address}/{path}");
    Url::parse(&text).map_err(|error| RemoteError::Absent { what: format!("`{mirror}` is no URL: {error}") })
}
