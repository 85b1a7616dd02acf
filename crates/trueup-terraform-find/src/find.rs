//! Finding what is on this machine: nothing is downloaded, nothing is written.
//!
//! For each provider: a development override, else the version of the lock file, else the newest that will do, from the
//! folder's own `.terraform/providers`, from the cache, or from a mirror.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use semver::Version;
use trueup_core::Origin;
use trueup_provider::ProviderAddress;

use crate::checksum;
use crate::configuration::MethodKind;
use crate::constraints::VersionConstraints;
use crate::lock::{Lock, Locked};
use crate::package::{self, Form, Package};
use crate::problem::{Problem, ProblemKind};
use crate::settings::{Settings, read_bounded};

/// A provider that a program uses, and which versions will do. There may be several for one provider.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The provider.
    pub address: ProviderAddress,
    /// Which versions will do.
    pub constraints: VersionConstraints,
    /// Where it is required, if that is in a text.
    pub origin: Option<Origin>,
}

/// A provider on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The provider.
    pub address: ProviderAddress,
    /// Its version; `None` for one under development.
    pub version: Option<Version>,
    /// The program to start.
    pub program: PathBuf,
    /// Where it was.
    pub place: Place,
}

/// Where a provider was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A development override.
    Override,
    /// What Terraform installed in the folder.
    Folder,
    /// What is kept for all folders.
    Cache,
    /// A mirror.
    Mirror(PathBuf),
}

/// Finds the providers of a program, each once, in the order of their addresses. Built-in ones are left out.
pub fn find(requirements: &[Requirement], settings: &Settings) -> Result<Vec<Found>, Vec<Problem>> {
    let lock = read_lock(settings).map_err(|problem| vec![problem])?;
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for wanted in gathered(requirements).into_values() {
        let locked = lock.providers.get(&wanted.address);
        match find_one(&wanted, locked, settings) {
            Ok(one) => found.push(one),
            Err(kind) => {
                problems.push(Problem { address: Some(wanted.address), origin: wanted.origin, kind });
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// What is demanded of each provider by all who require it; the place is that of the first.
pub(crate) fn gathered(requirements: &[Requirement]) -> BTreeMap<ProviderAddress, Requirement> {
    let mut gathered: BTreeMap<ProviderAddress, Requirement> = BTreeMap::new();
    for requirement in requirements.iter().filter(|it| !it.address.is_builtin()) {
        match gathered.get_mut(&requirement.address) {
            Some(known) => {
                known.constraints = known.constraints.and(&requirement.constraints);
                known.origin = known.origin.or(requirement.origin);
            }
            None => {
                gathered.insert(requirement.address.clone(), requirement.clone());
            }
        }
    }
    gathered
}

/// The lock file; an empty one if there is none.
pub(crate) fn read_lock(settings: &Settings) -> Result<Lock, Problem> {
    let path = settings.lock_file();
    let problem = |what: String| Problem::general(ProblemKind::Lock { path: path.clone(), what });
    match read_bounded(&path) {
        Ok(text) => Lock::read(&text).map_err(|error| problem(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::default()),
        Err(error) => Err(problem(error.to_string())),
    }
}

fn find_one(
    wanted: &Requirement,
    locked: Option<&Locked>,
    settings: &Settings,
) -> Result<Found, ProblemKind> {
    let Requirement { address, constraints, .. } = wanted;
    if let Some(folder) = settings.configuration.overrides.get(address) {
        let program = package::program_in(folder, address);
        let program = program.map_err(|what| ProblemKind::Package { what, overridden: true })?;
        return Ok(Found { address: address.clone(), version: None, program, place: Place::Override });
    }
    if let Some(Locked { version, .. }) = locked
        && !constraints.allow(version)
    {
        return Err(ProblemKind::LockedOut { locked: version.clone(), constraints: constraints.to_string() });
    }
    let shelves = shelves(settings, address);
    let present: Vec<(&Place, Package)> = shelves
        .iter()
        .flat_map(|(root, place)| {
            let packages = package::list(root, address, &settings.platform);
            packages.into_iter().filter(|it| it.form == Form::Unpacked).map(move |it| (place, it))
        })
        .collect();
    let versions = present.iter().map(|(_, package)| &package.version);
    let chosen = match locked {
        Some(locked) => Some(&locked.version),
        None => constraints.newest(versions.clone()),
    };
    let chosen = chosen.and_then(|version| present.iter().find(|(_, package)| package.version == *version));
    let Some((place, package)) = chosen else {
        let mut present: Vec<Version> = versions.cloned().collect();
        present.sort();
        present.dedup();
        return Err(ProblemKind::NotFound {
            constraints: constraints.to_string(),
            locked: locked.map(|locked| locked.version.clone()),
            present,
            looked_in: shelves.into_iter().map(|(root, _)| package::folder_of(&root, address)).collect(),
        });
    };
    if let Some(locked) = locked {
        verify(&package.path, locked, settings)?;
    }
    let program = package::program_in(&package.path, address);
    let program = program.map_err(|what| ProblemKind::Package { what, overridden: false })?;
    let (version, place) = (Some(package.version.clone()), Place::clone(place));
    Ok(Found { address: address.clone(), version, program, place })
}

/// The folders that keep packages of a provider; those that come first count more.
pub(crate) fn shelves(settings: &Settings, address: &ProviderAddress) -> Vec<(PathBuf, Place)> {
    let mut shelves = vec![(settings.data.join("providers"), Place::Folder)];
    shelves.extend(settings.cache.clone().map(|cache| (cache, Place::Cache)));
    for method in settings.methods() {
        if let MethodKind::FilesystemMirror(path) = method.kind
            && method.selection.has(address)
        {
            shelves.push((path.clone(), Place::Mirror(path)));
        }
    }
    shelves
}

fn verify(folder: &Path, locked: &Locked, settings: &Settings) -> Result<(), ProblemKind> {
    let found =
        checksum::of_package(folder, settings.memory.as_deref()).map_err(|error| ProblemKind::Package {
            what: format!("cannot read the package {}: {error}", folder.display()),
            overridden: false,
        })?;
    match checksum::vouch(&locked.hashes, &found, settings.memory.as_deref()) {
        true => Ok(()),
        false => Err(ProblemKind::Checksum { path: folder.to_owned(), found }),
    }
}
