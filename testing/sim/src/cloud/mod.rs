//! The simulated cloud: the truth about objects, and the unreliable way to it.
//!
//! A request travels (and may be lost), has its effect (or is refused), and is answered (or not). `objects` says what
//! there is, `consistency` what of it can be seen, `faults` what goes wrong with requests. Every effect goes into the
//! log with who caused it.

mod consistency;
mod faults;
mod objects;
mod request;

pub use consistency::Lateness;
pub use faults::Faults;
pub use objects::Kind;

pub(crate) use consistency::LATE_MAX;
pub(crate) use faults::Weather;
pub(crate) use objects::{Caller, Effect, HOME, ObjectId, SPELLINGS, Spec, Who, canonical, spelled};
pub(crate) use request::{Asking, Line, Refusal, Request, Seen};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trueup_provider::Clock;

use crate::clock::SimClock;
use crate::log::{Happened, Log};
use crate::random::Dice;
use crate::tally::Ingredient;
use objects::{Ghost, Object};

/// The cloud. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Cloud {
    contents: Arc<Mutex<Contents>>,
    clock: SimClock,
    log: Log,
}

struct Contents {
    objects: BTreeMap<ObjectId, Object>,
    ghosts: BTreeMap<ObjectId, Ghost>,
    /// What was made for which token.
    tokens: BTreeMap<String, ObjectId>,
    /// Requests of processes that are gone, which arrive all the same.
    travelling: Vec<(Duration, Caller, Request)>,
    made: u64,
    lateness: Lateness,
    weather: Weather,
    dice: Dice,
}

impl Cloud {
    pub(crate) fn new(clock: SimClock, log: Log, seed: u64) -> Self {
        let contents = Contents {
            objects: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            tokens: BTreeMap::new(),
            travelling: Vec::new(),
            made: 0,
            lateness: Lateness::default(),
            weather: Weather::fair(),
            dice: Dice::of(seed, 1),
        };
        Cloud { contents: Arc::new(Mutex::new(contents)), clock, log }
    }

    /// How the cloud behaves from now on.
    pub(crate) fn set_weather(&self, weather: Weather, lateness: Lateness) {
        let mut contents = self.lock();
        contents.weather = weather;
        contents.lateness = lateness;
    }

    /// The truth: all objects there are.
    pub(crate) fn truth(&self) -> BTreeMap<ObjectId, (Kind, Option<String>, Spec)> {
        self.arrive();
        let contents = self.lock();
        let told = |(id, it): (&ObjectId, &Object)| {
            // What is half made is like nothing that a program says.
            let colour = if it.complete { it.spec.colour.clone() } else { "half made".to_owned() };
            (id.clone(), (it.kind, it.name.clone(), Spec { colour, ..it.spec.clone() }))
        };
        contents.objects.iter().map(told).collect()
    }

    /// Where all objects are.
    pub(crate) fn regions(&self) -> BTreeMap<ObjectId, u64> {
        self.lock().objects.iter().map(|(id, object)| (id.clone(), object.region)).collect()
    }

    /// Puts an object there by hand.
    pub(crate) fn put_by_hand(&self, kind: Kind, name: String, spec: Spec) {
        let made = Request::Create { kind, name: Some(name), spec, token: None, tags: BTreeMap::new() };
        let _ = self.perform(&Who::Hand, made, true);
    }

    /// Changes an object by hand.
    pub(crate) fn change_by_hand(&self, id: &str, change: impl FnOnce(&mut Spec)) {
        let spec = self.lock().objects.get(id).map(|object| object.spec.clone());
        if let Some(mut spec) = spec {
            change(&mut spec);
            let _ = self.perform(&Who::Hand, Request::Update { id: id.to_owned(), spec }, true);
        }
    }

    /// Deletes an object by hand, also one that is in use.
    pub(crate) fn delete_by_hand(&self, id: &str) {
        let _ = self.perform(&Who::Hand, Request::Delete { id: id.to_owned() }, true);
    }

    /// Lets all requests arrive that are under way.
    pub(crate) fn arrive_all(&self) {
        self.lock().travelling.iter_mut().for_each(|(at, _, _)| *at = Duration::ZERO);
        self.arrive();
    }

    /// Lets requests arrive whose time has come.
    pub(crate) fn arrive(&self) {
        let now = self.clock.elapsed();
        let due: Vec<(Caller, Request)> = {
            let mut contents = self.lock();
            let (due, later) =
                std::mem::take(&mut contents.travelling).into_iter().partition(|(at, _, _)| *at <= now);
            contents.travelling = later;
            due.into_iter().map(|(_, caller, request)| (caller, request)).collect()
        };
        for (caller, request) in due {
            self.log.count(Ingredient::LateArrival);
            // Whoever sent it does not see it through.
            let complete = self.lock().dice.percent(70);
            let _ = self.perform(&Who::Engine(caller), request, complete);
        }
    }

