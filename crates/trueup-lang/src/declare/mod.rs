//! What the files of one folder declare: from blocks to variables, resources, module calls and the rest.
//!
//! Blocks of all files of a folder form one [`Module`]. Override files are merged into what they override first
//! (`merge`), then each kind of block is decoded by its own file. Expressions are kept as they are: nothing is evaluated
//! here, and nothing is known of providers. A word that is not supported is an error at its place.

mod blocks;
mod conditions;
mod lifecycle;
mod merge;
mod moves;
mod output;
mod provider;
mod required;
mod resource;
mod settings;
mod variable;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Mode, Origin};

use crate::syntax::{Block, BlockShape, Body, BodyShape, Expr, Item, Name};

pub use conditions::{Check, Condition};
pub use lifecycle::{DriftWord, IgnoreChanges, Lifecycle};
pub use moves::{Import, Moved, Removed};
pub use output::Output;
pub use provider::{ProviderConfig, ProviderName};
pub use required::ProviderRequirement;
pub use resource::{Bind, ModuleCall, Repetition, Resource};
pub use settings::{ProviderMeta, Settings};
pub use variable::Variable;

/// All that one folder declares.
#[derive(Debug, Default)]
pub struct Module {
    /// `variable`, by name.
    pub variables: IndexMap<SmolStr, Variable>,
    /// The entries of `locals`, by name.
    pub locals: IndexMap<SmolStr, Local>,
    /// `resource` and `data`.
    pub resources: IndexMap<ResourceKey, Resource>,
    /// `module`, by name.
    pub calls: IndexMap<SmolStr, ModuleCall>,
    /// `output`, by name.
    pub outputs: IndexMap<SmolStr, Output>,
    /// `provider`.
    pub providers: Vec<ProviderConfig>,
    /// `moved`.
    pub moved: Vec<Moved>,
    /// `removed`.
    pub removed: Vec<Removed>,
    /// `import`.
    pub imports: Vec<Import>,
    /// `check`.
    pub checks: Vec<Check>,
    /// `terraform` and `stack`.
    pub settings: Settings,
}

/// What names a resource within its module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResourceKey {
    /// Whether it is managed, only read or opened for a run.
    pub mode: Mode,
    /// Its type.
    pub type_name: SmolStr,
    /// Its name.
    pub name: SmolStr,
}

/// An entry of `locals`.
#[derive(Debug)]
pub struct Local {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Expr,
}

/// A file of a module, parsed.
#[derive(Debug)]
pub struct ModuleFile {
    /// Its name, without folders.
    pub name: String,
    /// What it says.
    pub body: Body,
}

impl ModuleFile {
    /// Whether it overrides what others declare.
    fn is_override(&self) -> bool {
        let stem = self.name.trim_end_matches(".json").trim_end_matches(".tf");
        stem == "override" || stem.ends_with("_override")
    }

    /// Whether it is one of ours, which may add to what others declare.
    fn is_addition(&self) -> bool {
        self.name.ends_with(".tu.hcl")
    }
}

/// The blocks that may stand at the top of a file.
const TOP: BodyShape<'static> = BodyShape {
    blocks: &[
        BlockShape { name: "variable", labels: 1 },
        BlockShape { name: "locals", labels: 0 },
        BlockShape { name: "resource", labels: 2 },
        BlockShape { name: "data", labels: 2 },
        BlockShape { name: "ephemeral", labels: 2 },
        BlockShape { name: "module", labels: 1 },
        BlockShape { name: "output", labels: 1 },
        BlockShape { name: "provider", labels: 1 },
        BlockShape { name: "terraform", labels: 0 },
        BlockShape { name: "stack", labels: 0 },
        BlockShape { name: "moved", labels: 0 },
        BlockShape { name: "removed", labels: 0 },
        BlockShape { name: "import", labels: 0 },
        BlockShape { name: "check", labels: 1 },
    ],
};

/// Decodes the files of one folder.
pub fn declare(files: Vec<ModuleFile>, diagnostics: &mut Diagnostics) -> Module {
    let (mut primary, mut additions, mut overrides) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        let (overriding, adding) = (file.is_override(), file.is_addition());
        let blocks = top_blocks(file.body, diagnostics);
        match (overriding, adding) {
            (true, _) => overrides.extend(blocks),
            (false, true) => additions.extend(blocks),
            (false, false) => primary.extend(blocks),
        }
    }
    refuse_second_requirements(primary.iter().chain(&additions), diagnostics);
    merge::override_blocks(&mut primary, overrides, diagnostics);
    merge::add_blocks(&mut primary, additions, diagnostics);
    let mut module = Module::default();
    for block in primary {
        module.declare(block, diagnostics);
    }
    // A large program is held to the end of a run, and room for half as many again with it.
    module.resources.shrink_to_fit();
    module
}

