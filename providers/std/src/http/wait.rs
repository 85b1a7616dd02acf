//! Waiting until an object is ready.
//!
//! The engine does the waiting: an object that is not ready yet fails as *pending*, with all that is known of it, and
//! the next attempt looks again. So a run that is killed while it waits goes on waiting in the next one.

use std::time::Duration;

use trueup_core::{FailureClass, Value};
use trueup_provider::{Context, Error, FieldType, Result};

use super::call::steps;
use super::{Http, HttpOutput, pointer};
use crate::surroundings::Surroundings;

/// What to wait for: a part of the object that has one of a few values.
#[derive(FieldType, Clone)]
pub struct Wait {
    /// The part of what `read` answers, as a JSON pointer such as `/status`.
    pointer: String,
    /// The values that mean that the object is ready.
    values: Vec<Value>,
    /// The values that mean that it never will be.
    failed: Option<Vec<Value>>,
    /// How long to wait before looking again, in seconds.
    #[trueup(default = 5.0, range(min = 0.001, max = 3600))]
    interval: f64,
}

enum Readiness {
    Ready,
    Failed(String),
    NotYet(String),
}

impl Wait {
    fn judge(&self, output: &HttpOutput) -> Result<Readiness> {
        let part = pointer::at(&output.response, &steps(&self.pointer, "wait.pointer")?).unwrap_or_default();
        let is_one_of = |values: &[Value]| values.iter().any(|value| value.same(&part));
        Ok(if is_one_of(&self.values) {
            Readiness::Ready
        } else if self.failed.as_deref().is_some_and(is_one_of) {
            Readiness::Failed(part.to_string())
        } else {
            Readiness::NotYet(part.to_string())
        })
    }
}

impl Http {
    /// The object once it is ready, or the error that says it is not.
    pub(super) async fn wait_for(
        &self,
        context: &Context<Surroundings>,
        output: HttpOutput,
    ) -> Result<HttpOutput> {
        let Some(wait) = &self.wait else { return Ok(output) };
        // An answer to the request itself is enough only if it says so.
        if let Readiness::Ready = wait.judge(&output)? {
            return Ok(output);
        }
        let seen = match self.look(context, &output).await {
            Ok(seen) => seen.unwrap_or_else(|| output.clone()),
            // Some APIs show an object only a while after they have made it.
            Err(error) if *error.class() == FailureClass::NotFound => output.clone(),
            Err(error) => return Err(error.with_unready(&output)),
        };
        let place = &wait.pointer;
        match wait.judge(&seen)? {
            Readiness::Ready => Ok(seen),
            Readiness::Failed(value) => {
                Err(Error::fatal(format!("it will never be ready: `{place}` is {value}")).with_partial(&seen))
            }
            Readiness::NotYet(value) => {
                let delay = Duration::try_from_secs_f64(wait.interval).ok();
                let message = format!("it is not ready: `{place}` is {value}");
                context.report_progress(&message);
                Err(Error::pending(delay, Value::object::<&str>([]), message).with_unready(&seen))
            }
        }
    }
}
