//! `lifecycle`: how a resource is treated, in Terraform's words and in ours.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Mode, Origin, Path, Step, parse_duration};
use trueup_program::{RetrySettings, Timeouts};

use super::blocks::Words;
use super::{Condition, at, suggest};
use crate::syntax::{Block, BlockShape, Expr, ExprKind, Literal, StaticStep, StaticTraversal};

/// How a resource is treated.
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// A replacement is made before the old object goes.
    pub create_before_destroy: Option<bool>,
    /// Neither replaced nor deleted.
    pub prevent_destroy: bool,
    /// Changes that do not count.
    pub ignore_changes: IgnoreChanges,
    /// What makes it be replaced when it changes.
    pub replace_triggered_by: Vec<Expr>,
    /// What must hold before it is touched.
    pub preconditions: Vec<Condition>,
    /// What must hold after.
    pub postconditions: Vec<Condition>,
    /// Left in the cloud when it is removed or replaced.
    pub retain: bool,
    /// Whether an object of someone else is taken over.
    pub adopt: Option<bool>,
    /// What is done about drift.
    pub drift: Option<DriftWord>,
    /// Whether a replacement deletes the old object first.
    pub delete_first: Option<bool>,
    /// How long operations may take.
    pub timeouts: Option<Timeouts>,
    /// How failed operations are repeated: attempts, first wait, longest wait.
    pub retry: RetrySettings,
    /// The class of resources it shares a limit with.
    pub limit: Option<SmolStr>,
}

/// Which changes do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IgnoreChanges {
    /// All count.
    #[default]
    None,
    /// None counts.
    All,
    /// These do not; where each is named.
    Paths(Vec<(Path, Origin)>),
}

/// What is done about drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftWord {
    /// `"fix"`.
    Fix,
    /// `"warn"`.
    Warn,
    /// `"ignore"`.
    Ignore,
}

impl Lifecycle {
    /// That of all resources that say nothing of it, which most do: held once.
    pub(super) fn usual() -> Arc<Self> {
        static USUAL: LazyLock<Arc<Lifecycle>> = LazyLock::new(Arc::default);
        USUAL.clone()
    }

    pub(super) fn decode(block: Block, mode: Mode, diagnostics: &mut Diagnostics) -> Self {
        const NESTED: &[BlockShape<'static>] = &[
            BlockShape { name: "precondition", labels: 0 },
            BlockShape { name: "postcondition", labels: 0 },
            BlockShape { name: "retry", labels: 0 },
            BlockShape { name: "timeouts", labels: 0 },
        ];
        let mut words = Words::of(block, NESTED, diagnostics);
        let mut lifecycle = Lifecycle {
            preconditions: Condition::decode_all(words.blocks("precondition"), diagnostics),
            postconditions: Condition::decode_all(words.blocks("postcondition"), diagnostics),
            ..Lifecycle::default()
        };
        if mode == Mode::Resource {
            lifecycle.decode_resource(&mut words, diagnostics);
        }
        words.finish(diagnostics);
        lifecycle
    }

    fn decode_resource(&mut self, words: &mut Words, diagnostics: &mut Diagnostics) {
        self.create_before_destroy = words.flag("create_before_destroy", diagnostics);
        self.prevent_destroy = words.flag("prevent_destroy", diagnostics).unwrap_or(false);
        if let Some(ignored) = words.expression("ignore_changes") {
            self.ignore_changes = ignore_changes(&ignored, diagnostics);
        }
        if let Some(triggers) = words.expression("replace_triggered_by") {
            match triggers.as_tuple() {
                // JSON writes references as texts.
                Some(items) => {
                    let written = |item: &Expr| item.as_quoted_expression().unwrap_or_else(|| item.clone());
                    self.replace_triggered_by = items.iter().map(written).collect();
                }
                None => {
                    let summary = "`replace_triggered_by` must be a list of references";
                    diagnostics.push(at(triggers.origin, summary));
                }
            }
        }
        self.retain = words.flag("retain", diagnostics).unwrap_or(false);
        self.adopt = words.flag("adopt", diagnostics);
        self.delete_first = words.flag("delete_first", diagnostics);
        if let Some(drift) = words.expression("drift") {
            self.drift = drift_word(&drift, diagnostics);
        }
        if let Some(timeout) = words.expression("timeout") {
            self.timeouts = duration(&timeout, "timeout", diagnostics).map(Timeouts::all);
        }
        if let Some(timeouts) = words.block("timeouts", diagnostics) {
            self.timeouts = Some(decode_timeouts(timeouts, self.timeouts.unwrap_or_default(), diagnostics));
        }
        if let Some(retry) = words.block("retry", diagnostics) {
            self.retry = decode_retry(retry, diagnostics);
        }
        self.limit = words.text("limit", diagnostics);
        if let (Some(true), Some(true)) = (self.create_before_destroy, self.delete_first) {
            let summary = "`create_before_destroy` and `delete_first` contradict each other";
            diagnostics.push(at(words.header(), summary).hint("remove one of them"));
        }
    }
}

