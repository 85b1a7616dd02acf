//! A value that changes, as people read it: always with the difference in view.
//!
//! Short values stand on one line, `old → new`. Documents in JSON are compared member by member, texts line by line and
//! long lines word by word. Unchanged text may be shortened; what differs is folded, and counted where it is very long.
//! Without a terminal nothing is shortened.

use trueup_core::{Change, Value};

use super::PlanView;
use super::fields::{Field, aligned, limited};
use crate::render::document_diff::document_changes;
use crate::render::inline_diff::{InlineDiff, Stretch, centred, columns, folded, painted};
use crate::render::text_diff::{DiffLine, diff_lines};
use crate::render::value::{UNKNOWN, lines, one_line, open_text};
use crate::render::yaml_path::YamlOutline;
use crate::ui::{Look, Mark, Meaning, cut, width};

/// Shown for a side without a value.
const NOT_SET: &str = "(not set)";

/// So long a word is a digest, an id or the like.
const OPAQUE_MIN: usize = 24;

/// So much of such a word is always shown.
const OPAQUE_SHOWN: usize = 8;

/// Explains the signs of a drift over several lines: a deploy removes what was found, and restores what was recorded.
const DRIFT_SIGNS: &str = "(- found, + recorded)";

/// The change of one value.
pub(super) struct ValueChange<'v> {
    pub before: Option<&'v Value>,
    pub after: Option<&'v Value>,
    /// `Became` for drift: `before` is recorded, `after` was found.
    pub mark: Mark,
}

impl ValueChange<'_> {
    /// The change in lines of at most this width, where that can be.
    pub(super) fn lines(&self, room: usize, view: PlanView) -> Vec<String> {
        if let Some(line) = self.one_line(room, view.look) {
            return vec![line];
        }
        let is_drift = self.mark == Mark::Became;
        let (before, after) = if is_drift { (self.after, self.before) } else { (self.before, self.after) };
        let text = |value: Option<&'_ Value>| value.map_or(Some(""), open_text).map(str::to_owned);
        let shown = match (text(before), text(after)) {
            (Some(old), Some(new)) => {
                if let Some(changes) = document_changes(&old, &new) {
                    // Their own signs say which side is which.
                    return limited(members(&changes, self.mark, is_drift, room, view), view.look);
                }
                if let Some(line) = self.opaque_line(&old, &new, room, view.look) {
                    return vec![line];
                }
                if old.contains('\n') || new.contains('\n') {
                    text_lines(&old, &new, room, view)
                } else {
                    let side = |value: Option<&Value>| value.map(one_line);
                    line_pair(side(before).as_deref(), side(after).as_deref(), ("- ", "+ "), room, view.look)
                }
            }
            _ => [(before, '-', Meaning::Delete), (after, '+', Meaning::Create)]
                .into_iter()
                .flat_map(|(value, sign, meaning)| opened(value, sign, meaning, room, view.look))
                .collect(),
        };
        let note = is_drift.then(|| view.look.paint(Meaning::Quiet, DRIFT_SIGNS));
        note.into_iter().chain(limited(shown, view.look)).collect()
    }

    /// `old → new`, if that fits and neither is a text of several lines.
    fn one_line(&self, room: usize, look: Look) -> Option<String> {
        let is_text =
            |value: Option<&Value>| value.and_then(open_text).is_some_and(|text| text.contains('\n'));
        let is_unknown = self.after.is_some_and(Value::is_unknown);
        if (is_text(self.before) && !is_unknown) || is_text(self.after) {
            return None;
        }
        let side = |value: Option<&Value>| value.map_or(NOT_SET.to_owned(), one_line);
        let (old, new) = (side(self.before), side(self.after));
        let arrow = format!(" {} ", look.mark(self.mark));
        // Nothing can be compared with what is not known yet.
        let old = match new == UNKNOWN {
            true => cut(&old, room.saturating_sub(width(&arrow) + width(&new)), look),
            false => old,
        };
        let fits = width(&old) + width(&arrow) + width(&new) <= room || new == UNKNOWN;
        let new = if new == UNKNOWN { look.paint(Meaning::Quiet, &new) } else { look.plain(&new) };
        fits.then(|| format!("{}{arrow}{new}", look.plain(&old)))
    }
}

impl ValueChange<'_> {
    /// `old → new`, cut, for words such as digests, which differ from the start and say nothing to people.
    fn opaque_line(&self, old: &str, new: &str, room: usize, look: Look) -> Option<String> {
        let is_opaque =
            |text: &str| text.len() >= OPAQUE_MIN && text.chars().all(|char| char.is_ascii_alphanumeric());
        let begin = |text: &str| text.chars().take(OPAQUE_SHOWN).collect::<String>();
        if !is_opaque(old) || !is_opaque(new) || begin(old) == begin(new) {
            return None;
        }
        let arrow = format!(" {} ", look.mark(self.mark));
        let half = room.saturating_sub(width(&arrow)) / 2;
        if !look.whole && half < width("\"") + OPAQUE_SHOWN + width(look.mark(Mark::Ellipsis)) {
            return None;
        }
        let side = |value: Option<&Value>| {
            value.map_or(NOT_SET.to_owned(), |value| cut(&one_line(value), half, look))
        };
        Some(format!("{}{arrow}{}", side(self.before), side(self.after)))
    }
}

/// The members in which two documents differ.
fn members(changes: &[Change], mark: Mark, is_drift: bool, room: usize, view: PlanView) -> Vec<String> {
    let sides = |change: &Change| match is_drift {
        // They were compared the other way round.
        true => (change.after.clone(), change.before.clone()),
        false => (change.before.clone(), change.after.clone()),
    };
    let field = |change: &Change| {
        let (before, after) = sides(change);
        Field::change(
            if change.path.is_root() { "document".to_owned() } else { change.path.to_string() },
            before,
            after,
            mark,
        )
    };
    let fields: Vec<Field> = changes.iter().map(field).collect();
    aligned(&fields, 0, PlanView { look: Look { columns: room, ..view.look }, ..view })
}

