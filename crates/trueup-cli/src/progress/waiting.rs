//! A line that says that something is going on: silence would look like a hang.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use trueup_provider::Clock;

use super::REDRAW;
use crate::ui::{Line, Meaning, Ui};

/// What is over sooner than this needs no line.
const SOON: Duration = Duration::from_millis(300);

/// As long as it lives, the line stands at the bottom of the terminal.
pub(crate) struct Waiting {
    ui: Ui,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Begins, where lines can change at all. What is told after so many seconds is asked for again and again; nothing is
    /// drawn while that is nothing.
    pub(crate) fn start(
        ui: &Ui,
        clock: &Arc<dyn Clock>,
        told: impl Fn(u64) -> Option<String> + Send + 'static,
    ) -> Option<Self> {
        if !ui.is_live() {
            return None;
        }
        let (stop, stopped) = mpsc::channel();
        let (drawing, clock) = (ui.clone(), clock.clone());
        let begun = clock.now();
        let draw = move || {
            let mut wait = SOON;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REDRAW;
                let elapsed = clock.now().duration_since(begun).unwrap_or_default();
                let look = drawing.err();
                let line = told(elapsed.as_secs()).map(|text| {
                    let spinner = look.spinner(elapsed.as_millis() / 100);
                    Line::new().meaning(Meaning::Update, spinner).text(format!(" {text}")).render(look)
                });
                drawing.redraw(&[], line.as_slice());
            }
        };
        let thread = std::thread::Builder::new().name("trueup-waiting".to_owned()).spawn(draw).ok();
        Some(Waiting { ui: ui.clone(), stop: Some(stop), thread })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
        self.ui.settle();
    }
}
