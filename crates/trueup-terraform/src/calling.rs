//! Functions called from where nobody can wait: expressions are evaluated without a runtime around them.
//!
//! The calls of all functions are made on one thread of their own, each with the process of its provider, so that
//! whoever evaluates may simply block. The thread is started by the first call and ends with the last function.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use trueup_core::{Type, Value, convert};
use trueup_provider::ProviderFunction;

use crate::functions::{Function, Parameter, call};
use crate::provider::Shared;

/// Functions compute: one that takes this long does not.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// A function of a provider, ready to be called.
pub(crate) struct Called {
    shared: Arc<Shared>,
    name: String,
    function: Arc<Function>,
}

/// A call, as the thread gets it.
struct Asked {
    name: String,
    function: Arc<Function>,
    arguments: Vec<Value>,
    answer: mpsc::Sender<Result<Value, String>>,
}

/// The thread that calls the functions of one provider, if it runs.
#[derive(Default)]
pub(crate) struct Caller(Mutex<Option<mpsc::Sender<Asked>>>);

impl Called {
    pub(crate) fn new(shared: Arc<Shared>, name: &str, function: Function) -> Self {
        Called { shared, name: name.to_owned(), function: Arc::new(function) }
    }

    /// The arguments as the function takes them.
    fn converted(&self, arguments: &[Value]) -> Result<Vec<Value>, String> {
        let Function { parameters, variadic, .. } = &*self.function;
        let (given, wanted) = (arguments.len(), parameters.len());
        if given < wanted || (given > wanted && variadic.is_none()) {
            let least = if variadic.is_some() { "at least " } else { "" };
            return Err(format!("it takes {least}{wanted} arguments, and there are {given}"));
        }
        let parameters = parameters.iter().chain(std::iter::repeat_n(variadic, given).flatten());
        arguments.iter().zip(parameters).map(|(argument, parameter)| one(argument, parameter)).collect()
    }
}

fn one(argument: &Value, parameter: &Parameter) -> Result<Value, String> {
    let Parameter { name, ty, takes_null, .. } = parameter;
    if argument.is_null() && !takes_null {
        return Err(format!("the argument `{name}` must not be null"));
    }
    match ty {
        Type::Any => Ok(argument.clone()),
        ty => convert(argument, ty).map_err(|found| {
            let told: Vec<&str> = found.iter().map(|wrong| wrong.message.as_str()).collect();
            format!("the argument `{name}`: {}", told.join("; "))
        }),
    }
}

impl ProviderFunction for Called {
    fn call(&self, arguments: &[Value]) -> Result<Value, String> {
        let arguments = self.converted(arguments)?;
        let (answer, answered) = mpsc::channel();
        let asked = Asked { name: self.name.clone(), function: self.function.clone(), arguments, answer };
        self.shared.caller.ask(&self.shared, asked)?;
        answered
            .recv_timeout(ANSWER_WAIT)
            .unwrap_or_else(|_| Err(format!("no answer within {} s", ANSWER_WAIT.as_secs())))
    }
}

impl Caller {
    fn ask(&self, shared: &Shared, asked: Asked) -> Result<(), String> {
        let mut thread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = match &*thread {
            None => asked,
            Some(running) => match running.send(asked) {
                Ok(()) => return Ok(()),
                Err(mpsc::SendError(asked)) => asked,
            },
        };
        let (sender, receiver) = mpsc::channel();
        let provider = shared.options.clone();
        let serve = move || serve(provider, &receiver);
        let started = std::thread::Builder::new().name("trueup-functions".to_owned()).spawn(serve);
        started.map_err(|error| format!("cannot start a thread: {error}"))?;
        sender.send(asked).map_err(|_| "the thread that calls functions ended".to_owned())?;
        *thread = Some(sender);
        Ok(())
    }
}

/// Answers calls until nobody can ask any more. The process is one of this thread's own: connections belong to the
/// runtime that made them.
fn serve(options: crate::ProviderOptions, asked: &mpsc::Receiver<Asked>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let pool = crate::Pool::new(1);
    let options = crate::ProviderOptions { pool: pool.clone(), ..options };
    let provider = crate::TerraformProvider::new(options);
    while let Ok(Asked { name, function, arguments, answer }) = asked.recv() {
        let called = runtime.block_on(async {
            let bare = provider.shared().bare().await?;
            call(provider.shared().name(), &bare, &name, &function, &arguments).await
        });
        // Whoever asked may have given up.
        let _ = answer.send(called.map_err(|failure| failure.message));
    }
    runtime.block_on(pool.shut_down());
}
