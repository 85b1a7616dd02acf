//! `resource`, `data` and `module`.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Mode, Origin};

use super::blocks::{Words, labels, unsupported};
use super::conditions::declared_name;
use super::lifecycle::Lifecycle;
use super::provider::{ProviderName, check_local_name, provider_names};
use super::{Module, ResourceKey, at, twice};
use crate::syntax::{Block, BlockShape, Body, Expr, ExprKind, Name, StaticTraversal};

/// A resource or data source.
#[derive(Debug)]
pub struct Resource {
    /// Its name.
    pub name: Name,
    /// Where its type stands.
    pub type_origin: Origin,
    /// Its block's first line, to point at.
    pub header: Origin,
    /// How many of it there are.
    pub repetition: Option<Repetition>,
    /// The provider it names.
    pub provider: Option<ProviderName>,
    /// What it depends on beyond what it refers to.
    pub depends_on: Vec<StaticTraversal>,
    /// How it is treated.
    pub lifecycle: Arc<Lifecycle>,
    /// What it attaches to others (BIND-1).
    pub binds: Vec<Bind>,
    /// The check that it is for, if it stands in one: nothing else can refer to it.
    pub check: Option<SmolStr>,
    /// All else: what its provider understands.
    pub body: Body,
}

/// How many of a resource or module there are.
#[derive(Debug)]
pub enum Repetition {
    /// `count = …`.
    Count(Expr),
    /// `for_each = …`.
    ForEach(Expr),
}

/// A binding: something this resource attaches to another.
#[derive(Debug)]
pub struct Bind {
    /// Tells it from other bindings of the same target.
    pub key: Name,
    /// The target: a resource, or an instance of one.
    pub to: Expr,
    /// What is attached.
    pub payload: Expr,
}

/// A call of a module.
#[derive(Debug)]
pub struct ModuleCall {
    /// Its name.
    pub name: Name,
    /// Its block's first line, to point at.
    pub header: Origin,
    /// Where the module is.
    pub source: SmolStr,
    /// Where that is said.
    pub source_origin: Origin,
    /// How many of it there are.
    pub repetition: Option<Repetition>,
    /// What all that is in it depends on.
    pub depends_on: Vec<StaticTraversal>,
    /// The providers it gets: its own name for each, and ours.
    pub providers: Vec<(ProviderName, ProviderName)>,
    /// What its variables get.
    pub body: Body,
}

/// The blocks of a resource that are ours to read, whatever its type.
pub(super) const NESTED: &[BlockShape<'static>] = &[
    BlockShape { name: "lifecycle", labels: 0 },
    BlockShape { name: "bind", labels: 1 },
    BlockShape { name: "provisioner", labels: 1 },
    BlockShape { name: "connection", labels: 0 },
    BlockShape { name: "dynamic", labels: 1 },
];

impl Module {
    pub(super) fn declare_resource(&mut self, block: Block, mode: Mode, diagnostics: &mut Diagnostics) {
        self.declare_resource_of(block, mode, None, diagnostics);
    }

    /// A data source that stands in a check.
    pub(super) fn declare_scoped_data(
        &mut self,
        mut block: Block,
        check: SmolStr,
        diagnostics: &mut Diagnostics,
    ) {
        block.body.items.retain(|item| {
            let name = item.name();
            let known = !matches!(name.text.as_str(), "count" | "for_each" | "lifecycle");
            if !known {
                let summary = format!("`{}` cannot stand in a data source of a `check`", name.text);
                diagnostics.push(at(name.origin, summary).hint("declare the data source beside the check"));
            }
            known
        });
        self.declare_resource_of(block, Mode::Data, Some(check), diagnostics);
    }

