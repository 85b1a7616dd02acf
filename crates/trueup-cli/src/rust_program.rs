//! Programs in Rust: a stack that is declared in code gets the same command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use trueup_core::{Diagnostic, Diagnostics, SourceMap, Value};
use trueup_engine::Stack;
use trueup_front_end::{
    BuildRequest, BuiltProgram, FrontEnd, GeneratedFile, GivenVariable, InvalidProgram, LoadedProgram,
    Premise, PremiseKind, ProgramSource, StackSettings,
};
use trueup_provider::{BoxFuture, Registry};

use crate::composition::{Composition, KeyServiceClients, RegistryRequest};

/// What a stack is declared for.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// The stage.
    pub stage: String,
    variables: Vec<(String, String)>,
    /// The variables that were asked for, with what was answered: a saved plan follows from those.
    asked: Arc<Mutex<BTreeMap<String, Option<String>>>>,
}

impl Deployment {
    /// The value of a variable: `--var name=value`, else `TRUEUP_VAR_name`, else `TF_VAR_name`.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        if let Ok(mut asked) = self.asked.lock() {
            asked.insert(name.to_owned(), found.map(str::to_owned));
        }
        found
    }
}

type Declare = dyn Fn(&mut Stack<'_>, &Deployment) + Send + Sync;

/// Runs the command line for a stack that is declared in code; what `main` returns.
///
/// The stack has the name of the binary, which must therefore stay the same.
pub fn cli(
    name: &'static str,
    version: &'static str,
    registry: Registry,
    declare: impl Fn(&mut Stack<'_>, &Deployment) + Send + Sync + 'static,
) -> ExitCode {
    crate::main(composition(name, version, registry, StackSettings::default(), declare))
}

/// What [`cli`] runs, for those who want other settings or stores.
pub fn composition(
    name: &'static str,
    version: &'static str,
    registry: Registry,
    settings: StackSettings,
    declare: impl Fn(&mut Stack<'_>, &Deployment) + Send + Sync + 'static,
) -> Composition {
    let settings = StackSettings { name: settings.name.or(Some(name.into())), ..settings };
    let front_end = RustFrontEnd { settings, declare: Arc::new(declare) };
    let open_store = Arc::new(crate::stores::open_store);
    let registry = Box::new(move |_: &RegistryRequest| registry.clone());
    let (front_end, key_services) = (Box::new(front_end), KeyServiceClients::default());
    Composition { name, version, front_end, registry, open_store, key_services }
}

struct RustFrontEnd {
    settings: StackSettings,
    declare: Arc<Declare>,
}

struct RustSource(Arc<Declare>);

impl FrontEnd for RustFrontEnd {
    fn load(&self, _: &Path) -> LoadedProgram {
        LoadedProgram {
            source: Box::new(RustSource(self.declare.clone())),
            settings: self.settings.clone(),
            sources: SourceMap::new(),
            diagnostics: Diagnostics::new(),
            files: Vec::new(),
            providers: Vec::new(),
            found: true,
        }
    }

    fn format(&self, _: &str, _: &str) -> Option<Result<String, InvalidProgram>> {
        None
    }

    fn scaffold(&self, _: &str) -> Vec<GeneratedFile> {
        Vec::new()
    }
}

impl ProgramSource for RustSource {
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<BuiltProgram, InvalidProgram>> {
        Box::pin(async move {
            let stage = request.stage.to_owned();
            let mut deployment = Deployment { stage, variables: Vec::new(), asked: Arc::default() };
            let owned = |(name, value): &(smol_str::SmolStr, String)| (name.to_string(), value.clone());
            deployment.variables.extend(request.variables.environment.iter().map(owned));
            for given in &request.variables.given {
                match given {
                    GivenVariable::Value { name, text } => {
                        deployment.variables.push((name.to_string(), text.clone()));
                    }
                    GivenVariable::File(path) => {
                        let summary = format!(
                            "{} cannot be read: a program in Rust takes no variable files",
                            path.display()
                        );
                        return Err(Diagnostics::from(
                            Diagnostic::error(summary).hint("use --var NAME=VALUE"),
                        )
                        .into());
                    }
                }
            }
            let mut stack = Stack::new(request.stack, request.registry);
            (self.0)(&mut stack, &deployment);
            let sources = stack.sources().clone();
            let program = stack.build().map_err(|diagnostics| InvalidProgram { diagnostics, sources })?;
            Ok(BuiltProgram {
                program,
                pending: Vec::new(),
                stuck: None,
                files: Vec::new(),
                warnings: Diagnostics::new(),
                premises: Box::new(move || premises(&deployment)),
            })
        })
    }

    fn evaluate<'a>(
        &'a self,
        _: &'a str,
        _: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, InvalidProgram>> {
        Box::pin(async {
            let diagnostic = Diagnostic::error("a program in Rust has no expressions to evaluate")
                .hint("`show` tells what is recorded of a resource");
            Err(Diagnostics::from(diagnostic).into())
        })
    }
}

/// What a stack that is declared in code follows from: the code, which is the binary, and the variables it asked for.
fn premises(deployment: &Deployment) -> Vec<Premise> {
    let asked = deployment.asked.lock().map(|asked| asked.clone()).unwrap_or_default();
    let variables = asked.iter().map(|(name, value)| {
        // Not set is told from set to nothing.
        let content = value.as_ref().map_or_else(Vec::new, |value| [b"=", value.as_bytes()].concat());
        Premise::of(PremiseKind::Variable, name.clone(), &content)
    });
    variables.chain(build_id()).collect()
}

/// The binary by its content. Where that cannot be read, its version has to do.
fn build_id() -> Option<Premise> {
    let content = std::env::current_exe().and_then(std::fs::read).ok()?;
    Some(Premise::of(PremiseKind::Build, "this program", &content))
}
