//! What changes inside a resource, field by field.

use trueup_core::{Change, Value, diff};
use trueup_engine::{Action, PlannedAction};

use super::{PlanView, Shown};
use crate::render::text_diff::{DiffLine, diff_lines};
use crate::render::value::{UNKNOWN, lines, one_line, open_text};
use crate::ui::{Look, Mark, Meaning, cut, padded, width};

/// So many lines of a text's diff, or of an opened value, are shown; more are counted.
const LINES_MAX: usize = 16;

/// Names longer than this do not push the others' values aside.
const NAME_COLUMNS_MAX: usize = 24;

/// A field and what is told of it.
struct Field {
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
fn aligned(fields: &[Field], indent: usize, view: PlanView) -> Vec<String> {
    let widths = fields.iter().map(|field| width(&field.name)).filter(|width| *width <= NAME_COLUMNS_MAX);
    let column = widths.max().unwrap_or(0);
    fields.iter().flat_map(|field| field.lines(indent, column, view)).collect()
}

/// The lines for outputs of the stack that change.
pub(super) fn output_fields(changes: &[Change], indent: usize, view: PlanView) -> Vec<String> {
    let field = |change: &Change| match (&change.before, &change.after) {
        (None, Some(value)) => Field { name: change.path.to_string(), told: Told::Value(value.clone()) },
        _ => changed(change, Mark::Becomes),
    };
    aligned(&changes.iter().map(field).collect::<Vec<_>>(), indent, view)
}

fn gathered(action: &PlannedAction, shown: Shown) -> Vec<Field> {
    let mut fields = Vec::new();
    let full = shown == Shown::Full;
    match action.action {
        Action::Create | Action::Read => fields.extend(values(&action.inputs)),
        Action::Delete | Action::Forget if full => fields.extend(values(&action.prior_inputs)),
        Action::Delete | Action::Forget => {}
        Action::NoOp | Action::MayUpdate | Action::Update | Action::MayReplace | Action::Replace => {
            fields.extend(action.changes.iter().map(|change| changed(change, Mark::Becomes)));
            fields.extend(settling(action).iter().map(|change| changed(change, Mark::Becomes)));
            if full {
                let told = |field: &Field| {
                    action.changes.iter().any(|change| change.path.to_string().starts_with(&field.name))
                };
                fields.extend(values(&action.inputs).into_iter().filter(|field| !told(field)));
            }
        }
    }
    fields.extend(action.drift.iter().map(|change| changed(change, Mark::Became)));
    fields
}

/// Outputs that will be something else, apart from those that only repeat an input.
fn settling(action: &PlannedAction) -> Vec<Change> {
    if action.prior_outputs.is_null() || action.action == Action::NoOp {
        return Vec::new();
    }
    let repeats = |change: &Change| {
        let own = change.path.first_key().is_some_and(|name| action.inputs.get(name).is_some());
        own || action.drift.iter().any(|drifted| drifted.path == change.path)
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

fn changed(change: &Change, mark: Mark) -> Field {
    let told = Told::Change(change.before.clone(), change.after.clone(), mark);
    Field { name: change.path.to_string(), told }
}

impl Field {
    fn lines(&self, indent: usize, column: usize, view: PlanView) -> Vec<String> {
        let look = view.look;
        let full = view.shown == Shown::Full;
        let head = format!("{}{} ", " ".repeat(indent), padded(&self.name, column + 1));
        let room = match full {
            true => usize::MAX / 2,
            false => look.columns.saturating_sub(width(&head)),
        };
        let (first, rest) = match &self.told {
            Told::Value(value) => value_lines(value, room, look, full),
            Told::Change(before, after, mark) => match texts(before.as_ref(), after.as_ref()) {
                // What is there now goes, what was recorded comes back.
                Some((recorded, observed)) if *mark == Mark::Became => {
                    let (first, rest) = text_lines(observed, recorded, room, look, full);
                    let note = look.paint(Meaning::Quiet, "(- is there now, + was recorded)");
                    (note, std::iter::once(first).chain(rest).collect())
                }
                Some((before, after)) => text_lines(before, after, room, look, full),
                None => (self.change(before.as_ref(), after.as_ref(), *mark, room, look), Vec::new()),
            },
        };
        let mut lines = vec![format!("{head}{first}").trim_end().to_owned()];
        let beside = " ".repeat(width(&head));
        lines.extend(rest.into_iter().map(|line| format!("{beside}{line}").trim_end().to_owned()));
        lines
    }

    /// `old → new`, each side getting a fair share of the room.
    fn change(
        &self,
        before: Option<&Value>,
        after: Option<&Value>,
        mark: Mark,
        room: usize,
        look: Look,
    ) -> String {
        let side = |value: Option<&Value>| value.map_or("(not set)".to_owned(), one_line);
        let arrow = format!(" {} ", look.mark(mark));
        let (mut old, mut new) = (side(before), side(after));
        let room = room.saturating_sub(width(&arrow));
        if width(&old) + width(&new) > room {
            let half = room / 2;
            let old_room = half.max(room.saturating_sub(width(&new)));
            old = cut(&old, old_room, look);
            new = cut(&new, room.saturating_sub(width(&old)), look);
        }
        let new = if new == UNKNOWN { look.paint(Meaning::Quiet, &new) } else { new };
        format!("{old}{arrow}{new}")
    }
}

/// Both texts, if either has several lines and both may be shown.
fn texts<'v>(before: Option<&'v Value>, after: Option<&'v Value>) -> Option<(&'v str, &'v str)> {
    let text = |value: Option<&'v Value>| value.map_or(Some(""), open_text);
    let (before, after) = (text(before)?, text(after)?);
    (before.contains('\n') || after.contains('\n')).then_some((before, after))
}

fn text_lines(before: &str, after: &str, room: usize, look: Look, full: bool) -> (String, Vec<String>) {
    let told = diff_lines(before, after);
    let shown = if full { told.len() } else { LINES_MAX.min(told.len()) };
    let mut lines: Vec<String> = told[..shown]
        .iter()
        .map(|line| match line {
            DiffLine::Place(place) => look.paint(Meaning::Quiet, &cut(place, room, look)),
            DiffLine::Same(text) => cut(&format!(" {text}"), room, look),
            DiffLine::Old(text) => look.paint(Meaning::Delete, &cut(&format!("-{text}"), room, look)),
            DiffLine::New(text) => look.paint(Meaning::Create, &cut(&format!("+{text}"), room, look)),
        })
        .collect();
    if told.len() > shown {
        lines.push(more(told.len() - shown, "lines", look));
    }
    let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
    (first, lines)
}

fn value_lines(value: &Value, room: usize, look: Look, full: bool) -> (String, Vec<String>) {
    if let Some(text) = open_text(value).filter(|text| text.trim_end().contains('\n')) {
        let all: Vec<&str> = text.lines().collect();
        if full {
            let told = |line: &&str| Value::from(*line).to_string();
            return (String::new(), all.iter().map(told).collect());
        }
        let count = format!(" {} {} lines", look.mark(Mark::Ellipsis), all.len());
        let first = Value::from(all[0]).to_string();
        let first = cut(&first, room.saturating_sub(width(&count)), look);
        return (format!("{first}{}", look.paint(Meaning::Quiet, &count)), Vec::new());
    }
    let mut told = lines(value, room.min(look.columns.max(40)));
    let total = told.len();
    if total > LINES_MAX && !full {
        told.truncate(LINES_MAX);
        told.push(more(total - LINES_MAX, "lines", look));
    }
    let mut told = told.into_iter().map(|line| match line == UNKNOWN {
        true => look.paint(Meaning::Quiet, &line),
        false => cut(&line, room, look),
    });
    (told.next().unwrap_or_default(), told.collect())
}

fn more(count: usize, what: &str, look: Look) -> String {
    let text = format!("{} {count} more {what} (--full shows them)", look.mark(Mark::Ellipsis));
    look.paint(Meaning::Quiet, &text)
}
