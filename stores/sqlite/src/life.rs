//! Signs of life: whether the run that holds a lease is still alive.
//!
//! Whoever takes a lease also locks a file beside the database. The operating system unlocks it when the process ends,
//! however it ends. The lock decides, whatever clocks say (STATE-17): while the file is locked, the lease is held; once
//! nobody locks a file in which the holder left its token, the lease is free at once. Only where the lock says nothing do
//! leases expire: it cannot be had on this file system, somebody removed the file, or the holder is on another machine,
//! whose locks may not be seen here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use trueup_state::{FencingToken, HeldLease, Holder};

use crate::presence::Identity;

/// How often a file is opened again that was removed meanwhile. More often, and the file system tells files apart by
/// something else.
const RACES_MAX: usize = 16;

pub(crate) struct SignsOfLife {
    database: PathBuf,
    /// The locked files of the leases that this handle holds, by the numbers of their scopes.
    kept: Mutex<BTreeMap<i64, (FencingToken, File)>>,
}

/// What the file of a scope says about who holds its lease.
pub(crate) enum Sign {
    /// Somebody has it locked.
    Alive,
    /// Nobody had it locked; now we have.
    Free(LockedFile),
    /// It can be neither opened nor locked.
    Unknown,
}

/// A locked file, and what its last holder left in it.
pub(crate) struct LockedFile {
    file: File,
    token: Option<FencingToken>,
    boot: Option<String>,
    /// The lease whose holder was gone when this one was taken. If that was cut off before it was committed, the store
    /// still names the earlier one.
    before: Option<FencingToken>,
}

impl LockedFile {
    /// Whether this proves that the holder of a lease is gone: it had this file locked, on this machine. Where nothing
    /// tells one start of the machine from others, the host of whoever asks does.
    pub(crate) fn proves_gone(&self, held: &HeldLease, asking: Option<&Holder>) -> bool {
        let same_boot = self.boot.is_some() && self.boot == *BOOT;
        let told_of = [self.token, self.before].contains(&Some(held.token));
        told_of && (same_boot || asking.is_some_and(|asking| held.holder.host == asking.host))
    }

    /// The same, taken after a lease whose holder is proved gone.
    pub(crate) fn after(self, gone: &HeldLease) -> Self {
        LockedFile { before: Some(gone.token), ..self }
    }
}

impl SignsOfLife {
    pub(crate) fn beside(database: &Path) -> Self {
        SignsOfLife { database: database.to_owned(), kept: Mutex::default() }
    }

    /// What the file of a scope says; it is made if there is none.
    pub(crate) fn look(&self, scope: i64) -> Sign {
        self.read(scope, true)
    }

    /// The same, and no file is made. Nobody may take a lease meanwhile: the file is locked for a moment.
    pub(crate) fn glance(&self, scope: i64) -> Sign {
        self.read(scope, false)
    }

    fn read(&self, scope: i64, make: bool) -> Sign {
        let path = self.path(scope);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(make).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        for _ in 0..RACES_MAX {
            let Ok(mut file) = options.open(&path) else { return Sign::Unknown };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Sign::Alive,
                Err(TryLockError::Error(_)) => return Sign::Unknown,
            }
            if !is_at(&file, &path) {
                // Whoever gave its lease back removed it after it was opened here: a lock that nobody else sees.
                continue;
            }
            let mut text = String::new();
            let _ = file.read_to_string(&mut text);
            // Behind the first line there may be the rest of a longer one.
            let mut words = text.lines().next().unwrap_or_default().split(' ');
            let token = |word: Option<&str>| word.and_then(|word| word.parse().ok()).map(FencingToken);
            let (holder, boot, before) = (token(words.next()), words.next(), token(words.next()));
            let boot = boot.filter(|boot| !boot.is_empty()).map(str::to_owned);
            return Sign::Free(LockedFile { file, token: holder, boot, before });
        }
        Sign::Unknown
    }

    /// The locked file of a scope whose lease is free. A lock of somebody who lost the lease, and has not noticed yet, is
    /// left behind with its file.
    pub(crate) fn take(&self, scope: i64) -> Option<LockedFile> {
        let sign = match self.look(scope) {
            Sign::Alive => {
                fs::remove_file(self.path(scope)).ok()?;
                self.look(scope)
            }
            sign => sign,
        };
        match sign {
            Sign::Free(file) => Some(file),
            Sign::Alive | Sign::Unknown => None,
        }
    }

    /// Leaves the token of a lease in its file, which stays locked for as long as this handle lasts.
    pub(crate) fn keep(
        &self,
        scope: i64,
        LockedFile { mut file, before, .. }: LockedFile,
        token: FencingToken,
    ) {
        let before = before.map_or(String::new(), |before| format!(" {}", before.0));
        let text = format!("{} {}{before}\n", token.0, BOOT.as_deref().unwrap_or_default());
        // In one write, so that a kill leaves the old text or the new one. What cannot be written is missed only after a
        // crash: the lease then expires.
        let _ = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
        if let Ok(mut kept) = self.kept.lock() {
            kept.insert(scope, (token, file));
        }
    }

    /// Makes and locks the file of a lease again if somebody removed it.
    pub(crate) fn restore(&self, scope: i64, token: FencingToken) {
        let path = self.path(scope);
        let is_lost = |kept: &BTreeMap<i64, (FencingToken, File)>| {
            kept.get(&scope).is_some_and(|(kept, file)| *kept == token && !is_at(file, Path::new(&path)))
        };
        if self.kept.lock().is_ok_and(|kept| is_lost(&kept))
            && let Sign::Free(file) = self.look(scope)
        {
            self.keep(scope, file, token);
        }
    }

    /// Unlocks the file of a lease that is about to be given back. If that fails, the file still tells that its run is over.
    /// Whether there was one.
    pub(crate) fn give_up(&self, scope: i64, token: FencingToken) -> bool {
        let Ok(mut kept) = self.kept.lock() else { return false };
        let ours = kept.get(&scope).is_some_and(|(kept, _)| *kept == token);
        ours && kept.remove(&scope).is_some()
    }

    /// Removes the file of a lease that was given back, unless another run has it by now. Nobody may take a lease meanwhile.
    pub(crate) fn clear(&self, scope: i64, token: FencingToken) {
        if let Sign::Free(file) = self.look(scope)
            && file.token == Some(token)
        {
            let _ = fs::remove_file(self.path(scope));
        }
    }

    fn path(&self, scope: i64) -> OsString {
        let mut path: OsString = self.database.clone().into_os_string();
        path.push(format!("-lease-{scope}"));
        path
    }
}

/// Whether a path leads to this file.
fn is_at(file: &File, path: impl AsRef<Path>) -> bool {
    match (file.metadata(), Identity::at(path.as_ref())) {
        (Ok(open), Ok(found)) => Identity::of(&open) == found,
        _ => false,
    }
}

/// What tells one start of a machine from all others, where there is such a thing: its containers share it, as they share
/// locks.
static BOOT: LazyLock<Option<String>> = LazyLock::new(|| {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
});
