//! Building: all modules and resources are walked once, checked and lowered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use smol_str::SmolStr;
use trueup_core::{Address, Diagnostic, Diagnostics, Mode, Origin, Severity, SourceMap};
use trueup_front_end::{BuildRequest, BuiltProgram, InvalidProgram, Purpose};
use trueup_program::{
    FunctionAnswer, FunctionAnswers, FunctionCall, OutputDeclaration, ParallelismClass, Program, Scope,
};

use super::StackFolder;
use super::bodies::check_names;
use super::calls::check_call;
use super::computed::What;
use super::premises::premises;
use super::providers::{Configs, find_schemas};
use super::resources::{Declaration, Located, LoweredResource};
use super::stated::check_called;
use crate::declare::{Comparisons, at};
use crate::eval::{Moment, Reads};
use crate::modules::ModuleNode;
use crate::variables::{check_defaults, root_values, unknown_values};
use crate::world::{Builtin, Evaluation, Instance, Outside, Position, Standing, StaticScope, Used, World};

/// A program in the making.
pub(super) struct Builder<'a> {
    pub(super) world: Arc<World>,
    known: Option<&'a (dyn Scope + Sync)>,
    answers: &'a FunctionAnswers,
    pub(super) resources: Vec<LoweredResource>,
    pub(super) diagnostics: Diagnostics,
    pub(super) program: Program,
    /// The modules whose names were held against their schemas.
    checked: BTreeSet<usize>,
    reads: Reads,
}

impl StackFolder {
    /// Builds the program, or says all that is wrong with it.
    pub async fn build(&self, request: BuildRequest<'_>) -> Result<BuiltProgram, InvalidProgram> {
        if !self.found && request.purpose != Purpose::Destroy {
            let summary = format!("there are no stack files in {}", self.folder.display());
            let hint = "write one whose name ends in `.tf` or `.tu.hcl`";
            let diagnostics = Diagnostic::error(summary).hint(hint).into();
            return Err(InvalidProgram { diagnostics, sources: self.sources.clone() });
        }
        if self.diagnostics.has_errors() && request.purpose != Purpose::Destroy {
            // What could not be read would only make everything else look wrong.
            return Err(InvalidProgram {
                diagnostics: self.diagnostics.clone(),
                sources: self.sources.clone(),
            });
        }
        let (purpose, waited_for) = (request.purpose, request.waited_for);
        let Prepared { builder, configs, sources } = self.prepare(request).await;
        match purpose {
            Purpose::Deploy | Purpose::Validate => builder.build(&configs, waited_for, sources),
            Purpose::Destroy => Ok(builder.build_providers(&configs, sources)),
        }
    }

    /// All that building and evaluating begin with.
    pub(super) async fn prepare<'a>(&self, request: BuildRequest<'a>) -> Prepared<'a> {
        let mut diagnostics = self.diagnostics.clone();
        let mut sources = self.sources.clone();
        let builtin = Builtin::of(request.registry);
        let (types, configs) = find_schemas(&self.tree, request.registry, &builtin, &mut diagnostics).await;
        let (module, required) = (&self.tree.module, request.purpose == Purpose::Deploy);
        let given = root_values(
            module,
            &self.folder,
            request.stage,
            request.variables,
            required,
            &mut sources,
            &mut diagnostics,
        );
        // Also those that this build does not evaluate: records may hold texts that were made of them.
        request.registry.secrets().learn(given.values());
        let validating = request.purpose == Purpose::Validate;
        let given = if validating { unknown_values(module) } else { given };
        let reads = Reads::default();
        let outside = Outside {
            folder: self.folder.clone(),
            home: request.home.map(Path::to_owned),
            plan_time: Some(request.plan_time),
            reads: reads.clone(),
            secrets: request.registry.secrets().clone(),
        };
        let moment = Moment { now: request.now, random: request.random.clone() };
        let root = Instance::root(self.tree.clone(), outside, moment);
        let (stack, stage) = (SmolStr::from(request.stack), request.stage.into());
        let world = Arc::new(World {
            root,
            stack,
            stage,
            given,
            types,
            builtin,
            validating,
            comparisons: Comparisons::default(),
            modules: AtomicUsize::new(1),
        });
        let builder = Builder {
            world,
            known: request.known,
            answers: request.answers,
            resources: Vec::new(),
            diagnostics,
            program: Program { stack: request.stack.into(), ..Program::default() },
            checked: BTreeSet::new(),
            reads,
        };
        Prepared { builder, configs, sources }
    }
}

