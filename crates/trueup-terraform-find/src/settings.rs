//! All that finding depends on, gathered from what the command line hands in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trueup_core::Secret;
use trueup_files::Accept;

use crate::configuration::{Configuration, Method, MethodKind};
use crate::package::Platform;
use crate::pattern::Selection;
use crate::problem::{Problem, ProblemKind};

/// The largest configuration file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How long to wait before a server that could not be asked is asked again, the first time.
const BACKOFF: Duration = Duration::from_millis(500);

/// How long a server may take for what it is asked.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the command line knows of the user and the machine.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The folder of the stack; absolute.
    pub folder: &'a Path,
    /// The user's own folder.
    pub home: Option<&'a Path>,
    /// Where we keep what can be had again, for all folders; nowhere, if there is no such place.
    pub cache: Option<&'a Path>,
    /// The environment. Empty variables count as not set.
    pub variables: &'a BTreeMap<String, String>,
}

/// What finding depends on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of the stack, with the lock file.
    pub folder: PathBuf,
    /// What Terraform keeps of that folder: `.terraform`.
    pub data: PathBuf,
    /// Where packages are kept for all folders.
    pub cache: Option<PathBuf>,
    /// Where checksums of packages are remembered: a folder of the user's own.
    pub memory: Option<PathBuf>,
    /// For which machines programs are.
    pub platform: Platform,
    /// What the CLI configuration says.
    pub configuration: Configuration,
    /// Folders that are mirrors without being named, as far as they exist.
    pub implied_mirrors: Vec<PathBuf>,
    /// Certificates of registries to trust, in PEM, besides those that the machine trusts.
    pub trusted: Option<PathBuf>,
    /// The variables that name proxies.
    pub proxies: BTreeMap<String, Secret<String>>,
    /// How long to wait before a server that could not be asked is asked again; it doubles from there.
    pub backoff: Duration,
    /// How long a server may take for an answer, and for each megabyte of a package.
    pub patience: Duration,
    /// The largest packages that are taken.
    pub package_limits: PackageLimits,
    /// What to tell the user, short of an error.
    pub warnings: Vec<String>,
}

/// How large packages may be. The largest provider that we know has 160 MiB, and 900 MiB unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackageLimits {
    /// The archive, in bytes.
    pub packed_bytes_max: u64,
    /// All files in it, in bytes.
    pub unpacked_bytes_max: u64,
    /// How many files there are in it.
    pub files_max: u64,
}

impl Default for PackageLimits {
    fn default() -> Self {
        PackageLimits { packed_bytes_max: 2 << 30, unpacked_bytes_max: 8 << 30, files_max: 10_000 }
    }
}

impl Settings {
    /// Reads the CLI configuration, where Terraform would look for it.
    pub fn gather(surroundings: &Surroundings<'_>) -> Result<Self, Problem> {
        let Surroundings { folder, home, cache, variables } = *surroundings;
        let variable = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
        let mut warnings = Vec::new();
        let mut configuration = Configuration { tokens: tokens(variables), ..Configuration::default() };
        for path in configuration_files(folder, home, &variable, &mut warnings) {
            let problem =
                |what: String| Problem::general(ProblemKind::Configuration { path: path.clone(), what });
            // Who wants no configuration names /dev/null.
            let text = trueup_files::read_text(&path, Accept::Stream, FILE_BYTES_MAX)
                .map_err(|error| problem(error.to_string()))?;
            let read =
                Configuration::read(&text, folder, home).map_err(|error| problem(error.to_string()))?;
            configuration = configuration.over(read);
        }
        let given_cache = variable("TF_PLUGIN_CACHE_DIR").map(|path| folder.join(path));
        let data = variable("TF_DATA_DIR").unwrap_or_else(|| ".terraform".to_owned());
        let packages = given_cache.or(configuration.cache.clone()).or_else(|| Some(cache?.join("providers")));
        let mut implied_mirrors = implied_mirrors(folder, home, &variable);
        implied_mirrors.retain(|path| path.is_dir());
        Ok(Settings {
            folder: folder.to_owned(),
            data: folder.join(data),
            cache: packages,
            memory: cache.map(|cache| cache.join("checksums")),
            platform: Platform::current(),
            configuration,
            implied_mirrors,
            proxies: variables
                .iter()
                .filter(|(name, value)| name.to_lowercase().ends_with("_proxy") && !value.is_empty())
                .map(|(name, value)| (name.clone(), Secret::new(value.clone())))
                .collect(),
            trusted: variable("SSL_CERT_FILE").map(PathBuf::from),
            backoff: BACKOFF,
            patience: PATIENCE,
            package_limits: PackageLimits::default(),
            warnings,
        })
    }

    /// The lock file.
    pub fn lock_file(&self) -> PathBuf {
        self.folder.join(crate::lock::FILE_NAME)
    }

