//! The compact textual form of a plan, for tests and logs.

use std::fmt;

use trueup_core::Value;

use super::{Action, Plan, PlannedAction, ReplaceOrder};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for moved in &self.moves {
            writeln!(f, "> {} -> {}", moved.from, moved.to)?;
        }
        for action in &self.actions {
            writeln!(f, "{action}")?;
        }
        if !self.left_out.is_empty() {
            let left_out: Vec<String> = self.left_out.iter().map(ToString::to_string).collect();
            writeln!(f, "left out: {}", left_out.join(", "))?;
        }
        f.write_str(&self.summary())
    }
}

impl fmt::Display for PlannedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.action {
            Action::NoOp => "•",
            Action::Read => "?",
            Action::MayUpdate => "~?",
            Action::Update => "~",
            Action::MayReplace => "±?",
            Action::Replace => "±",
            Action::Create => "+",
            Action::Delete => "-",
            Action::Forget => "x",
        };
        write!(f, "{sign} {}", self.address)?;
        match self.replace_order {
            Some(ReplaceOrder::CreateFirst) => f.write_str(" create first")?,
            Some(ReplaceOrder::DeleteFirst) => f.write_str(" delete first")?,
            None => {}
        }
        if !self.reasons.is_empty() {
            let reasons: Vec<String> = self.reasons.iter().map(ToString::to_string).collect();
            write!(f, " ({})", reasons.join(", "))?;
        }
        let side = |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), ToString::to_string);
        for change in &self.changes {
            let forces = if self.replace_paths.contains(&change.path) { " forces replacement" } else { "" };
            write!(f, "\n    {}: {} -> {}{forces}", change.path, side(&change.before), side(&change.after))?;
        }
        for change in &self.bindings {
            write!(f, "\n    bindings {}: {} -> {}", change.path, side(&change.before), side(&change.after))?;
        }
        for change in self.drift.iter().chain(&self.drifted_inputs) {
            write!(f, "\n    {}: {} <- {}", change.path, side(&change.before), side(&change.after))?;
        }
        for number in &self.deposed {
            write!(f, "\n    deposed generation {number}")?;
        }
        Ok(())
    }
}
