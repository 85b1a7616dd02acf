//! What a plan learned by looking: objects that were read, data sources, lookups and imports.
//!
//! While a plan is made to be saved, each answer is kept under what was asked. When it is carried out, the same questions
//! get the same answers, and nobody looks again (PLANFILE-2): from the same program, records and answers follows the
//! same plan. A question that nobody asked before is refused.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use smol_str::SmolStr;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{GenerationNumber, Imported, Ownership, Sighting, State};

/// Answers of the outside, kept or given again.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    answers: Mutex<BTreeMap<Question, Json>>,
    /// Whether they are all there is: nobody is asked any more.
    closed: bool,
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    kind: QuestionKind,
    address: Address,
    /// A digest of what it was asked with.
    with: String,
}

/// What kind of question it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuestionKind {
    /// How a recorded object looks.
    Read,
    /// What a data source says.
    Data,
    /// Which objects have an identity.
    Lookup,
    /// Which object has an id.
    Import,
}

/// An answer in the form in which it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptAnswer {
    pub(crate) question: Question,
    pub(crate) answer: Json,
}

impl Observations {
    /// These answers and no others.
    pub(crate) fn closed(answers: impl IntoIterator<Item = KeptAnswer>) -> Self {
        let answers = answers.into_iter().map(|it| (it.question, it.answer)).collect();
        Observations { answers: Mutex::new(answers), closed: true }
    }

    /// All answers, in order.
    pub(crate) fn answers(&self) -> Vec<KeptAnswer> {
        let Ok(answers) = self.answers.lock() else { return Vec::new() };
        let kept = answers.iter().map(|(question, answer)| (question.clone(), answer.clone()));
        kept.map(|(question, answer)| KeptAnswer { question, answer }).collect()
    }

    /// The answer to a question: the one that is kept, else the one that asking gives.
    pub(crate) async fn answer<T: Serialize + DeserializeOwned>(
        &self,
        kind: QuestionKind,
        address: &Address,
        with: &[&Value],
        ask: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let question = Question { kind, address: address.clone(), with: digest(with) };
        let kept = self.answers.lock().ok().and_then(|answers| {
            let exactly = answers.get(&question).cloned();
            exactly.or_else(|| self.closed.then(|| nearest(&answers, &question))?)
        });
        match kept {
            Some(answer) => serde_json::from_value(answer)
                .map_err(|error| refused(address, &format!("its answer does not read: {error}"))),
            None if self.closed => Err(refused(address, "it has no answer for it")),
            None => {
                let answer = ask.await?;
                let kept = serde_json::to_value(&answer)
                    .map_err(|error| refused(address, &format!("its answer cannot be kept: {error}")))?;
                if let Ok(mut answers) = self.answers.lock() {
                    answers.insert(question, kept);
                }
                Ok(answer)
            }
        }
    }
}

/// A text that differs between values.
fn digest(values: &[&Value]) -> String {
    let mut digest = blake3::Hasher::new();
    for value in values {
        digest.update(value.to_json(trueup_core::JsonForm::RECORD).as_bytes()).update(b"\n");
    }
    digest.finalize().to_hex().to_string()
}

/// What was said of a resource that was asked for with other values. It must do where the plan shows those values: then
/// it does not come out the same, and can say where.
fn nearest(answers: &BTreeMap<Question, Json>, question: &Question) -> Option<Json> {
    if !matches!(question.kind, QuestionKind::Read | QuestionKind::Lookup) {
        return None;
    }
    let same = |it: &Question| it.kind == question.kind && it.address == question.address;
    let mut found = answers.iter().filter(|(it, _)| same(it)).map(|(_, answer)| answer.clone());
    found.next().filter(|_| found.next().is_none())
}

fn refused(address: &Address, why: &str) -> Failure {
    let message = format!("the saved plan does not say how {address} was found: {why}");
    Failure::new(FailureClass::Conflict, message).hint("plan again")
}

/// What a data source said.
#[derive(Serialize, Deserialize)]
pub(crate) struct DataAnswer {
    #[serde(with = "trueup_core::recorded")]
    pub(crate) outputs: Value,
}

/// An object that a lookup found, in the form in which it is kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct SightingForm {
    state: State,
    whose: Whose,
}

/// Whose it is.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Whose {
    Ours { generation: Option<GenerationNumber> },
    Others,
}

impl From<Sighting> for SightingForm {
    fn from(Sighting { state, ownership }: Sighting) -> Self {
        let whose = match ownership {
            Ownership::Owned { generation } => Whose::Ours { generation },
            Ownership::Unowned => Whose::Others,
        };
        SightingForm { state, whose }
    }
}

impl From<SightingForm> for Sighting {
    fn from(SightingForm { state, whose }: SightingForm) -> Self {
        let ownership = match whose {
            Whose::Ours { generation } => Ownership::Owned { generation },
            Whose::Others => Ownership::Unowned,
        };
        Sighting { state, ownership }
    }
}

/// An object that was found by its id, in the form in which it is kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct ImportForm {
    type_name: SmolStr,
    state: State,
}

impl From<Imported> for ImportForm {
    fn from(Imported { type_name, state }: Imported) -> Self {
        ImportForm { type_name, state }
    }
}

impl From<ImportForm> for Imported {
    fn from(ImportForm { type_name, state }: ImportForm) -> Self {
        Imported { type_name, state }
    }
}