    /// The ways to install, in order. Where none are given, folders that are mirrors without being named count first.
    pub fn methods(&self) -> Vec<Method> {
        if let Some(methods) = &self.configuration.methods {
            return methods.clone();
        }
        let mirrors = self.implied_mirrors.iter().cloned().map(MethodKind::FilesystemMirror);
        let kinds = mirrors.chain([MethodKind::Direct]);
        kinds.map(|kind| Method { selection: Selection::default(), kind }).collect()
    }
}

/// Tokens for registries. A host's dots are underscores in the name of its variable, its dashes two of them.
fn tokens(variables: &BTreeMap<String, String>) -> BTreeMap<String, Secret<String>> {
    let named = variables.iter().filter_map(|(name, value)| Some((name.strip_prefix("TF_TOKEN_")?, value)));
    let named = named.filter(|(_, value)| !value.is_empty());
    let host = |name: &str| name.replace("__", "-").replace('_', ".").to_lowercase();
    named.map(|(name, value)| (host(name), Secret::new(value.clone()))).collect()
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The files of the CLI configuration; those that come first count more.
fn configuration_files(
    folder: &Path,
    home: Option<&Path>,
    variable: Variable<'_>,
    warnings: &mut Vec<String>,
) -> Vec<PathBuf> {
    let named = variable("TF_CLI_CONFIG_FILE").or_else(|| variable("TERRAFORM_CONFIG"));
    if let Some(named) = named {
        let path = folder.join(named);
        if path.is_file() {
            return vec![path];
        }
        warnings.push(format!("TF_CLI_CONFIG_FILE names {}, which is no file", path.display()));
        return Vec::new();
    }
    let Some(home) = home else { return Vec::new() };
    let mut files = vec![home.join(".terraformrc")];
    let listed = fs::read_dir(home.join(".terraform.d")).into_iter().flatten().flatten();
    let mut more: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    more.retain(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".tfrc") || name.ends_with(".tfrc.json")
    });
    more.sort();
    files.extend(more);
    files.retain(|path| path.is_file());
    files
}

fn implied_mirrors(folder: &Path, home: Option<&Path>, variable: Variable<'_>) -> Vec<PathBuf> {
    let mut found = vec![folder.join("terraform.d/plugins")];
    found.extend(home.map(|home| home.join(".terraform.d/plugins")));
    if cfg!(target_os = "macos") {
        let below = "Library/Application Support/io.terraform/plugins";
        found.extend(home.map(|home| home.join(below)));
        found.push(Path::new("/").join(below));
        return found;
    }
    let own = variable("XDG_DATA_HOME").map(PathBuf::from);
    let own = own.or_else(|| home.map(|home| home.join(".local/share")));
    let shared = variable("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
    let shared = shared.split(':').filter(|path| !path.is_empty()).map(PathBuf::from);
    found.extend(own.into_iter().chain(shared).map(|path| path.join("terraform/plugins")));
    found
}

/// The text of a file that nobody makes large.
pub(crate) fn read_bounded(path: &Path) -> std::io::Result<String> {
    Ok(trueup_files::read_text(path, Accept::Regular, FILE_BYTES_MAX)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather<const N: usize>(folder: &Path, variables: [(&str, &str); N]) -> Result<Settings, Problem> {
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Settings::gather(&Surroundings { folder, home: Some(folder), cache: None, variables: &variables })
    }

    #[test]
    fn the_configuration_is_where_terraform_looks_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join(".terraformrc"), "plugin_cache_dir = \"from-home\"").unwrap();
        fs::create_dir_all(folder.join(".terraform.d/plugins")).unwrap();
        fs::write(folder.join(".terraform.d/x.tfrc"), "credentials \"a.b\" { token = \"t\" }").unwrap();
        let settings = gather(folder, []).unwrap();
        assert_eq!(settings.cache, Some(folder.join("from-home")));
        assert!(settings.configuration.tokens.contains_key("a.b"));
        assert_eq!(settings.implied_mirrors, [folder.join(".terraform.d/plugins")]);
        assert_eq!(settings.methods().len(), 2);

        fs::write(folder.join("named"), "plugin_cache_dir = \"named-cache\"").unwrap();
        let named = [("TF_CLI_CONFIG_FILE", "named")];
        assert_eq!(gather(folder, named).unwrap().cache, Some(folder.join("named-cache")));
        let missing = [("TF_CLI_CONFIG_FILE", "missing")];
        assert_eq!(gather(folder, missing).unwrap().warnings.len(), 1);
    }

    #[test]
    fn a_wrong_configuration_is_told_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".terraformrc"), "a = {").unwrap();
        let told = gather(folder.path(), []).unwrap_err().to_string();
        assert!(told.contains(".terraformrc") && told.contains("line 1"), "{told}");
    }

    #[test]
    fn a_token_may_stand_in_a_variable() {
        let settings = gather(Path::new("/nowhere"), [("TF_TOKEN_my__tf_example_com", "t")]).unwrap();
        assert!(settings.configuration.tokens.contains_key("my-tf.example.com"));
    }
}
