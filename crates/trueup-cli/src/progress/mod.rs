//! Showing a run while it lasts.
//!
//! Events come in on a thread of the event sink and go into the [`Tracker`]. In a terminal a second thread redraws the
//! bottom lines at a steady rate, however many events there are; elsewhere each thing that happens is a line in a log,
//! and what takes long is mentioned from time to time; with `--json` the events themselves are the output.

mod folding;
mod lines;
mod planning;
mod tracker;
mod waiting;

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use trueup_core::Address;
use trueup_engine::{Event, EventSink, Plan, Subscriber};
use trueup_provider::Clock;
use trueup_state::Holder;

use folding::Folding;
pub(crate) use planning::planning;
use tracker::{Happened, News, Note, Running, Tracker};
pub(crate) use waiting::Waiting;

use crate::ui::Ui;

/// How often the bottom lines are drawn.
const REDRAW: Duration = Duration::from_millis(80);

/// How often a log mentions what takes long.
const STILL: Duration = Duration::from_secs(30);

/// How a run is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Lines at the bottom of a terminal that change.
    Live,
    /// Lines that are only ever added.
    Plain,
    /// The events, as lines of JSON.
    Json,
}

impl Mode {
    /// The mode for this output.
    pub(crate) fn of(ui: &Ui, json: bool) -> Self {
        match (json, ui.is_live()) {
            (true, _) => Mode::Json,
            (false, true) => Mode::Live,
            (false, false) => Mode::Plain,
        }
    }
}

/// The line about whom a command waits for.
pub(crate) fn waiting_line(stage: &str, holder: &Holder, since: SystemTime) -> String {
    lines::waiting(&tracker::held_by(stage, holder, since))
}

/// Where the events of a dry run go: to the log alone, since its plan says the same.
pub(crate) fn logged() -> EventSink {
    let sink = EventSink::new();
    match tracing::enabled!(tracing::Level::DEBUG) {
        true => sink.with(|event: &Event| tracing::debug!("{}", event.to_json())),
        false => sink,
    }
}

/// A run that is shown.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    sink: EventSink,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    ui: Ui,
    mode: Mode,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    tracker: Tracker,
    /// What waits for the next drawing, or until all that happened is told.
    news: Vec<News>,
    folding: Folding,
}

impl Progress {
    /// Begins to show what happens.
    pub(crate) fn start(ui: &Ui, mode: Mode, clock: &Arc<dyn Clock>, attempts_usual: u32) -> Self {
        let tracker = Tracker::new(attempts_usual);
        let state = Mutex::new(State { tracker, news: Vec::new(), folding: Folding::default() });
        let shared = Arc::new(Shared { ui: ui.clone(), mode, clock: clock.clone(), state });
        let sink = EventSink::new().with(Receiver(shared.clone()));
        Progress { shared, sink, stop: None, thread: None }
    }

    /// Lists the resources that are tried more or less often than usual.
    pub(crate) fn expect_attempts(&mut self, attempts_max: BTreeMap<Address, u32>) {
        self.shared.state().tracker.expect_attempts(attempts_max);
    }

    /// How the run is shown.
    pub(crate) fn mode(&self) -> Mode {
        self.shared.mode
    }

    /// Where events go.
    pub(crate) fn sink(&self) -> EventSink {
        self.sink.clone()
    }

    /// Takes the plan that is about to be carried out, and begins to draw.
    pub(crate) fn begin(&mut self, plan: &Plan) {
        self.shared.state().tracker.begin(plan);
        if self.thread.is_some() || self.shared.mode == Mode::Json {
            return;
        }
        let (stop, stopped) = mpsc::channel();
        let shared = self.shared.clone();
        let interval = if shared.mode == Mode::Live { REDRAW } else { STILL };
        let tick = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                shared.tick();
            }
        };
        // Without a thread to spare, the run is shown at its end alone.
        self.thread = std::thread::Builder::new().name("trueup-progress".to_owned()).spawn(tick).ok();
        self.stop = Some(stop);
    }

    /// How the run stands, for those who interrupt it.
    pub(crate) fn watcher(&self) -> Watcher {
        Watcher { shared: self.shared.clone(), sink: self.sink.clone() }
    }

    /// Waits until all events are shown, and takes the bottom lines away.
    pub(crate) fn finish(mut self) {
        std::mem::take(&mut self.sink).close();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
        self.shared.flush();
        self.shared.ui.settle();
    }
}

