//! The referee: starts the contestants, hears what they do, and makes their lives hard.
//!
//! Everything follows from what contestants report, not from the time it takes: one that holds a lease is stopped until
//! another has taken that lease over, and then goes on, as if nothing had happened, with a token that is too old. Only
//! where nobody can take over, because it was stopped in the middle of a write that locks the store, does it go on after
//! a while.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use trueup_test_servers::sized;

use super::chance::Chance;
use super::contestant::{NAME, PLACE, TERM};
use super::report::Report;
use super::verdict::Account;

/// How long one stays stopped at most, if nobody takes over.
const STOPPED_MAX: Duration = TERM.saturating_mul(6);

/// How long nobody may make progress.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How many times the commits that are enough are waited for if they are not shared among scopes and contestants.
const UNSHARED_MAX: usize = 50;

/// After how many takeovers a store has had every chance to refuse a commit that came too late.
const TAKEOVERS_MAX: usize = 50;

/// A contest for the store at a place.
pub struct Contest {
    test: String,
    place: String,
    /// How many processes contend.
    pub processes: usize,
    /// How many commits must be acknowledged before it ends.
    pub commits: usize,
    /// How many contestants must have been killed before it ends.
    pub kills: usize,
    /// How many must have been stopped until another took over, or for longer than their lease where nobody may.
    pub stops: usize,
    /// Whether the store knows who lives, so that nobody may take over from one that is stopped.
    pub living_keep_leases: bool,
    /// What decides whom it hits.
    pub seed: u64,
}

impl Contest {
    /// Contestants are what the test of this name does in a process of its own.
    pub fn new(test: &str, place: &str) -> Self {
        let (test, place) = (test.to_owned(), place.to_owned());
        let (commits, kills, stops) = sized((120, 4, 1), (400, 10, 6));
        Contest { test, place, processes: 8, commits, kills, stops, living_keep_leases: false, seed: 1 }
    }

    /// Holds the contest, to the end of all contestants.
    ///
    /// # Panics
    /// If contestants cannot be started, something happened that must not, or nobody makes progress.
    pub fn hold(self) -> Account {
        let (sender, reports) = channel();
        let contestants = (0..self.processes).map(|at| Contestant::start(&self, at, 0, &sender)).collect();
        let mut referee = Referee {
            chance: Chance::new(self.seed),
            contest: self,
            sender,
            contestants,
            stopped: Vec::new(),
            until_next: 1,
            account: Account::default(),
        };
        referee.watch(&reports);
        drop(referee.contestants);
        // What they said before they were killed counts too.
        drop(referee.sender);
        for (name, report) in &reports {
            referee.account.note(&name, report);
        }
        referee.account
    }
}

struct Referee {
    contest: Contest,
    chance: Chance,
    sender: Sender<(String, Report)>,
    contestants: Vec<Contestant>,
    stopped: Vec<Stopped>,
    /// How many commits until the next blow.
    until_next: usize,
    account: Account,
}

/// A contestant that was stopped while it held a lease.
struct Stopped {
    name: String,
    scope: usize,
    token: u64,
    since: Instant,
}

impl Referee {
    fn watch(&mut self, reports: &Receiver<(String, Report)>) {
        let mut last_progress = now();
        while !self.is_over() {
            let outlasted = self.let_go(|stopped| stopped.since.elapsed() > STOPPED_MAX);
            if self.contest.living_keep_leases {
                self.account.outlasted += outlasted;
            }
            assert!(last_progress.elapsed() < SILENCE_MAX, "nobody makes progress: {}", self.account);
            let (name, report) = match reports.recv_timeout(TERM) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => panic!("all contestants are gone"),
            };
            self.account.note(&name, report.clone());
            match report {
                Report::Took { scope, token } => {
                    self.account.takeovers += self.let_go(|it| it.scope == scope && it.token < token);
                }
                Report::Committed { scope, token, .. } => {
                    last_progress = now();
                    self.until_next -= 1;
                    if self.until_next == 0 {
                        self.strike(&name, scope, token);
                        self.until_next = 3 + self.chance.below(20);
                    }
                }
                Report::Superseded { .. } if self.contest.living_keep_leases => {
                    panic!("{name} lost its lease while it lived: {}", self.account)
                }
                Report::Superseded { .. } | Report::Trouble(_) => {}
                Report::Broken(what) => panic!("{name}: {what}"),
            }
        }
    }

    fn is_over(&self) -> bool {
        let Account { kills, takeovers, outlasted, superseded, .. } = self.account;
        let commits = self.account.acknowledged();
        let stopped = if self.contest.living_keep_leases {
            outlasted >= self.contest.stops
        } else {
            // One that was stopped after its last commit has nothing to be refused: wait for one that has.
            takeovers >= self.contest.stops && (superseded > 0 || takeovers >= TAKEOVERS_MAX)
        };
        let shared = self.account.is_shared() || commits >= UNSHARED_MAX * self.contest.commits;
        commits >= self.contest.commits && kills >= self.contest.kills && stopped && shared
    }

    /// Kills anyone, or stops the one that has just committed: it holds the lease, most probably.
    fn strike(&mut self, name: &str, scope: usize, token: u64) {
        if self.chance.below(2) == 0 {
            let at = self.chance.below(self.contestants.len());
            let generation = self.contestants[at].generation + 1;
            self.stopped.retain(|stopped| stopped.name != self.contestants[at].name);
            self.contestants[at] = Contestant::start(&self.contest, at, generation, &self.sender);
            self.account.kills += 1;
        } else if let Some(contestant) = self.contestants.iter().find(|it| it.name == name)
            && self.stopped.iter().all(|stopped| stopped.name != name)
        {
            contestant.signal(Signal::STOP);
            self.stopped.push(Stopped { name: name.to_owned(), scope, token, since: now() });
        }
    }

    /// Lets those go on for whom it is time, and tells how many.
    fn let_go(&mut self, is_time: impl Fn(&Stopped) -> bool) -> usize {
        let before = self.stopped.len();
        let contestants = &self.contestants;
        self.stopped.retain(|stopped| {
            let over = is_time(stopped);
            if over && let Some(contestant) = contestants.iter().find(|it| it.name == stopped.name) {
                contestant.signal(Signal::CONT);
            }
            !over
        });
        before - self.stopped.len()
    }
}

/// A process that contends. Dropping it kills it, also while it is stopped.
struct Contestant {
    name: String,
    generation: usize,
    child: Child,
}

impl Contestant {
    fn start(
        contest: &Contest,
        at: usize,
        generation: usize,
        sender: &Sender<(String, Report)>,
    ) -> Contestant {
        let name = format!("{at}.{generation}");
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.args([&contest.test, "--exact", "--nocapture", "--test-threads=1"]);
        command.env(PLACE, &contest.place).env(NAME, &name);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("this program can be started again");
        let output = child.stdout.take().expect("its output is ours");
        let (speaker, sender) = (name.clone(), sender.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(report) = Report::read(&line)
                    && sender.send((speaker.clone(), report)).is_err()
                {
                    return;
                }
            }
        });
        Contestant { name, generation, child }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("it has a process");
        kill_process(pid, signal).expect("it is ours, and was not waited for yet");
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "processes are stopped and started in real time")]
fn now() -> Instant {
    Instant::now()
}
