//! What changes inside a resource, field by field.

use trueup_core::{Change, Step, Value, diff, is_identifier};
use trueup_engine::{Action, PlannedAction};

use super::change::ValueChange;
use super::{PlanView, Shown};
use crate::render::value::{UNKNOWN, lines, open_text};
use crate::ui::{Look, Mark, Meaning, cut, padded, width};

/// So many lines of a value or its change are shown where they may be shortened; more are counted.
const LINES_MAX: usize = 16;

/// Values have this many columns however deep they stand.
const ROOM_MIN: usize = 20;

/// Names longer than this do not push the others' values aside.
const NAME_COLUMNS_MAX: usize = 24;

/// A field and what is told of it.
pub(super) struct Field {
    name: String,
    told: Told,
}

enum Told {
    /// It has, will have or had this value.
    Value(Value),
    /// It changes from one to the other.
    Change(Option<Value>, Option<Value>, Mark),
}

/// The lines for all that is to be told of a resource's fields.
pub(super) fn fields(action: &PlannedAction, indent: usize, view: PlanView) -> Vec<String> {
    aligned(&gathered(action, view.shown), indent, view)
}

/// Fields with their values under one another.
pub(super) fn aligned(fields: &[Field], indent: usize, view: PlanView) -> Vec<String> {
    let widths = fields.iter().map(|field| width(&field.name)).filter(|width| *width <= NAME_COLUMNS_MAX);
    let column = widths.max().unwrap_or(0);
    fields.iter().flat_map(|field| field.lines(indent, column, view)).collect()
}

/// The lines for outputs of the stack that change.
pub(super) fn output_fields(changes: &[Change], indent: usize, view: PlanView) -> Vec<String> {
    let field = |change: &Change| match (&change.before, &change.after) {
        (None, Some(value)) if change.path.steps().len() == 1 => {
            Field { name: change.path.to_string(), told: Told::Value(value.clone()) }
        }
        _ => changed(change, Mark::Becomes),
    };
    aligned(&changes.iter().flat_map(parted).map(|it| field(&it)).collect::<Vec<_>>(), indent, view)
}

/// The changes inside an output that has parts; an output that is new or gone is one.
fn parted(change: &Change) -> Vec<Change> {
    let parts = match (&change.before, &change.after) {
        (Some(before), Some(after)) => diff(before, after),
        _ => Vec::new(),
    };
    let inside = |part: Change| {
        let path = change.path.steps().iter().chain(part.path.steps()).cloned().collect();
        Change { path, ..part }
    };
    match parts.is_empty() {
        true => vec![change.clone()],
        false => parts.into_iter().map(inside).collect(),
    }
}

fn gathered(action: &PlannedAction, shown: Shown) -> Vec<Field> {
    let mut fields = Vec::new();
    match action.action {
        Action::Create | Action::Read => fields.extend(values(&action.inputs)),
        Action::Delete | Action::Forget if shown.unchanged => fields.extend(values(&action.prior_inputs)),
        Action::Delete | Action::Forget => {}
        Action::NoOp | Action::MayUpdate | Action::Update | Action::MayReplace | Action::Replace => {
            fields.extend(action.changes.iter().map(|change| changed(change, Mark::Becomes)));
            fields.extend(settling(action).iter().map(|change| changed(change, Mark::Becomes)));
            if shown.unchanged {
                let told = |field: &Field| {
                    action.changes.iter().any(|change| change.path.first_key() == Some(field.name.as_str()))
                };
                fields.extend(values(&action.inputs).into_iter().filter(|field| !told(field)));
            }
        }
    }
    fields.extend(action.bindings.iter().map(binding));
    fields.extend(
        action.drifted_inputs.iter().chain(&action.drift).map(|change| changed(change, Mark::Became)),
    );
    fields
}

