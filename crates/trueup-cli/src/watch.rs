//! Waiting for files to change: all below a folder, and some elsewhere. Changes that come together count once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify_debouncer_full::notify::{EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};
use tokio::sync::mpsc;

use crate::settings::OWN_FOLDER;

/// So long nothing more must happen before a change counts.
const SETTLE: Duration = Duration::from_millis(150);

/// Watches files.
pub(crate) struct Watch {
    debouncer: Debouncer<RecommendedWatcher, RecommendedCache>,
    changes: mpsc::UnboundedReceiver<()>,
    folder: PathBuf,
    elsewhere: Vec<PathBuf>,
}

impl Watch {
    /// Watches all below a folder, apart from the log that we write ourselves.
    pub(crate) fn new(
        folder: &Path,
        log: Option<&Path>,
    ) -> Result<Self, notify_debouncer_full::notify::Error> {
        let (root, log) = (folder.to_owned(), log.map(Path::to_owned));
        Self::with(folder, RecursiveMode::Recursive, move |path| concerns(path, &root, log.as_deref()))
    }

    fn with(
        folder: &Path,
        mode: RecursiveMode,
        matters: impl Fn(&PathBuf) -> bool + Send + 'static,
    ) -> Result<Self, notify_debouncer_full::notify::Error> {
        let (sender, changes) = mpsc::unbounded_channel();
        let heard = move |result: DebounceEventResult| {
            let Ok(events) = result else { return };
            let changed = events
                .iter()
                .filter(|event| !matches!(event.kind, EventKind::Access(_)))
                .any(|event| event.paths.iter().any(&matters));
            if changed {
                // Nobody waits any more: then nothing is missed.
                let _ = sender.send(());
            }
        };
        let mut debouncer = new_debouncer(SETTLE, None, heard)?;
        debouncer.watch(folder, mode)?;
        Ok(Watch { debouncer, changes, folder: folder.to_owned(), elsewhere: Vec::new() })
    }

    /// Watches one file alone, which is replaced as a whole.
    pub(crate) fn of_file(file: &Path) -> Result<Self, notify_debouncer_full::notify::Error> {
        let watched = file.to_owned();
        let around = file.parent().unwrap_or(file);
        Self::with(around, RecursiveMode::NonRecursive, move |path| *path == watched)
    }

    /// Watches these too, where they lie elsewhere.
    pub(crate) fn also(&mut self, files: &[PathBuf]) {
        for file in files.iter().filter(|file| file.is_absolute() && !file.starts_with(&self.folder)) {
            // The folder rather than the file: editors replace files, and a watch would stay with the old one.
            let Some(around) = file.parent().map(Path::to_owned) else { continue };
            if !self.elsewhere.contains(&around)
                && self.debouncer.watch(&around, RecursiveMode::NonRecursive).is_ok()
            {
                self.elsewhere.push(around);
            }
        }
    }

    /// Waits for a change; false if there will be none.
    pub(crate) async fn changed(&mut self) -> bool {
        let changed = self.changes.recv().await.is_some();
        while self.changes.try_recv().is_ok() {}
        changed
    }
}

/// What is ours, version control's or an editor's is no change of the text.
fn concerns(path: &Path, root: &Path, log: Option<&Path>) -> bool {
    if log == Some(path) {
        return false;
    }
    let path = path.strip_prefix(root).unwrap_or(path);
    let own = |part: &std::ffi::OsStr| part == OWN_FOLDER || part == ".git";
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let scratch =
        name.ends_with('~') || name.ends_with(".swp") || name.ends_with(".new") || name.starts_with(".#");
    !scratch && !path.iter().any(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_concerns_us() {
        let log = Some(Path::new("/x/dev.log"));
        for path in ["main.tf", "modules/net/main.tf", "out/index.html"] {
            assert!(concerns(&Path::new("/x").join(path), Path::new("/x"), log), "{path}");
        }
        for path in [".trueup/state.db", ".git/HEAD", "main.tf~", ".main.tf.swp", "x/.git/index", "dev.log"] {
            assert!(!concerns(&Path::new("/x").join(path), Path::new("/x"), log), "{path}");
        }
    }
}