/// A build that is about to begin.
pub(super) struct Prepared<'a> {
    pub(super) builder: Builder<'a>,
    configs: Configs,
    pub(super) sources: SourceMap,
}

impl Builder<'_> {
    fn build(
        mut self,
        configs: &Configs,
        waited_for: &[Origin],
        sources: SourceMap,
    ) -> Result<BuiltProgram, InvalidProgram> {
        let world = self.world.clone();
        let scope = static_scope(&world, self.known, self.answers);
        let evaluation = Evaluation::new(&world, &scope);
        self.lower_module(&evaluation, &world.root, configs);
        self.lower_root(&evaluation);
        let pending = evaluation.pending();
        self.diagnostics.extend(evaluation.into_told());
        let stuck = (!pending.is_empty() && pending == waited_for).then(|| {
            let mut told = Diagnostics::new();
            for origin in &pending {
                let summary = "how many there are depends on what is known only after a deploy";
                let hint = "deploy what it depends on first, with `--target`; or use keys that are known";
                told.push(at(*origin, summary).hint(hint));
            }
            told
        });
        self.finish(pending, stuck, sources)
    }

    /// The providers alone, for a program that is to be deleted: what is wrong with the rest does not matter.
    fn build_providers(mut self, configs: &Configs, sources: SourceMap) -> BuiltProgram {
        let world = self.world.clone();
        let scope = static_scope(&world, self.known, self.answers);
        let evaluation = Evaluation::new(&world, &scope);
        self.lower_all_providers(&evaluation, &world.root, configs);
        for lowered in std::mem::take(&mut self.resources) {
            if let Declaration::Data(declared) = lowered.declaration {
                self.program.ephemeral.push(*declared);
            }
        }
        self.program.sources = sources;
        self.built(Vec::new(), None, Diagnostics::new())
    }

    fn finish(
        mut self,
        pending: Vec<Origin>,
        stuck: Option<Diagnostics>,
        sources: SourceMap,
    ) -> Result<BuiltProgram, InvalidProgram> {
        self.tell_bindings_of_one_key();
        let (diagnostics, warnings) = distinct(std::mem::take(&mut self.diagnostics));
        if diagnostics.has_errors() {
            return Err(InvalidProgram { diagnostics, sources });
        }
        if !pending.is_empty() {
            self.leave_out_what_is_pending();
        }
        let mut bindings = Vec::new();
        for lowered in std::mem::take(&mut self.resources) {
            bindings.extend(lowered.bindings);
            match lowered.declaration {
                Declaration::Resource(declared) => self.program.resources.push(*declared),
                Declaration::Data(declared) if declared.address.mode() == Mode::Ephemeral => {
                    self.program.ephemeral.push(*declared);
                }
                Declaration::Data(declared) => self.program.data.push(*declared),
            }
        }
        self.read_for_checks_last();
        let mut index: BTreeMap<Address, usize> = BTreeMap::new();
        if !bindings.is_empty() {
            index.extend(self.program.resources.iter().enumerate().map(|(at, it)| (it.address.clone(), at)));
        }
        for binding in bindings {
            if let Some(at) = index.get(&binding.target) {
                self.program.resources[*at].bindings.push(binding.declaration);
            }
        }
        self.program.sources = sources;
        Ok(self.built(pending, stuck, warnings))
    }

    /// A target tells its bindings apart by their keys.
    fn tell_bindings_of_one_key(&mut self) {
        let mut keys = BTreeSet::new();
        let mut told = Vec::new();
        for binding in self.resources.iter().flat_map(|it| &it.bindings) {
            let key = &binding.declaration.key;
            if !keys.insert((&binding.target, key)) {
                let summary = format!("{} is bound to by the key `{key}` already", binding.target);
                told.push(at(binding.origin, summary).hint("give each binding of a target another key"));
            }
        }
        told.into_iter().for_each(|it| self.tell(it));
    }

    fn built(self, pending: Vec<Origin>, stuck: Option<Diagnostics>, warnings: Diagnostics) -> BuiltProgram {
        let (world, reads) = (self.world, self.reads);
        let premises = Box::new(move || premises(&world.given, &reads));
        BuiltProgram { program: self.program, pending, stuck, files: Vec::new(), warnings, premises }
    }

    /// Drops what depends on something whose instances are not known yet.
    fn leave_out_what_is_pending(&mut self) {
        loop {
            let declared: BTreeSet<Address> = self.resources.iter().map(|it| it.address().clone()).collect();
            let before = self.resources.len();
            self.resources.retain(|it| it.used.iter().all(|used| declared.contains(used)));
            if self.resources.len() == before {
                break;
            }
        }
        // Only outputs of resources are asked of a preview.
        self.program.outputs.clear();
        self.program.checks.clear();
        self.program.imports.clear();
    }

    /// Walks one instance of a module and all that is in it.
    fn lower_module(&mut self, evaluation: &Evaluation<'_>, instance: &Arc<Instance>, configs: &Configs) {
        let node = &instance.node;
        if self.checked.insert(Arc::as_ptr(node) as usize) {
            self.check_module(node);
        }
        self.evaluate_all(evaluation, instance);
        self.lower_providers(evaluation, instance, configs);
        self.lower_metas(evaluation, instance, configs);
        for resource in 0..node.module.resources.len() {
            self.lower_resource(evaluation, instance, resource);
        }
        for (call, (name, declared)) in node.module.calls.iter().enumerate() {
            if let Some(called) = node.calls.get(name) {
                self.check_passed(instance, declared, called);
            }
            match evaluation.children(instance, call) {
                Ok(children) => {
                    let instances = children.instances.iter();
                    instances.for_each(|child| self.lower_module(evaluation, child, configs));
                }
                Err(wrong) => self.tell(wrong.located(declared.header)),
            }
        }
        self.lower_moves(instance);
        self.lower_checks(evaluation, instance);
    }

    /// Evaluates what nobody may have asked for, so that mistakes in it are told all the same.
    fn evaluate_all(&mut self, evaluation: &Evaluation<'_>, instance: &Arc<Instance>) {
        let module = &instance.node.module;
        for (index, (_, variable)) in module.variables.iter().enumerate() {
            if let Err(wrong) = evaluation.variable(instance, index) {
                self.tell(wrong.located(variable.name.origin));
            }
        }
        for (index, (_, local)) in module.locals.iter().enumerate() {
            if let Err(wrong) = evaluation.local(instance, index) {
                self.tell(wrong.located(local.name.origin));
            }
        }
        for (index, (_, output)) in module.outputs.iter().enumerate() {
            if let Err(wrong) = evaluation.output(instance, index) {
                self.tell(wrong.located(output.name.origin));
            }
        }
    }

    /// Holds the names in a module against their schemas, once for all its instances.
    fn check_module(&mut self, node: &ModuleNode) {
        self.check_stated_names(node);
        check_defaults(&node.module, &mut self.diagnostics);
        for (key, declared) in &node.module.resources {
            if let Some(schema) = self.world.clone().types.get(key.mode, &key.type_name) {
                check_names(&declared.body, schema.inputs(), &key.type_name, &mut self.diagnostics);
            }
        }
        for (name, call) in &node.module.calls {
            if let Some(called) = node.calls.get(name) {
                check_call(call, &called.module, &self.world.comparisons, &mut self.diagnostics);
                check_called(&called.module, &mut self.diagnostics);
            }
        }
    }

    /// Outputs and imports, which only the root module has.
    fn lower_root(&mut self, evaluation: &Evaluation<'_>) {
        self.lower_outputs(evaluation);
        let root = self.world.root.clone();
        self.lower_imports(evaluation, &root);
        self.program.type_retries.clone_from(&root.node.module.settings.type_retries);
        let classes = root.node.module.settings.limits.iter();
        self.program.parallelism =
            classes.map(|(name, limit)| ParallelismClass { name: name.clone(), limit: *limit }).collect();
    }

    fn lower_outputs(&mut self, evaluation: &Evaluation<'_>) {
        let root = self.world.root.clone();
        let module = &root.node.module;
        let here = Standing { instance: &root, position: &Position::One, for_each: None };
        for (index, (name, output)) in module.outputs.iter().enumerate() {
            if output.ephemeral {
                let summary = format!("the output `{name}` of the root module cannot be ephemeral");
                let hint = "outputs of the root module are recorded; remove `ephemeral = true`";
                self.tell(at(output.name.origin, summary).hint(hint));
            }
            let mut used = Used::new();
            evaluation.used_by(here, &output.value, &mut used);
            for condition in &output.preconditions {
                evaluation.used_by_condition(here, condition, &mut used);
            }
            let lowered = self.lowered(&root, What::Output(index), &used);
            let value = lowered.into_expression(None);
            self.program.outputs.push(OutputDeclaration {
                name: name.clone(),
                value,
                secret: output.sensitive,
            });
        }
    }

    /// Outputs before anything is planned.
    pub(super) fn scope(&self) -> OwnedScope<'_> {
        OwnedScope { world: self.world.clone(), known: self.known, answers: self.answers }
    }

    pub(super) fn tell(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn tell_all(&mut self, diagnostics: Diagnostics) {
        self.diagnostics.extend(diagnostics);
    }
}