    /// Waits until no command of a killed process is at work any more. Whether there was one.
    pub(crate) async fn commands_end(&self) -> bool {
        let mut waited = false;
        loop {
            self.arrive();
            let due = {
                let contents = self.lock();
                let commands = contents.travelling.iter().filter(|(_, _, request)| request.is_command());
                commands.map(|(at, _, _)| *at).min()
            };
            let Some(due) = due else { return waited };
            if !waited {
                self.log.count(Ingredient::CommandAwaited);
            }
            waited = true;
            self.clock.sleep(due.saturating_sub(self.clock.elapsed())).await;
        }
    }

    /// Has the effect of a request, or refuses it.
    fn perform(&self, who: &Who, request: Request, complete: bool) -> Result<Seen, Refusal> {
        let now = self.clock.elapsed();
        let mut contents = self.lock();
        let contents = &mut *contents;
        contents.ghosts.retain(|_, ghost| ghost.until > now);
        let region = who.region();
        if let Some(id) = request.object() {
            contents.refuse_elsewhere(id, region)?;
        }
        let region = region.unwrap_or(HOME);
        match request {
            Request::Create { kind, name, spec, token, tags } => {
                let name = name.map(|name| canonical(kind, &name));
                let made =
                    Object { kind, name, region, tags, spec, complete, before: None, visible_from: now };
                self.create(who, contents, made, token, now)
            }
            Request::Update { id, spec } => {
                contents.refuse_missing(&spec)?;
                self.change(who, contents, &id, spec, now)
            }
            Request::Delete { id } => self.delete(who, contents, &id, now),
            Request::Read { id } => contents.read(&id, now, &self.log),
            Request::Inspect { id } => {
                contents.objects.get(&id).map(|object| object.seen(&id)).ok_or(Refusal::Gone)
            }
            Request::Find { kind, name } => contents.find(kind, region, &name, now, &self.log),
        }
    }

    /// Creates an object, unless its token or its name stands for one that there is.
    fn create(
        &self,
        who: &Who,
        contents: &mut Contents,
        made: Object,
        token: Option<String>,
        now: Duration,
    ) -> Result<Seen, Refusal> {
        let known = token.as_ref().and_then(|token| contents.tokens.get(token));
        if let Some((id, object)) = known.and_then(|id| Some((id.clone(), contents.objects.get_mut(id)?))) {
            // The same token, the same object, as long as that lives; what is missing of it is made.
            object.complete |= made.complete;
            return Ok(object.seen(&id));
        }
        contents.refuse_taken(made.kind, made.region, made.name.as_deref())?;
        contents.refuse_missing(&made.spec)?;
        if let Some(id) = contents.shared(made.kind, made.region, made.name.as_deref()) {
            token.map(|token| contents.tokens.insert(token, id.clone()));
            self.log.count(Ingredient::Shared);
            return self.change(who, contents, &id, made.spec, now);
        }
        contents.made += 1;
        let id = format!("{}-{}", made.kind.word(), contents.made);
        let visible_from = now + contents.lateness.draw(&mut contents.dice);
        let made = Object { visible_from, ..made };
        let (name, uses, shown) = (made.name.clone(), made.spec.uses().cloned().collect(), shown(&made.spec));
        let seen = made.seen(&id);
        contents.objects.insert(id.clone(), made);
        token.map(|token| contents.tokens.insert(token, id.clone()));
        self.happened(who, &id, Effect::Created { name, uses, shown });
        Ok(seen)
    }

    fn change(
        &self,
        who: &Who,
        contents: &mut Contents,
        id: &str,
        spec: Spec,
        now: Duration,
    ) -> Result<Seen, Refusal> {
        let late = now + contents.lateness.draw(&mut contents.dice);
        let object = contents.objects.get_mut(id).ok_or(Refusal::Gone)?;
        let before = std::mem::replace(&mut object.spec, spec);
        object.before = (late > now).then_some((late, before));
        object.complete = true;
        let uses = object.spec.uses().cloned().collect();
        let shown = shown(&object.spec);
        let seen = object.seen(id);
        self.happened(who, id, Effect::Changed { uses, shown });
        Ok(seen)
    }

    fn delete(&self, who: &Who, contents: &mut Contents, id: &str, now: Duration) -> Result<Seen, Refusal> {
        let by_hand = *who == Who::Hand;
        // Of what is gone nobody is a user any more, whatever it still names.
        if !contents.objects.contains_key(id) {
            return Err(Refusal::Gone);
        }
        let user = contents.objects.iter().find(|(_, it)| it.spec.uses().any(|used| used == id));
        if let (Some((user, _)), false) = (user, by_hand) {
            return Err(Refusal::InUse(user.clone()));
        }
        // What cannot be seen yet cannot be deleted yet either.
        if let Some(object) = contents.objects.get(id).filter(|_| !by_hand) {
            object.seen_at(id, now, &self.log)?;
        }
        let object = contents.objects.remove(id).ok_or(Refusal::Gone)?;
        let until = now + contents.lateness.draw(&mut contents.dice);
        let seen = object.seen(id);
        contents.ghosts.insert(id.to_owned(), Ghost { object, until });
        self.happened(who, id, Effect::Deleted);
        Ok(seen)
    }

