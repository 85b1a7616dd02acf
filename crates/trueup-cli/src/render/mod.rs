//! Turning data into text: pure functions from plans, records and reports to lines that fit a [`Look`](crate::ui::Look).

mod diagnostics;
pub(crate) mod natural;
mod plan;
mod record;
mod record_json;
mod run;
#[cfg(test)]
mod run_tests;
pub(crate) mod schema;
mod text_diff;
mod time;
mod value;

pub(crate) use diagnostics::render_diagnostics;
pub(crate) use plan::{
    Defaults, PlanView, Shown, action_json, plan_json, plan_markdown, render_action, render_actions,
    render_plan,
};
pub(crate) use record::record_lines;
pub(crate) use record_json::record_json;
pub(crate) use run::{RunView, output_lines, render_run, run_json, short};
pub(crate) use text_diff::{DiffLine, diff_lines};
pub(crate) use time::{clock, date, duration};
pub(crate) use value::{lines, one_line};

/// How many of what, in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
