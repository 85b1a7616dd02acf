//! A bucket on which requests fail as they are told to, before or after they are carried out.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::stream::{BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use trueup_provider::Clock;
use trueup_store_suite::conformance::HandClock;

/// What happens to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Passes,
    /// It is not carried out: the server is busy.
    Throttled,
    /// It is carried out, and its answer is lost.
    AnswerLost,
    /// It arrives twice; the answer is that to the second.
    Doubled,
    /// It is not carried out, nor is anything after it: whoever asked is dead.
    DiesBefore,
    /// It is carried out, and whoever asked is dead before the answer.
    DiesAfter,
    /// Its condition is ignored.
    ConditionIgnored,
}

type Oracle = dyn FnMut(u64, &str) -> Fate + Send;

/// A bucket that asks what happens to each request: by its number, and what it is (`put team/…/head`).
pub(crate) struct Unreliable {
    inner: Arc<dyn ObjectStore>,
    fate: Mutex<Box<Oracle>>,
    requests: AtomicU64,
    dead: std::sync::atomic::AtomicBool,
    /// The server's clock; its own if there is none.
    clock: Option<HandClock>,
    times: Mutex<std::collections::BTreeMap<Path, SystemTime>>,
}

impl Unreliable {
    pub(crate) fn new(
        inner: Arc<dyn ObjectStore>,
        fate: impl FnMut(u64, &str) -> Fate + Send + 'static,
    ) -> Arc<Unreliable> {
        Arc::new(Unreliable::with(inner, fate, None))
    }

    /// A reliable bucket in memory whose server has this clock.
    pub(crate) fn by_clock(inner: Arc<dyn ObjectStore>, clock: &HandClock) -> Arc<Unreliable> {
        Arc::new(Unreliable::with(inner, |_, _| Fate::Passes, Some(clock.clone())))
    }

    fn with(
        inner: Arc<dyn ObjectStore>,
        fate: impl FnMut(u64, &str) -> Fate + Send + 'static,
        clock: Option<HandClock>,
    ) -> Unreliable {
        Unreliable {
            inner,
            fate: Mutex::new(Box::new(fate)),
            requests: AtomicU64::default(),
            dead: Default::default(),
            clock,
            times: Mutex::default(),
        }
    }

    /// How many requests were made.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn died(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// What happens to the next request, unless it is not carried out.
    fn ask(&self, request: &str, path: &Path) -> Result<Fate> {
        if self.died() {
            return Err(dead());
        }
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let fate = (self.fate.lock().unwrap())(number, &format!("{request} {path}"));
        match fate {
            Fate::Throttled => Err(busy()),
            Fate::DiesBefore => {
                self.dead.store(true, Ordering::SeqCst);
                Err(dead())
            }
            Fate::DiesAfter => {
                self.dead.store(true, Ordering::SeqCst);
                Ok(fate)
            }
            fate => Ok(fate),
        }
    }

    fn answer<T>(fate: Fate, answer: Result<T>) -> Result<T> {
        match fate {
            Fate::AnswerLost => Err(busy()),
            Fate::DiesAfter => Err(dead()),
            _ => answer,
        }
    }
}

fn busy() -> Error {
    Error::Generic { store: "test", source: "status code: 503 Slow Down".into() }
}

/// What is not tried again, so that whoever asked ends.
fn dead() -> Error {
    Error::PermissionDenied { path: String::new(), source: "it is dead".into() }
}

impl fmt::Debug for Unreliable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unreliable")
    }
}

impl fmt::Display for Unreliable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unreliable bucket")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Unreliable {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let fate = self.ask("put", path)?;
        let mut put = options.clone();
        if fate == Fate::ConditionIgnored {
            put.mode = PutMode::Overwrite;
        }
        let mut answer = self.inner.put_opts(path, payload.clone(), put).await;
        if fate == Fate::Doubled {
            answer = self.inner.put_opts(path, payload, options).await;
        }
        if let Some(clock) = &self.clock {
            self.times.lock().unwrap().insert(path.clone(), clock.now());
        }
        Self::answer(fate, answer)
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        unreachable!("the store writes objects whole")
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let fate = self.ask("get", path)?;
        let mut answer = self.inner.get_opts(path, options).await;
        if let (Ok(found), Some(time)) = (&mut answer, self.times.lock().unwrap().get(path)) {
            // Servers tell whole seconds.
            let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
            found.meta.last_modified = (SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).into();
        }
        Self::answer(fate, answer)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.ask("delete", &Path::default()) {
            Ok(_) => self.inner.delete_stream(locations),
            Err(error) => futures_util::stream::once(async { Err(error) }).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.ask("list", prefix.unwrap_or(&Path::default())) {
            Ok(_) => self.inner.list(prefix),
            Err(error) => futures_util::stream::once(async { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let fate = self.ask("list", prefix.unwrap_or(&Path::default()))?;
        let answer = self.inner.list_with_delimiter(prefix).await;
        Self::answer(fate, answer)
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        unreachable!("the store copies nothing")
    }
}
