//! What a handle knows of one scope, and the two things it does with the scope's head: read it, and replace it.
//!
//! Everything that changes a scope replaces its head, on the condition that the head is still the one that was read. Two
//! writers can therefore never both succeed on the same grounds, whatever they disagree on. A write whose answer got
//! lost is looked up in the head that is there (`writers`), and tried again only if it did not happen.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use object_store::path::Path;
use trueup_provider::BoxFuture;
use trueup_state::{Cause, StoreError};

use crate::contents::Contents;
use crate::head::{Commit, Head, LastWrite, Piece, Unreadable, sum};
use crate::marker;
use crate::objects::{Fetched, Object, Objects, TRIES_MAX, Tried, many};

/// How often something is begun anew because others were faster. Each time one of them got on.
pub(crate) const RACES_MAX: u32 = 100;

pub(crate) struct ScopeState {
    root: Path,
    pub(crate) folder: Path,
    /// The head as last read or written; `None` before that, and where it is unknown what became of a write.
    pub(crate) known: Option<Known>,
    /// What it comes to, once somebody asked.
    pub(crate) contents: Option<Contents>,
    pub(crate) seen: Option<Seen>,
    /// Objects that nobody needs any more.
    pub(crate) garbage: Vec<Path>,
}

pub(crate) struct Known {
    pub(crate) head: Head,
    /// The commits that are in no piece yet.
    pub(crate) commits: Vec<Arc<Commit>>,
    /// `None` if there is no such object.
    etag: Option<String>,
    /// When it was written by the server's clock, if it was read.
    pub(crate) modified: Option<SystemTime>,
}

/// A lease as it was first seen since it was last renewed.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) token: u64,
    pub(crate) beat: u64,
    /// When, by our clock.
    pub(crate) at: SystemTime,
    /// How old it was then, if that is known.
    pub(crate) age: Option<Duration>,
}

/// What became of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    Done,
    /// The head was replaced by another, which is known now.
    Raced,
}

impl ScopeState {
    pub(crate) fn new(root: Path, folder: Path) -> Self {
        ScopeState { root, folder, known: None, contents: None, seen: None, garbage: Vec::new() }
    }

    /// The path of a piece.
    pub(crate) fn piece(&self, name: &str) -> Path {
        self.pieces().join(name)
    }

    pub(crate) fn pieces(&self) -> Path {
        self.folder.clone().join("pieces")
    }

    fn head_path(&self) -> Path {
        self.folder.clone().join("head")
    }

    /// The head that is known, which is read first if there is none.
    pub(crate) async fn known(&mut self, objects: &Objects) -> Result<&Known, StoreError> {
        if self.known.is_none() {
            self.fetch(objects).await?;
        }
        Ok(self.known.as_ref().expect("a head that was read is known"))
    }

    /// Reads the head. Whether it is another than the one that was known.
    pub(crate) async fn fetch(&mut self, objects: &Objects) -> Result<bool, StoreError> {
        let path = self.head_path();
        let etag = self.known.as_ref().and_then(|known| known.etag.as_deref());
        match objects.get(&path, etag).await? {
            Fetched::Same => Ok(false),
            Fetched::Object(object) => {
                self.take(objects, object)?;
                Ok(true)
            }
            Fetched::Missing if etag.is_some() => Err(objects.damaged(format!("{path} is gone"))),
            Fetched::Missing => self.fetch_first(objects, &path).await,
        }
    }

    /// Tells a scope that nobody has written yet from one whose head was lost. Returns whether the known head changed.
    async fn fetch_first(&mut self, objects: &Objects, path: &Path) -> Result<bool, StoreError> {
        let Some(piece) = objects.list(&self.pieces()).await?.into_iter().next() else {
            let (head, commits) = (Head::empty(), Vec::new());
            let changed = self.known.is_none();
            self.known = Some(Known { head, commits, etag: None, modified: None });
            return Ok(changed);
        };
        // The first writer may have come between the two requests. Its head was there before its pieces.
        match objects.get(path, None).await? {
            Fetched::Object(object) => {
                self.take(objects, object)?;
                Ok(true)
            }
            Fetched::Same | Fetched::Missing => {
                Err(objects.damaged(format!("{path} is missing, but {piece} is there")))
            }
        }
    }

