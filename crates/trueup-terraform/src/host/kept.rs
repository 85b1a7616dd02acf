//! Answers on disk, each under a ticket.
//!
//! A file is there from before a change is asked for, and locked for as long as its answer may still come. What it holds is
//! sealed by a key that follows from the ticket, which is recorded with the intent: the file alone tells nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use trueup_provider::IdempotencyToken;

const NONCE_LENGTH: usize = 24;

/// How long answers are kept that nobody asks for: those of runs that failed, and were never looked at again.
const KEPT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What an answer is kept under: the token of the intent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket(pub(crate) IdempotencyToken);

impl Ticket {
    fn file(self, folder: &Path) -> PathBuf {
        let name = blake3::derive_key("trueup answer file", self.0.to_string().as_bytes());
        folder.join(blake3::Hash::from(name).to_hex().get(..32).unwrap_or_default())
    }

    fn cipher(self) -> XChaCha20Poly1305 {
        let key = blake3::derive_key("trueup answer key", self.0.to_string().as_bytes());
        XChaCha20Poly1305::new(&key.into())
    }
}

/// What is known of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It was never asked for by way of a host.
    Unheard,
    /// It is being made.
    UnderWay,
    /// It was asked for, and nobody knows what came of it.
    Unanswered,
    /// This is it.
    Answer(Vec<u8>),
}

/// The answers of all runs of a user.
#[derive(Clone, Debug)]
pub(crate) struct KeptAnswers {
    folder: PathBuf,
}

/// A change that is under way.
pub(crate) struct Begun {
    file: File,
    folder: PathBuf,
    ticket: Ticket,
}

impl KeptAnswers {
    pub(crate) fn new(folder: PathBuf) -> Self {
        KeptAnswers { folder }
    }

    /// Says that a change is about to be asked for. What an earlier attempt left under the ticket is gone.
    pub(crate) fn begin(&self, ticket: Ticket) -> io::Result<Begun> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = file.open(ticket.file(&self.folder))?;
        file.lock()?;
        file.set_len(0)?;
        file.sync_all()?;
        File::open(&self.folder)?.sync_all()?;
        Ok(Begun { file, folder: self.folder.clone(), ticket })
    }

    /// What came of a change.
    pub(crate) fn look(&self, ticket: Ticket) -> io::Result<Outcome> {
        let mut file = match File::open(ticket.file(&self.folder)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Unheard),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Outcome::UnderWay),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut sealed = Vec::new();
        file.read_to_end(&mut sealed)?;
        // What is cut off does not open.
        let opened = sealed
            .split_at_checked(NONCE_LENGTH)
            .and_then(|(nonce, rest)| ticket.cipher().decrypt(&XNonce::try_from(nonce).ok()?, rest).ok());
        Ok(opened.map_or(Outcome::Unanswered, Outcome::Answer))
    }

    /// Forgets what nobody asked for in a long time. What cannot be removed stays.
    pub(crate) fn sweep(&self, now: SystemTime) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|found| found.modified());
            if modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT_MAX)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Forgets what came of a change, because it is recorded elsewhere.
    pub(crate) fn forget(&self, ticket: Ticket) -> io::Result<()> {
        match std::fs::remove_file(ticket.file(&self.folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Begun {
    /// Keeps the answer, durably.
    pub(crate) fn keep(mut self, answer: &[u8]) -> io::Result<()> {
        let mut nonce = [0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let sealed = self.ticket.cipher().encrypt(&XNonce::from(nonce), answer);
        let sealed = sealed.map_err(|_| io::Error::other("the answer cannot be sealed"))?;
        self.file.rewind()?;
        self.file.write_all(&nonce)?;
        self.file.write_all(&sealed)?;
        self.file.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_by_its_ticket_alone_and_not_in_the_clear() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(folder.path().to_owned());
        let ticket = Ticket(IdempotencyToken::fresh());
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Unheard);
        drop(kept.begin(ticket).unwrap());
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Unanswered);
        kept.begin(ticket).unwrap().keep(b"canary-99aa").unwrap();
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Answer(b"canary-99aa".to_vec()));
        assert_eq!(kept.look(Ticket(IdempotencyToken::fresh())).unwrap(), Outcome::Unheard);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"canary"));
            std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Unanswered, "half an answer is none");
        kept.forget(ticket).unwrap();
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Unheard);
        kept.forget(ticket).unwrap();
    }

    #[test]
    fn what_is_under_way_is_told_from_what_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(folder.path().to_owned());
        let ticket = Ticket(IdempotencyToken::fresh());
        let begun = kept.begin(ticket).unwrap();
        assert_eq!(kept.look(ticket).unwrap(), Outcome::UnderWay);
        begun.keep(b"done").unwrap();
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Answer(b"done".to_vec()));
    }

    #[test]
    fn what_nobody_asked_for_is_swept_up_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(folder.path().to_owned());
        let ticket = Ticket(IdempotencyToken::fresh());
        kept.begin(ticket).unwrap().keep(b"done").unwrap();
        kept.sweep(SystemTime::now());
        assert!(matches!(kept.look(ticket).unwrap(), Outcome::Answer(_)));
        kept.sweep(SystemTime::now() + KEPT_MAX + KEPT_MAX);
        assert_eq!(kept.look(ticket).unwrap(), Outcome::Unheard);
    }
}
