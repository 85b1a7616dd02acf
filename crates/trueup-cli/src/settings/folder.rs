//! What is remembered of a folder between runs, in `.trueup` beside the program: the stack's name as it was first
//! deployed, and the stage used last. The folder ignores itself in version control.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trueup_files::Accept;

use crate::arguments::stage_name;
use crate::whole_file::{self, Readers};

/// The folder in which everything of ours lies.
pub(crate) const OWN_FOLDER: &str = ".trueup";

const MEMORY_FILE: &str = "folder.json";
const MEMORY_VERSION: u32 = 1;
const MEMORY_BYTES_MAX: u64 = 64 * 1024;

/// What is remembered of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderMemory {
    /// The stack's name as it was first deployed from here.
    pub stack: Option<String>,
    /// The stage used last.
    pub stage: Option<String>,
}

/// The same as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
}

impl FolderMemory {
    /// What is remembered of this folder. What cannot be read is no memory: it only saves typing.
    pub(crate) fn read(folder: &Path) -> Self {
        let text =
            trueup_files::read_text(&file(folder), Accept::Regular, MEMORY_BYTES_MAX).unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(Written { version: MEMORY_VERSION, stack, stage }) => {
                // The file may have come with the folder, from anyone.
                FolderMemory { stack, stage: stage.filter(|stage| stage_name(stage).is_ok()) }
            }
            _ => FolderMemory::default(),
        }
    }

    /// Remembers it, if anything else is remembered.
    pub(crate) fn update(&self, folder: &Path) -> io::Result<()> {
        if *self == Self::read(folder) { Ok(()) } else { self.write(folder) }
    }

    /// Remembers it. No one ever reads half of it, and runs that begin at once do not get in each other's way.
    fn write(&self, folder: &Path) -> io::Result<()> {
        make_own_folder(folder)?;
        let written =
            Written { version: MEMORY_VERSION, stack: self.stack.clone(), stage: self.stage.clone() };
        let text = serde_json::to_string_pretty(&written).map_err(io::Error::other)?;
        whole_file::replace(&file(folder), (text + "\n").as_bytes(), Readers::Owner)
    }
}

/// Makes the folder for what is ours, if it is not there. Nobody else may look into it, whatever the umask.
pub(crate) fn make_own_folder(folder: &Path) -> io::Result<()> {
    let own = folder.join(OWN_FOLDER);
    std::fs::create_dir_all(folder)?;
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(&own) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && own.is_dir() => {}
        Err(error) => return Err(error),
    }
    make_private(folder)?;
    let ignore = own.join(".gitignore");
    if ignore.exists() {
        return Ok(());
    }
    match whole_file::create(&ignore, b"*\n", Readers::Owner) {
        // Another run was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Closes the folder to others, if it is there: earlier versions left that to the umask. An umask may also take away what the
/// owner needs. What a link leads to is someone else's: its mode stays.
#[cfg(unix)]
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let own = folder.join(OWN_FOLDER);
    match std::fs::symlink_metadata(&own) {
        Ok(found) if found.is_dir() && found.permissions().mode() & 0o777 != 0o700 => {
            std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

fn file(folder: &Path) -> PathBuf {
    folder.join(OWN_FOLDER).join(MEMORY_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STATE-4: first deploys at once remember the folder each for itself.
    #[test]
    fn many_remember_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let memory = |at: usize| FolderMemory { stack: None, stage: Some(at.to_string().repeat(60)) };
        std::thread::scope(|scope| {
            for at in 0..8 {
                let path = folder.path();
                scope.spawn(move || {
                    for _ in 0..20 {
                        memory(at).write(path).unwrap();
                        assert_eq!(FolderMemory::read(path).stage.unwrap().len(), 60, "never half of it");
                    }
                });
            }
        });
        let left = std::fs::read_dir(folder.path().join(OWN_FOLDER)).unwrap().count();
        assert_eq!(left, 2, "the memory and .gitignore");
    }
}
