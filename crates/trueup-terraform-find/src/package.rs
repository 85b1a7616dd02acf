//! Packages of providers on disk: folders with a program in them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;
use trueup_provider::ProviderAddress;

/// For which machines a program is: `linux_amd64`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Platform {
    system: String,
    architecture: String,
}

impl Platform {
    /// The machine on which this runs.
    pub fn current() -> Self {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Platform { system: system.into(), architecture: architecture.into() }
    }

    /// The platform of this name.
    pub fn named(name: &str) -> Option<Self> {
        let sound = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let (system, architecture) = name.split_once('_')?;
        (sound(system) && sound(architecture))
            .then(|| Platform { system: system.into(), architecture: architecture.into() })
    }

    /// The operating system, as Go calls it.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The processor, as Go calls it.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.system, self.architecture)
    }
}

/// A package in a folder that keeps many, with its version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    pub(crate) version: Version,
    pub(crate) path: PathBuf,
    pub(crate) form: Form,
}

/// How a package lies on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A folder with what is in it.
    Unpacked,
    /// An archive.
    Packed,
}

/// Where packages of a provider lie below a folder that keeps many.
pub(crate) fn folder_of(root: &Path, address: &ProviderAddress) -> PathBuf {
    root.join(&address.host).join(&address.namespace).join(&address.kind)
}

/// Where an unpacked package lies below a folder that keeps many.
pub(crate) fn place_of(
    root: &Path,
    address: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> PathBuf {
    folder_of(root, address).join(version.to_string()).join(platform.to_string())
}

/// The name of a packed package.
pub(crate) fn archive_name(address: &ProviderAddress, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", address.kind)
}

/// The packages of a provider for a platform below a folder that keeps many. A folder that is not there has none; of a
/// version that lies there both ways, the unpacked one is taken.
pub(crate) fn list(root: &Path, address: &ProviderAddress, platform: &Platform) -> Vec<Package> {
    let folder = folder_of(root, address);
    let named = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().filter_map(named);
    let package = |(name, path): (String, PathBuf)| {
        if let Ok(version) = name.parse::<Version>() {
            let path = path.join(platform.to_string());
            return path.is_dir().then_some(Package { version, path, form: Form::Unpacked });
        }
        let version = name.strip_prefix(&format!("terraform-provider-{}_", address.kind))?;
        let version = version.strip_suffix(&format!("_{platform}.zip"))?.parse().ok()?;
        path.is_file().then_some(Package { version, path, form: Form::Packed })
    };
    let mut found: Vec<Package> = entries.filter_map(package).collect();
    found.sort_by(|left, right| {
        left.version.cmp(&right.version).then((left.form == Form::Packed).cmp(&(right.form == Form::Packed)))
    });
    found.dedup_by(|later, earlier| later.version == earlier.version);
    found
}

/// The program in the folder of a package.
pub(crate) fn program_in(folder: &Path, address: &ProviderAddress) -> Result<PathBuf, String> {
    let name = format!("terraform-provider-{}", address.kind);
    let is_program = |file: &str| {
        let file = file.strip_suffix(".exe").unwrap_or(file);
        file.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let listed =
        fs::read_dir(folder).map_err(|error| format!("cannot look into {}: {error}", folder.display()))?;
    let files = listed.flatten().filter(|entry| entry.path().is_file());
    let mut programs: Vec<PathBuf> =
        files.filter(|entry| is_program(&entry.file_name().to_string_lossy())).map(|it| it.path()).collect();
    programs.sort();
    match programs.len() {
        0 => Err(format!("there is no program `{name}…` in {}", folder.display())),
        1 => Ok(programs.remove(0)),
        _ => Err(format!("there are several programs `{name}…` in {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_of_mirrors_are_known() {
        let root = tempfile::tempdir().unwrap();
        let address: ProviderAddress = "acme/widgets".parse().unwrap();
        let platform = Platform::named("linux_amd64").unwrap();
        let folder = folder_of(root.path(), &address);
        for version in ["1.0.0", "2.0.0"] {
            fs::create_dir_all(place_of(root.path(), &address, &version.parse().unwrap(), &platform))
                .unwrap();
        }
        fs::create_dir_all(folder.join("3.0.0/plan9_mips")).unwrap();
        for file in ["2.0.0_linux_amd64", "2.1.0_linux_amd64", "2.2.0_linux_arm64", "x_linux_amd64"] {
            fs::write(folder.join(format!("terraform-provider-widgets_{file}.zip")), "").unwrap();
        }
        let found = list(root.path(), &address, &platform);
        let found: Vec<_> = found.iter().map(|it| (it.version.to_string(), it.form)).collect();
        let expected = [("1.0.0", Form::Unpacked), ("2.0.0", Form::Unpacked), ("2.1.0", Form::Packed)];
        assert_eq!(found, expected.map(|(version, form)| (version.to_owned(), form)));
    }

    #[test]
    fn a_package_holds_one_program() {
        let folder = tempfile::tempdir().unwrap();
        let address: ProviderAddress = "acme/widgets".parse().unwrap();
        let file = |name: &str| fs::write(folder.path().join(name), "").unwrap();
        file("README.md");
        file("terraform-provider-widgetsmore");
        assert!(program_in(folder.path(), &address).unwrap_err().starts_with("there is no program"));
        file("terraform-provider-widgets_v1.0.0_x5");
        let program = program_in(folder.path(), &address).unwrap();
        assert_eq!(program, folder.path().join("terraform-provider-widgets_v1.0.0_x5"));
        file("terraform-provider-widgets");
        assert!(program_in(folder.path(), &address).unwrap_err().starts_with("there are several"));
    }
}
