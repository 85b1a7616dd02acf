//! Signs of life: how a run that was killed is told from one that is still at it.
//!
//! Whoever takes a lease also locks a file beside the database, which the operating system unlocks when the process
//! ends, however it ends. A lease whose holder left its token in a file that nobody locks any more is free at once: after
//! a crash nobody has to wait until it expires. Where the lock cannot be had, leases simply expire.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use trueup_state::FencingToken;

pub(crate) struct SignsOfLife {
    database: PathBuf,
    /// The locked files of the leases that this handle holds, by the numbers of their scopes.
    kept: Mutex<BTreeMap<i64, (FencingToken, File)>>,
}

/// A file that is locked, and the token that its last holder left in it.
pub(crate) struct Sign {
    file: File,
    pub(crate) last: Option<FencingToken>,
}

impl SignsOfLife {
    pub(crate) fn beside(database: &Path) -> Self {
        SignsOfLife { database: database.to_owned(), kept: Mutex::default() }
    }

    /// The file of a scope, locked; `None` if another holds it or it cannot be had.
    pub(crate) fn take(&self, scope: i64) -> Option<Sign> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(self.path(scope)).ok()?;
        file.try_lock().ok()?;
        let mut text = String::new();
        let last = file.read_to_string(&mut text).ok().and_then(|_| text.parse().ok()).map(FencingToken);
        Some(Sign { file, last })
    }

    /// Leaves the token of a lease in its file, which stays locked for as long as this handle lasts.
    pub(crate) fn keep(&self, scope: i64, sign: Sign, token: FencingToken) {
        let Sign { mut file, .. } = sign;
        let left = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", token.0));
        if let (Ok(()), Ok(mut kept)) = (left, self.kept.lock()) {
            kept.insert(scope, (token, file));
        }
    }

    /// Unlocks the file of a lease that is about to be given back. If that fails, the file still tells that its run is over.
    /// Whether there was one.
    pub(crate) fn give_up(&self, scope: i64, token: FencingToken) -> bool {
        let Ok(mut kept) = self.kept.lock() else { return false };
        let ours = kept.get(&scope).is_some_and(|(kept, _)| *kept == token);
        ours && kept.remove(&scope).is_some()
    }

    /// Removes the file of a lease that was given back, unless another run has it by now. Whoever opens it just then locks
    /// a file that others no longer see; the lease of that run expires like any other.
    pub(crate) fn clear(&self, scope: i64, token: FencingToken) {
        if self.take(scope).is_some_and(|sign| sign.last == Some(token)) {
            let _ = std::fs::remove_file(self.path(scope));
        }
    }

    fn path(&self, scope: i64) -> OsString {
        let mut path: OsString = self.database.clone().into_os_string();
        path.push(format!("-lease-{scope}"));
        path
    }
}
