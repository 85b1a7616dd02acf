//! The data source `stack_output`: what another stack gives, read by whoever knows its store.

use std::fmt;
use std::sync::Arc;

use trueup_core::Value;
use trueup_provider::{BoxFuture, Context, DataSource, Error, Inputs, Outputs, Result};

type Reader = dyn Fn(StackOutputRequest) -> BoxFuture<'static, Result<Option<Value>>> + Send + Sync;

/// Whose outputs are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StackOutputRequest {
    /// The stack.
    pub stack: String,
    /// The stage.
    pub stage: String,
    /// The folder of the other stack, if its state is kept there.
    pub folder: Option<String>,
}

/// What reads the outputs of stacks: stores are composed elsewhere.
#[derive(Clone)]
pub struct StackOutputs(Arc<Reader>);

impl StackOutputs {
    /// From a function to the outputs, an object with an entry for each; `None` if that stack was never deployed.
    pub fn from_function<F>(read: impl Fn(StackOutputRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Option<Value>>> + Send + 'static,
    {
        StackOutputs(Arc::new(move |wanted| Box::pin(read(wanted))))
    }
}

impl fmt::Debug for StackOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outputs of stacks")
    }
}

/// What another stack gives, as of its last successful deploy.
#[derive(Inputs)]
pub struct OutputsOfStack {
    /// The name of the other stack.
    #[trueup(length(min = 1))]
    stack: String,
    /// Its stage; if it is not set, the stage of this run.
    stage: Option<String>,
    /// Its folder, if its state is kept there and not beside this stack's. A relative one begins at this stack's folder.
    folder: Option<String>,
}

/// What another stack gives.
#[derive(Outputs)]
pub struct OutputsOfStackOutput {
    /// Its outputs, by their names. Those that are secret there are secret here.
    outputs: Value,
}

impl DataSource for OutputsOfStack {
    type Output = OutputsOfStackOutput;
    type Config = StackOutputs;

    async fn read(&self, context: &Context<StackOutputs>) -> Result<OutputsOfStackOutput> {
        let stage = self.stage.clone().unwrap_or_else(|| context.owner.stage.to_string());
        let (stack, folder) = (self.stack.clone(), self.folder.clone());
        match (context.config().0)(StackOutputRequest { stack, stage: stage.clone(), folder }).await? {
            Some(outputs) => Ok(OutputsOfStackOutput { outputs }),
            None => {
                Err(Error::not_found(format!("the stack `{}` was never deployed to `{stage}`", self.stack))
                    .at("stack")
                    .hint("deploy it first"))
            }
        }
    }
}
