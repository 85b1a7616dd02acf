//! Ctrl-C, SIGTERM and SIGHUP, counted on a thread of their own: a command that is busy on its thread, or waits for a
//! key, hears of them all the same.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};

use tokio::sync::watch;

/// What is done at an interruption: hears how many there were.
type Handler = Box<dyn Fn(u32) + Send>;

/// The interruptions so far. Until someone asks for them, a signal ends the process as it ends any other: a command
/// that only looks has nothing to finish.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<OnceLock<Listening>>);

struct Listening {
    count: watch::Receiver<u32>,
    handler: Arc<Mutex<Option<Handler>>>,
}

impl Interrupts {
    fn listening(&self) -> &Listening {
        self.0.get_or_init(|| {
            let (sender, count) = watch::channel(0);
            let handler: Arc<Mutex<Option<Handler>>> = Arc::default();
            let heard = handler.clone();
            let (starting, started) = mpsc::channel();
            let listen = move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(count_signals(&sender, &heard, starting));
                }
            };
            // The thread ends with the process.
            let _ = std::thread::Builder::new().name("trueup-signals".to_owned()).spawn(listen);
            // Until the thread listens, a signal would end the process in the middle of what it is about to begin.
            let _ = started.recv();
            Listening { count, handler }
        })
    }

    /// Whether there was any.
    pub(crate) fn any(&self) -> bool {
        *self.listening().count.borrow() > 0
    }

    /// Waits for the first, and counts from now on, not from the first poll.
    pub(crate) fn first(&self) -> impl Future<Output = ()> + use<> {
        let mut count = self.listening().count.clone();
        async move {
            if count.wait_for(|count| *count > 0).await.is_err() {
                // Nobody listens: there will be none.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Does something at each from now on, on the thread that counts them; until the guard goes.
    pub(crate) fn handled_by(&self, handler: impl Fn(u32) + Send + 'static) -> Handling<'_> {
        *self.listening().handler.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(handler));
        Handling(self)
    }
}

/// As long as it lives, interruptions are handled.
pub(crate) struct Handling<'a>(&'a Interrupts);

impl Drop for Handling<'_> {
    fn drop(&mut self) {
        *self.0.listening().handler.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(unix)]
async fn count_signals(
    sender: &watch::Sender<u32>,
    handler: &Mutex<Option<Handler>>,
    starting: mpsc::Sender<()>,
) {
    use tokio::signal::unix::{SignalKind, signal};
    let listening =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()));
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = listening else { return };
    drop(starting);
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        heard(sender, handler);
    }
}

#[cfg(not(unix))]
async fn count_signals(
    sender: &watch::Sender<u32>,
    handler: &Mutex<Option<Handler>>,
    starting: mpsc::Sender<()>,
) {
    drop(starting);
    while tokio::signal::ctrl_c().await.is_ok() {
        heard(sender, handler);
    }
}

fn heard(sender: &watch::Sender<u32>, handler: &Mutex<Option<Handler>>) {
    let mut count = 0;
    sender.send_modify(|heard| {
        *heard += 1;
        count = *heard;
    });
    if let Some(handler) = &*handler.lock().unwrap_or_else(PoisonError::into_inner) {
        handler(count);
    }
}