/// The same as a [`StaticScope`], without a borrow of the builder.
pub(super) struct OwnedScope<'a> {
    world: Arc<World>,
    known: Option<&'a (dyn Scope + Sync)>,
    answers: &'a FunctionAnswers,
}

impl Scope for OwnedScope<'_> {
    fn resolve(&self, reference: &trueup_program::Reference) -> Option<trueup_core::Value> {
        static_scope(&self.world, self.known, self.answers).resolve(reference)
    }

    fn answer(&self, call: &FunctionCall) -> Option<FunctionAnswer> {
        self.answers.answer(call)
    }
}

fn static_scope<'a>(
    world: &'a World,
    known: Option<&'a (dyn Scope + Sync)>,
    answers: &'a FunctionAnswers,
) -> StaticScope<'a> {
    StaticScope { types: &world.types, known: known.map(|known| known as &dyn Scope), answers }
}

impl LoweredResource {
    pub(super) fn address(&self) -> &Address {
        match &self.declaration {
            Declaration::Resource(declared) => &declared.address,
            Declaration::Data(declared) => &declared.address,
        }
    }
}

/// Each diagnostic once: errors with all else if there are any, and the warnings by themselves.
fn distinct(diagnostics: Diagnostics) -> (Diagnostics, Diagnostics) {
    let mut seen = BTreeSet::new();
    let (mut all, mut warnings) = (Diagnostics::new(), Diagnostics::new());
    for diagnostic in diagnostics {
        if !seen.insert((diagnostic.origin, diagnostic.summary.clone())) {
            continue;
        }
        if diagnostic.severity == Severity::Warning {
            warnings.push(diagnostic.clone());
        }
        all.push(diagnostic);
    }
    (all, warnings)
}
