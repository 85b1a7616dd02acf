//! Golden files: state, plan files, exports and event streams as released binaries wrote them.
//!
//! Each folder named after a month, such as `2026-11`, holds one set of formats. [`write`] writes it once, with the
//! binary of that time; after that nobody changes it. Every later binary must read it, or refuse it with the documented
//! message (STATE-7, PLANFILE-4). CONTRIBUTING.md says when to add a folder.
//!
//! | in a folder | contents |
//! | --- | --- |
//! | `stacks/` | the programs, with the files they deployed |
//! | `sqlite/`, `postgres/`, `s3/` | the state of `shop`, `cut` and `rare`, a copy for each store |
//! | `key` | the key that opens the secrets |
//! | `exports/`, `plans/`, `events/` | what `state export`, `plan --out` and `deploy --json` wrote |
//! | `digests` | the digest of each of these files |
//! | `expected/` | what commands say about them; [`write`] can derive it anew |
//!
//! The stack `shop` holds finished resources, `cut` interrupted operations of every kind, and `rare` records that no
//! built-in type leaves behind. The plan files are for `site` and `vault`. `keys`
//! has an export for each kind of key, and `events` writes the event stream.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

pub(crate) mod bucket;
mod database;
mod digests;
mod events;
mod expectation;
mod exports;
mod intents;
mod place;
mod plans;
mod rare;
mod states;
mod workplace;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// Every folder, oldest first.
const FOLDERS: [&str; 2] = ["2026-11", "2026-11-18"];

/// The stacks whose state is in all three stores.
const STACKS: [&str; 3] = ["shop", "cut", "rare"];

/// The stage of all state.
const STAGE: &str = "prod";

/// One folder of golden files.
pub(crate) struct Golden {
    path: PathBuf,
}

impl Golden {
    pub(crate) fn all() -> impl Iterator<Item = Golden> {
        FOLDERS.into_iter().map(Golden::named)
    }

    /// Checks every folder, all at once: interrupted creates are looked for throughout their consistency window.
    pub(crate) fn each(check: impl Fn(&Golden) + Sync) {
        std::thread::scope(|scope| {
            for golden in Golden::all() {
                let check = &check;
                scope.spawn(move || check(&golden));
            }
        });
    }

    fn named(name: &str) -> Golden {
        Golden { path: home().join(name) }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    pub(crate) fn text(&self, file: &str) -> String {
        let path = self.path(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn json(&self, file: &str) -> Json {
        serde_json::from_str(&self.text(file)).unwrap()
    }

    /// Writes a new file.
    pub(crate) fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// The files below a folder, by their paths within it.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.path(folder))
    }
}

/// The folder of this module.
fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The files below a folder, by their paths within it, separated by `/`.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let parts: Vec<_> =
                path.strip_prefix(root).unwrap().iter().map(|it| it.to_str().unwrap()).collect();
            files.insert(parts.join("/"), std::fs::read(&path).unwrap());
        }
    }
    files
}
