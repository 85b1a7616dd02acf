//! Commands that end with the run that started them, even if that run is killed.
//!
//! A command that changes something is not started by the run itself but by a *supervisor*: this program once more, in a
//! process group of its own ([`guard_command`]). The two are joined by a socket. When the run is gone, the supervisor
//! reads its end, ends the command's process group, and only then lets go of a lock that the next run waits for.
//!
//! Each run owns two files in the folder of locks. It locks the first for as long as it lives; its supervisors share a
//! lock on the second while their commands live. So the first file tells whether a run is dead, and the second whether
//! its commands are.
//!
//! **Guarantees**: no command of a dead run changes anything once [`CommandGuard::wait_for_orphans`] has returned.
//! **Caveats**: runs on other machines don't see the locks. A program that left its process group is not ended. A
//! supervisor that is itself killed ends nothing.

mod supervisor;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use trueup_provider::{Clock, Error};

pub use supervisor::guard_command;
pub(super) use supervisor::{own_program, start};

/// How long the next run waits for the commands of a killed one: several times what a supervisor takes to end one.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// How long it waits before it says so.
const SILENT_WAIT: Duration = Duration::from_millis(200);

/// How often it looks whether they have ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Ends the commands of a run with it, and lets runs wait for the commands of killed ones. Clones share it.
#[derive(Clone)]
pub struct CommandGuard {
    folder: PathBuf,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
    own: Arc<Mutex<Option<Locks>>>,
}

impl CommandGuard {
    /// A guard with its locks in this folder, which all runs of a stack share. It is made when a command needs it.
    ///
    /// The program's `main` must begin with [`guard_command`]: the guard starts commands by way of it. `tell` hears, for
    /// people, what is waited for.
    pub fn new(folder: impl Into<PathBuf>, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let folder = folder.into();
        // Supervisors run elsewhere than this process.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        CommandGuard { folder, tell: Arc::new(tell), own: Arc::default() }
    }

    /// The file that supervisors of this run lock.
    fn commands_lock(&self) -> io::Result<PathBuf> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(Locks::take(&self.folder)?);
        }
        Ok(own.as_ref().map(|own| own.commands.clone()).unwrap_or_default())
    }

    /// Waits until the commands of killed runs have ended, and returns whether any had not.
    pub(crate) async fn wait_for_orphans(&self, clock: &dyn Clock) -> Result<bool, Error> {
        let began = clock.now();
        let (mut told, mut any) = (false, false);
        while let Some(left) = ended_runs(&self.folder).into_iter().find(|left| !left.clean_up()) {
            any = true;
            let waited = clock.now().duration_since(began).unwrap_or_default();
            if waited >= WAIT_MAX {
                let message = "a command of a killed run is still running, and may change what this run sees";
                let hint = format!("end it, or see who holds `{}`", left.commands.display());
                return Err(Error::fatal(message).hint(hint));
            }
            if !told && waited >= SILENT_WAIT {
                (self.tell)("Waiting until the commands of a killed run have ended");
                told = true;
            }
            clock.sleep(LOOK_INTERVAL).await;
        }
        Ok(any)
    }
}

impl fmt::Debug for CommandGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command guard in {}", self.folder.display())
    }
}

/// The two files of this run.
struct Locks {
    run: PathBuf,
    commands: PathBuf,
    /// Locked until this is dropped, or the process ends.
    _held: File,
}

impl Locks {
    /// Makes and locks the files of a run.
    fn take(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = format!("{:016x}", u64::from_le_bytes(bytes));
        let path = |suffix: &str| folder.join(format!("{name}.{suffix}"));
        let (fresh, run, commands) = (path("new"), path("run"), path("commands"));
        let held = File::create_new(&fresh)?;
        flock(&held, FlockOperation::LockExclusive)?;
        File::create_new(&commands)?;
        // Nobody sees it before it is locked.
        fs::rename(&fresh, &run)?;
        Ok(Locks { run, commands, _held: held })
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        // What is still being ended is waited for by whoever comes next.
        if (EndedRun { run: self.run.clone(), commands: self.commands.clone() }).clean_up()
            && let Some(folder) = self.run.parent()
        {
            // Others may still use it.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A run that is over, with its files.
struct EndedRun {
    run: PathBuf,
    commands: PathBuf,
}

impl EndedRun {
    /// Removes the files if no command holds them any more; whether that was so.
    fn clean_up(&self) -> bool {
        let Ok(commands) = File::open(&self.commands) else {
            // Someone else removes them.
            let _ = fs::remove_file(&self.run);
            return true;
        };
        if flock(&commands, FlockOperation::NonBlockingLockExclusive).is_err() {
            return false;
        }
        // If they stay, the next one removes them.
        let _ = fs::remove_file(&self.commands).and_then(|()| fs::remove_file(&self.run));
        true
    }
}

/// The runs that are over and left files behind.
fn ended_runs(folder: &Path) -> Vec<EndedRun> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "run"));
    let is_over = |path: &PathBuf| {
        // Shared, so that those who look at the same time don't take each other for the run.
        File::open(path).is_ok_and(|run| flock(&run, FlockOperation::NonBlockingLockShared).is_ok())
    };
    runs.filter(is_over).map(|run| EndedRun { commands: run.with_extension("commands"), run }).collect()
}
