//! The way to the cloud and back, for one process.

use std::collections::BTreeMap;
use std::time::Duration;

use trueup_provider::{CallContext, Clock};

use super::Cloud;
use super::faults::Fault;
use super::objects::{Caller, HOME, Kind, ObjectId, Spec, Who};
use crate::log::Happened;
use crate::process::Process;
use crate::tally::Ingredient;

/// Something that is asked of the cloud.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Create {
        kind: Kind,
        name: Option<String>,
        spec: Spec,
        token: Option<String>,
        tags: BTreeMap<String, String>,
    },
    Update {
        id: ObjectId,
        spec: Spec,
    },
    Delete {
        id: ObjectId,
    },
    Read {
        id: ObjectId,
    },
    /// A read that is never late.
    Inspect {
        id: ObjectId,
    },
    Find {
        kind: Kind,
        name: String,
    },
}

/// The change that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asking {
    Create,
    Update,
    Delete,
}

/// An object as the cloud shows it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) id: ObjectId,
    pub(crate) spec: Spec,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) complete: bool,
}

/// Why the cloud did not do what it was asked.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    Throttled(Duration),
    Denied,
    Unavailable,
    /// Nobody knows whether it happened.
    Lost,
    /// An object of that name exists.
    Taken,
    /// The name is not free yet.
    Releasing,
    InUse(ObjectId),
    Missing(ObjectId),
    Gone,
    Quota,
    /// Half of it was made.
    Partial(Box<Seen>),
}

/// How long the request of a process that was killed is under way at most.
const TRAVEL_MAX: Duration = Duration::from_secs(55);

/// How long a command of a killed process goes on at most.
const COMMAND_MAX: Duration = Duration::from_secs(7);

/// The way of one process to the cloud.
#[derive(Clone)]
pub(crate) struct Line {
    cloud: Cloud,
    process: Process,
    region: u64,
    /// The secret that the provider was configured with, if it was.
    key: Option<String>,
}

impl Line {
    pub(crate) fn new(cloud: Cloud, process: Process) -> Self {
        Line { cloud, process, region: HOME, key: None }
    }

    /// The same to another region, with this key.
    pub(crate) fn within(&self, region: u64, key: Option<String>) -> Self {
        Line { region, key, ..self.clone() }
    }

    /// Where it leads.
    pub(crate) fn region(&self) -> u64 {
        self.region
    }

    /// The key that it is opened with.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Asks something of the cloud on behalf of a call.
    pub(crate) async fn ask(
        &self,
        context: &CallContext,
        region: u64,
        request: Request,
    ) -> Result<Seen, Refusal> {
        let caller = Caller {
            process: self.process.number(),
            address: context.address.clone(),
            origin: context.owner.origin.clone(),
            generation: context.generation,
            region,
        };
        if request.is_command() {
            self.cloud.commands_end().await;
        }
        let answer = self.travel(&caller, request.clone()).await;
        match (&answer, &request) {
            (
                Err(Refusal::Gone),
                Request::Read { id }
                | Request::Inspect { id }
                | Request::Delete { id }
                | Request::Update { id, .. },
            ) => {
                self.cloud.log.push(Happened::ToldGone { object: id.clone() });
            }
            (Ok(_), Request::Delete { id }) => {
                self.cloud.log.push(Happened::ToldGone { object: id.clone() });
            }
            (Err(refusal), _) => {
                match refusal {
                    Refusal::InUse(_) => self.cloud.log.count(Ingredient::InUse),
                    Refusal::Taken => self.cloud.log.count(Ingredient::Taken),
                    _ => {}
                }
                let what = format!("{} -> {refusal:?}", request.told());
                self.cloud.log.push(Happened::Refused { caller, what });
            }
            (Ok(_), _) => {}
        }
        answer
    }

    async fn travel(&self, caller: &Caller, request: Request) -> Result<Seen, Refusal> {
        let (there, back, fault) = {
            let mut contents = self.cloud.lock();
            let fault = contents.weather.next(request.creates(), request.changes());
            let dice = &mut contents.dice;
            (Duration::from_millis(dice.between(1, 40)), Duration::from_millis(dice.between(1, 40)), fault)
        };
        // What is made twice without a name of its own, nobody could ever tell apart: no cloud is that bad.
        let fault = fault.filter(|fault| !(*fault == Fault::Duplicate && request.is_unprotected()));
        fault.iter().for_each(|fault| self.cloud.log.count(fault.ingredient()));
        self.process.point().await;
        if let Some(asking) = request.asking() {
            self.cloud.log.push(Happened::Asked {
                caller: caller.clone(),
                asking,
                what: request.told(),
                object: request.object().cloned(),
                uses: request.uses(),
            });
        }
        self.process.sends();
        let mut sent = Sent { line: self, caller, request: Some(request.clone()) };
        self.wait(there).await;
        if let Some(Fault::Slow(time)) = fault {
            self.wait(time).await;
        }
        self.process.point().await;
        self.cloud.arrive();
        sent.request = None;
        match fault {
            Some(Fault::Throttled(delay)) => return Err(Refusal::Throttled(delay)),
            Some(Fault::Denied) => return Err(Refusal::Denied),
            Some(Fault::Unavailable) => return Err(Refusal::Unavailable),
            Some(Fault::Quota) => return Err(Refusal::Quota),
            Some(Fault::LostRequest) => {
                self.wait(Duration::from_secs(30)).await;
                return Err(Refusal::Lost);
            }
            _ => {}
        }
        let who = Who::Engine(caller.clone());
        let complete = fault != Some(Fault::Partial);
        let answer = self.cloud.perform(&who, request.clone(), complete);
        self.process.point().await;
        match fault {
            Some(Fault::LostResponse) => {
                self.wait(Duration::from_secs(30)).await;
                return Err(Refusal::Lost);
            }
            Some(Fault::FailedAfter) => {
                self.wait(back).await;
                return Err(if request.is_blind() { Refusal::Lost } else { self.misleading() });
            }
            Some(Fault::Hang) => self.wait(Duration::from_secs(1_000_000)).await,
            Some(Fault::Duplicate) => drop(self.cloud.perform(&who, request, complete)),
            Some(Fault::Partial) => return Err(Refusal::Partial(Box::new(answer?))),
            _ => {}
        }
        self.wait(back).await;
        self.process.point().await;
        answer
    }