/// Two texts line by line, with the long ones word by word.
fn text_lines(before: &str, after: &str, room: usize, view: PlanView) -> Vec<String> {
    let look = view.look;
    let mut shown = Vec::new();
    let diff = diff_lines(before, after);
    let (old_outline, new_outline) = (YamlOutline::of(before), YamlOutline::of(after));
    let mut rest = diff.as_slice();
    while let Some(first) = rest.first() {
        let (olds, others) =
            rest.split_at(rest.iter().take_while(|it| matches!(it, DiffLine::Old(_))).count());
        let (news, others) =
            others.split_at(others.iter().take_while(|it| matches!(it, DiffLine::New(_))).count());
        match first {
            DiffLine::Place { range, old, new } => {
                let place = |outline: &Option<YamlOutline<'_>>, line: &Option<usize>| {
                    outline.as_ref()?.path((*line)?)
                };
                let path = place(&new_outline, new).or_else(|| place(&old_outline, old)).unwrap_or_default();
                shown.push(look.paint(Meaning::Quiet, format!("{range} {path}").trim_end()));
                rest = &rest[1..];
            }
            DiffLine::Same(text) => {
                shown.push(cut(&format!(" {text}"), room, look));
                rest = &rest[1..];
            }
            DiffLine::Old(_) | DiffLine::New(_) => {
                shown.extend(replaced_lines(olds, news, room, look));
                rest = others;
            }
        }
    }
    shown
}

/// Lines that take the place of others. As many as there were are compared in pairs if one of them is long.
fn replaced_lines(olds: &[DiffLine], news: &[DiffLine], room: usize, look: Look) -> Vec<String> {
    let text = |line: &DiffLine| match line {
        DiffLine::Place { range: text, .. }
        | DiffLine::Same(text)
        | DiffLine::Old(text)
        | DiffLine::New(text) => text.clone(),
    };
    let (olds, news): (Vec<String>, Vec<String>) =
        (olds.iter().map(text).collect(), news.iter().map(text).collect());
    let is_long = |line: &String| width(line) + 1 > room;
    if olds.len() == news.len() && olds.iter().chain(&news).any(is_long) {
        let pairs = olds.iter().zip(&news);
        return pairs
            .flat_map(|(old, new)| line_pair(Some(old), Some(new), ("-", "+"), room, look))
            .collect();
    }
    let sides = [(&olds, "-", Meaning::Delete), (&news, "+", Meaning::Create)];
    let one = |line: &String, sign: &str, meaning: Meaning| {
        signed(&[Stretch { text: look.plain(line), differs: true }], sign, meaning, room, look)
    };
    sides
        .into_iter()
        .flat_map(|(lines, sign, meaning)| lines.iter().flat_map(move |it| one(it, sign, meaning)))
        .collect()
}

/// Two lines below each other, shortened where they agree. Where nothing may be shortened, long lines are followed by
/// the place of the difference.
fn line_pair(
    before: Option<&str>,
    after: Option<&str>,
    signs: (&str, &str),
    room: usize,
    look: Look,
) -> Vec<String> {
    let diff = InlineDiff::of(before.unwrap_or_default(), after.unwrap_or_default());
    let fits = |stretches: &[Stretch]| columns(stretches) + width(signs.0) <= room;
    let short = fits(&diff.before) && fits(&diff.after);
    let shown = |stretches: &[Stretch]| {
        if short || look.whole { stretches.to_vec() } else { centred(stretches, look) }
    };
    let (old, new) = (shown(&diff.before), shown(&diff.after));
    let mut lines = Vec::new();
    if before.is_some() {
        lines.extend(signed(&old, signs.0, Meaning::Delete, room, look));
    }
    if after.is_some() {
        lines.extend(signed(&new, signs.1, Meaning::Create, room, look));
    }
    if !short && look.whole && before.is_some() && after.is_some() {
        let part = |stretches: &[Stretch]| painted(&centred(stretches, look), Meaning::Strong, look);
        let (old, new) = (part(&diff.before), part(&diff.after));
        let arrow = look.mark(Mark::Becomes);
        lines.push(format!("  at character {}: {old} {arrow} {new}", diff.first_difference()));
    }
    lines
}

/// Stretches behind a sign; further lines are set in.
fn signed(stretches: &[Stretch], sign: &str, meaning: Meaning, room: usize, look: Look) -> Vec<String> {
    let inside = room.saturating_sub(width(sign));
    let lines = if look.whole { vec![stretches.to_vec()] } else { folded(stretches, inside) };
    let beside = " ".repeat(width(sign));
    let line = |(at, line): (usize, &Vec<Stretch>)| {
        let sign = if at == 0 { look.paint(meaning, sign) } else { beside.clone() };
        format!("{sign}{}", painted(line, meaning, look))
    };
    lines.iter().enumerate().map(line).collect()
}

/// One side of a change, opened into lines behind a sign.
fn opened(value: Option<&Value>, sign: char, meaning: Meaning, room: usize, look: Look) -> Vec<String> {
    let Some(value) = value else { return Vec::new() };
    let opened = lines(value, room.saturating_sub(2)).into_iter();
    opened
        .flat_map(|line| {
            let stretch = Stretch { text: look.plain(&line), differs: true };
            signed(&[stretch], &format!("{sign} "), meaning, room, look)
        })
        .collect()
}