/// `retry { attempts = 3 }`: how failed operations are repeated; what it does not name is set elsewhere.
pub(super) fn decode_retry(block: Block, diagnostics: &mut Diagnostics) -> RetrySettings {
    let mut words = Words::of(block, &[], diagnostics);
    let attempts = words.expression("attempts").and_then(|value| {
        let number = match &value.without_parentheses().kind {
            ExprKind::Literal(Literal::Number(number)) => {
                number.as_u64().and_then(|it| u32::try_from(it).ok())
            }
            _ => None,
        };
        let number = number.filter(|number| *number > 0);
        if number.is_none() {
            diagnostics.push(at(value.origin, "`attempts` must be a whole number from 1 on"));
        }
        number
    });
    let mut wait = |words: &mut Words, name: &'static str| {
        words.expression(name).and_then(|value| duration(&value, name, diagnostics))
    };
    let retry = RetrySettings {
        attempts_max: attempts,
        backoff: wait(&mut words, "backoff"),
        backoff_max: wait(&mut words, "backoff_max"),
    };
    words.finish(diagnostics);
    retry
}

/// `timeouts { create = "10m" }`; what it does not name is as before.
fn decode_timeouts(block: Block, before: Timeouts, diagnostics: &mut Diagnostics) -> Timeouts {
    let mut words = Words::of(block, &[], diagnostics);
    let mut named = |words: &mut Words, name: &'static str| {
        words.expression(name).and_then(|value| duration(&value, name, diagnostics))
    };
    let timeouts = Timeouts {
        create: named(&mut words, "create").or(before.create),
        update: named(&mut words, "update").or(before.update),
        delete: named(&mut words, "delete").or(before.delete),
        read: named(&mut words, "read").or(before.read),
    };
    words.finish(diagnostics);
    timeouts
}

fn drift_word(value: &Expr, diagnostics: &mut Diagnostics) -> Option<DriftWord> {
    match value.as_literal_str() {
        Some("fix") => Some(DriftWord::Fix),
        Some("warn") => Some(DriftWord::Warn),
        Some("ignore") => Some(DriftWord::Ignore),
        other => {
            let diagnostic = at(value.origin, "`drift` must be \"fix\", \"warn\" or \"ignore\"");
            diagnostics.push(suggest(
                diagnostic,
                other.unwrap_or_default(),
                ["fix", "warn", "ignore"].into_iter(),
            ));
            None
        }
    }
}

/// A duration such as `90s`, `10m`, `1h30m`.
pub(super) fn duration(value: &Expr, word: &str, diagnostics: &mut Diagnostics) -> Option<Duration> {
    let parsed = value.as_literal_str().and_then(parse_duration);
    if parsed.is_none() {
        let summary = format!("`{word}` must be a duration");
        diagnostics.push(at(value.origin, summary).hint("write it like \"90s\", \"10m\" or \"1h30m\""));
    }
    parsed
}

fn ignore_changes(value: &Expr, diagnostics: &mut Diagnostics) -> IgnoreChanges {
    if value.as_keyword() == Some("all") || value.as_literal_str() == Some("all") {
        return IgnoreChanges::All;
    }
    let paths = super::resource::traversals(Some(value.clone()), "ignore_changes", diagnostics);
    IgnoreChanges::Paths(paths.iter().map(|it| (path_of(it), it.origin)).collect())
}

/// A traversal within a resource as a path.
fn path_of(traversal: &StaticTraversal) -> Path {
    let root = Path::attribute(traversal.root.text.clone());
    traversal.steps.iter().fold(root, |path, step| {
        path.join(match step {
            StaticStep::Attribute(name) | StaticStep::Key(name) => Step::Key(name.clone()),
            StaticStep::Index(index) => Step::Index(*index),
        })
    })
}