    async fn wait(&self, time: Duration) {
        self.cloud.clock.sleep(time).await;
    }

    /// Waits until no command of a killed process is at work any more. Whether there was one.
    pub(crate) async fn commands_end(&self) -> bool {
        self.cloud.commands_end().await
    }

    /// Counts something.
    pub(crate) fn count(&self, ingredient: Ingredient) {
        self.cloud.log.count(ingredient);
    }

    /// How the next half-made object is told of: which class of failure.
    pub(crate) fn draw(&self, below: u64) -> u64 {
        self.cloud.lock().weather.dice().below(below)
    }

    /// What is said of something that happened all the same.
    fn misleading(&self) -> Refusal {
        match self.draw(3) {
            0 => Refusal::Lost,
            1 => Refusal::Unavailable,
            _ => Refusal::Throttled(Duration::from_secs(1)),
        }
    }
}

/// A request on its way. If whoever sent it is gone, it may arrive all the same.
struct Sent<'a> {
    line: &'a Line,
    caller: &'a Caller,
    request: Option<Request>,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        self.line.process.hears();
        let Some(request) = self.request.take().filter(Request::changes) else { return };
        let now = self.line.cloud.clock.elapsed();
        if request.is_command() {
            return self.leave_command(now, request);
        }
        // It may be under way for as long as nobody else may begin, and no longer.
        let process = self.caller.process;
        let until = self.line.cloud.log.ask(|watch| {
            let own = watch.leases.values().filter(|given| given.held && given.process == process);
            own.map(|given| given.until).max()
        });
        let longest = until.unwrap_or_default().saturating_sub(now).min(TRAVEL_MAX);
        let mut contents = self.line.cloud.lock();
        if contents.dice.percent(50) {
            let delay = Duration::from_millis(contents.dice.below(longest.as_millis() as u64 + 1));
            contents.travelling.push((now + delay, self.caller.clone(), request));
        }
    }
}

impl Sent<'_> {
    /// A command ends with the call that started it, unless its process was killed: then it goes on for a while.
    fn leave_command(&self, now: Duration, request: Request) {
        let mut contents = self.line.cloud.lock();
        if self.line.process.is_cut() && contents.dice.percent(50) {
            let delay = Duration::from_millis(contents.dice.below(COMMAND_MAX.as_millis() as u64));
            contents.travelling.push((now + delay, self.caller.clone(), request));
        }
    }
}

impl Request {
    fn creates(&self) -> bool {
        matches!(self, Request::Create { .. })
    }

    /// Whether it changes anything.
    pub(crate) fn changes(&self) -> bool {
        self.asking().is_some()
    }

    /// What change it asks for, if any.
    fn asking(&self) -> Option<Asking> {
        match self {
            Request::Create { .. } => Some(Asking::Create),
            Request::Update { .. } => Some(Asking::Update),
            Request::Delete { .. } => Some(Asking::Delete),
            Request::Read { .. } | Request::Inspect { .. } | Request::Find { .. } => None,
        }
    }

    /// Whether nobody could find out what it made.
    fn is_blind(&self) -> bool {
        matches!(self, Request::Create { kind, .. } if kind.is_blind())
    }

    /// Whether a local command sends it.
    pub(super) fn is_command(&self) -> bool {
        let kind = match self {
            Request::Create { kind, .. } | Request::Find { kind, .. } => Some(*kind),
            Request::Update { id, .. }
            | Request::Delete { id }
            | Request::Read { id }
            | Request::Inspect { id } => Kind::ALL.into_iter().find(|kind| kind.is_of(id)),
        };
        kind.is_some_and(Kind::is_managed_by_commands)
    }

    /// Whether nothing keeps it from making a second object if it arrives twice.
    fn is_unprotected(&self) -> bool {
        match self {
            Request::Create { kind, token, .. } => token.is_none() && !kind.is_unique(),
            _ => false,
        }
    }

    pub(super) fn object(&self) -> Option<&ObjectId> {
        match self {
            Request::Update { id, .. }
            | Request::Delete { id }
            | Request::Read { id }
            | Request::Inspect { id } => Some(id),
            Request::Create { .. } | Request::Find { .. } => None,
        }
    }

    fn uses(&self) -> Vec<ObjectId> {
        match self {
            Request::Create { spec, .. } | Request::Update { spec, .. } => spec.uses().cloned().collect(),
            Request::Delete { .. }
            | Request::Read { .. }
            | Request::Inspect { .. }
            | Request::Find { .. } => Vec::new(),
        }
    }

    /// The request in words.
    fn told(&self) -> String {
        match self {
            Request::Create { kind, name, .. } => {
                format!("create {} {}", kind.word(), name.as_deref().unwrap_or("without a name"))
            }
            Request::Update { id, .. } => format!("update {id}"),
            Request::Delete { id } => format!("delete {id}"),
            Request::Read { id } => format!("read {id}"),
            Request::Inspect { id } => format!("inspect {id}"),
            Request::Find { kind, name } => format!("find {} {name}", kind.word()),
        }
    }
}
