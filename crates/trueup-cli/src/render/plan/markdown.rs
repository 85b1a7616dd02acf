//! A plan in Markdown, for the pull request that it belongs to: what happens to each resource, its fields folded away.
//!
//! What stands in a plan is text from anywhere: it is fenced or escaped, so that none of it counts as Markdown, as a tag or
//! as a mention of someone (OUTPUT-3). Comments have a largest size, so what would be too much is counted instead.

use trueup_core::{Address, Diagnostic, escape_line};
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
    let look = Look { colour: false, unicode: true, columns: 100, whole: true };
    let view = PlanView::new(look, Shown::CHANGES);
    let (stack, stage) = (code_span(&plan.scope.stack), code_span(&plan.scope.stage));
    let mut text = format!("### {stack} · stage {stage}\n\n**{}**\n", plan.summary());
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
    let why = reason::why(plan, action, view.look);
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
    let words: Vec<&str> = told.summary.split_whitespace().collect();
    format!("\n> ⚠ {}\n", escaped(&words.join(" ")))
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Text as code, with more backticks around it than in it.
fn code_span(text: &str) -> String {
    let text = escape_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // A space keeps a backtick at either end apart, and is not shown.
    let apart = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{apart}{text}{apart}{fence}")
}

/// Text on one line in which nothing is a tag, emphasis, a link or a mention.
fn escaped(text: &str) -> String {
    let text = escape_line(text);
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        // Within a word an underscore is nothing else.
        let within = before.is_alphanumeric() && chars.peek().is_some_and(|after| after.is_alphanumeric());
        match char {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            // Code hosts look for names and numbers in the text that comes out: a comment parts them from their sign.
            '@' | '#' => safe += &format!("&#{};<!-- -->", u32::from(char)),
            '_' if within => safe.push(char),
            '*' | '_' | '`' | '[' | ']' | '|' | '\\' | '~' | '!' | '$' => {
                safe += &format!("&#{};", u32::from(char));
            }
            other => safe.push(other),
        }
        before = char;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUTPUT-3.
    #[test]
    fn nothing_quoted_is_markup() {
        let cases = [
            ("std_file.a", "std_file.a"),
            ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
            ("**a** `b` [c](d) |e|", "&#42;&#42;a&#42;&#42; &#96;b&#96; &#91;c&#93;(d) &#124;e&#124;"),
            ("_a_ ~b~ ![c] $d$", "&#95;a&#95; &#126;b&#126; &#33;&#91;c&#93; &#36;d&#36;"),
            ("@someone #1", "&#64;<!-- -->someone &#35;<!-- -->1"),
            ("a\n# b\u{202e}", "a&#92;n&#35;<!-- --> b&#92;u{202e}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
        assert_eq!(code_span("site"), "`site`");
        assert_eq!(code_span("`a``"), "``` `a`` ```");
        assert_eq!(code_span("a\n\n<b>"), "`a\\n\\n<b>`");
        assert!(warning(&Diagnostic::warning("a\n\n```\n<b>")).ends_with("a &#96;&#96;&#96; &lt;b&gt;\n"));
    }
}
