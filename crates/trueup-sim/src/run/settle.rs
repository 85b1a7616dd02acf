//! The end of every scenario: nothing goes wrong any more, the program stays as it is, and all must come to rest.

use std::time::Duration;

use trueup_provider::Clock;

use super::World;
use super::operate::Ending;
use crate::cloud::{Lateness, Weather};
use crate::invariants::{Violation, converged, pure};
use crate::scenario::Operation;
use crate::store::StoreFaults;

/// How many deploys it may take: one that finds what only a person can settle, one that plans anew what it could not
/// know, one that does it.
const DEPLOYS_MAX: usize = 3;

impl World {
    pub(super) async fn settle(&mut self) {
        self.cloud.set_weather(Weather::fair(), Lateness::default());
        self.disk.set_faults(StoreFaults::default());
        self.clock.sleep(Duration::from_secs(300)).await;
        self.sketch = std::mem::take(&mut self.sketch).unguarded();
        self.ask_a_person(false).await;
        let program = self.sketch.program();
        let mut last = String::new();
        let mut done = false;
        for _ in 0..DEPLOYS_MAX {
            let started = self.start(&[], &Operation::Deploy, 10);
            let options = self.options(&Operation::Deploy, 10);
            match self.operate(&started, &program, &options, &Operation::Deploy).await {
                Ending::Done => done = true,
                Ending::Failed(why) => last = why,
                Ending::Killed => {}
            }
            self.judge_at_rest();
            if done || self.log.violation().is_some() {
                break;
            }
            self.ask_a_person(true).await;
        }
        if !done {
            self.log.judge(|_| {
                Err(Violation { invariant: "INV-4", what: format!("no deploy succeeds: {last}") })
            });
            return;
        }
        let options = self.options(&Operation::Deploy, 10);
        let started = self.start(&[], &Operation::Deploy, 10);
        let one = started.reconciler.plan(&program, &options.plan).await;
        let other = started.reconciler.plan(&program, &options.plan).await;
        match (one, other) {
            (Ok(one), Ok(other)) => {
                self.log.judge(|_| converged::deploy_converges(&one));
                self.log.judge(|_| pure::plans_are_equal(&one, &other));
            }
            (one, other) => {
                let told = [one, other].into_iter().filter_map(|it| it.err().map(|it| it.to_string()));
                let what = format!("no plan is made: {}", told.collect::<Vec<_>>().join("; "));
                self.log.judge(|_| Err(Violation { invariant: "INV-4", what }));
            }
        }
        let truth = self.cloud.truth();
        self.log.judge(|watch| converged::cloud_is_as_the_program_says(watch, &self.sketch, &truth));
        self.end.replace(converged::shown(&self.sketch));
    }
}