    /// Takes a head that was read for the one that is known.
    fn take(&mut self, objects: &Objects, object: Object) -> Result<(), StoreError> {
        let (head, commits) = Head::read(&object.text).map_err(|unreadable| match unreadable {
            Unreadable::Newer(found) => objects.newer(found),
            Unreadable::Garbled(why) => {
                objects.damaged(Cause::about(format!("{} is unreadable", self.head_path()), why))
            }
        })?;
        let modified = Some(object.modified);
        self.known = Some(Known { head, commits, etag: Some(object.etag), modified });
        self.note_lease(objects.clock().now(), None);
        self.catch_up();
        Ok(())
    }

    /// Replaces the head that is known. On [`Written::Raced`], nothing is written.
    pub(crate) async fn write(
        &mut self,
        objects: &Objects,
        mut head: Head,
        commits: Vec<Arc<Commit>>,
    ) -> Result<Written, StoreError> {
        // Until it is clear what became of the write, also if nobody waits for it any more, nothing is known.
        let known = self.known.take().expect("a head is written on the grounds of the one before");
        let (path, write) = (self.head_path(), objects.next_write());
        head.serial = known.head.serial + 1;
        head.sign(&write);
        let text = head.text(&commits).map_err(|error| objects.unavailable("write", Cause::new(error)))?;
        if known.etag.is_none() {
            marker::place(objects, &self.root).await?;
        }
        let mut unclear = None;
        for tries in 1..=TRIES_MAX {
            match objects.try_put(&path, &text, known.etag.as_deref()).await? {
                Tried::Stored(Some(etag)) => {
                    self.known = Some(Known { head, commits, etag: Some(etag), modified: None });
                    self.note_lease(objects.clock().now(), Some(Duration::ZERO));
                    return Ok(Written::Done);
                }
                Tried::Stored(None) | Tried::Refused => {}
                Tried::Unclear(cause) => unclear = Some(cause),
            }
            let there = objects.get(&path, known.etag.as_deref()).await;
            match there.map_err(|error| unanswered(error, unclear.is_some()))? {
                Fetched::Object(object) => {
                    self.take(objects, object)?;
                    return self.found_out(objects, &write, unclear.is_some());
                }
                Fetched::Missing if known.etag.is_some() => {
                    return Err(objects.damaged(format!("{path} is gone")));
                }
                // It did not happen, or not yet: then it will, or this one, never both.
                Fetched::Same | Fetched::Missing => objects.pause(tries).await,
            }
        }
        let cause = unclear.as_deref().unwrap_or("the server is busy with the object");
        Err(objects.unavailable("write", format!("{cause}; it may be written all the same")))
    }

    /// What became of a write, by the head that is there now.
    fn found_out(&self, objects: &Objects, write: &LastWrite, unclear: bool) -> Result<Written, StoreError> {
        let head = self.known.as_ref().map(|known| &known.head);
        match head.and_then(|head| head.follows(write)) {
            Some(true) => Ok(Written::Done),
            Some(false) => Ok(Written::Raced),
            // Nothing but refusals came back, after a long sleep.
            None if !unclear => Ok(Written::Raced),
            None => {
                let cause =
                    "no answer came, and too many others have written since to tell whether it was written";
                Err(objects.unavailable("write", cause))
            }
        }
    }

    /// Remembers when a lease was first seen as it is.
    fn note_lease(&mut self, now: SystemTime, age: Option<Duration>) {
        let head = self.known.as_ref().map(|known| &known.head);
        let lease = head.and_then(|head| Some((head.token, head.lease.as_ref()?.beat)));
        if lease != self.seen.map(|seen| (seen.token, seen.beat)) {
            self.seen = lease.map(|(token, beat)| Seen { token, beat, at: now, age });
        }
    }

