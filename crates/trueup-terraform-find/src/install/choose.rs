//! Choosing a version: the newest that will do, of all that there are anywhere.

use semver::Version;

use crate::configuration::MethodKind;
use crate::find::Requirement;
use crate::package;
use crate::problem::ProblemKind;
use crate::remote::{Client, Remote};
use crate::settings::Settings;

/// The newest version that will do, of those that the ways to install have.
pub(super) async fn newest(
    wanted: &Requirement,
    settings: &Settings,
    client: &Client<'_>,
) -> Result<Version, ProblemKind> {
    let Requirement { address, constraints, .. } = wanted;
    let mut versions: Vec<Version> = Vec::new();
    let mut asked = Vec::new();
    for method in settings.methods() {
        if !method.selection.has(address) {
            continue;
        }
        asked.push(method.kind.to_string());
        match (&method.kind, Remote::of(&method.kind, client)) {
            (MethodKind::FilesystemMirror(path), _) => {
                let packages = package::list(path, address, &settings.platform);
                versions.extend(packages.into_iter().map(|package| package.version));
                // A folder that is a mirror without being named stands for the registry too.
                if settings.configuration.methods.is_none() && !versions.is_empty() {
                    break;
                }
            }
            (_, Some(remote)) => versions.extend(remote.versions(address).await?),
            (_, None) => {}
        }
    }
    versions.sort();
    versions.dedup();
    match constraints.newest(&versions) {
        Some(version) => Ok(version.clone()),
        None if versions.is_empty() => Err(ProblemKind::Nowhere { asked }),
        None => Err(ProblemKind::NoVersion { constraints: constraints.to_string(), available: versions }),
    }
}
