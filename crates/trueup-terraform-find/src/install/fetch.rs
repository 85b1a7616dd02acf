//! Having the package of a version: here already, or fetched, checked and kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;
use trueup_files::Accept;
use trueup_provider::ProviderAddress;

use super::{Installed, Progress, Settled, Vouched, Watch};
use crate::configuration::MethodKind;
use crate::find::{Found, Place, shelves};
use crate::lock::Locked;
use crate::package::{self, Form, Package};
use crate::problem::ProblemKind;
use crate::remote::{Client, Offer, Remote, RemoteError};
use crate::settings::Settings;
use crate::{archive, checksum, hash};

/// The package of a version, to be had.
pub(super) struct Fetch<'a> {
    pub(super) address: &'a ProviderAddress,
    pub(super) version: &'a Version,
    /// What the lock file says of this very version.
    pub(super) known: Option<&'a Locked>,
    pub(super) settings: &'a Settings,
    pub(super) client: &'a Client<'a>,
    pub(super) watch: Watch<'a>,
}

impl Fetch<'_> {
    pub(super) async fn settle(&self) -> Result<Settled, ProblemKind> {
        if let Some(settled) = self.here().await? {
            return Ok(settled);
        }
        let mut missed = Vec::new();
        for method in self.settings.methods() {
            if !method.selection.has(self.address) {
                continue;
            }
            if let MethodKind::FilesystemMirror(path) = &method.kind {
                match self.listed(path) {
                    Some(package) => return self.take_from_mirror(path, package).await,
                    None => missed.push(format!("{} has no version {}", method.kind, self.version)),
                }
            }
            let Some(remote) = Remote::of(&method.kind, self.client) else { continue };
            match remote.offer(self.address, self.version, &self.settings.platform).await {
                Ok(offer) => return self.take_from_server(remote, &offer).await,
                Err(RemoteError::Absent { what }) => missed.push(what),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ProblemKind::Nowhere { asked: missed })
    }

    /// What is on this machine and matches the lock file.
    async fn here(&self) -> Result<Option<Settled>, ProblemKind> {
        let Some(known) = self.known else { return Ok(None) };
        for (root, place) in shelves(self.settings, self.address) {
            let path = package::place_of(&root, self.address, self.version, &self.settings.platform);
            if !path.is_dir() {
                continue;
            }
            let hash = self.checksum(&path).await?;
            if checksum::vouch(&known.hashes, &hash, self.settings.memory.as_deref()) {
                return self.settled(&path, place, false, Vouched::Lock, [hash]).map(Some);
            }
        }
        Ok(None)
    }

    fn listed(&self, mirror: &Path) -> Option<Package> {
        let packages = package::list(mirror, self.address, &self.settings.platform);
        packages.into_iter().find(|package| package.version == *self.version)
    }

    async fn take_from_mirror(&self, mirror: &Path, package: Package) -> Result<Settled, ProblemKind> {
        match package.form {
            Form::Unpacked => {
                let hash = self.checksum(&package.path).await?;
                let vouched = self.vouched(&package.path, std::slice::from_ref(&hash), Vouched::Mirror)?;
                self.settled(&package.path, Place::Mirror(mirror.to_owned()), false, vouched, [hash])
            }
            Form::Packed => {
                let digest = self.blocking(move || {
                    let file = trueup_files::open(&package.path, Accept::Regular);
                    let file = file.map_err(|error| error.to_string())?;
                    let digest = hash::digest(file).map_err(|error| error.to_string())?;
                    Ok((package.path, hash::hex(&digest)))
                });
                let (path, digest) = digest.await?;
                self.unpacked(&path, &digest, Vouched::Mirror, &[], &[]).await
            }
        }
    }

    async fn take_from_server(&self, remote: Remote<'_>, offer: &Offer) -> Result<Settled, ProblemKind> {
        let vouched = offer.key.clone().map_or(Vouched::Mirror, Vouched::Signature);
        if let Some(settled) = self.kept(offer, &vouched).await? {
            return Ok(settled);
        }
        let cache = self.cache()?;
        let disk = |error: std::io::Error| ProblemKind::Disk { path: cache.clone(), what: error.to_string() };
        fs::create_dir_all(&cache).map_err(disk)?;
        let file = tempfile::Builder::new().prefix(".fetching-").tempfile_in(&cache).map_err(disk)?;
        let Fetch { address, version, watch, .. } = *self;
        let meter = |received, total| watch(Progress::Fetching { address, version, received, total });
        let digest = remote.fetch(offer, file.path(), &meter).await?;
        self.unpacked(file.path(), &digest, vouched, &offer.expected, &offer.signed).await
    }

    /// The package that is offered, if it was fetched and kept before, for another folder.
    async fn kept(&self, offer: &Offer, vouched: &Vouched) -> Result<Option<Settled>, ProblemKind> {
        let Some(memory) = &self.settings.memory else { return Ok(None) };
        let path = self.place()?;
        if !path.is_dir() {
            return Ok(None);
        }
        let hash = self.checksum(&path).await?;
        let same = |archive: &&String| checksum::unpacked_from(archive, memory).as_ref() == Some(&hash);
        let Some(archive) = offer.expected.iter().find(same) else { return Ok(None) };
        let vouched = self.vouched(&path, &[hash.clone(), archive.clone()], vouched.clone())?;
        let hashes = offer.signed.iter().cloned().chain([hash]);
        self.settled(&path, Place::Cache, false, vouched, hashes).map(Some)
    }

    /// Unpacks an archive into the cache, checked against all that is known of it.
    async fn unpacked(
        &self,
        archive: &Path,
        digest: &str,
        vouched: Vouched,
        expected: &[String],
        signed: &[String],
    ) -> Result<Settled, ProblemKind> {
        let Fetch { address, version, .. } = *self;
        (self.watch)(Progress::Unpacking { address, version });
        let place = self.place()?;
        let zip_hash = format!("zh:{digest}");
        let (from, to, limits) = (archive.to_owned(), place.clone(), self.settings.package_limits);
        let unpacked = self.blocking(move || archive::unpack(&from, &to, limits)).await?;
        let own = [unpacked.hash.clone(), zip_hash.clone()];
        // What must not be used is not put where it would be found.
        let vouched = self.vouched(archive, &own, vouched)?;
        let checkable = expected.iter().any(|it| it.starts_with("h1:") || it.starts_with("zh:"));
        if checkable && !expected.iter().any(|it| own.contains(it)) {
            return Err(ProblemKind::Checksum { path: archive.to_owned(), found: unpacked.hash.clone() });
        }
        let hash = unpacked.hash.clone();
        let disk = |error: std::io::Error| ProblemKind::Disk { path: place.clone(), what: error.to_string() };
        unpacked.keep().map_err(disk)?;
        if let Some(memory) = &self.settings.memory {
            checksum::remember_archive(&zip_hash, &hash, memory);
        }
        self.settled(&place, Place::Cache, true, vouched, signed.iter().cloned().chain([hash]))
    }

    /// What vouches for a package with these checksums: the lock file, if it knows the version.
    fn vouched(&self, path: &Path, own: &[String], otherwise: Vouched) -> Result<Vouched, ProblemKind> {
        match self.known {
            Some(known) if !known.hashes.is_empty() => {
                match own.iter().any(|hash| known.hashes.contains(hash)) {
                    true => Ok(Vouched::Lock),
                    false => Err(ProblemKind::Checksum { path: path.to_owned(), found: own[0].clone() }),
                }
            }
            _ => Ok(otherwise),
        }
    }

    fn settled(
        &self,
        path: &Path,
        place: Place,
        fetched: bool,
        vouched: Vouched,
        hashes: impl IntoIterator<Item = String>,
    ) -> Result<Settled, ProblemKind> {
        let program = package::program_in(path, self.address);
        let program = program.map_err(|what| ProblemKind::Package { what, overridden: false })?;
        let (address, version) = (self.address.clone(), Some(self.version.clone()));
        let found = Found { address, version, program, place };
        let known = self.known.into_iter().flat_map(|known| known.hashes.iter().cloned());
        let hashes: BTreeSet<String> = known.chain(hashes).collect();
        Ok(Settled { installed: Installed { found, fetched, vouched }, hashes })
    }

    fn cache(&self) -> Result<PathBuf, ProblemKind> {
        self.settings.cache.clone().ok_or(ProblemKind::NoCache)
    }

    fn place(&self) -> Result<PathBuf, ProblemKind> {
        Ok(package::place_of(&self.cache()?, self.address, self.version, &self.settings.platform))
    }

    async fn checksum(&self, path: &Path) -> Result<String, ProblemKind> {
        let (path, memory) = (path.to_owned(), self.settings.memory.clone());
        let reckon = move || {
            checksum::of_package(&path, memory.as_deref())
                .map_err(|error| format!("cannot read the package {}: {error}", path.display()))
        };
        self.blocking(reckon).await
    }

    /// What takes long and cannot wait for others.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, ProblemKind> {
        let package = |what: String| ProblemKind::Package { what, overridden: false };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| package(error.to_string()))?.map_err(package)
    }
}
