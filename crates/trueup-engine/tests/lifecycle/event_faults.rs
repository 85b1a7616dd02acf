//! Holds each event that a test hears of against its schema in the book.

use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use trueup_engine::Event;

/// What is wrong with the events so far. Subscribers run on threads of their own, where a panic would go unnoticed.
#[derive(Clone, Default)]
pub(crate) struct EventFaults(Arc<Mutex<Vec<String>>>);

impl EventFaults {
    /// The event as a line of JSON, once that was looked at.
    pub(crate) fn line_of(&self, event: &Event) -> Json {
        let line: Json = serde_json::from_str(&event.to_json()).expect("an event is JSON");
        let faults = trueup_test_documents::faults("event", &line);
        let faults = faults.into_iter().map(|fault| format!("{fault}, in {line}"));
        self.0.lock().expect("nobody panics here").extend(faults);
        line
    }

    /// Fails the test if an event was not as its schema says.
    #[track_caller]
    pub(crate) fn assert_none(&self) {
        let faults = self.0.lock().expect("nobody panics here");
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
