//! A line that says that something is going on, while a plan is made: silence would look like a hang.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use trueup_engine::Looking;
use trueup_provider::Clock;

use super::REDRAW;
use crate::ui::{Line, Meaning, Ui};

/// What is over sooner than this needs no line.
const SOON: Duration = Duration::from_millis(300);

/// As long as it lives, the line stands at the bottom of the terminal.
pub(crate) struct Planning {
    ui: Ui,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Planning {
    /// Begins, where lines can change at all.
    pub(crate) fn start(ui: &Ui, clock: &Arc<dyn Clock>, looking: &Arc<Looking>) -> Option<Self> {
        if !ui.is_live() {
            return None;
        }
        let (stop, stopped) = mpsc::channel();
        let (drawing, clock, looking) = (ui.clone(), clock.clone(), looking.clone());
        let begun = clock.now();
        let draw = move || {
            let mut wait = SOON;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REDRAW;
                let elapsed = clock.now().duration_since(begun).unwrap_or_default();
                let look = drawing.err();
                let line = Line::new()
                    .meaning(Meaning::Update, look.spinner(elapsed.as_millis() / 100))
                    .text(told(looking.counts(), elapsed.as_secs()));
                drawing.redraw(&[], &[line.render(look)]);
            }
        };
        let thread = std::thread::Builder::new().name("trueup-planning".to_owned()).spawn(draw).ok();
        Some(Planning { ui: ui.clone(), stop: Some(stop), thread })
    }
}

/// What is going on: once there is something to look at, how far that is.
fn told((done, wanted): (usize, usize), seconds: u64) -> String {
    match wanted {
        0 => format!(" planning {seconds} s"),
        _ => format!(" planning {seconds} s · looked at {done} of {wanted}"),
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
        self.ui.settle();
    }
}
