//! A plan in Markdown, for the pull request that it belongs to: what happens to each resource, its fields folded away.
//!
//! What stands in a plan is text from anywhere: it is fenced, so that none of it counts as Markdown. Comments have a
//! largest size, so what would be too much is counted instead.

use trueup_core::{Address, Diagnostic};
use trueup_engine::{Plan, PlannedAction};

use super::fields::{fields, output_fields};
use super::{PlanView, Shown, is_unchanged, reason, sign, sort_by_address};
use crate::ui::Look;

/// The largest text, in bytes; code hosts take 65,536 characters.
const BYTES_MAX: usize = 60_000;

/// What is told of one resource at most, in bytes.
const RESOURCE_BYTES_MAX: usize = 8_000;

/// The plan as Markdown.
pub(crate) fn plan_markdown(plan: &Plan) -> String {
    let look = Look { colour: false, unicode: true, columns: 100 };
    let view = PlanView { look, shown: Shown::Changes };
    let mut text =
        format!("### `{}` · stage `{}`\n\n**{}**\n", plan.scope.stack, plan.scope.stage, plan.summary());
    let (unchanged, mut changed): (Vec<_>, Vec<_>) = plan.actions.iter().partition(|it| is_unchanged(it));
    sort_by_address(&mut changed, |it| &it.address);
    let mut blocks: Vec<String> = plan.warnings.iter().map(warning).collect();
    blocks.extend(plan.moves.iter().map(|moved| {
        format!("\n- {} is now {}\n", code(&moved.from.to_string()), code(&moved.to.to_string()))
    }));
    blocks.extend(changed.iter().map(|action| resource(plan, action, view)));
    let outputs = output_fields(&plan.output_changes(), 0, view);
    if !outputs.is_empty() {
        blocks.push(details("outputs", &outputs));
    }
    let mut left = blocks.len();
    for block in blocks {
        if text.len() + block.len() > BYTES_MAX {
            text += &format!("\n… and {left} more that do not fit here.\n");
            break;
        }
        text += &block;
        left -= 1;
    }
    if !unchanged.is_empty() {
        text += &format!("\n{} unchanged.\n", unchanged.len());
    }
    if !plan.left_out.is_empty() {
        text += &format!("\n{} left out of this run.\n", plan.left_out.len());
    }
    text
}

fn resource(plan: &Plan, action: &PlannedAction, view: PlanView) -> String {
    let (sign, _) = sign(action, view.look);
    let why = reason::why(plan, action);
    let why = if why.is_empty() { action.action.name().to_owned() } else { why };
    let summary = format!("{} <code>{}</code>: {}", sign, escaped(&address(&action.address)), escaped(&why));
    details(&summary, &fields(action, 0, view))
}

fn address(address: &Address) -> String {
    address.to_string()
}

/// A line that opens to more, if there is more.
fn details(summary: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("\n<details><summary>{summary}</summary></details>\n");
    }
    let mut body = lines.join("\n");
    if body.len() > RESOURCE_BYTES_MAX {
        let end = (0..=RESOURCE_BYTES_MAX).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
        body.truncate(end);
        body += "\n…";
    }
    let fence = "`".repeat(longest_run(&body).max(2) + 1);
    format!("\n<details><summary>{summary}</summary>\n\n{fence}diff\n{body}\n{fence}\n\n</details>\n")
}

/// How many backticks stand side by side at most.
fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

fn warning(told: &Diagnostic) -> String {
    format!("\n> ⚠ {}\n", escaped(&told.summary).replace('\n', " "))
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Text in which nothing is a tag or emphasis.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '*' | '`' | '[' | ']' | '|' | '\\' | '@' | '#' => {
                safe += &format!("&#{};", u32::from(char));
            }
            other => safe.push(other),
        }
    }
    safe
}