    /// Brings the contents to the version of the head, or forgets them where only reading them anew would do.
    pub(crate) fn catch_up(&mut self) {
        let (Some(known), Some(contents)) = (&self.known, &mut self.contents) else { return };
        if contents.version < known.head.flushed.version || !contents.runs().eq(&known.head.records) {
            self.contents = None;
            return;
        }
        for commit in &known.commits {
            if contents.version < commit.said.version {
                contents.apply(&commit.said);
            }
        }
    }

    /// Makes sure that the contents of the known head are there.
    pub(crate) async fn load(&mut self, objects: &Objects) -> Result<(), StoreError> {
        self.known(objects).await?;
        for _ in 0..RACES_MAX {
            let Some(known) = self.known.as_ref().filter(|_| self.contents.is_none()) else { return Ok(()) };
            let mut contents = Contents::at(known.head.flushed.version);
            match self.read_runs(objects, &known.head, &mut contents).await? {
                Ok(()) => {
                    self.contents = Some(contents);
                    self.catch_up();
                }
                Err(missing) => self.fetch_after_missing(objects, &missing).await?,
            }
        }
        Err(objects.unavailable("read", "others write it all the time"))
    }

    async fn read_runs(
        &self,
        objects: &Objects,
        head: &Head,
        contents: &mut Contents,
    ) -> Result<Result<(), String>, StoreError> {
        let mut texts = match self.read_pieces(objects, head.records.iter().flatten()).await? {
            Ok(texts) => texts.into_iter(),
            Err(missing) => return Ok(Err(missing)),
        };
        for run in &head.records {
            let texts: Vec<String> = texts.by_ref().take(run.len()).collect();
            contents.read(run, &texts).map_err(|error| {
                let names: Vec<_> = run.iter().map(|piece| self.piece(&piece.name).to_string()).collect();
                objects.damaged(Cause::about(format!("{} is unreadable", names.join(" or ")), error))
            })?;
        }
        Ok(Ok(()))
    }

    /// The texts of pieces, or the name of one that is not there.
    pub(crate) async fn read_pieces(
        &self,
        objects: &Objects,
        pieces: impl IntoIterator<Item = &Piece>,
    ) -> Result<Result<Vec<String>, String>, StoreError> {
        let read = |piece| -> BoxFuture<'_, _> { Box::pin(self.read_piece(objects, piece)) };
        Ok(many(pieces.into_iter().map(read).collect()).await?.into_iter().collect())
    }

    async fn read_piece(
        &self,
        objects: &Objects,
        piece: &Piece,
    ) -> Result<Result<String, String>, StoreError> {
        let path = self.piece(&piece.name);
        match objects.get(&path, None).await? {
            Fetched::Object(object) if sum(&object.text) == piece.sum => Ok(Ok(object.text)),
            Fetched::Object(_) => Err(objects.damaged(format!("{path} is not as it was written"))),
            Fetched::Same | Fetched::Missing => Ok(Err(piece.name.clone())),
        }
    }

    /// A piece that is missing was merged into others by someone, which the head tells; or else it is lost.
    pub(crate) async fn fetch_after_missing(
        &mut self,
        objects: &Objects,
        missing: &str,
    ) -> Result<(), StoreError> {
        if self.fetch(objects).await? {
            return Ok(());
        }
        Err(objects.damaged(format!("{} is missing", self.piece(missing))))
    }
}

/// What is told of a write when it cannot be found out what became of it.
fn unanswered(error: StoreError, unclear: bool) -> StoreError {
    match error {
        StoreError::Unavailable { location, cause, .. } => {
            let cause = match unclear {
                true => format!("{cause}; it may be written all the same").into(),
                false => cause,
            };
            StoreError::Unavailable { attempted: "write", location, cause }
        }
        error => error,
    }
}