    fn declare_resource_of(
        &mut self,
        block: Block,
        mode: Mode,
        check: Option<SmolStr>,
        diagnostics: &mut Diagnostics,
    ) {
        let Some([type_label, name_label]) = labels(&block, diagnostics) else { return };
        let (Some(type_name), Some(name)) =
            (declared_name(type_label, diagnostics), declared_name(name_label, diagnostics))
        else {
            return;
        };
        let key = ResourceKey { mode, type_name: type_name.clone(), name: name.clone() };
        let (name, type_origin) = (Name::new(name, name_label.origin), type_label.origin);
        if let Some(first) = self.resources.get(&key) {
            diagnostics.push(twice(&name, &format!("{type_name}.{}", name.text), &first.name));
            return;
        }
        let header = block.header;
        let json = block.body.json;
        let mut words = Words::of(block, NESTED, diagnostics);
        let repetition = repetition(&mut words, diagnostics);
        let provider = words.expression("provider").and_then(|it| ProviderName::decode(&it, diagnostics));
        if let (None, Some((implied, _))) = (&provider, type_name.split_once('_')) {
            check_local_name(implied, type_origin, diagnostics);
        }
        let depends_on = traversals(words.expression("depends_on"), "depends_on", diagnostics);
        let lifecycle = words.block("lifecycle", diagnostics);
        let lifecycle = lifecycle.map(|block| Arc::new(Lifecycle::decode(block, mode, diagnostics)));
        let lifecycle = lifecycle.unwrap_or_else(Lifecycle::usual);
        let binds = words.blocks("bind");
        let binds = binds.into_iter().filter_map(|block| Bind::decode(block, diagnostics)).collect();
        for block in words.blocks("provisioner").iter().chain(&words.blocks("connection")) {
            let hint =
                "use a `std_exec` resource, which is recorded, repeatable and undone by its own commands";
            diagnostics.push(unsupported(block.header, &format!("`{}`", block.name.text), hint));
        }
        let body = Body { json, ..words.rest() };
        let declared = Resource {
            name,
            type_origin,
            header,
            repetition,
            provider,
            depends_on,
            lifecycle,
            binds,
            check,
            body,
        };
        self.resources.insert(key, declared);
    }

    pub(super) fn declare_call(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let Some([label]) = labels(&block, diagnostics) else { return };
        let Some(text) = declared_name(label, diagnostics) else { return };
        let name = Name::new(text.clone(), label.origin);
        if let Some(first) = self.calls.get(&text) {
            diagnostics.push(twice(&name, &format!("module `{text}`"), &first.name));
            return;
        }
        let header = block.header;
        let mut words = Words::of(block, &[], diagnostics);
        let repetition = repetition(&mut words, diagnostics);
        let depends_on = traversals(words.expression("depends_on"), "depends_on", diagnostics);
        let providers = words.expression("providers");
        let providers = providers.map(|it| provider_names(&it, diagnostics)).unwrap_or_default();
        if let Some(version) = words.attribute("version") {
            let hint = "modules come from local folders: `source = \"./folder\"`";
            diagnostics.push(unsupported(version.origin, "`version` of a module", hint));
        }
        let source = words.required("source", diagnostics);
        let Some(source) = source else { return };
        let Some(path) = source.as_literal_str().map(SmolStr::new) else {
            diagnostics.push(at(source.origin, "`source` must be a text without expressions"));
            return;
        };
        let call = ModuleCall {
            name,
            header,
            source: path,
            source_origin: source.origin,
            repetition,
            depends_on,
            providers,
            body: words.rest(),
        };
        self.calls.insert(text, call);
    }
}

impl Bind {
    fn decode(block: Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [label] = labels(&block, diagnostics)?;
        let key = Name::new(label.text.clone(), label.origin);
        let mut words = Words::of(block, &[], diagnostics);
        let to = words.required("to", diagnostics);
        let payload = words.required("payload", diagnostics);
        words.finish(diagnostics);
        let (to, payload) = (to?, payload?);
        if !matches!(to.kind, ExprKind::Traversal(_)) && to.as_static_traversal().is_none() {
            let hint = "name a resource, such as `awsn_lambda_function.worker`";
            diagnostics.push(at(to.origin, "`to` must name a resource").hint(hint));
            return None;
        }
        Some(Bind { key, to, payload })
    }
}

fn repetition(words: &mut Words, diagnostics: &mut Diagnostics) -> Option<Repetition> {
    match (words.expression("count"), words.attribute("for_each")) {
        (Some(count), None) => Some(Repetition::Count(count)),
        (None, Some(for_each)) => Some(Repetition::ForEach(for_each.value)),
        (Some(count), Some(for_each)) => {
            let summary = "`count` and `for_each` cannot stand together";
            diagnostics.push(at(for_each.name.origin, summary).hint("remove one of them"));
            Some(Repetition::Count(count))
        }
        (None, None) => None,
    }
}

/// A list of names that are written out, as `depends_on` wants it.
pub(super) fn traversals(
    list: Option<Expr>,
    word: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<StaticTraversal> {
    let Some(list) = list else { return Vec::new() };
    let Some(items) = list.as_tuple() else {
        let hint = format!("write `{word} = [aws_instance.web]`");
        diagnostics.push(at(list.origin, format!("`{word}` must be a list of references")).hint(hint));
        return Vec::new();
    };
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        match item.as_static_traversal() {
            Some(traversal) => found.push(traversal),
            None => diagnostics.push(at(item.origin, format!("`{word}` takes references only"))),
        }
    }
    found
}
