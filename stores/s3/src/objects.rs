//! Objects in a bucket: read, written under a condition, listed, deleted. All requests go through here.
//!
//! A request that fails for a while (throttled, server error, connection lost, no answer in time) is tried again, after
//! growing pauses and a limited number of times. A write is special: one that seems to have failed may have happened.
//! Therefore [`Objects::try_put`] tries once and says what it knows, and callers look before they try again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use trueup_core::KnownSecrets;
use trueup_provider::{BoxFuture, Clock};
use trueup_state::{Cause, StoreError};

use crate::head::{FORMAT, LastWrite};
use crate::merging::Limits;
use crate::trouble::{self, passes};

/// How often a request is tried.
pub(crate) const TRIES_MAX: u32 = 10;

/// How often one is tried when a store is opened: an address that is wrong should be told soon.
const TRIES_MAX_OPENING: u32 = 4;

/// How many requests are under way at once when many objects are needed.
const PARALLEL: usize = 16;

pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    location: String,
    limits: Limits,
    /// What the service may repeat and nobody may read.
    secrets: KnownSecrets,
    /// Names what this handle writes.
    writer: String,
    count: AtomicU64,
    requests: AtomicU64,
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
}

/// What a handle has asked of the service so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How many requests it made; a list of many objects counts as one.
    pub requests: u64,
    /// How many bytes of objects it wrote.
    pub bytes_sent: u64,
    /// How many bytes of objects it read.
    pub bytes_received: u64,
}

/// An object as it was read.
pub(crate) struct Object {
    pub(crate) text: String,
    pub(crate) etag: String,
    /// When it was written, by the server's clock.
    pub(crate) modified: SystemTime,
}

/// What reading an object gave.
pub(crate) enum Fetched {
    /// It is there.
    Object(Object),
    /// It is as it was.
    Same,
    /// There is none.
    Missing,
}

/// What trying to write an object gave.
pub(crate) enum Tried {
    /// It is written; the new tag, if the server says it.
    Stored(Option<String>),
    /// The condition does not hold, or did not hold any more after this very write had happened unnoticed.
    Refused,
    /// It may be written or not.
    Unclear(String),
}

