//! What scrolls by in a terminal, no faster than a person reads: of what ends well and comes faster, only how much.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::tracker::{Happened, News};

/// How many lines may come at once: all of a small stack.
const AT_ONCE_MAX: u64 = 20;

/// How many lines a second a person reads, at most.
const LINES_PER_SECOND: u64 = 10;

/// How long what is folded is gathered for one line.
const GATHERED: Duration = Duration::from_secs(1);

/// What was not shown line by line.
#[derive(Default)]
pub(crate) struct Folding {
    /// How many lines may still be shown, and since when.
    room: Option<(u64, SystemTime)>,
    folded: Folded,
}

/// How much happened, by what it was.
pub(crate) type Folded = BTreeMap<&'static str, usize>;

/// What is shown.
#[derive(Debug)]
pub(crate) enum Shown {
    One(News),
    Folded(Folded),
}

impl Folding {
    /// Takes what happened since the last time; what is shown of it now.
    pub(crate) fn take(&mut self, news: Vec<News>, now: SystemTime) -> Vec<Shown> {
        let mut shown = Vec::new();
        let (mut room, since) = self.room.unwrap_or((AT_ONCE_MAX, now));
        let passed = now.duration_since(since).unwrap_or_default();
        let since = if passed >= GATHERED {
            room = (room + passed.as_secs() * LINES_PER_SECOND).min(AT_ONCE_MAX);
            shown.extend(self.rest());
            now
        } else {
            since
        };
        for news in news {
            match folded_as(&news.what) {
                Some(word) if room == 0 || !self.folded.is_empty() => {
                    *self.folded.entry(word).or_default() += 1;
                }
                Some(_) => {
                    room -= 1;
                    shown.push(Shown::One(news));
                }
                None => shown.push(Shown::One(news)),
            }
        }
        self.room = Some((room, since));
        shown
    }

    /// What is still folded, to be shown now.
    pub(crate) fn rest(&mut self) -> Option<Shown> {
        let folded = std::mem::take(&mut self.folded);
        (!folded.is_empty()).then_some(Shown::Folded(folded))
    }
}

/// Failures and whatever else people must see stay lines of their own.
fn folded_as(what: &Happened) -> Option<&'static str> {
    match what {
        Happened::Done(word, _) => Some(word),
        Happened::Unchanged => Some("unchanged"),
        Happened::Failed(..) | Happened::Skipped(_) | Happened::Retry(_) | Happened::Waiting(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use trueup_core::{Failure, FailureClass};
    use trueup_engine::Operation;

    use super::*;

    fn news(what: Happened) -> News {
        News { address: None, what, at: SystemTime::UNIX_EPOCH }
    }

    fn created(count: usize) -> Vec<News> {
        vec![news(Happened::Done("created", Duration::ZERO)); count]
    }

    fn told(shown: &[Shown]) -> (usize, Vec<Folded>) {
        let folded = shown.iter().filter_map(|it| match it {
            Shown::One(_) => None,
            Shown::Folded(folded) => Some(folded.clone()),
        });
        let folded: Vec<Folded> = folded.collect();
        (shown.len() - folded.len(), folded)
    }

    #[test]
    fn what_comes_faster_than_a_person_reads_is_counted() {
        let mut folding = Folding::default();
        let begun = SystemTime::UNIX_EPOCH;
        assert_eq!(told(&folding.take(created(20), begun)), (20, vec![]));
        let soon = begun + Duration::from_millis(500);
        assert_eq!(told(&folding.take(created(100), soon)), (0, vec![]));
        let later = begun + GATHERED;
        let shown = folding.take(created(30), later);
        assert_eq!(told(&shown), (10, vec![Folded::from([("created", 100)])]));
        assert_eq!(
            told(&folding.rest().into_iter().collect::<Vec<_>>()).1,
            [Folded::from([("created", 20)])]
        );
        assert!(folding.rest().is_none());
    }

    #[test]
    fn failures_are_always_told() {
        let mut folding = Folding::default();
        let now = SystemTime::UNIX_EPOCH;
        folding.take(created(100), now);
        let failure = Failure::new(FailureClass::Denied, "no");
        let failed = vec![news(Happened::Failed(Operation::Create, 1, Duration::ZERO, failure)); 100];
        assert_eq!(told(&folding.take(failed, now)).0, 100);
    }

    #[test]
    fn slow_runs_are_told_line_by_line() {
        let mut folding = Folding::default();
        for second in 0..100 {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            assert_eq!(told(&folding.take(created(10), now)), (10, vec![]));
        }
    }
}
