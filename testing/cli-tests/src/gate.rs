//! A resource whose create goes on until a file appears, so that tests can hold a run where they want it.

use std::path::Path;
use std::time::Duration;

use trueup::{Context, Crud, Error, Inputs, NoConfig, Outputs, Prior, Recovery, Result};

/// How often it looks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits for a file.
#[derive(Inputs)]
pub struct Gate {
    /// The file; if it says `fail`, so does the create, and if it says `retry`, it is tried again.
    until: String,
    /// Something to depend on.
    after: Option<String>,
}

/// What is known of a gate.
#[derive(Outputs)]
pub struct GateOutput {
    passed: String,
}

impl Crud for Gate {
    type Output = GateOutput;
    type Config = NoConfig;

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context) -> Result<GateOutput> {
        let _ = &self.after;
        context.report_progress("waiting at the gate");
        while !Path::new(&self.until).exists() {
            context.clock.sleep(LOOK).await;
        }
        match std::fs::read_to_string(&self.until)?.trim() {
            "fail" => Err(Error::fatal("the gate is shut")),
            "retry" => Err(Error::retryable("the gate is stuck")),
            _ => Ok(GateOutput { passed: self.until.clone() }),
        }
    }

    async fn read(&self, _: &Context, prior: &GateOutput) -> Result<GateOutput> {
        Ok(GateOutput { passed: prior.passed.clone() })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<GateOutput> {
        Ok(GateOutput { passed: self.until.clone() })
    }

    async fn delete(&self, _: &Context, _: &GateOutput) -> Result<()> {
        Ok(())
    }
}
