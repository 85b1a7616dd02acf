//! Installing what a program needs: versions are chosen, packages fetched, checked and kept, and all of it is written to
//! the lock file.
//!
//! What the lock file says is not chosen again, unless that is asked for; and what is on this machine and matches it is
//! not fetched again. A package is used in place where it lies unpacked in a mirror, and kept in the cache otherwise.

mod choose;
mod fetch;
mod locking;
mod mirroring;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use semver::Version;
use trueup_provider::ProviderAddress;

pub use locking::{LockedFor, lock_for};
pub use mirroring::{Mirrored, mirror_to};

use crate::configuration::{Method, MethodKind};
use crate::find::{Found, Place, Requirement, gathered, read_lock};
use crate::lock::{Lock, Locked};
use crate::package;
use crate::pattern::Selection;
use crate::problem::{Problem, ProblemKind};
use crate::remote::Client;
use crate::settings::Settings;

/// How to install.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InstallOptions {
    /// Choose the newest versions again, whatever the lock file says.
    pub upgrade: bool,
    /// Fail rather than change the lock file.
    pub locked: bool,
}

/// What is going on.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Versions are asked for.
    Choosing(&'a ProviderAddress),
    /// A package is fetched.
    Fetching {
        /// The provider.
        address: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
        /// How many bytes are here.
        received: u64,
        /// Of how many, if that is known.
        total: Option<u64>,
    },
    /// A package is unpacked and checked.
    Unpacking {
        /// The provider.
        address: &'a ProviderAddress,
        /// The version.
        version: &'a Version,
    },
    /// A server could not be asked, and will be asked again.
    Retrying {
        /// What went wrong.
        what: &'a str,
        /// How long it takes until then.
        wait: Duration,
    },
    /// A provider is ready.
    Ready(&'a Installed),
}

/// Told what is going on.
pub type Watch<'a> = &'a (dyn Fn(Progress<'_>) + Sync);

/// A provider that is ready for use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The provider, where it is now.
    pub found: Found,
    /// Whether it was fetched just now.
    pub fetched: bool,
    /// What vouches for it.
    pub vouched: Vouched,
}

/// What vouches for a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Vouched {
    /// The lock file has its checksum.
    Lock,
    /// Its publisher signed it, with the key of this id.
    Signature(String),
    /// Nothing but the mirror in which it lies.
    Mirror,
    /// Nothing: it is under development.
    Nobody,
}

/// What an installation came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installation {
    /// The providers, in the order of their addresses.
    pub installed: Vec<Installed>,
    /// Whether the lock file is another now.
    pub lock_changed: bool,
}

/// A provider that is ready, and the checksums that stand for it.
struct Settled {
    installed: Installed,
    hashes: BTreeSet<String>,
}

