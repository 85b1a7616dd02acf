//! What is remembered of a folder between runs, in `.trueup` beside the program: the stack's name as it was first
//! deployed, and the stage used last. The folder ignores itself in version control.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The folder in which everything of ours lies.
pub(crate) const OWN_FOLDER: &str = ".trueup";

const MEMORY_FILE: &str = "folder.json";
const MEMORY_VERSION: u32 = 1;

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
        let text = std::fs::read_to_string(file(folder)).unwrap_or_default();
        match serde_json::from_str(&text) {
            Ok(Written { version: MEMORY_VERSION, stack, stage }) => FolderMemory { stack, stage },
            _ => FolderMemory::default(),
        }
    }

    /// Remembers it. Written beside and renamed, so that no one ever reads half of it.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        make_own_folder(folder)?;
        let written =
            Written { version: MEMORY_VERSION, stack: self.stack.clone(), stage: self.stage.clone() };
        let text = serde_json::to_string_pretty(&written).map_err(io::Error::other)?;
        let beside = file(folder).with_extension("new");
        std::fs::write(&beside, text + "\n")?;
        std::fs::rename(beside, file(folder))
    }
}

/// Makes the folder for what is ours, if it is not there.
pub(crate) fn make_own_folder(folder: &Path) -> io::Result<()> {
    let own = folder.join(OWN_FOLDER);
    std::fs::create_dir_all(&own)?;
    let ignore = own.join(".gitignore");
    if ignore.exists() { Ok(()) } else { std::fs::write(ignore, "*\n") }
}

fn file(folder: &Path) -> PathBuf {
    folder.join(OWN_FOLDER).join(MEMORY_FILE)
}
