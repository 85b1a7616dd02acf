//! Calls of provider functions. Evaluation asks its scope for their answers; one that is missing makes the result unknown
//! and is noted. Whoever evaluates awaits the answers of all noted calls and evaluates again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;
use trueup_core::Value;

/// A call of a provider's function, with known arguments without marks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionCall {
    /// The name of the provider.
    pub provider: SmolStr,
    /// The name of the function.
    pub function: SmolStr,
    /// Its arguments.
    pub arguments: Vec<Value>,
}

/// The result of a call, or what went wrong, in a sentence.
pub type FunctionAnswer = Result<Value, String>;

/// The answers of functions, which are pure: equal calls have equal answers.
#[derive(Debug, Default)]
pub struct FunctionAnswers(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    known: BTreeMap<FunctionCall, FunctionAnswer>,
    missing: BTreeSet<FunctionCall>,
    /// Whether missing answers are mistakes.
    is_final: bool,
}

impl FunctionAnswers {
    /// How often something is evaluated before its missing answers are mistakes. Each round answers all calls whose
    /// arguments are known, so only arguments that differ in each round, or calls nested this deep, need more.
    pub const ROUNDS_MAX: u32 = 64;

    /// The answer to a call. A missing one is noted.
    pub fn answer(&self, call: &FunctionCall) -> Option<FunctionAnswer> {
        let mut answers = self.answers();
        if let Some(answer) = answers.known.get(call) {
            return Some(answer.clone());
        }
        if answers.is_final {
            let message = "its arguments differ each time it is called; give them a name in a `locals` block, \
                           which is evaluated once";
            return Some(Err(message.to_owned()));
        }
        answers.missing.insert(call.clone());
        None
    }

    /// Takes the calls whose answers were missing since this was last asked.
    pub fn take_missing(&self) -> BTreeSet<FunctionCall> {
        std::mem::take(&mut self.answers().missing)
    }

    /// Whether a call was answered.
    pub fn is_known(&self, call: &FunctionCall) -> bool {
        self.answers().known.contains_key(call)
    }

    /// Adds an answer.
    pub fn add(&self, call: FunctionCall, answer: FunctionAnswer) {
        self.answers().known.insert(call, answer);
    }

    /// Makes each missing answer a mistake from now on.
    pub fn refuse_more(&self) {
        self.answers().is_final = true;
    }

    /// The outcome of some work in which each missing answer is a mistake.
    pub fn without_more<T>(&self, work: impl FnOnce() -> T) -> T {
        self.refuse_more();
        let done = work();
        self.answers().is_final = false;
        done
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        // Each change is a single step, so a poisoned lock still guards a valid table.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without its arguments: their marks are gone, so any of them may be secret.
impl fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider::{}::{}", self.provider, self.function)
    }
}
