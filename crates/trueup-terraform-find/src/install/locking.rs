//! The lock file for more platforms than this one: packages are fetched to be checked, and not kept.

use std::collections::BTreeSet;

use semver::Version;
use trueup_provider::ProviderAddress;

use super::{Watch, apart, chosen_version, fetch, write_lock};
use crate::configuration::MethodKind;
use crate::find::{Requirement, gathered, read_lock};
use crate::install::InstallOptions;
use crate::lock::Locked;
use crate::package::Platform;
use crate::problem::{Problem, ProblemKind};
use crate::remote::Client;
use crate::settings::Settings;

/// What the lock file has learned of a provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockedFor {
    /// The provider.
    pub address: ProviderAddress,
    /// Its version.
    pub version: Version,
    /// How many of its checksums are new.
    pub added: usize,
}

/// Writes the checksums of packages for these platforms to the lock file. They come from one place: the registry of each
/// provider, or a mirror. What the lock file has of other providers and platforms stays.
pub async fn lock_for(
    requirements: &[Requirement],
    settings: &Settings,
    platforms: &[Platform],
    from: MethodKind,
    watch: Watch<'_>,
) -> Result<Vec<LockedFor>, Vec<Problem>> {
    let mut lock = read_lock(settings).map_err(|problem| vec![problem])?;
    let before = lock.clone();
    let (_kept, settings) = apart(settings, from).map_err(|kind| vec![Problem::general(kind)])?;
    let client = Client::new(&settings, watch).map_err(|kind| vec![Problem::general(kind)])?;
    let (mut told, mut problems) = (Vec::new(), Vec::new());
    for wanted in gathered(requirements).into_values() {
        let known = before.providers.get(&wanted.address);
        match lock_one(&wanted, known, &settings, platforms, &client, watch).await {
            Ok(entry) => {
                let new =
                    entry.hashes.iter().filter(|hash| known.is_none_or(|it| !it.hashes.contains(*hash)));
                let (address, version) = (wanted.address.clone(), entry.version.clone());
                told.push(LockedFor { added: new.count(), address, version });
                lock.providers.insert(wanted.address, entry);
            }
            Err(kind) => {
                problems.push(Problem { address: Some(wanted.address), origin: wanted.origin, kind });
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if lock != before {
        let options = InstallOptions::default();
        write_lock(&settings, &lock, options).map_err(|kind| vec![Problem::general(kind)])?;
    }
    Ok(told)
}

async fn lock_one(
    wanted: &Requirement,
    known: Option<&Locked>,
    settings: &Settings,
    platforms: &[Platform],
    client: &Client<'_>,
    watch: Watch<'_>,
) -> Result<Locked, ProblemKind> {
    let version = chosen_version(wanted, known, false, settings, client, watch).await?;
    let same = known.filter(|known| known.version == version);
    let mut hashes: BTreeSet<String> = same.map(|known| known.hashes.clone()).unwrap_or_default();
    for platform in platforms {
        let settings = Settings { platform: platform.clone(), ..settings.clone() };
        let (address, version) = (&wanted.address, &version);
        // The publisher vouches for what is new; what is known of other platforms says nothing of this one.
        let fetch = fetch::Fetch { address, version, known: None, settings: &settings, client, watch };
        hashes.extend(fetch.settle().await?.hashes);
    }
    let constraints = Some(wanted.constraints.to_string()).filter(|text| !text.is_empty());
    Ok(Locked { version, constraints, hashes })
}
