//! Registries, by Terraform's provider registry protocol: a host says where its registry is, the registry says which
//! versions there are and where their packages lie, and the checksums of a release are signed by its publisher.

use reqwest::Url;
use semver::Version;
use serde::Deserialize;
use trueup_provider::ProviderAddress;

use super::client::{Client, answered};
use super::{Offer, RemoteError, signature};
use crate::package::{Platform, archive_name};

const SERVICE: &str = "providers.v1";

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    versions: Vec<PublishedVersion>,
}

#[derive(Deserialize)]
struct PublishedVersion {
    version: String,
    #[serde(default)]
    platforms: Vec<PublishedPlatform>,
}

#[derive(Deserialize)]
struct PublishedPlatform {
    os: String,
    arch: String,
}

#[derive(Deserialize)]
struct Download {
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    signing_keys: SigningKeys,
}

#[derive(Deserialize, Default)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Vec<PublicKey>,
}

#[derive(Deserialize)]
struct PublicKey {
    ascii_armor: String,
}

pub(super) async fn versions(
    client: &Client<'_>,
    address: &ProviderAddress,
) -> Result<Vec<Version>, RemoteError> {
    let listed = listed(client, address).await?.unwrap_or_default();
    Ok(listed.iter().filter_map(|it| it.version.parse().ok()).collect())
}

pub(super) async fn offer(
    client: &Client<'_>,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<Offer, RemoteError> {
    let path = format!("{version}/download/{}/{}", platform.system(), platform.architecture());
    let url = place(client, address, &path).await?;
    let Some(download) = client.json::<Download>(&url, Some(&address.host)).await? else {
        return Err(not_for(client, address, version, platform).await);
    };
    let join =
        |relative: &str| url.join(relative).map_err(|error| answered(&url, format!("no URL: {error}")));
    let sums_url = join(&download.shasums_url)?;
    let fetched = async |from: &Url| {
        let found = client.bytes(from, None).await?;
        found.ok_or_else(|| answered(from, "that there is nothing, where checksums should be".to_owned()))
    };
    let sums = fetched(&sums_url).await?;
    let signature = fetched(&join(&download.shasums_signature_url)?).await?;
    let keys: Vec<String> =
        download.signing_keys.gpg_public_keys.into_iter().map(|it| it.ascii_armor).collect();
    let untrusted = |what: String| RemoteError::Untrusted { what };
    let key = signature::verify(&sums, &signature, &keys)
        .map_err(|why| untrusted(format!("the signature of {sums_url} is not valid: {why}")))?;
    let sums = parse_sums(&sums).ok_or_else(|| untrusted(format!("{sums_url} is no list of checksums")))?;
    let own = sums.iter().find(|(_, name)| *name == download.filename).map(|(digest, _)| digest.clone());
    let own = own.ok_or_else(|| untrusted(format!("{} is not in the list {sums_url}", download.filename)))?;
    if download.filename != archive_name(address, version, platform) {
        return Err(untrusted(format!("the registry offers {} for it", download.filename)));
    }
    if own != download.shasum.to_lowercase() {
        return Err(untrusted(format!(
            "the registry and the signed list {sums_url} tell different checksums"
        )));
    }
    let signed = sums.iter().map(|(digest, _)| format!("zh:{digest}")).collect();
    Ok(Offer {
        url: join(&download.download_url)?,
        expected: vec![format!("zh:{own}")],
        archive_digest: Some(own),
        signed,
        key: Some(key),
    })
}

/// What the registry has of a provider; `None` if it does not know it.
async fn listed(
    client: &Client<'_>,
    address: &ProviderAddress,
) -> Result<Option<Vec<PublishedVersion>>, RemoteError> {
    let url = place(client, address, "versions").await?;
    Ok(client.json::<Versions>(&url, Some(&address.host)).await?.map(|listed| listed.versions))
}

/// Why a version cannot be had.
async fn not_for(
    client: &Client<'_>,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> RemoteError {
    let listed = listed(client, address).await.ok().flatten().unwrap_or_default();
    let published = listed.iter().find(|it| it.version == version.to_string());
    let what = match published {
        Some(published) => {
            let platforms: Vec<String> =
                published.platforms.iter().map(|it| format!("{}_{}", it.os, it.arch)).collect();
            format!("version {version} is not published for {platform}, only for {}", platforms.join(", "))
        }
        None => format!("the registry {} has no version {version}", address.host),
    };
    RemoteError::Absent { what }
}

/// Where the registry tells this of a provider.
async fn place(client: &Client<'_>, address: &ProviderAddress, path: &str) -> Result<Url, RemoteError> {
    let base = discover(client, &address.host).await?;
    let path = format!("{}/{}/{path}", address.namespace, address.kind);
    base.join(&path).map_err(|error| answered(&base, format!("no URL: {error}")))
}

/// Where a host has its registry.
async fn discover(client: &Client<'_>, host: &str) -> Result<Url, RemoteError> {
    let url = format!("https://{host}/.well-known/terraform.json");
    let unusable = |error| RemoteError::Absent { what: format!("`{host}` is no host: {error}") };
    let url = Url::parse(&url).map_err(unusable)?;
    let told = match client.services.get(host) {
        Some(services) => Some(services.clone().into_iter().map(|(name, url)| (name, url.into())).collect()),
        None => client.json::<serde_json::Map<String, serde_json::Value>>(&url, Some(host)).await?,
    };
    let service =
        told.as_ref().and_then(|services| services.get(SERVICE)).and_then(serde_json::Value::as_str);
    let Some(service) = service else {
        return Err(RemoteError::Absent { what: format!("{host} has no registry of providers") });
    };
    // What is relative to it lies below it only if it ends so.
    let service = if service.ends_with('/') { service.to_owned() } else { format!("{service}/") };
    url.join(&service).map_err(|error| answered(&url, format!("no URL of a registry: {error}")))
}

/// `digest  name` lines.
fn parse_sums(text: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(text).ok()?;
    let line = |line: &str| {
        let (digest, name) = line.split_once(char::is_whitespace)?;
        let sound = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then(|| (digest.to_lowercase(), name.trim_start_matches([' ', '*']).trim_end().to_owned()))
    };
    text.lines().filter(|text| !text.trim().is_empty()).map(line).collect()
}
