//! Functions of providers, which expressions call: evaluated without waiting, answered like any other call, and evaluated
//! again.

use std::collections::BTreeSet;
use std::future::ready;

use futures_util::StreamExt;
use futures_util::stream;
use trueup_core::Failure;
use trueup_program::{FunctionAnswers, FunctionCall};
use trueup_state::Scope;

use super::Caller;
use crate::options::PlanOptions;
use crate::reconciler::Reconciler;

impl Caller<'_> {
    /// The outcome of an evaluation, repeated until no answer is missing.
    pub(crate) async fn answered<T>(&self, answers: &FunctionAnswers, mut evaluate: impl FnMut() -> T) -> T {
        let mut rounds = 0;
        loop {
            let (outcome, missing) = evaluated(answers, rounds, &mut evaluate);
            if missing.is_empty() {
                return outcome;
            }
            self.answer(answers, missing).await;
            rounds += 1;
        }
    }

    /// Adds the answers to some calls, each bounded and repeated as a call of its provider.
    pub(crate) async fn answer(&self, answers: &FunctionAnswers, missing: BTreeSet<FunctionCall>) {
        let calls = missing.into_iter().map(|call| async {
            // Another task may have had it answered by now.
            if answers.is_known(&call) {
                return;
            }
            let ask = async || self.registry.call_function(&call).await;
            let answer = self.of_provider(&call.provider, ask).await;
            let told = |failure: Failure| {
                failure.hints.iter().fold(failure.message, |told, hint| format!("{told} ({hint})"))
            };
            answers.add(call, answer.map_err(told));
        });
        let calls = stream::iter(calls).buffer_unordered(self.options.parallelism.max(1));
        // Boxed: few programs call functions, and otherwise every task's future would be that much larger.
        Box::pin(calls.for_each(|()| ready(()))).await;
    }
}

impl Reconciler {
    /// The outcome of a front end's evaluation, repeated until no answer of a provider's function is missing. Each function is
    /// called as planning calls it: bounded and repeated.
    pub async fn answered<T>(
        &self,
        answers: &FunctionAnswers,
        options: &PlanOptions,
        mut evaluate: impl AsyncFnMut() -> T,
    ) -> T {
        for _ in 0..FunctionAnswers::ROUNDS_MAX {
            let outcome = evaluate().await;
            let missing = answers.take_missing();
            if missing.is_empty() {
                return outcome;
            }
            let scope = Scope::new("", options.stage.clone());
            let caller = Caller::new(self.registry(), self.clock().clone(), scope, options);
            caller.answer(answers, missing).await;
        }
        answers.refuse_more();
        evaluate().await
    }
}

/// The outcome of an evaluation after so many rounds, and the calls whose answers it missed. After too many rounds, those
/// are mistakes of the program.
pub(crate) fn evaluated<T>(
    answers: &FunctionAnswers,
    rounds: u32,
    evaluate: impl FnOnce() -> T,
) -> (T, BTreeSet<FunctionCall>) {
    match rounds < FunctionAnswers::ROUNDS_MAX {
        true => (evaluate(), answers.take_missing()),
        false => (answers.without_more(evaluate), BTreeSet::new()),
    }
}