/// Two blocks would say which providers a module needs in two places. JSON does not tell blocks from attributes yet.
fn refuse_second_requirements<'a>(blocks: impl Iterator<Item = &'a Block>, diagnostics: &mut Diagnostics) {
    let items = blocks.filter(|block| block.name.text == "terraform").flat_map(|block| &block.body.items);
    for again in items.map(Item::name).filter(|name| name.text == "required_providers").skip(1) {
        diagnostics.push(
            at(again.origin, "`required_providers` stands twice in this module").hint("put both into one"),
        );
    }
}

fn top_blocks(body: Body, diagnostics: &mut Diagnostics) -> Vec<Block> {
    let mut blocks = Vec::new();
    for item in body.shaped(TOP, diagnostics).items {
        match item {
            Item::Block(block) => blocks.push(block),
            Item::Attribute(attribute) if attribute.name.text == "//" => {}
            Item::Attribute(attribute) => {
                let summary = format!("`{}` cannot stand outside a block", attribute.name.text);
                diagnostics.push(at(attribute.name.origin, summary).hint("put it into `locals { … }`"));
            }
        }
    }
    blocks
}

impl Module {
    fn declare(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        match block.name.text.as_str() {
            "variable" => self.declare_variable(block, diagnostics),
            "locals" => self.declare_locals(block, diagnostics),
            "resource" => self.declare_resource(block, Mode::Resource, diagnostics),
            "data" => self.declare_resource(block, Mode::Data, diagnostics),
            "ephemeral" => self.declare_resource(block, Mode::Ephemeral, diagnostics),
            "module" => self.declare_call(block, diagnostics),
            "output" => self.declare_output(block, diagnostics),
            "provider" => self.declare_provider(block, diagnostics),
            "terraform" => self.declare_terraform(block, diagnostics),
            "stack" => self.declare_stack(block, diagnostics),
            "moved" => self.declare_moved(block, diagnostics),
            "removed" => self.declare_removed(block, diagnostics),
            "import" => self.declare_import(block, diagnostics),
            "check" => self.declare_check(block, diagnostics),
            other => {
                let known = TOP.blocks.iter().map(|shape| shape.name);
                let diagnostic = at(block.name.origin, format!("unknown block `{other}`"));
                diagnostics.push(suggest(diagnostic, other, known));
            }
        }
    }

    fn declare_locals(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([]) = blocks::labels(&block, diagnostics) else { return };
        for item in block.body.items {
            match item {
                Item::Attribute(attribute) => {
                    let name = attribute.name.text.clone();
                    if let Some(first) = self.locals.get(&name) {
                        diagnostics.push(twice(
                            &attribute.name,
                            &format!("local value `{name}`"),
                            &first.name,
                        ));
                        continue;
                    }
                    self.locals.insert(name, Local { name: attribute.name, value: attribute.value });
                }
                Item::Block(inner) => diagnostics.push(
                    at(inner.name.origin, format!("`{}` is not a local value", inner.name.text))
                        .hint("write it with `=`"),
                ),
            }
        }
    }
}

/// A mistake at a place.
pub(crate) fn at(origin: Origin, summary: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(summary);
    diagnostic.origin = Some(origin);
    diagnostic
}

/// A remark at a place.
pub(crate) fn remark(origin: Origin, summary: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::warning(summary);
    diagnostic.origin = Some(origin);
    diagnostic
}

/// The names that all suggestions of a program may be compared with together: every one of many mistakes would look through
/// every one of many names.
#[derive(Debug)]
pub(crate) struct Comparisons(AtomicUsize);

/// Enough for a hundred mistakes in a large program.
const COMPARISONS_MAX: usize = 200_000;

impl Default for Comparisons {
    fn default() -> Self {
        Comparisons(AtomicUsize::new(COMPARISONS_MAX))
    }
}

impl Comparisons {
    /// Takes so many, if they are left.
    pub(crate) fn take(&self, names: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(names)).is_ok()
    }

    /// Adds what was perhaps meant, or what there is.
    pub(crate) fn suggest<'a>(
        &self,
        diagnostic: Diagnostic,
        given: &str,
        known: impl ExactSizeIterator<Item = &'a str> + Clone,
    ) -> Diagnostic {
        if self.take(known.len()) { suggest(diagnostic, given, known) } else { diagnostic }
    }
}

/// The most names that are listed where nothing is near enough to be meant.
const SUGGESTIONS_MAX: usize = 12;

/// Adds what was perhaps meant, or what there is.
pub(crate) fn suggest<'a>(
    diagnostic: Diagnostic,
    given: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    match trueup_core::nearest(given, known.clone()) {
        Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
        None => {
            // A long list helps nobody.
            let known: Vec<&str> = known.take(SUGGESTIONS_MAX + 1).collect();
            if known.is_empty() || known.len() > SUGGESTIONS_MAX {
                return diagnostic;
            }
            diagnostic.hint(format!("there is `{}`", known.join("`, `")))
        }
    }
}

fn twice(name: &Name, what: &str, first: &Name) -> Diagnostic {
    let twice = at(name.origin, format!("{what} is declared twice"));
    twice.repeating(Some(first.origin)).hint("give one another name")
}
