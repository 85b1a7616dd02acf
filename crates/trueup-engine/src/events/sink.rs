//! Where events go: to several subscribers, none of which can stop or reorder the run (EVENT-6).

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use super::Event;

/// Hears of each event, in order.
pub trait Subscriber: Send {
    /// Hears of one event.
    fn receive(&mut self, event: &Event);
}

impl<F: FnMut(&Event) + Send> Subscriber for F {
    fn receive(&mut self, event: &Event) {
        self(event);
    }
}

/// Where events go. A clone leads to the same subscribers.
#[derive(Clone, Default)]
pub struct EventSink {
    subscribers: Arc<Mutex<Vec<Queue>>>,
}

/// A subscriber on a thread of its own, so that a slow one holds nobody up.
struct Queue {
    events: Option<mpsc::Sender<Arc<Event>>>,
    thread: Option<JoinHandle<()>>,
}

impl EventSink {
    /// A sink without subscribers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a subscriber. It hears of events on a thread of its own; if it panics, it hears of no more.
    #[must_use]
    pub fn with(self, mut subscriber: impl Subscriber + 'static) -> Self {
        let (sender, receiver) = mpsc::channel::<Arc<Event>>();
        let listen = move || {
            while let Ok(event) = receiver.recv() {
                let heard = catch_unwind(AssertUnwindSafe(|| subscriber.receive(&event)));
                if heard.is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("trueup-events".to_owned()).spawn(listen).ok();
        if let Ok(mut subscribers) = self.subscribers.lock() {
            subscribers.push(Queue { events: Some(sender), thread });
        }
        self
    }

    pub(crate) fn emit(&self, event: Event) {
        let Ok(subscribers) = self.subscribers.lock() else { return };
        let event = Arc::new(event);
        for queue in subscribers.iter() {
            // One that has gone hears nothing more.
            let _ = queue.events.as_ref().map(|events| events.send(event.clone()));
        }
    }

    /// Waits until every subscriber has heard of all events so far, and lets them go.
    pub fn close(self) {
        let Ok(mut subscribers) = self.subscribers.lock() else { return };
        for mut queue in subscribers.drain(..) {
            drop(queue.events.take());
            let _ = queue.thread.take().map(JoinHandle::join);
        }
    }
}

/// Writes each event as a line of JSON.
pub struct JsonLines<W>(pub W);

impl<W: Write + Send> Subscriber for JsonLines<W> {
    fn receive(&mut self, event: &Event) {
        // A reader that went away must not end the run.
        let _ = writeln!(self.0, "{}", event.to_json());
    }
}
