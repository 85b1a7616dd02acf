//! How many plugins run at a time.
//!
//! A process serves one configuration of a provider. It is started when the first call needs it and stays, because a
//! start costs much; when there are as many as may be, one that nobody is calling makes room, the one longest unused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::ephemeral;
use crate::host::{KeptAnswers, Ticket};
use crate::process::Plugin;

/// The plugins that run.
pub struct Pool {
    processes_max: usize,
    state: Mutex<State>,
    /// Something changed for those who wait for a place.
    changed: Notify,
    /// The answers that hosts keep for us.
    kept: Mutex<Vec<(KeptAnswers, Ticket)>>,
    /// What was opened, and given up before it was closed.
    left_open: Mutex<Vec<ephemeral::Ticket>>,
}

/// How long all that was left open may take to be closed.
const CLOSING_MAX: Duration = Duration::from_secs(10);

#[derive(Default)]
struct State {
    running: Vec<Entry>,
    starting: usize,
    /// Counts uses, to tell which was last.
    uses: u64,
    /// Counts those who may have a process.
    keys: u64,
}

struct Entry {
    key: u64,
    running: Arc<Running>,
    calls: usize,
    used: u64,
}

/// A process that was made ready.
pub(crate) struct Running {
    pub(crate) plugin: Plugin,
    /// It was asked to stop what it does, and will do nothing more.
    pub(crate) stopped: AtomicBool,
}

/// A process in use: it stays while this lives.
pub(crate) struct Lease {
    pool: Arc<Pool>,
    key: u64,
    pub(crate) running: Arc<Running>,
}

/// The right to start a process.
pub(crate) struct Place {
    pool: Arc<Pool>,
    taken: bool,
}

/// What someone who wants a process gets.
pub(crate) enum Entrance {
    Running(Lease),
    Start(Place),
}

impl Pool {
    /// Room for this many processes; at least one.
    pub fn new(processes_max: usize) -> Arc<Self> {
        Arc::new(Pool {
            processes_max: processes_max.max(1),
            state: Mutex::default(),
            changed: Notify::new(),
            kept: Mutex::default(),
            left_open: Mutex::default(),
        })
    }

    /// How many processes run now.
    pub fn running(&self) -> usize {
        self.lock().running.len()
    }

    /// Closes what was left open, and ends all processes in good order.
    pub async fn shut_down(&self) {
        self.close_left_open().await;
        let entries = std::mem::take(&mut self.lock().running);
        let ends = entries.into_iter().filter_map(|entry| Arc::into_inner(entry.running));
        futures_util::future::join_all(ends.map(|running| running.plugin.shut_down())).await;
        self.changed.notify_waiters();
    }

    /// All that was answered is recorded: hosts need not keep it any more.
    pub fn acknowledge(&self) {
        for (kept, ticket) in std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner)) {
            if let Err(error) = kept.forget(ticket) {
                tracing::warn!("an answer that is recorded stays on disk: {error}");
            }
        }
    }

    pub(crate) fn note_kept(&self, kept: KeptAnswers, ticket: Ticket) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push((kept, ticket));
    }

    pub(crate) fn note_left_open(&self, ticket: ephemeral::Ticket) {
        self.left_open.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
    }

    async fn close_left_open(&self) {
        let left = std::mem::take(&mut *self.left_open.lock().unwrap_or_else(PoisonError::into_inner));
        let closing = futures_util::future::join_all(left.into_iter().map(ephemeral::Ticket::close_or_log));
        if tokio::time::timeout(CLOSING_MAX, closing).await.is_err() {
            tracing::warn!("ephemeral resources stay open: no answer");
        }
    }

    pub(crate) fn key(&self) -> u64 {
        let mut state = self.lock();
        state.keys += 1;
        state.keys
    }

    /// The process of this key, or a place to start it, as soon as there is one.
    pub(crate) async fn enter(self: &Arc<Self>, key: u64) -> Entrance {
        loop {
            let changed = self.changed.notified();
            let idle = match self.try_enter(key) {
                Ok(entrance) => return entrance,
                Err(idle) => idle,
            };
            match idle.and_then(|entry| Arc::into_inner(entry.running)) {
                Some(running) => running.plugin.shut_down().await,
                None => changed.await,
            }
        }
    }

    /// An entrance; else the process that makes room, if one can.
    fn try_enter(self: &Arc<Self>, key: u64) -> Result<Entrance, Option<Entry>> {
        let mut state = self.lock();
        // A process that ended or was stopped is of no more use; who still waits for its answers keeps it.
        state.running.retain(|entry| {
            entry.running.plugin.is_running() && !entry.running.stopped.load(Ordering::Relaxed)
        });
        if let Some(entry) = state.running.iter_mut().find(|entry| entry.key == key) {
            entry.calls += 1;
            let running = entry.running.clone();
            return Ok(Entrance::Running(Lease { pool: self.clone(), key, running }));
        }
        if state.running.len() + state.starting < self.processes_max {
            state.starting += 1;
            return Ok(Entrance::Start(Place { pool: self.clone(), taken: false }));
        }
        let idle = state.running.iter().enumerate().filter(|(_, entry)| entry.calls == 0);
        let idle = idle.min_by_key(|(_, entry)| entry.used).map(|(at, _)| at);
        Err(idle.map(|at| state.running.remove(at)))
    }

    /// Forgets a process. It ends when the last call of it is over.
    pub(crate) fn remove(&self, key: u64) {
        let removed: Vec<Entry> = {
            let mut state = self.lock();
            let (removed, kept) =
                std::mem::take(&mut state.running).into_iter().partition(|it| it.key == key);
            state.running = kept;
            removed
        };
        drop(removed);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Takes the place with a process that was made ready.
    pub(crate) fn take(mut self, key: u64, plugin: Plugin) -> Lease {
        self.taken = true;
        let running = Arc::new(Running { plugin, stopped: AtomicBool::new(false) });
        let mut state = self.pool.lock();
        state.starting -= 1;
        state.uses += 1;
        let used = state.uses;
        state.running.push(Entry { key, running: running.clone(), calls: 1, used });
        drop(state);
        Lease { pool: self.pool.clone(), key, running }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.taken {
            self.pool.lock().starting -= 1;
            self.pool.changed.notify_waiters();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.uses += 1;
        let uses = state.uses;
        let own = |entry: &&mut Entry| entry.key == self.key && Arc::ptr_eq(&entry.running, &self.running);
        if let Some(entry) = state.running.iter_mut().find(own) {
            entry.calls -= 1;
            entry.used = uses;
        }
        drop(state);
        self.pool.changed.notify_waiters();
    }
}