/// Outputs that will be something else, apart from those that only repeat an input.
fn settling(action: &PlannedAction) -> Vec<Change> {
    if action.prior_outputs.is_null() || action.action == Action::NoOp {
        return Vec::new();
    }
    let repeats = |change: &Change| {
        let name = change.path.first_key();
        let own = name.is_some_and(|name| action.inputs.get(name).is_some());
        // An input that goes stands among the changes.
        let gone = action.changes.iter().any(|input| input.path.first_key() == name);
        own || gone || action.drift.iter().any(|drifted| drifted.path == change.path)
    };
    let mut changes = diff(&action.prior_outputs, &action.outputs);
    changes.retain(|change| !repeats(change) && change.before.is_some());
    changes
}

fn values(inputs: &Value) -> Vec<Field> {
    let entries = inputs.as_entries().into_iter().flat_map(trueup_core::Entries::iter);
    let set = entries.filter(|(_, value)| !value.is_null());
    set.map(|(name, value)| Field { name: name.to_string(), told: Told::Value(value.clone()) }).collect()
}

/// A change below the key of a binding; one that is all new is shown as a value.
fn binding(change: &Change) -> Field {
    let separator = if matches!(change.path.steps().first(), Some(Step::Key(name)) if is_identifier(name)) {
        "."
    } else {
        ""
    };
    let name = format!("bindings{separator}{}", change.path);
    let told = match (&change.before, &change.after) {
        (None, Some(value)) => Told::Value(value.clone()),
        (before, after) => Told::Change(before.clone(), after.clone(), Mark::Becomes),
    };
    Field { name, told }
}

fn changed(change: &Change, mark: Mark) -> Field {
    let told = Told::Change(change.before.clone(), change.after.clone(), mark);
    Field { name: change.path.to_string(), told }
}

impl Field {
    /// A field that changes.
    pub(super) fn change(name: String, before: Option<Value>, after: Option<Value>, mark: Mark) -> Self {
        Field { name, told: Told::Change(before, after, mark) }
    }

    fn lines(&self, indent: usize, column: usize, view: PlanView) -> Vec<String> {
        let head = format!("{}{} ", " ".repeat(indent), padded(&self.name, column + 1));
        let room = view.look.columns.saturating_sub(width(&head)).max(ROOM_MIN);
        let lines = match &self.told {
            Told::Value(value) => value_lines(value, room, view.look),
            Told::Change(before, after, mark) => {
                ValueChange { before: before.as_ref(), after: after.as_ref(), mark: *mark }.lines(room, view)
            }
        };
        let beside = " ".repeat(width(&head));
        let line = |(at, line): (usize, String)| {
            format!("{}{line}", if at == 0 { &head } else { &beside }).trim_end().to_owned()
        };
        lines.into_iter().enumerate().map(line).collect()
    }
}

fn value_lines(value: &Value, room: usize, look: Look) -> Vec<String> {
    if let Some(text) = open_text(value).filter(|text| text.trim_end().contains('\n')) {
        let all: Vec<&str> = text.lines().collect();
        if look.whole {
            return all.iter().map(|line| format!("| {}", look.plain(line))).collect();
        }
        let count = format!(" {} {} lines", look.mark(Mark::Ellipsis), all.len());
        let first = Value::from(all[0]).to_string();
        let first = cut(&first, room.saturating_sub(width(&count)), look);
        return vec![format!("{first}{}", look.paint(Meaning::Quiet, &count))];
    }
    let shown = |line: String| {
        if line == UNKNOWN { look.paint(Meaning::Quiet, &line) } else { cut(&line, room, look) }
    };
    // Cut before colours are added: a cut through one would show its bytes.
    limited(lines(value, room).into_iter().map(shown).collect(), look)
}

/// As many lines as are shown, and how many there are besides.
pub(super) fn limited(mut lines: Vec<String>, look: Look) -> Vec<String> {
    if lines.len() > LINES_MAX && !look.whole {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        let text = format!("{} {more} more lines (--full shows them)", look.mark(Mark::Ellipsis));
        lines.push(look.paint(Meaning::Quiet, &text));
    }
    lines
}
