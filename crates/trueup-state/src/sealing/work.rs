//! Finding the secrets of records, entries and outputs, and what is done with each of them.
//!
//! A value that is marked secret is dealt with as a whole, whatever is inside. What holds no secret is not copied, so
//! that the cost is in proportion to the secrets. Sets are put in order anew, since sealed elements sort otherwise.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use trueup_core::{JsonForm, Kind, Path, Step as PathStep, Type, Value};
use trueup_provider::{Binding, InputValues, State};
use zeroize::Zeroizing;

use super::cipher::{KeyId, SealingKey};
use super::keyring::Keys;
use super::place::{Part, Place, Subject};
use crate::configurations::{ConfigurationNumber, Configurations};
use crate::entry::{Entry, Step};
use crate::record::{Attempt, Generation, Metadata, Record, Status};
use crate::store::{Scope, Snapshot};

/// Sealed texts begin with the version of their form.
const TEXT_FORM: &str = "1";
/// So do sealed bytes, after what no provider's bytes begin with.
const BYTES_FORM: &[u8] = b"\0trueup\0sealed\x001";
/// Contents are filled up to a multiple of this, so that their lengths say little.
const FILLED_TO: usize = 32;

/// What is done with secrets.
pub(super) enum Work<'k> {
    /// Those that are open are sealed.
    Seal(&'k SealingKey),
    /// Those that are sealed are opened.
    Open(&'k Keys),
    /// Those that do not open are given up: unknown from now on (SECRET-4).
    Forget(Option<&'k Keys>, &'k mut Vec<String>),
    /// They are looked at, and left as they are.
    Find(&'k mut Found),
    /// They are left out, sealed or not.
    Outline,
}

/// How secrets stand.
#[derive(Default)]
pub(super) struct Found {
    /// The keys that sealed some.
    pub(super) keys: BTreeSet<KeyId>,
    /// Whether any is sealed.
    pub(super) sealed: bool,
    /// Whether any is open.
    pub(super) open: bool,
}

/// A secret that does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret `{field}` of {subject} {why}")]
pub struct Unopened {
    subject: String,
    field: String,
    why: String,
}

/// Whether a snapshot holds no secret in the clear.
pub fn is_sealed_throughout(scope: &Scope, snapshot: &Snapshot) -> bool {
    let mut found = Found::default();
    let mut worker = Worker::new(scope, Work::Find(&mut found));
    worker.look_at(snapshot);
    !found.open
}

/// A snapshot with its secrets opened.
pub fn opened(scope: &Scope, snapshot: Snapshot, keys: &Keys) -> Result<Snapshot, Unopened> {
    Worker::new(scope, Work::Open(keys)).snapshot(snapshot)
}

/// What a record says without its secrets. Two that say the same differ in their secrets, or in how those are sealed.
pub fn outline(record: &Record) -> Record {
    let nowhere = Scope::new("", "");
    let outlined = Worker::new(&nowhere, Work::Outline).record(record);
    outlined.expect("leaving out cannot fail").unwrap_or_else(|| record.clone())
}

/// Whether a record with sealed secrets says the same as another, however the secrets of that one stand.
pub(crate) fn is_resealed(before: &Record, after: &Record) -> bool {
    let (nowhere, mut found) = (Scope::new("", ""), Found::default());
    // Whoever only looks meets nothing that could fail.
    let _ = Worker::new(&nowhere, Work::Find(&mut found)).record(after);
    found.sealed && outline(before) == outline(after)
}

/// Goes through what may hold secrets.
pub(super) struct Worker<'a> {
    scope: &'a Scope,
    work: Work<'a>,
    subject: Subject,
    /// The same for people.
    named: Option<String>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(scope: &'a Scope, work: Work<'a>) -> Self {
        Worker { scope, work, subject: Subject::Stack, named: None }
    }

    /// A snapshot after the work.
    pub(super) fn snapshot(&mut self, mut snapshot: Snapshot) -> Result<Snapshot, Unopened> {
        for (record, _) in &mut snapshot.records {
            if let Some(done) = self.record(record)? {
                *record = done.into();
            }
        }
        if let Some(done) = snapshot.outputs.as_ref().map(|it| self.outputs(it)).transpose()?.flatten() {
            snapshot.outputs = Some(done);
        }
        if let Some(done) = self.configurations(&snapshot.configurations)? {
            snapshot.configurations = done;
        }
        Ok(snapshot)
    }

    /// Looks at all of a snapshot.
    pub(super) fn look_at(&mut self, snapshot: &Snapshot) {
        // Whoever only looks changes nothing and meets nothing that could fail.
        let _ = snapshot.records.iter().try_for_each(|(record, _)| self.record(record).map(drop));
        let _ = snapshot.outputs.as_ref().map(|outputs| self.outputs(outputs));
        let _ = self.configurations(&snapshot.configurations);
    }

    /// A record after the work; `None` if it has nothing to do with secrets.
    pub(super) fn record(&mut self, record: &Record) -> Result<Option<Record>, Unopened> {
        if !record_holds_secrets(record) {
            return Ok(None);
        }
        self.about(Subject::Record(record.id), Some(record.address.to_string()));
        let mut record = record.clone();
        self.record_in_place(&mut record)?;
        Ok(Some(record))
    }

    /// An entry after the work; `None` if it has nothing to do with secrets.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<Option<Entry>, Unopened> {
        if !step_holds_secrets(&entry.step) {
            return Ok(None);
        }
        let mut entry = entry.clone();
        self.about(Subject::Record(entry.id), None);
        match &mut entry.step {
            Step::CreateBegun { meta, attempt, .. } | Step::UpdateBegun { meta, attempt } => {
                self.metadata(meta)?;
                self.attempt(attempt)?;
            }
            Step::Adopted { meta, object, .. } => {
                self.metadata(meta)?;
                self.object(object)?;
            }
            Step::MetaChanged { meta } => self.metadata(meta)?,
            Step::Answered { object, .. }
            | Step::Settled { object, .. }
            | Step::Refreshed { object, .. }
            | Step::Migrated { object, .. } => self.object(object)?,
            Step::Pending { context, .. } => self.value(context, Part::Pending, Path::ROOT)?,
            Step::Resealed { record } | Step::Copied { record } => self.record_in_place(record)?,
            Step::Abandoned { .. }
            | Step::DeleteBegun { .. }
            | Step::Deleted { .. }
            | Step::Dropped { .. }
            | Step::Moved { .. }
            | Step::Relinked { .. } => {}
        }
        Ok(Some(entry))
    }

    /// The stack's outputs after the work; `None` if they have nothing to do with secrets.
    pub(super) fn outputs(&mut self, outputs: &Value) -> Result<Option<Value>, Unopened> {
        if !outputs.contains_secret() {
            return Ok(None);
        }
        self.about(Subject::Stack, None);
        let mut outputs = outputs.clone();
        self.value(&mut outputs, Part::Outputs, Path::ROOT)?;
        Ok(Some(outputs))
    }

    /// Configurations of providers after the work; `None` if they have nothing to do with secrets.
    pub(super) fn configurations(
        &mut self,
        configurations: &Configurations,
    ) -> Result<Option<Configurations>, Unopened> {
        if !configurations.iter().any(|(_, it)| it.value.contains_secret()) {
            return Ok(None);
        }
        self.about(Subject::Stack, None);
        let mut configurations = configurations.clone();
        for (ConfigurationNumber(number), value) in configurations.values_mut() {
            self.value(value, Part::Configuration, Path::ROOT.join(PathStep::Index(number)))?;
        }
        Ok(Some(configurations))
    }

    fn about(&mut self, subject: Subject, named: Option<String>) {
        (self.subject, self.named) = (subject, named);
    }

    fn record_in_place(&mut self, record: &mut Record) -> Result<(), Unopened> {
        self.metadata(&mut record.meta)?;
        for generation in record.deposed.iter_mut().chain(&mut record.current) {
            generation.object.as_mut().map_or(Ok(()), |object| self.object(object))?;
            self.bindings(&mut generation.bindings)?;
            if let Status::Creating(attempt) | Status::Updating(attempt) = &mut generation.status {
                self.attempt(attempt)?;
            }
        }
        Ok(())
    }

    fn metadata(&mut self, meta: &mut Metadata) -> Result<(), Unopened> {
        let sources = meta.secret_sources.as_mut();
        sources.map_or(Ok(()), |sources| self.value(sources, Part::Sources, Path::ROOT))
    }

    fn object(&mut self, object: &mut State) -> Result<(), Unopened> {
        object.inputs.as_mut().map_or(Ok(()), |inputs| self.inputs(inputs))?;
        self.value(&mut object.outputs, Part::Outputs, Path::ROOT)?;
        if let Some(identity) = &mut object.identity {
            self.value(identity, Part::Identity, Path::ROOT)?;
        }
        if !object.private.is_empty() {
            self.private(&mut object.private)?;
        }
        Ok(())
    }

    fn attempt(&mut self, attempt: &mut Attempt) -> Result<(), Unopened> {
        self.inputs(&mut attempt.inputs)?;
        self.bindings(&mut attempt.bindings)?;
        attempt.pending.as_mut().map_or(Ok(()), |context| self.value(context, Part::Pending, Path::ROOT))
    }

    /// Inputs as written and as they count are alike where no default stands in, and stay one storage then.
    fn inputs(&mut self, inputs: &mut InputValues) -> Result<(), Unopened> {
        let alike = inputs.written == inputs.effective;
        self.value(&mut inputs.written, Part::Inputs, Path::ROOT)?;
        if alike {
            inputs.effective = inputs.written.clone();
            return Ok(());
        }
        self.value(&mut inputs.effective, Part::Inputs, Path::ROOT)
    }

    fn bindings(&mut self, bindings: &mut [Binding]) -> Result<(), Unopened> {
        for binding in bindings {
            self.value(&mut binding.payload, Part::Bindings, Path::attribute(binding.key.clone()))?;
        }
        Ok(())
    }

    fn value(&mut self, value: &mut Value, part: Part, path: Path) -> Result<(), Unopened> {
        if value.contains_secret() {
            let mut place = Place { scope: self.scope, subject: self.subject, part, path };
            *value = self.inside(value, &mut place)?;
        }
        Ok(())
    }

    fn inside(&mut self, value: &Value, place: &mut Place<'_>) -> Result<Value, Unopened> {
        if value.is_secret() || hides_unknown_elements(value) {
            return self.secret(value, place);
        }
        let mut part = |step: PathStep, part: &Value| {
            if !part.contains_secret() {
                return Ok(part.clone());
            }
            place.path.push(step);
            let done = self.inside(part, place);
            place.path.pop();
            done
        };
        let done = match value.kind() {
            Kind::List(items) => {
                let at = |(at, item)| part(PathStep::Index(at as u64), item);
                Value::list(items.iter().enumerate().map(at).collect::<Result<Vec<_>, _>>()?)
            }
            Kind::Set(items) => {
                let items = items.iter().map(|item| part(PathStep::Any, item));
                Value::set(items.collect::<Result<Vec<_>, _>>()?)
            }
            Kind::Map(entries) | Kind::Object(entries) => {
                let at = |(key, item): (&smol_str::SmolStr, &Value)| {
                    Ok((key.clone(), part(PathStep::Key(key.clone()), item)?))
                };
                let entries = entries.iter().map(at).collect::<Result<Vec<_>, _>>()?;
                if matches!(value.kind(), Kind::Map(_)) {
                    Value::map(entries)
                } else {
                    Value::object(entries)
                }
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => {
                value.clone()
            }
        };
        Ok(match value.origin() {
            Some(origin) => done.with_origin(origin),
            None => done,
        })
    }

    /// The one place where something is done with a secret value.
    fn secret(&mut self, value: &Value, place: &Place<'_>) -> Result<Value, Unopened> {
        let text = value.as_sealed();
        // There is nothing to hide about what nobody knows.
        let open = text.is_none() && !value.is_unknown();
        match &mut self.work {
            Work::Seal(key) if open => {
                let json = Zeroizing::new(value.to_json(JsonForm::RECORD));
                let mut content = Zeroizing::new(vec![b' '; json.len().next_multiple_of(FILLED_TO)]);
                content[..json.len()].copy_from_slice(json.as_bytes());
                let sealed = BASE64.encode(key.seal(&place.to_bytes(), &content));
                Ok(Value::sealed(format!("{TEXT_FORM}.{}.{sealed}", key.id())))
            }
            Work::Open(keys) => match text.map(|text| opened_text(keys, text, place)) {
                Some(opened) => opened.map_err(|why| self.unopened(place, why)),
                None => Ok(value.clone()),
            },
            Work::Forget(keys, forgotten) => {
                let opens = |text| keys.is_some_and(|keys| opened_text(keys, text, place).is_ok());
                if text.is_none_or(opens) {
                    return Ok(value.clone());
                }
                forgotten.push(place.field());
                Ok(Value::unknown(Type::Any).into_secret())
            }
            Work::Find(found) => {
                found.open |= open;
                found.sealed |= text.is_some();
                found.keys.extend(text.and_then(|text| text.split('.').nth(1)?.parse::<KeyId>().ok()));
                Ok(value.clone())
            }
            Work::Outline => Ok(Value::sealed("")),
            Work::Seal(_) => Ok(value.clone()),
        }
    }

    /// The same for private bytes, which are all secret.
    fn private(&mut self, bytes: &mut Vec<u8>) -> Result<(), Unopened> {
        let part = Part::Private;
        let place = Place { scope: self.scope, subject: self.subject, part, path: Path::ROOT };
        let sealed = bytes.strip_prefix(BYTES_FORM);
        match &mut self.work {
            Work::Seal(key) if sealed.is_none() => {
                let content = key.seal(&place.to_bytes(), bytes);
                zeroize::Zeroize::zeroize(bytes);
                *bytes = [BYTES_FORM, key.id().as_bytes(), &content].concat();
            }
            Work::Open(keys) => match sealed.map(|sealed| opened_bytes(keys, sealed, &place)) {
                Some(Ok(opened)) => *bytes = opened.to_vec(),
                Some(Err(why)) => return Err(self.unopened(&place, why)),
                None => {}
            },
            Work::Forget(keys, forgotten) => {
                let opens = |sealed| keys.is_some_and(|keys| opened_bytes(keys, sealed, &place).is_ok());
                if !sealed.is_none_or(opens) {
                    forgotten.push(place.field());
                    bytes.clear();
                }
            }
            Work::Find(found) => {
                found.open |= sealed.is_none();
                found.sealed |= sealed.is_some();
                let id = sealed.and_then(|sealed| sealed.first_chunk::<{ KeyId::LENGTH }>());
                found.keys.extend(id.copied().map(KeyId::from_bytes));
            }
            Work::Outline => bytes.clear(),
            Work::Seal(_) => {}
        }
        Ok(())
    }

    fn unopened(&self, place: &Place<'_>, why: String) -> Unopened {
        let subject = self.named.clone().unwrap_or_else(|| place.subject.to_string());
        Unopened { subject, field: place.field(), why }
    }
}

const GARBLED: &str = "is garbled";
const CHANGED: &str = "does not open: it was changed, or belongs elsewhere";

fn opened_text(keys: &Keys, text: &str, place: &Place<'_>) -> Result<Value, String> {
    let mut parts = text.splitn(3, '.');
    let (form, id, content) = (parts.next(), parts.next(), parts.next());
    let (Some(TEXT_FORM), Some(Ok(id)), Some(content)) = (form, id.map(str::parse), content) else {
        return Err(GARBLED.to_owned());
    };
    let sealed = BASE64.decode(content).map_err(|_| GARBLED.to_owned())?;
    let content = keys.get(id)?.open(&place.to_bytes(), &sealed).ok_or(CHANGED)?;
    let text = std::str::from_utf8(&content).map_err(|_| GARBLED.to_owned())?;
    // What the reader says might hold a piece of the secret.
    Value::from_json(text).map_err(|_| GARBLED.to_owned())
}

fn opened_bytes(keys: &Keys, sealed: &[u8], place: &Place<'_>) -> Result<Zeroizing<Vec<u8>>, String> {
    let (id, sealed) = sealed.split_first_chunk::<{ KeyId::LENGTH }>().ok_or(GARBLED)?;
    let key = keys.get(KeyId::from_bytes(*id))?;
    Ok(key.open(&place.to_bytes(), sealed).ok_or(CHANGED)?)
}

/// Whether a set has an element that could not be told from an equal one while it is sealed, and can while it is open:
/// one with a secret in which something is unknown. Such a set is sealed as a whole.
fn hides_unknown_elements(value: &Value) -> bool {
    fn hides_unknown(value: &Value) -> bool {
        match value.is_secret() {
            true => !value.is_unknown() && !value.is_wholly_known(),
            false => value.children().any(hides_unknown),
        }
    }
    matches!(value.kind(), Kind::Set(_)) && value.children().any(hides_unknown)
}

fn step_holds_secrets(step: &Step) -> bool {
    match step {
        Step::CreateBegun { meta, attempt, .. } | Step::UpdateBegun { meta, attempt } => {
            metadata_holds_secrets(meta) || attempt_holds_secrets(attempt)
        }
        Step::Adopted { meta, object, .. } => metadata_holds_secrets(meta) || object_holds_secrets(object),
        Step::MetaChanged { meta } => metadata_holds_secrets(meta),
        Step::Answered { object, .. }
        | Step::Settled { object, .. }
        | Step::Refreshed { object, .. }
        | Step::Migrated { object, .. } => object_holds_secrets(object),
        Step::Pending { context, .. } => context.contains_secret(),
        Step::Resealed { record } | Step::Copied { record } => record_holds_secrets(record),
        Step::Abandoned { .. }
        | Step::DeleteBegun { .. }
        | Step::Deleted { .. }
        | Step::Dropped { .. }
        | Step::Moved { .. }
        | Step::Relinked { .. } => false,
    }
}

fn record_holds_secrets(record: &Record) -> bool {
    metadata_holds_secrets(&record.meta) || record.generations().any(holds_secrets)
}

fn metadata_holds_secrets(meta: &Metadata) -> bool {
    meta.secret_sources.as_ref().is_some_and(Value::contains_secret)
}

fn holds_secrets(generation: &Generation) -> bool {
    generation.object.as_ref().is_some_and(object_holds_secrets)
        || generation.bindings.iter().any(|binding| binding.payload.contains_secret())
        || generation.attempt().is_some_and(attempt_holds_secrets)
}

fn object_holds_secrets(object: &State) -> bool {
    !object.private.is_empty()
        || object.outputs.contains_secret()
        || object.inputs.as_ref().is_some_and(inputs_hold_secrets)
        || object.identity.as_ref().is_some_and(Value::contains_secret)
}

fn attempt_holds_secrets(attempt: &Attempt) -> bool {
    inputs_hold_secrets(&attempt.inputs)
        || attempt.bindings.iter().any(|binding| binding.payload.contains_secret())
        || attempt.pending.as_ref().is_some_and(Value::contains_secret)
}

fn inputs_hold_secrets(inputs: &InputValues) -> bool {
    inputs.effective.contains_secret() || inputs.written.contains_secret()
}