    fn happened(&self, who: &Who, id: &str, effect: Effect) {
        self.log.push(Happened::Effect { who: who.clone(), object: id.to_owned(), effect });
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    /// Nobody sees what is in another region.
    fn refuse_elsewhere(&self, id: &str, region: Option<u64>) -> Result<(), Refusal> {
        let there = self.objects.get(id).or_else(|| self.ghosts.get(id).map(|ghost| &ghost.object));
        match there.zip(region) {
            Some((object, region)) if object.region != region => Err(Refusal::Gone),
            _ => Ok(()),
        }
    }

    fn refuse_taken(&self, kind: Kind, region: u64, name: Option<&str>) -> Result<(), Refusal> {
        let Some(name) = name.filter(|_| kind.is_unique()) else { return Ok(()) };
        let bears = |object: &Object| object.is_called(kind, region, name);
        if self.objects.values().any(bears) {
            return Err(Refusal::Taken);
        }
        // The name of what was just deleted comes free when that is gone from sight.
        if self.ghosts.values().any(|ghost| bears(&ghost.object)) {
            return Err(Refusal::Releasing);
        }
        Ok(())
    }

    /// The object that whoever makes one of this name gets instead, if there is one.
    fn shared(&self, kind: Kind, region: u64, name: Option<&str>) -> Option<ObjectId> {
        let name = name.filter(|_| kind == Kind::Pool)?;
        let mut objects = self.objects.iter();
        objects.find(|(_, object)| object.is_called(kind, region, name)).map(|(id, _)| id.clone())
    }

    fn refuse_missing(&self, spec: &Spec) -> Result<(), Refusal> {
        match spec.uses().find(|used| !self.objects.contains_key(*used)) {
            Some(missing) => Err(Refusal::Missing(missing.clone())),
            None => Ok(()),
        }
    }

    fn read(&self, id: &str, now: Duration, log: &Log) -> Result<Seen, Refusal> {
        if let Some(ghost) = self.ghosts.get(id) {
            log.count(Ingredient::Ghost);
            return Ok(ghost.object.seen(id));
        }
        self.objects.get(id).ok_or(Refusal::Gone).and_then(|object| object.seen_at(id, now, log))
    }

    fn find(&self, kind: Kind, region: u64, name: &str, now: Duration, log: &Log) -> Result<Seen, Refusal> {
        let name = canonical(kind, name);
        let bears = |object: &Object| object.is_called(kind, region, &name);
        let named = self.objects.iter().filter(|(_, object)| bears(object));
        // Of several, the ones that say whose they are come first.
        if let Some((id, object)) = named.max_by_key(|(_, object)| !object.tags.is_empty()) {
            return object.seen_at(id, now, log);
        }
        let mut ghosts = self.ghosts.iter();
        let (id, ghost) = ghosts.find(|(_, ghost)| bears(&ghost.object)).ok_or(Refusal::Gone)?;
        log.count(Ingredient::GhostFound);
        Ok(ghost.object.seen(id))
    }
}

impl Object {
    fn is_called(&self, kind: Kind, region: u64, name: &str) -> bool {
        self.kind == kind && self.region == region && self.name.as_deref() == Some(name)
    }

    /// The object as it is.
    fn seen(&self, id: &str) -> Seen {
        Seen { id: id.to_owned(), spec: self.spec.clone(), tags: self.tags.clone(), complete: self.complete }
    }

    /// The object as it looks at a time.
    fn seen_at(&self, id: &str, now: Duration, log: &Log) -> Result<Seen, Refusal> {
        if now < self.visible_from {
            log.count(Ingredient::LateSight);
            return Err(Refusal::Gone);
        }
        match &self.before {
            Some((until, before)) if now < *until => {
                log.count(Ingredient::StaleRead);
                Ok(Seen { spec: before.clone(), ..self.seen(id) })
            }
            _ => Ok(self.seen(id)),
        }
    }
}

fn shown(spec: &Spec) -> String {
    let Spec { size, colour, needs, host, note, bound, secret: _ } = spec;
    let mut shown = format!("size {size}, {colour}");
    for (word, other) in [("needs", needs), ("on", host), ("says", note), ("told of", bound)] {
        if let Some(other) = other {
            shown.push_str(&format!(", {word} {other}"));
        }
    }
    shown
}