/// Looks on at a run. What it says is true of all that has happened, also of what is not shown yet.
#[derive(Clone)]
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    sink: EventSink,
}

impl Watcher {
    /// Whether the run has begun.
    pub(crate) fn has_started(&self) -> bool {
        let has_started = || self.shared.state().tracker.has_started();
        has_started() || {
            self.sink.settle();
            has_started()
        }
    }

    /// What is in flight, with how long: `pg_database.main (7 s)`. What only waits to be tried again is not.
    pub(crate) fn under_way(&self) -> Vec<String> {
        self.sink.settle();
        let now = self.shared.clock.now();
        let told = |running: &Running| {
            let elapsed = now.duration_since(running.since).unwrap_or_default().as_secs();
            format!("{} ({elapsed} s)", running.address)
        };
        let waits = |running: &&Running| match &running.note {
            Some(Note::Retry { at, is_begun, .. }) => !is_begun && *at > now,
            Some(Note::Doing(_)) | None => false,
        };
        let running =
            |tracker: &Tracker| tracker.running().into_iter().filter(|it| !waits(it)).map(told).collect();
        running(&self.shared.state().tracker)
    }
}

/// Hears of events.
struct Receiver(Arc<Shared>);

impl Subscriber for Receiver {
    fn receive(&mut self, event: &Event) {
        self.0.receive(event);
    }

    fn caught_up(&mut self) {
        if self.0.mode == Mode::Plain {
            self.0.flush();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, event: &Event) {
        tracing::debug!("{}", event.to_json());
        let mut state = self.state();
        let news = state.tracker.receive(event);
        match (self.mode, news) {
            (Mode::Json, _) => self.ui.json(&event.to_json()),
            (_, None) => {}
            // Before the run has begun nothing is drawn, so it would wait for long.
            (Mode::Live, Some(News { what: Happened::Waiting(holder), .. })) => {
                self.ui.note(&lines::waiting(&holder));
            }
            (Mode::Plain | Mode::Live, Some(news)) => state.news.push(news),
        }
    }

    fn tick(&self) {
        let mut state = self.state();
        if !state.tracker.has_started() {
            return;
        }
        let now = self.clock.now();
        match self.mode {
            Mode::Live => {
                let look = self.ui.err();
                let news = std::mem::take(&mut state.news);
                let above = lines::above(&state.folding.take(news, now), &state.tracker, look);
                let bottom = lines::bottom(&state.tracker, now, look, crate::ui::rows());
                self.ui.redraw(&above, &bottom);
            }
            Mode::Plain => {
                let long =
                    |running: &&Running| now.duration_since(running.since).unwrap_or_default() >= STILL;
                let lines = state.tracker.running().into_iter().filter(long);
                lines.for_each(|running| self.ui.note(&lines::still(running, now)));
            }
            Mode::Json => {}
        }
    }

    /// Tells all that has not been told.
    fn flush(&self) {
        let mut state = self.state();
        let news = std::mem::take(&mut state.news);
        let above: Vec<String> = match self.mode {
            Mode::Plain => news.iter().map(lines::logged).collect(),
            Mode::Live => {
                let mut shown = state.folding.take(news, self.clock.now());
                shown.extend(state.folding.rest());
                lines::above(&shown, &state.tracker, self.ui.err())
            }
            Mode::Json => Vec::new(),
        };
        if !above.is_empty() {
            self.ui.redraw(&above, &[]);
        }
    }
}