impl Objects {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
        location: String,
        limits: Limits,
    ) -> Self {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        let writer = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let zero = AtomicU64::default;
        let (count, requests, bytes_sent, bytes_received) = (zero(), zero(), zero(), zero());
        let secrets = KnownSecrets::default();
        Objects {
            store,
            clock,
            location,
            limits,
            secrets,
            writer,
            count,
            requests,
            bytes_sent,
            bytes_received,
        }
    }

    /// The same, with these left out of what the service says.
    pub(crate) fn without(self, secrets: KnownSecrets) -> Self {
        Objects { secrets, ..self }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            bytes_sent: self.bytes_sent.load(Ordering::Relaxed),
            bytes_received: self.bytes_received.load(Ordering::Relaxed),
        }
    }

    /// The bucket, for one request that sends so many bytes.
    fn bucket(&self, bytes_sent: usize) -> &dyn ObjectStore {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes_sent.fetch_add(bytes_sent as u64, Ordering::Relaxed);
        &*self.store
    }

    /// A number of this handle, higher than all before.
    fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// A name that nothing else ever has.
    pub(crate) fn unique(&self) -> String {
        format!("{}-{}", self.writer, self.next())
    }

    /// What the next write of a head is known by.
    pub(crate) fn next_write(&self) -> LastWrite {
        LastWrite { writer: self.writer.clone(), number: self.next() }
    }

    /// What is at a path, unless it still has the known tag.
    pub(crate) async fn get(&self, path: &Path, known: Option<&str>) -> Result<Fetched, StoreError> {
        self.get_within(path, known, TRIES_MAX).await
    }

    /// The same when a store is opened.
    pub(crate) async fn get_opening(&self, path: &Path) -> Result<Fetched, StoreError> {
        self.get_within(path, None, TRIES_MAX_OPENING).await
    }

    async fn get_within(
        &self,
        path: &Path,
        known: Option<&str>,
        tries_max: u32,
    ) -> Result<Fetched, StoreError> {
        for tries in 1.. {
            let error = match self.get_once(path, known).await {
                Ok(object) => return object,
                Err(error) => error,
            };
            match error {
                Error::NotFound { .. } => return Ok(Fetched::Missing),
                Error::NotModified { .. } => return Ok(Fetched::Same),
                error if passes(&error) && tries < tries_max => self.pause(tries).await,
                error => return Err(self.trouble("read", &error)),
            }
        }
        unreachable!("the last try returns")
    }

    async fn get_once(&self, path: &Path, known: Option<&str>) -> Result<Result<Fetched, StoreError>, Error> {
        let options = GetOptions { if_none_match: known.map(str::to_owned), ..GetOptions::default() };
        let found = self.bucket(0).get_opts(path, options).await?;
        let (etag, modified) = (found.meta.e_tag.clone(), found.meta.last_modified.into());
        let body = found.bytes().await?;
        self.bytes_received.fetch_add(body.len() as u64, Ordering::Relaxed);
        let Ok(text) = String::from_utf8(body.into()) else {
            return Ok(Err(self.damaged(format!("{path} is no text"))));
        };
        let Some(etag) = etag else {
            return Ok(Err(self.unsuitable("it gives no ETag with an object")));
        };
        Ok(Ok(Fetched::Object(Object { text, etag, modified })))
    }

    /// Tries once to write an object in the place of the one with this tag, or where there is none.
    pub(crate) async fn try_put(
        &self,
        path: &Path,
        text: &str,
        replaced: Option<&str>,
    ) -> Result<Tried, StoreError> {
        let mode = match replaced {
            Some(etag) => PutMode::Update(UpdateVersion { e_tag: Some(etag.to_owned()), version: None }),
            None => PutMode::Create,
        };
        match self.bucket(text.len()).put_opts(path, PutPayload::from(text.to_owned()), mode.into()).await {
            Ok(stored) => Ok(Tried::Stored(stored.e_tag)),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(Tried::Refused),
            Err(error) if passes(&error) => Ok(Tried::Unclear(self.said(&error))),
            Err(error) => Err(self.trouble("write", &error)),
        }
    }

    /// Writes an object under a name that nothing else has, where nothing is yet.
    pub(crate) async fn create(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let mut why = String::new();
        for tries in 1..=TRIES_MAX {
            match self.try_put(path, text, None).await? {
                Tried::Stored(_) => return Ok(()),
                // Either it was written without our hearing of it, or the server is busy with the name.
                Tried::Refused => "something is in its place".clone_into(&mut why),
                Tried::Unclear(cause) => why = cause,
            }
            if matches!(self.get(path, None).await?, Fetched::Object(object) if object.text == text) {
                return Ok(());
            }
            self.pause(tries).await;
        }
        Err(self.unavailable("write", why))
    }

    /// Deletes objects that nobody needs. Those that cannot be deleted now are deleted some other time.
    pub(crate) async fn delete(&self, paths: Vec<Path>) {
        let delete = |path: Path| -> BoxFuture<'_, _> {
            Box::pin(async move {
                let _ = self.bucket(0).delete(&path).await;
                Ok(())
            })
        };
        let _ = many(paths.into_iter().map(delete).collect()).await;
    }

    /// The names of all objects below a folder.
    pub(crate) async fn list(&self, folder: &Path) -> Result<Vec<Path>, StoreError> {
        for tries in 1.. {
            match self.bucket(0).list(Some(folder)).map_ok(|object| object.location).try_collect().await {
                Ok(found) => return Ok(found),
                Err(error) if passes(&error) && tries < TRIES_MAX => self.pause(tries).await,
                Err(error) => return Err(self.trouble("list", &error)),
            }
        }
        unreachable!("the last try returns")
    }

    /// The last parts of the names of the folders right below one.
    pub(crate) async fn folders(&self, folder: &Path) -> Result<Vec<String>, StoreError> {
        for tries in 1.. {
            match self.bucket(0).list_with_delimiter(Some(folder)).await {
                Ok(found) => {
                    let last = |path: &Path| path.filename().map(str::to_owned);
                    return Ok(found.common_prefixes.iter().filter_map(last).collect());
                }
                Err(error) if passes(&error) && tries < TRIES_MAX => self.pause(tries).await,
                Err(error) => return Err(self.trouble("list", &error)),
            }
        }
        unreachable!("the last try returns")
    }

    /// What time it is by the server's clock: that of an object that was just written.
    pub(crate) async fn server_time(&self, path: &Path) -> Result<SystemTime, StoreError> {
        for tries in 1.. {
            let written = self.bucket(0).put(path, PutPayload::from(self.unique())).await;
            let time = match written {
                Ok(_) => self.bucket(0).head(path).await.map(|object| object.last_modified.into()),
                Err(error) => Err(error),
            };
            match time {
                Ok(time) => return Ok(time),
                Err(error) if passes(&error) && tries < TRIES_MAX => self.pause(tries).await,
                Err(error) => return Err(self.trouble("ask the time of", &error)),
            }
        }
        unreachable!("the last try returns")
    }

    /// Waits before something is tried again: longer each time, and not as long as others who failed together.
    pub(crate) async fn pause(&self, tries: u32) {
        const FIRST: Duration = Duration::from_millis(100);
        const LONGEST: Duration = Duration::from_secs(5);
        let full = LONGEST.min(FIRST * 2u32.pow(tries.min(10) - 1));
        let chance = blake3::hash(self.unique().as_bytes()).as_bytes()[0];
        self.clock.sleep(full / 2 + full / 2 * u32::from(chance) / 255).await;
    }

    fn trouble(&self, attempted: &'static str, error: &Error) -> StoreError {
        self.unavailable(attempted, self.said(error))
    }

    fn said(&self, error: &Error) -> String {
        self.secrets.scrubbed(&trouble::said(error)).into_owned()
    }

    pub(crate) fn unavailable(&self, attempted: &'static str, cause: impl Into<Cause>) -> StoreError {
        let cause = cause.into();
        StoreError::Unavailable { attempted, location: self.location.clone(), cause }
    }

    pub(crate) fn unsuitable(&self, why: &str) -> StoreError {
        self.unavailable("keep", format!("{why}, so that this service cannot keep a state safely"))
    }

    pub(crate) fn damaged(&self, what: impl Into<Cause>) -> StoreError {
        StoreError::Damaged { location: self.location.clone(), what: what.into() }
    }

    pub(crate) fn newer(&self, found: u64) -> StoreError {
        StoreError::Format { location: self.location.clone(), found, known: FORMAT }
    }
}

/// The answers of all, in order, a limited number at a time; or the first error.
pub(crate) async fn many<T>(all: Vec<BoxFuture<'_, Result<T, StoreError>>>) -> Result<Vec<T>, StoreError> {
    stream::iter(all).buffered(PARALLEL).try_collect().await
}
