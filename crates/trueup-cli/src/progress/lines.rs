//! What is known of a run, as lines: those at the bottom of a terminal, those that scroll above them, and those of a log.

use std::time::{Duration, SystemTime};

use trueup_core::escape_line;
use trueup_engine::Operation;

use super::folding::{Folded, Shown};
use super::tracker::{Counts, Happened, News, Note, Running, Tracker};
use crate::render::{clock, duration};
use crate::ui::{Line, Look, Mark, Meaning, cut, width};

/// How many columns addresses get at least.
const ADDRESS_COLUMNS_MIN: usize = 28;

/// How many columns what happened gets.
const WHAT_COLUMNS: usize = 16;

/// How many columns are left for what is to be said besides.
const REST_COLUMNS: usize = 22;

/// How many columns addresses get: as many as the longest needs, if there is room for it.
pub(crate) fn address_columns(tracker: &Tracker, look: Look) -> usize {
    let room = look.columns.saturating_sub(2 + WHAT_COLUMNS + REST_COLUMNS);
    (tracker.address_width() + 1).min(room).max(ADDRESS_COLUMNS_MIN)
}

/// The lines at the bottom: one for each operation under way, and how far the run has come.
pub(crate) fn bottom(tracker: &Tracker, now: SystemTime, look: Look, rows: usize) -> Vec<String> {
    let running = tracker.running();
    // Something of what scrolls above should stay in sight.
    let room = rows.saturating_sub(4).max(1);
    let addresses = address_columns(tracker, look);
    let shown = running.iter().take(room);
    let mut lines: Vec<String> = shown.map(|it| running_line(it, now, addresses, look)).collect();
    if running.len() > room {
        let more = format!("  {} {} more in flight", look.mark(Mark::Ellipsis), running.len() - room);
        lines.push(look.paint(Meaning::Quiet, &more));
    }
    lines.push(bar(tracker.counts(), look));
    lines
}

fn running_line(running: &Running, now: SystemTime, addresses: usize, look: Look) -> String {
    let elapsed = now.duration_since(running.since).unwrap_or_default();
    let verb = in_progress(running.operation);
    let spinner = look.spinner(elapsed.as_millis() / 100);
    let line = Line::new()
        .meaning(Meaning::Update, spinner)
        .text(" ")
        .text(cut(&running.address.to_string(), addresses.max(look.columns / 2), look))
        .to(2 + addresses)
        .text(format!("{verb} {:>3} s", elapsed.as_secs()))
        .to(2 + addresses + WHAT_COLUMNS);
    match &running.note {
        None => line,
        Some(Note::Doing(doing)) => line.meaning(Meaning::Quiet, on_one_line(doing)),
        Some(retry @ Note::Retry { .. }) => line.meaning(Meaning::Update, told(retry, now)),
    }
    .render(look)
}

fn in_progress(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "creating",
        Operation::Update => "updating",
        Operation::Delete => "deleting",
        Operation::Read => "reading",
    }
}

/// `retry 3/10 in 4 s: role cannot be assumed yet`
fn told(note: &Note, now: SystemTime) -> String {
    match note {
        Note::Doing(doing) => on_one_line(doing),
        Note::Retry { attempts, attempts_max, at, message, .. } => {
            let wait = wait(at.duration_since(now).unwrap_or_default());
            format!("retry {attempts}/{attempts_max} {wait}: {}", on_one_line(message))
        }
    }
}

/// When the next attempt is: in whole seconds, or in tenths of one.
fn wait(left: Duration) -> String {
    match left.as_millis() {
        0 => "now".to_owned(),
        1..=900 => format!("in {} ms", left.as_millis().div_ceil(100) * 100),
        _ => format!("in {} s", left.as_secs_f64().ceil()),
    }
}

/// `━━━━━━╸━━━━  9/14   2 running · 3 waiting · 0 failed`
fn bar(counts: Counts, look: Look) -> String {
    let Counts { total, over, running, failed, .. } = counts;
    let waiting = total.saturating_sub(over + running);
    let mut facts = vec![format!("{running} running")];
    for (count, what) in [(waiting, "waiting"), (failed, "failed")] {
        if count > 0 {
            facts.push(format!("{count} {what}"));
        }
    }
    let tail = format!("  {over}/{total}  {}", look.facts(&facts));
    let room = look.columns.saturating_sub(width(&tail)).clamp(8, 40);
    let filled = (room * over).checked_div(total).unwrap_or(room);
    let (full, empty) = if look.unicode { ("━", "─") } else { ("#", "-") };
    Line::new()
        .meaning(if failed > 0 { Meaning::Delete } else { Meaning::Create }, full.repeat(filled))
        .meaning(Meaning::Quiet, empty.repeat(room - filled))
        .text(tail)
        .render(look)
}

/// The lines that scroll above, in a terminal.
pub(crate) fn above(shown: &[Shown], tracker: &Tracker, look: Look) -> Vec<String> {
    let addresses = address_columns(tracker, look);
    let line = |shown: &Shown| match shown {
        Shown::One(news) => scrolling(news, addresses, look),
        Shown::Folded(folded) => Some(folded_line(folded, look)),
    };
    shown.iter().filter_map(line).collect()
}

