//! Terraform's language as a front end of the command line.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use smol_str::SmolStr;
use trueup_cli::front_end::{
    BuildRequest, Built, Faulty, FrontEnd, GivenVariable, Loaded, Premise, PremiseKind, ProgramSource,
    Purpose, RequiredProvider, ScaffoldFile, StackSettings, StateSettings,
};
use trueup_core::{JsonForm, Origin, SourceMap, Value};
use trueup_lang::eval::Reads;
use trueup_lang::format::is_formattable;
use trueup_lang::variables::{GivenVariables, VariableArgument};
use trueup_provider::{BoxFuture, Clock, RuntimeClock};

use crate::function_page::function_page;
use crate::scaffold::scaffold;

/// Files that end in `.tf`, `.tf.json` and `.tu.hcl`.
pub(crate) struct TerraformLanguage;

impl FrontEnd for TerraformLanguage {
    fn load(&self, folder: &Path) -> Loaded {
        let read = trueup_lang::Loaded::load(folder);
        Loaded {
            settings: settings(&read),
            sources: read.sources.clone(),
            diagnostics: read.diagnostics.clone(),
            files: read.files(),
            providers: providers(&read),
            found: read.found,
            source: Box::new(Source { read, waited_for: Mutex::default() }),
        }
    }

    fn format(&self, file_name: &str, text: &str) -> Option<Result<String, Faulty>> {
        is_formattable(file_name).then(|| {
            // The formatter's diagnostics point into the first file of a map.
            let mut sources = SourceMap::new();
            sources.add(file_name, text);
            trueup_lang::format::format(text).map_err(|diagnostics| Faulty { diagnostics, sources })
        })
    }

    fn scaffold(&self, stack: &str) -> Vec<ScaffoldFile> {
        scaffold(stack)
    }

    fn reference(&self) -> Vec<ScaffoldFile> {
        vec![function_page()]
    }
}

fn providers(read: &trueup_lang::Loaded) -> Vec<RequiredProvider> {
    let required = read.providers().into_iter().map(|(local, required)| RequiredProvider {
        local,
        source: required.source,
        versions: required.version,
        origin: required.origin,
    });
    required.collect()
}

fn settings(read: &trueup_lang::Loaded) -> StackSettings {
    let settings = read.settings();
    StackSettings {
        name: settings.name.as_ref().map(|(name, _)| name.clone()),
        state: settings.state.as_ref().map(|state| {
            let told = state
                .options
                .iter()
                .map(|(name, text)| (name.clone(), Value::string(text.clone()).with_origin(state.origin)));
            StateSettings { kind: state.kind.clone(), settings: Value::object(told) }
        }),
        protected_stages: settings.protected_stages.clone(),
        parallelism: settings.parallelism,
    }
}

struct Source {
    read: trueup_lang::Loaded,
    /// What the last build waited for: if the next one waits for the same, nothing more will become known.
    waited_for: Mutex<Vec<Origin>>,
}

impl ProgramSource for Source {
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<Built, Faulty>> {
        Box::pin(async move {
            let given = given(&request);
            let waited_for = match request.known {
                Some(_) => self.waited_for.lock().map(|last| last.clone()).unwrap_or_default(),
                None => Vec::new(),
            };
            let asked = trueup_lang::BuildRequest { waited_for: &waited_for, ..asked(&request, &given) };
            let built = self.read.build(asked).await.map_err(faulty)?;
            let pending = !built.pending.is_empty();
            if let Ok(mut last) = self.waited_for.lock() {
                *last = built.pending;
            }
            Ok(Built {
                program: built.program,
                pending,
                stuck: built.stuck,
                files: Vec::new(),
                warnings: built.warnings,
                premises: Box::new(move || premises(&built.variables, &built.reads)),
            })
        })
    }

    fn evaluate<'a>(
        &'a self,
        expression: &'a str,
        request: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, Faulty>> {
        Box::pin(async move {
            let given = given(&request);
            self.read.evaluate(expression, asked(&request, &given)).await.map_err(faulty)
        })
    }

    fn variables(&self) -> Vec<SmolStr> {
        self.read.variables().cloned().collect()
    }
}

fn asked<'a>(request: &BuildRequest<'a>, given: &'a GivenVariables) -> trueup_lang::BuildRequest<'a> {
    trueup_lang::BuildRequest {
        registry: request.registry,
        stack: request.stack.into(),
        stage: request.stage.into(),
        variables: given,
        home: std::env::home_dir(),
        plan_time: request.plan_time,
        now: RuntimeClock::new().now(),
        random: Arc::new(|bytes: &mut [u8]| {
            getrandom::fill(bytes).expect("the operating system has randomness");
        }),
        purpose: match request.purpose {
            Purpose::Deploy => trueup_lang::Purpose::Deploy,
            Purpose::Destroy => trueup_lang::Purpose::Destroy,
            Purpose::Validate => trueup_lang::Purpose::Validate,
        },
        known: request.known,
        waited_for: &[],
    }
}

fn given(request: &BuildRequest<'_>) -> GivenVariables {
    let argument = |given: &GivenVariable| match given {
        GivenVariable::Value { name, text } => VariableArgument::Value(name.to_string(), text.clone()),
        GivenVariable::File(path) => VariableArgument::File(PathBuf::clone(path)),
    };
    GivenVariables {
        environment: request
            .variables
            .environment
            .iter()
            .map(|(name, text)| (name.to_string(), text.clone()))
            .collect(),
        arguments: request.variables.given.iter().map(argument).collect(),
    }
}

/// What a program follows from besides its texts.
fn premises(variables: &[(SmolStr, Value)], reads: &Reads) -> Vec<Premise> {
    // What is of one run alone is given anew to each.
    let lasting = variables.iter().filter(|(_, value)| !value.all_marks().is_ephemeral());
    let variables = lasting.map(|(name, value)| {
        let content = value.to_json(JsonForm::RECORD);
        let premise = Premise::of(PremiseKind::Variable, name.as_str(), content.as_bytes());
        Premise { secret: value.contains_secret(), ..premise }
    });
    let reads = reads.noted().into_iter().map(|(what, digest)| Premise {
        kind: PremiseKind::Read,
        name: what,
        digest,
        secret: false,
    });
    variables.chain(reads).collect()
}

fn faulty(unsound: trueup_lang::Unsound) -> Faulty {
    Faulty { diagnostics: unsound.diagnostics, sources: unsound.sources }
}
