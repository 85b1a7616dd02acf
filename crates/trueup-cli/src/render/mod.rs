//! Turning data into text: pure functions from plans, records and reports to lines that fit a [`Look`](crate::ui::Look).

mod diagnostics;
mod diagnostics_json;
mod document_diff;
mod inline_diff;
pub(crate) mod natural;
mod plan;
mod record;
mod record_json;
mod run;
#[cfg(test)]
mod run_tests;
pub(crate) mod schema;
mod sequence_diff;
mod text_diff;
mod time;
mod value;
mod yaml_path;

pub(crate) use diagnostics::render_diagnostics;
pub(crate) use diagnostics_json::diagnostics_json;
pub(crate) use plan::{
    Defaults, PlanView, Shown, action_json, plan_json, plan_markdown, render_action, render_actions,
    render_plan,
};
pub(crate) use record::record_lines;
pub(crate) use record_json::record_json;
pub(crate) use run::{Next, RunView, output_lines, render_run, run_json, short, warnings};
pub(crate) use text_diff::{DiffLine, diff_lines};
pub(crate) use time::{clock, date, duration, milliseconds};
pub(crate) use value::{lines, one_line};

/// How many of what, in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
