//! The secrets of a run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use smol_str::SmolStr;

use super::index::Index;
use super::{SecretTexts, is_name};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::failure::Failure;
use crate::value::Value;

/// What stands in place of a secret.
const MASK: &str = "(secret)";

/// All secrets that a run has come across so far. A clone is the same set.
///
/// Providers share a server, and plugins log whenever they like: nobody can tell whose secret a text repeats. So every text
/// is scrubbed of all of them.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    texts: BTreeSet<SmolStr>,
    /// Secrets by their numbers in the index, then those that are not in it yet: most runs have nothing to scrub.
    numbered: Vec<SmolStr>,
    indexed: usize,
    index: Index,
}

impl Known {
    fn learn(&mut self, texts: SecretTexts) {
        // A key that reads like a name stands in ordinary text too.
        let keys = texts.data_keys.into_iter().filter(|key| !is_name(key));
        for text in texts.texts.into_iter().chain(keys) {
            if self.texts.insert(text.clone()) {
                self.numbered.push(text);
            }
        }
    }

    fn scrubbed<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let ranges = if self.texts.is_empty() { Vec::new() } else { self.index().ranges(text) };
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut scrubbed, mut copied) = (String::with_capacity(text.len()), 0);
        for range in ranges {
            scrubbed.push_str(&text[copied..range.start]);
            scrubbed.push_str(MASK);
            copied = range.end;
        }
        scrubbed.push_str(&text[copied..]);
        Cow::Owned(scrubbed)
    }

    fn index(&mut self) -> &Index {
        for number in self.indexed..self.numbered.len() {
            self.index.insert(&self.numbered[number], number);
        }
        self.indexed = self.numbered.len();
        &self.index
    }
}

impl KnownSecrets {
    /// Adds the secrets in these values.
    pub fn learn<'a>(&self, values: impl IntoIterator<Item = &'a Value>) {
        let mut values = values.into_iter().filter(|value| value.contains_secret()).peekable();
        if values.peek().is_some() {
            self.lock().learn(SecretTexts::of(values));
        }
    }

    /// Adds a credential that came with the process, not with a program. One that equals what is public beside it, such as
    /// `postgres` as user and password, is left out: it protects nothing, and would be missing wherever the word stands.
    pub fn learn_credential(&self, credential: &str, public: &[&str]) {
        if !public.contains(&credential) {
            self.learn(&[Value::from(credential).into_secret()]);
        }
    }

    /// Adds these secrets and, to them, the known secrets that they were made of.
    pub fn learn_and_trace(&self, mut texts: SecretTexts) -> SecretTexts {
        if texts.is_empty() {
            return texts;
        }
        let mut known = self.lock();
        known.learn(texts.clone());
        let index = known.index();
        let made = texts.texts.iter().chain(&texts.keys);
        let sources: BTreeSet<usize> = made.flat_map(|text| index.contained_in(text)).collect();
        texts.extend(sources.into_iter().map(|number| known.numbered[number].clone()));
        texts
    }

    /// The known secrets that the secret texts in these values were made of, and that are not among them: a secret list.
    /// `None` if there are none, as in most cases.
    pub fn sources_of<'a>(&self, values: impl IntoIterator<Item = &'a Value>) -> Option<Value> {
        let texts = SecretTexts::of(values);
        let traced = self.learn_and_trace(texts.clone());
        let sources = traced.texts.difference(&texts.texts).map(|text| Value::from(text.as_str()));
        let sources = Value::list(sources.collect::<Vec<_>>()).into_secret();
        (sources.children().count() > 0).then_some(sources)
    }

    /// A text with `(secret)` in place of each of them.
    pub fn scrubbed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.lock().scrubbed(text)
    }

    /// The same for whoever must not wait; `None` while someone else uses them, perhaps whoever asks.
    pub fn try_scrubbed<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        match self.0.try_lock() {
            Ok(mut known) => Some(known.scrubbed(text)),
            Err(TryLockError::Poisoned(known)) => Some(known.into_inner().scrubbed(text)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Takes them out of a text.
    pub fn scrub(&self, text: &mut String) {
        if let Cow::Owned(scrubbed) = self.scrubbed(text) {
            *text = scrubbed;
        }
    }

    /// Takes them out of a diagnostic.
    pub fn scrub_diagnostic(&self, diagnostic: &mut Diagnostic) {
        let Diagnostic { summary, detail, label, hints, path, .. } = diagnostic;
        let texts = std::iter::once(summary).chain(detail).chain(label).chain(hints);
        texts.for_each(|text| self.scrub(text));
        // A key of a map may be secret.
        path.take_if(|path| matches!(self.scrubbed(&path.to_string()), Cow::Owned(_)));
    }

    /// Takes them out of diagnostics.
    pub fn scrub_diagnostics(&self, diagnostics: &mut Diagnostics) {
        diagnostics.iter_mut().for_each(|diagnostic| self.scrub_diagnostic(diagnostic));
    }

    /// Takes them out of the texts of a failure.
    pub fn scrub_failure(&self, failure: &mut Failure) {
        let Failure { class: _, message, path, hints, diagnostics, unsent: _ } = failure;
        std::iter::once(message).chain(hints).for_each(|text| self.scrub(text));
        path.take_if(|path| matches!(self.scrubbed(&path.to_string()), Cow::Owned(_)));
        self.scrub_diagnostics(diagnostics);
    }

    /// Whether both know the same secrets, now and from now on.
    pub fn is_shared_with(&self, other: &KnownSecrets) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.lock().texts.len())
    }
}