/// `✓ 1204 more created · 3 more unchanged`
fn folded_line(folded: &Folded, look: Look) -> String {
    let facts: Vec<String> = folded.iter().map(|(word, count)| format!("{count} more {word}")).collect();
    let line = Line::new().meaning(Meaning::Quiet, look.mark(Mark::Done)).text(" ");
    line.meaning(Meaning::Quiet, look.facts(&facts)).render(look)
}

fn scrolling(news: &News, addresses: usize, look: Look) -> Option<String> {
    let (mark, meaning, what, rest) = match &news.what {
        Happened::Done(word, took) => {
            // What was done well is green, a delete too.
            (Mark::Done, Meaning::Create, (*word).to_owned(), duration(*took))
        }
        Happened::Unchanged => {
            (Mark::Done, Meaning::Quiet, "unchanged".to_owned(), "checked on real values".to_owned())
        }
        Happened::Failed(operation, attempts, took, _) => {
            let tried = if *attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
            let rest = format!("{tried} in {}", duration(*took));
            (Mark::Failed, Meaning::Delete, format!("{} failed", operation.name()), rest)
        }
        Happened::Skipped(cause) => {
            (Mark::Skipped, Meaning::Quiet, "skipped".to_owned(), format!("waits for {cause}"))
        }
        Happened::Waiting(holder) => return Some(waiting(holder)),
        // It stands on the line of the operation already.
        Happened::Retry(_) => return None,
    };
    let address = news.address.as_ref().map(ToString::to_string).unwrap_or_default();
    let mark = look.mark(mark);
    let line = Line::new()
        .meaning(meaning, mark)
        .text(" ")
        .text(address)
        .to(2 + addresses)
        .text(what)
        .to(2 + addresses + WHAT_COLUMNS)
        .meaning(Meaning::Quiet, rest);
    Some(line.render(look))
}

pub(crate) fn waiting(holder: &str) -> String {
    format!("Waiting: {}. Ctrl-C to give up, or --no-wait.", escape_line(holder))
}

/// A line of a log: time, resource, what.
pub(crate) fn logged(news: &News) -> String {
    let address = news.address.as_ref().map(|address| format!("{address} ")).unwrap_or_default();
    let what = match &news.what {
        Happened::Done(word, took) => format!("{word} in {}", duration(*took)),
        Happened::Unchanged => "unchanged".to_owned(),
        Happened::Failed(operation, attempts, took, failure) => format!(
            "{} failed after {attempts} attempt{} in {}: {}",
            operation.name(),
            if *attempts == 1 { "" } else { "s" },
            duration(*took),
            on_one_line(&failure.message)
        ),
        Happened::Skipped(cause) => format!("skipped: waits for {cause}"),
        Happened::Retry(note) => told(note, news.at),
        Happened::Waiting(holder) => waiting(holder),
    };
    format!("{} {address}{what}", clock(news.at))
}

/// A line of a log for what takes long.
pub(crate) fn still(running: &Running, now: SystemTime) -> String {
    let elapsed = duration(now.duration_since(running.since).unwrap_or_default());
    let verb = in_progress(running.operation);
    format!("{} {} still {verb} after {elapsed}", clock(now), running.address)
}

/// What others say, as one line.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fits_and_fills() {
        let counts = Counts { total: 14, over: 9, running: 2, failed: 0, skipped: 0 };
        let line = bar(counts, Look::PLAIN);
        assert_eq!(line, "━━━━━━━━━━━━━━━━━━━━━━━━━───────────────  9/14  2 running · 3 waiting");
        let narrow = bar(Counts { failed: 3, ..counts }, Look { columns: 50, unicode: false, ..Look::PLAIN });
        assert_eq!(narrow, "######----  9/14  2 running | 3 waiting | 3 failed");
    }

    /// A delete that went well is no failure.
    #[test]
    fn what_went_well_is_marked_alike() {
        let look = Look { colour: true, ..Look::PLAIN };
        let line = |word| {
            let address = "a_b.c".parse().ok();
            let what = Happened::Done(word, Duration::ZERO);
            scrolling(&News { address, what, at: SystemTime::UNIX_EPOCH }, 8, look).unwrap_or_default()
        };
        let mark = |word: &'static str| line(word).split(' ').next().map(str::to_owned);
        assert_eq!(mark("deleted"), mark("created"));
        assert_ne!(mark("deleted"), Some("✓".to_owned()), "it has a colour");
    }

    #[test]
    fn retries_count_down() {
        let now = SystemTime::UNIX_EPOCH;
        let at = now + Duration::from_millis(3_200);
        let note = Note::Retry {
            attempts: 3,
            attempts_max: 10,
            at,
            message: "not\nyet".to_owned(),
            is_begun: false,
        };
        assert_eq!(told(&note, now), "retry 3/10 in 4 s: not yet");
        assert_eq!(told(&note, now + Duration::from_millis(3_100)), "retry 3/10 in 100 ms: not yet");
        assert_eq!(told(&note, at), "retry 3/10 now: not yet");
    }
}