/// Installs what a program needs, and writes the lock file.
pub async fn install(
    requirements: &[Requirement],
    settings: &Settings,
    options: InstallOptions,
    watch: Watch<'_>,
) -> Result<Installation, Vec<Problem>> {
    let before = read_lock(settings).map_err(|problem| vec![problem])?;
    let client = Client::new(settings, watch).map_err(|kind| vec![Problem::general(kind)])?;
    let (mut lock, mut installed, mut problems) = (Lock::default(), Vec::new(), Vec::new());
    for wanted in gathered(requirements).into_values() {
        let known = before.providers.get(&wanted.address);
        match install_one(&wanted, known, settings, options, &client, watch).await {
            Ok(settled) => {
                watch(Progress::Ready(&settled.installed));
                let entry = locked(&wanted, &settled).or_else(|| known.cloned());
                lock.providers.extend(entry.map(|entry| (wanted.address.clone(), entry)));
                installed.push(settled.installed);
            }
            Err(kind) => {
                problems.push(Problem { address: Some(wanted.address), origin: wanted.origin, kind });
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let lock_changed = match options.locked {
        // More checksums of the same packages are no reason to fail, and none to write.
        true => chosen(&lock) != chosen(&before),
        false => lock != before,
    };
    if lock_changed {
        write_lock(settings, &lock, options).map_err(|kind| vec![Problem::general(kind)])?;
    }
    Ok(Installation { installed, lock_changed })
}

async fn install_one(
    wanted: &Requirement,
    known: Option<&Locked>,
    settings: &Settings,
    options: InstallOptions,
    client: &Client<'_>,
    watch: Watch<'_>,
) -> Result<Settled, ProblemKind> {
    let address = &wanted.address;
    if let Some(folder) = settings.configuration.overrides.get(address) {
        let program = package::program_in(folder, address);
        let program = program.map_err(|what| ProblemKind::Package { what, overridden: true })?;
        let found = Found { address: address.clone(), version: None, program, place: Place::Override };
        let installed = Installed { found, fetched: false, vouched: Vouched::Nobody };
        return Ok(Settled { installed, hashes: BTreeSet::new() });
    }
    let version = chosen_version(wanted, known, options.upgrade, settings, client, watch).await?;
    let known = known.filter(|known| known.version == version);
    let fetch = fetch::Fetch { address, version: &version, known, settings, client, watch };
    fetch.settle().await
}

/// The version in the lock file, or the newest that will do.
async fn chosen_version(
    wanted: &Requirement,
    known: Option<&Locked>,
    upgrade: bool,
    settings: &Settings,
    client: &Client<'_>,
    watch: Watch<'_>,
) -> Result<Version, ProblemKind> {
    let Requirement { address, constraints, .. } = wanted;
    match known {
        Some(known) if !upgrade => {
            if !constraints.allow(&known.version) {
                let (locked, constraints) = (known.version.clone(), constraints.to_string());
                return Err(ProblemKind::LockedOut { locked, constraints });
            }
            Ok(known.version.clone())
        }
        _ => {
            watch(Progress::Choosing(address));
            choose::newest(wanted, settings, client).await
        }
    }
}

/// Settings by which nothing but one way to install counts, and packages are kept only while the folder is.
fn apart(settings: &Settings, from: MethodKind) -> Result<(tempfile::TempDir, Settings), ProblemKind> {
    let cache = settings.cache.clone().ok_or(ProblemKind::NoCache)?;
    let folder = fs::create_dir_all(&cache)
        .and_then(|()| tempfile::Builder::new().prefix(".checking-").tempdir_in(&cache))
        .map_err(|error| ProblemKind::Disk { path: cache, what: error.to_string() })?;
    let mut apart = settings.clone();
    apart.data = folder.path().join("data");
    apart.cache = Some(folder.path().join("cache"));
    apart.memory = None;
    apart.implied_mirrors = Vec::new();
    apart.configuration.methods = Some(vec![Method { selection: Selection::default(), kind: from }]);
    Ok((folder, apart))
}

/// What the lock file says of a provider from now on; nothing new of one that is under development.
fn locked(wanted: &Requirement, settled: &Settled) -> Option<Locked> {
    let version = settled.installed.found.version.clone()?;
    let constraints = Some(wanted.constraints.to_string()).filter(|text| !text.is_empty());
    Some(Locked { version, constraints, hashes: settled.hashes.clone() })
}

/// What a lock file is about, without its checksums.
fn chosen(lock: &Lock) -> Vec<(&ProviderAddress, &Version, Option<&String>)> {
    let each = lock.providers.iter();
    each.map(|(address, locked)| (address, &locked.version, locked.constraints.as_ref())).collect()
}

fn write_lock(settings: &Settings, lock: &Lock, options: InstallOptions) -> Result<(), ProblemKind> {
    let path = settings.lock_file();
    if options.locked {
        return Err(ProblemKind::WouldChangeLock { path });
    }
    let written = write_whole(&path, &lock.to_string());
    written.map_err(|error| ProblemKind::Disk { path, what: error.to_string() })
}

/// Written beside and renamed, so that no one ever reads half of it.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(beside)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    readable_by_all(file.as_file())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// It is for version control, and for whoever else works in the folder.
fn readable_by_all(file: &fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
