//! Where events go: to several subscribers, none of which can stop or reorder the run (EVENT-6).

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Event;

/// Hears of each event, in order.
pub trait Subscriber: Send {
    /// Hears of one event.
    fn receive(&mut self, event: &Event);

    /// Has heard of all events so far: what was gathered can be passed on.
    fn caught_up(&mut self) {}
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
    mailbox: Arc<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

/// How long a subscriber lets events gather. To wake it for each would cost the run more than the events.
const GATHERING: Duration = Duration::from_millis(10);

/// For how long whoever wants all to be heard waits: a subscriber that is stuck must not keep others from their work.
const HEARING_MAX: Duration = Duration::from_secs(1);

/// What a subscriber has not heard of yet.
#[derive(Default)]
struct Mailbox {
    mail: Mutex<Mail>,
    /// For the subscriber: there is something to hear.
    news: Condvar,
    /// For those who wait for it: it has heard of something.
    heard: Condvar,
}

#[derive(Default)]
struct Mail {
    events: Vec<Arc<Event>>,
    /// How many came, and of how many the subscriber has heard.
    posted: u64,
    heard: u64,
    /// The subscriber wants to be woken by the next event.
    is_awaited: bool,
    /// Someone waits until all is heard.
    is_urgent: bool,
    /// Nothing comes any more.
    is_last: bool,
}

impl Mailbox {
    fn post(&self, event: Arc<Event>) {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        if mail.is_last {
            return;
        }
        mail.events.push(event);
        mail.posted += 1;
        if mail.is_awaited {
            self.news.notify_one();
        }
    }

    /// All that came since the last time; nothing if nothing comes any more.
    fn collect(&self) -> Vec<Arc<Event>> {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        while mail.events.is_empty() && !mail.is_last {
            mail.is_awaited = true;
            mail = self.news.wait(mail).unwrap_or_else(PoisonError::into_inner);
        }
        mail.is_awaited = false;
        mail.is_urgent = false;
        std::mem::take(&mut mail.events)
    }

    /// So many more were heard of. Waits a moment for others, unless someone waits or nothing more comes.
    fn gather(&self, heard: usize) {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        mail.heard += heard as u64;
        self.heard.notify_all();
        let waited = self.news.wait_timeout_while(mail, GATHERING, |mail| !mail.is_last && !mail.is_urgent);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until all that came so far is heard of.
    fn settle(&self) {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        let posted = mail.posted;
        mail.is_urgent = mail.heard < posted;
        self.news.notify_one();
        let waited =
            self.heard.wait_timeout_while(mail, HEARING_MAX, |mail| mail.heard < posted && !mail.is_last);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn close(&self) {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).is_last = true;
        self.news.notify_one();
        self.heard.notify_all();
    }
}

impl EventSink {
    /// A sink without subscribers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a subscriber. It hears of events on a thread of its own; if it panics, it hears of no more.
    #[must_use]
    pub fn with(self, mut subscriber: impl Subscriber + 'static) -> Self {
        let mailbox = Arc::new(Mailbox::default());
        let own = mailbox.clone();
        let mut hear = move |events: &[Arc<Event>]| {
            events.iter().for_each(|event| subscriber.receive(event));
            subscriber.caught_up();
        };
        let listen = move || {
            loop {
                let events = own.collect();
                if events.is_empty() {
                    return;
                }
                if catch_unwind(AssertUnwindSafe(|| hear(&events))).is_err() {
                    return own.close();
                }
                own.gather(events.len());
            }
        };
        let thread = std::thread::Builder::new().name("trueup-events".to_owned()).spawn(listen).ok();
        if let Ok(mut subscribers) = self.subscribers.lock() {
            subscribers.push(Queue { mailbox, thread });
        }
        self
    }

    /// Whether nobody hears of anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.subscribers.lock().is_ok_and(|subscribers| subscribers.is_empty())
    }

    pub(crate) fn emit(&self, event: Event) {
        let Ok(subscribers) = self.subscribers.lock() else { return };
        let event = Arc::new(event);
        subscribers.iter().for_each(|queue| queue.mailbox.post(event.clone()));
    }

    /// Waits until every subscriber has heard of all events so far: for whoever asks one of them how things stand.
    pub fn settle(&self) {
        let mailboxes: Vec<_> = match self.subscribers.lock() {
            Ok(subscribers) => subscribers.iter().map(|queue| queue.mailbox.clone()).collect(),
            Err(_) => return,
        };
        mailboxes.iter().for_each(|mailbox| mailbox.settle());
    }

    /// Waits until every subscriber has heard of all events so far, and lets them go.
    pub fn close(self) {
        let Ok(mut subscribers) = self.subscribers.lock() else { return };
        for mut queue in subscribers.drain(..) {
            queue.mailbox.close();
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
