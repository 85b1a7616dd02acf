//! Providers on servers: registries and mirrors.
//!
//! Both tell versions and where a package is ([`Offer`]); the package itself is then fetched to a file while its digest is
//! taken. Everything goes over TLS; servers on this very machine may do without.

mod client;
mod mirror;
mod registry;
#[cfg(feature = "registry")]
mod signature;
#[cfg(not(feature = "registry"))]
mod signature {
    /// Without the code that checks them, no signature is valid.
    pub(super) fn verify(_content: &[u8], _signature: &[u8], _keys: &[String]) -> Result<String, String> {
        Err("this program was built without the feature `registry`, which checks signatures".to_owned())
    }
}

use std::path::Path;
use std::time::Duration;

use reqwest::Url;
use semver::Version;
use trueup_provider::ProviderAddress;

pub(crate) use client::Client;

use crate::configuration::MethodKind;
use crate::package::Platform;

/// What went wrong between us and a server.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// Nothing was answered.
    #[error("cannot reach {url}: {cause}")]
    Unreachable { url: String, cause: String },
    /// Something else was answered than what was asked for.
    #[error("{url} answers {what}")]
    Answer { url: String, what: String },
    /// The server cannot answer now, and may later.
    #[error("{url} answers {what}")]
    Busy { url: String, what: String, wait: Option<Duration> },
    /// The server does not have it.
    #[error("{what}")]
    Absent { what: String },
    /// The package must not be used.
    #[error("{what}")]
    Untrusted { what: String },
    /// It could not be put on disk.
    #[error("cannot write {path}: {cause}")]
    Disk { path: String, cause: String },
}

/// A package that a server has.
pub(crate) struct Offer {
    url: Url,
    /// The digest that the archive must have, where it is known before.
    archive_digest: Option<String>,
    /// Checksums of which the package must have one, where there are any.
    pub(crate) expected: Vec<String>,
    /// Checksums that the publisher signed, for all platforms.
    pub(crate) signed: Vec<String>,
    /// The id of the key that signed them.
    pub(crate) key: Option<String>,
}

/// How much of a package is here, of how much, if that is known.
pub(crate) type Meter<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

/// A way to install from elsewhere.
#[derive(Clone, Copy)]
pub(crate) enum Remote<'a> {
    Registry(&'a Client<'a>),
    Mirror(&'a Client<'a>, &'a str),
}

impl<'a> Remote<'a> {
    /// The way that a method stands for, if it leads to a server.
    pub(crate) fn of(kind: &'a MethodKind, client: &'a Client<'a>) -> Option<Self> {
        match kind {
            MethodKind::FilesystemMirror(_) => None,
            MethodKind::NetworkMirror(url) => Some(Remote::Mirror(client, url)),
            MethodKind::Direct => Some(Remote::Registry(client)),
        }
    }

    /// All versions that there are. None at all if the server does not know the provider.
    pub(crate) async fn versions(self, address: &ProviderAddress) -> Result<Vec<Version>, RemoteError> {
        let versions = match self {
            Remote::Registry(client) => registry::versions(client, address).await,
            Remote::Mirror(client, url) => mirror::versions(client, url, address).await,
        };
        versions.map_err(|error| self.client().scrubbed(error))
    }

    /// Where the package of a version is, and what is known of it.
    pub(crate) async fn offer(
        self,
        address: &ProviderAddress,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, RemoteError> {
        let offer = match self {
            Remote::Registry(client) => registry::offer(client, address, version, platform).await,
            Remote::Mirror(client, url) => mirror::offer(client, url, address, version, platform).await,
        };
        offer.map_err(|error| self.client().scrubbed(error))
    }

    /// Fetches a package to a file, and tells its digest in hexadecimal.
    pub(crate) async fn fetch(
        self,
        offer: &Offer,
        file: &Path,
        meter: Meter<'_>,
    ) -> Result<String, RemoteError> {
        let client = self.client();
        let digest = client.download(&offer.url, file, meter).await;
        let digest = digest.and_then(|digest| match &offer.archive_digest {
            Some(expected) if *expected != digest => Err(RemoteError::Untrusted {
                what: format!(
                    "what came from {} is not what was published: its SHA-256 is {digest}, and not {expected}",
                    offer.url
                ),
            }),
            _ => Ok(digest),
        });
        digest.map_err(|error| client.scrubbed(error))
    }

    fn client(self) -> &'a Client<'a> {
        let (Remote::Registry(client) | Remote::Mirror(client, _)) = self;
        client
    }
}
