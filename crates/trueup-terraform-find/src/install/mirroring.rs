//! A mirror of all that a program needs, in a folder: packed packages, and what a server would tell of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::{Deserialize, Serialize};
use trueup_provider::ProviderAddress;

use super::{Progress, Watch, apart, chosen_version};
use crate::configuration::MethodKind;
use crate::find::{Requirement, gathered, read_lock};
use crate::package::{Platform, archive_name, folder_of};
use crate::problem::{Problem, ProblemKind};
use crate::remote::{Client, Remote};
use crate::settings::Settings;
use crate::{archive, lock::Locked};

/// A package that was put into a mirror.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mirrored {
    /// The provider.
    pub address: ProviderAddress,
    /// Its version.
    pub version: Version,
    /// For which machines.
    pub platform: Platform,
    /// Where it is.
    pub path: PathBuf,
}

/// The versions that a mirror has of a provider.
#[derive(Serialize, Deserialize, Default)]
struct Index {
    #[serde(default)]
    versions: BTreeMap<String, BTreeMap<String, String>>,
}

/// The packages that a mirror has of a version.
#[derive(Serialize, Deserialize, Default)]
struct Release {
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
}

#[derive(Serialize, Deserialize)]
struct Archive {
    #[serde(default)]
    hashes: Vec<String>,
    url: String,
}

/// Fetches the packages that a program needs for these platforms from the registries of their providers, and puts them
/// into a folder that can be a mirror on disk, or be served as one. The versions are those of the lock file, or the
/// newest that will do.
pub async fn mirror_to(
    requirements: &[Requirement],
    settings: &Settings,
    platforms: &[Platform],
    folder: &Path,
    watch: Watch<'_>,
) -> Result<Vec<Mirrored>, Vec<Problem>> {
    let lock = read_lock(settings).map_err(|problem| vec![problem])?;
    let (_kept, settings) =
        apart(settings, MethodKind::Direct).map_err(|kind| vec![Problem::general(kind)])?;
    let client = Client::new(&settings, watch).map_err(|kind| vec![Problem::general(kind)])?;
    let (mut mirrored, mut problems) = (Vec::new(), Vec::new());
    for wanted in gathered(requirements).into_values() {
        let known = lock.providers.get(&wanted.address);
        let mirroring =
            Mirroring { wanted: &wanted, known, settings: &settings, client: &client, folder, watch };
        match mirroring.mirror(platforms).await {
            Ok(packages) => mirrored.extend(packages),
            Err(kind) => {
                problems.push(Problem { address: Some(wanted.address), origin: wanted.origin, kind });
            }
        }
    }
    if problems.is_empty() { Ok(mirrored) } else { Err(problems) }
}

/// A provider on its way into a mirror.
struct Mirroring<'a> {
    wanted: &'a Requirement,
    known: Option<&'a Locked>,
    settings: &'a Settings,
    client: &'a Client<'a>,
    folder: &'a Path,
    watch: Watch<'a>,
}

impl Mirroring<'_> {
    async fn mirror(&self, platforms: &[Platform]) -> Result<Vec<Mirrored>, ProblemKind> {
        let Mirroring { wanted, known, settings, client, watch, .. } = *self;
        let version = chosen_version(wanted, known, false, settings, client, watch).await?;
        let folder = folder_of(self.folder, &wanted.address);
        fs::create_dir_all(&folder).map_err(|error| disk(&folder, &error))?;
        let mut mirrored = Vec::new();
        for platform in platforms {
            let (path, hash) = self.package(&version, platform, &folder).await?;
            let url = archive_name(&wanted.address, &version, platform);
            change_json(&folder.join(format!("{version}.json")), |release: &mut Release| {
                release.archives.insert(platform.to_string(), Archive { hashes: vec![hash], url });
            })?;
            let (address, version) = (wanted.address.clone(), version.clone());
            mirrored.push(Mirrored { address, version, platform: platform.clone(), path });
        }
        // Only now: who reads it finds all that it names.
        change_json(&folder.join("index.json"), |index: &mut Index| {
            index.versions.entry(version.to_string()).or_default();
        })?;
        Ok(mirrored)
    }

    /// Fetches and checks one package; where it is, and its checksum.
    async fn package(
        &self,
        version: &Version,
        platform: &Platform,
        folder: &Path,
    ) -> Result<(PathBuf, String), ProblemKind> {
        let address = &self.wanted.address;
        let watch = self.watch;
        let remote = Remote::Registry(self.client);
        let offer = remote.offer(address, version, platform).await?;
        let fetching = tempfile::Builder::new().prefix(".fetching-").tempfile_in(folder);
        let fetching = fetching.map_err(|error| disk(folder, &error))?;
        let meter = |received, total| watch(Progress::Fetching { address, version, received, total });
        let digest = remote.fetch(&offer, fetching.path(), &meter).await?;
        watch(Progress::Unpacking { address, version });
        let hash = self.checksum(fetching.path())?;
        if let Some(known) = self.known.filter(|known| known.version == *version && !known.hashes.is_empty())
            && ![format!("zh:{digest}"), hash.clone()].iter().any(|own| known.hashes.contains(own))
            // Checksums of unpacked packages are of one platform; those of archives are of all.
            && known.hashes.iter().any(|known| known.starts_with("zh:"))
        {
            return Err(ProblemKind::Checksum { path: fetching.path().to_owned(), found: hash });
        }
        let path = folder.join(archive_name(address, version, platform));
        fetching.persist(&path).map_err(|error| disk(&path, &error.error))?;
        super::readable_by_all(&fs::File::open(&path).map_err(|error| disk(&path, &error))?)
            .map_err(|error| disk(&path, &error))?;
        Ok((path, hash))
    }

    /// The `h1:` of what is in an archive.
    fn checksum(&self, packed: &Path) -> Result<String, ProblemKind> {
        let place = self.settings.cache.as_ref().ok_or(ProblemKind::NoCache)?.join("unpacked");
        let unpacked = archive::unpack(packed, &place, self.settings.package_limits);
        unpacked.map(|it| it.hash).map_err(|what| ProblemKind::Package { what, overridden: false })
    }
}

/// Changes a file that is JSON, or not there yet; whole or not at all.
fn change_json<T: Serialize + for<'de> Deserialize<'de> + Default>(
    path: &Path,
    change: impl FnOnce(&mut T),
) -> Result<(), ProblemKind> {
    let told = |what: String| ProblemKind::Disk { path: path.to_owned(), what };
    let mut content: T = match crate::settings::read_bounded(path) {
        Ok(text) => {
            serde_json::from_str(&text).map_err(|error| told(format!("it is no mirror's: {error}")))?
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => T::default(),
        Err(error) => return Err(told(error.to_string())),
    };
    change(&mut content);
    let text = serde_json::to_string_pretty(&content).map_err(|error| told(error.to_string()))?;
    super::write_whole(path, &text).map_err(|error| told(error.to_string()))
}

fn disk(path: &Path, error: &std::io::Error) -> ProblemKind {
    ProblemKind::Disk { path: path.to_owned(), what: error.to_string() }
}
