//! Programs in Rust: a stack that is declared in code gets the same command line.

mod deployment;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use trueup_core::{Diagnostic, Diagnostics, SourceMap, Value};
use trueup_engine::Stack;
use trueup_front_end::{
    BuildRequest, BuiltProgram, FrontEnd, GeneratedFile, InvalidProgram, LoadedProgram, Premise, PremiseKind,
    ProgramSource, Purpose, StackSettings,
};
use trueup_provider::{BoxFuture, Registry};

use crate::composition::{Composition, KeyServiceClients, RegistryRequest};

pub use deployment::Deployment;

/// What a function that declares a stack returns: nothing, or what is wrong.
pub trait Declaration {
    /// Whether it was declared.
    fn into_result(self) -> Result<(), Diagnostics>;
}

impl Declaration for () {
    fn into_result(self) -> Result<(), Diagnostics> {
        Ok(())
    }
}

impl Declaration for Result<(), Diagnostics> {
    fn into_result(self) -> Result<(), Diagnostics> {
        self
    }
}

type Declare = dyn Fn(&mut Stack<'_>, &Deployment) -> Result<(), Diagnostics> + Send + Sync;

/// Runs the command line for a stack that is declared in code; what `main` returns.
///
/// The stack has the name of the binary, which must therefore stay the same. The function may return
/// `Result<(), Diagnostics>`, so that it can use `?`.
pub fn cli<D: Declaration>(
    name: &'static str,
    version: &'static str,
    registry: Registry,
    declare: impl Fn(&mut Stack<'_>, &Deployment) -> D + Send + Sync + 'static,
) -> ExitCode {
    cli_with(name, version, registry, StackSettings::default(), declare)
}

/// The same with what a `stack` block says in a stack file: a name, where state is kept, protected stages and so on.
pub fn cli_with<D: Declaration>(
    name: &'static str,
    version: &'static str,
    registry: Registry,
    settings: StackSettings,
    declare: impl Fn(&mut Stack<'_>, &Deployment) -> D + Send + Sync + 'static,
) -> ExitCode {
    crate::main(composition(name, version, registry, settings, declare))
}

/// What [`cli_with`] runs, for those who want other stores or key services.
pub fn composition<D: Declaration>(
    name: &'static str,
    version: &'static str,
    registry: Registry,
    settings: StackSettings,
    declare: impl Fn(&mut Stack<'_>, &Deployment) -> D + Send + Sync + 'static,
) -> Composition {
    let declare =
        move |stack: &mut Stack<'_>, deployment: &Deployment| declare(stack, deployment).into_result();
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
            let deployment = Deployment::new(request.stage, request.variables)?;
            let mut stack = Stack::new(request.stack, request.registry);
            let declared = (self.0)(&mut stack, &deployment);
            let sources = stack.sources().clone();
            let invalid = |diagnostics| InvalidProgram { diagnostics, sources };
            let program = match request.purpose {
                Purpose::Destroy => stack.build_to_destroy(),
                Purpose::Deploy | Purpose::Validate => {
                    let mut wrong = declared.err().unwrap_or_default();
                    if wrong.is_empty() {
                        wrong = deployment.unasked();
                    }
                    match stack.build() {
                        Ok(program) if wrong.is_empty() => program,
                        Ok(_) => return Err(invalid(wrong)),
                        Err(mistakes) => {
                            wrong.extend(mistakes);
                            return Err(invalid(wrong));
                        }
                    }
                }
            };
            Ok(BuiltProgram {
                program,
                pending: Vec::new(),
                stuck: None,
                files: Vec::new(),
                warnings: deployment.warnings(),
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
    deployment.premises().into_iter().chain(build_id()).collect()
}

/// The binary by its content. Where that cannot be read, its version has to do.
fn build_id() -> Option<Premise> {
    let content = std::env::current_exe().and_then(std::fs::read).ok()?;
    Some(Premise::of(PremiseKind::Build, "this program", &content))
}
