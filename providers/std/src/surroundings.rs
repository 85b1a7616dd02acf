//! What the provider knows of the process it runs in, handed in as data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use trueup_core::Value;
use trueup_provider::{Error, Result};

use crate::exec::CommandGuard;

/// Where the stack lies, which environment its commands see, and where chance comes from.
#[derive(Clone, Debug)]
pub struct Surroundings {
    folder: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    randomness: Randomness,
    command_guard: Option<CommandGuard>,
    #[cfg(feature = "http")]
    client: Arc<std::sync::OnceLock<reqwest::Client>>,
}

impl Surroundings {
    /// Around a stack in this folder, with an empty environment and the operating system's randomness. A relative folder
    /// begins where the process is now, wherever it goes later.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Surroundings {
            // Commands run elsewhere than this process, where a relative path would lead elsewhere.
            folder: std::path::absolute(&folder).unwrap_or(folder),
            environment: BTreeMap::new(),
            randomness: Randomness::default(),
            command_guard: None,
            #[cfg(feature = "http")]
            client: Arc::default(),
        }
    }

    /// The same, with these environment variables: what `std_env` reads and commands inherit. Usually those of the
    /// process, without which commands have no `PATH`.
    #[must_use]
    pub fn with_environment<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.environment = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// The same, with another source of chance.
    #[must_use]
    pub fn with_randomness(mut self, randomness: Randomness) -> Self {
        self.randomness = randomness;
        self
    }

    /// The same, with commands that end with this process even if it is killed. Without a guard they go on, and the next
    /// run may create beside them.
    #[must_use]
    pub fn with_command_guard(mut self, guard: CommandGuard) -> Self {
        self.command_guard = Some(guard);
        self
    }

    /// The same, in another folder; a relative one begins at the present one.
    #[must_use]
    pub(crate) fn moved_to(mut self, folder: &str) -> Self {
        self.folder = self.folder.join(folder);
        self
    }

    /// A path as it counts: a relative one begins at the stack's folder.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.join(path)
    }

    /// Where a path leads, however it is written: without links and detours in the folders above it, as far as these exist.
    pub(crate) fn place(&self, path: impl AsRef<Path>) -> Value {
        let path = std::path::absolute(self.resolve(path)).unwrap_or_default();
        // The object itself may be a link; it lies in the folder above.
        let has_detours = path.components().any(|part| part == Component::ParentDir);
        let place = if has_detours { without_detours(&path) } else { without_links(&path) };
        Value::from(place.to_string_lossy().as_ref())
    }

    pub(crate) fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    pub(crate) fn command_guard(&self) -> Option<&CommandGuard> {
        self.command_guard.as_ref()
    }

    pub(crate) fn randomness(&self) -> &Randomness {
        &self.randomness
    }

    /// The client that all requests share, with its connections.
    #[cfg(feature = "http")]
    pub(crate) fn client(&self) -> Result<reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let client = crate::http::new_client(None, &self.environment)?;
        Ok(self.client.get_or_init(|| client).clone())
    }
}

/// An absolute path without links in the folders above what it names, as far as these exist.
fn without_links(path: &Path) -> PathBuf {
    let resolved = path.ancestors().skip(1).find_map(|folder| {
        let below = path.strip_prefix(folder).ok()?;
        Some(fs::canonicalize(folder).ok()?.join(below))
    });
    // Without what means nothing: `//`, `/.` and a slash at the end.
    resolved.as_deref().unwrap_or(path).components().collect()
}

/// An absolute path without links and detours as far as its folders exist, and without detours from there.
fn without_detours(path: &Path) -> PathBuf {
    let resolved = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
    path.components().fold(PathBuf::new(), |there, part| {
        let mut there = match part {
            Component::CurDir => return there,
            // A step up from a link leads out of the folder that the link leads to.
            _ => resolved(there),
        };
        match part {
            Component::ParentDir => drop(there.pop()),
            part => there.push(part),
        }
        there
    })
}

type Fill = dyn Fn(&mut [u8]) -> std::result::Result<(), getrandom::Error> + Send + Sync;

/// A source of random bytes.
#[derive(Clone)]
pub struct Randomness(Arc<Fill>);

impl Randomness {
    /// Bytes from elsewhere, for tests and simulations.
    pub fn from_function(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Randomness(Arc::new(move |bytes| {
            fill(bytes);
            Ok(())
        }))
    }

    pub(crate) fn bytes<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        (self.0)(bytes)
            .map_err(|error| Error::fatal(format!("the operating system gives no randomness: {error}")))
    }
}

impl Default for Randomness {
    /// The operating system's.
    fn default() -> Self {
        Randomness(Arc::new(getrandom::fill))
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("randomness")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// REPLACE-11
    #[test]
    fn one_path_has_one_place_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/deep")).unwrap();
        symlink("real/deep", root.join("link")).unwrap();
        let surroundings = Surroundings::new(&root);
        let place = |path: &str| surroundings.place(path).as_str().unwrap_or_default().to_owned();
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        for (path, expected) in [
            ("x", "x"),
            ("./x", "x"),
            ("real//x/", "real/x"),
            ("real/../x", "x"),
            ("link/x", "real/deep/x"),
            ("link/../x", "real/x"),
            ("link/new/../x", "real/deep/x"),
            ("new/folder/../x", "new/x"),
            ("link", "link"),
        ] {
            assert_eq!(place(path), at(expected), "{path}");
            assert_eq!(place(&at(path)), at(expected), "absolute {path}");
        }
    }
}
