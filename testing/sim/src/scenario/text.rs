//! A scenario in words: what someone would do to see it happen.

use std::fmt;

use super::{Rival, Scenario, Sketch, Step};

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sketch = Sketch::default();
        for (at, step) in self.steps.iter().enumerate() {
            step.edits.iter().for_each(|edit| sketch.edit(edit));
            writeln!(f, "step {}:", at + 1)?;
            if !step.edits.is_empty() || at == 0 {
                write!(f, "{sketch}")?;
            }
            write!(f, "{step}")?;
        }
        writeln!(f, "then everything is let settle")
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, item) in &self.items {
            write!(f, "    {} size {} colour {}", self.address(*number), item.size, item.colour)?;
            let links = [
                ("needs", self.needed(*number)),
                ("on", self.hosted(*number)),
                ("says", self.noted(*number)),
                ("after", item.after),
                ("told of", self.bound(*number)),
            ];
            for (word, link) in links {
                if let Some(link) = link {
                    write!(f, " {word} r{link}")?;
                }
            }
            let options =
                [(item.retain, "retain"), (item.protect, "protect"), (item.delete_first, "delete-first")];
            for (_, option) in options.iter().filter(|(set, _)| *set) {
                write!(f, " {option}")?;
            }
            if item.kind.is_named_by_program() {
                write!(f, " called {}", item.name())?;
            }
            if let Some(secret) = self.secret(*number) {
                write!(f, " secret {secret}")?;
            }
            writeln!(f)?;
        }
        if let Some(region) = self.region {
            let followed = if self.follows { ", as a compass says" } else { "" };
            writeln!(f, "    its provider is configured for region {region}{followed}")?;
        }
        for (kind, from, to) in &self.moves {
            writeln!(f, "    {} r{from} is now r{to}", kind.word())?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for deed in &self.deeds {
            writeln!(f, "  by hand: {deed:?}")?;
        }
        if self.upgrade {
            writeln!(f, "  a new release is installed")?;
        }
        if self.loses_state {
            writeln!(f, "  the state is lost")?;
        }
        if self.clock_step_s != 0 {
            writeln!(f, "  the wall clock is set by {} s", self.clock_step_s)?;
        }
        write!(f, "  {:?}", self.operation)?;
        if self.parallelism != 10 {
            write!(f, ", {} at a time", self.parallelism)?;
        }
        if let Some(Rival { delay_ms, unlocks }) = self.rival {
            write!(f, ", and a second process does the same {delay_ms} ms later")?;
            write!(f, "{}", if unlocks { ", with the lease of the first" } else { "" })?;
        }
        if self.faults.percent > 0 {
            write!(f, ", {} % faults, at most {}", self.faults.percent, self.faults.budget)?;
        }
        if self.store.percent > 0 {
            write!(f, ", {} % of commits fail, at most {}", self.store.percent, self.store.budget)?;
        }
        if self.lateness.percent > 0 {
            write!(f, ", {} % seen late", self.lateness.percent)?;
        }
        for (point, incident) in &self.incidents {
            write!(f, ", at point {point}: {incident:?}")?;
        }
        writeln!(f)?;
        if self.hasty {
            writeln!(f, "  a person settles at once what only a person can")?;
        }
        if self.pause_ms > 0 {
            writeln!(f, "  pause of {} ms", self.pause_ms)?;
        }
        Ok(())
    }
}
