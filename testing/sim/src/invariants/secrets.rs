//! INV-13: secret canaries appear nowhere.
//!
//! Searched are plans, events, history, warnings, errors, and the open part of every record and journal entry. The cloud
//! repeats secrets in [many forms](crate::types), so a canary is searched for in each of them.

use std::fmt::Debug;

use trueup_state::Write;

use super::{Judged, require};
use crate::log::Happened;

/// What every secret of a simulation contains, at both of its ends: a long piece contains one of them.
pub(crate) const CANARY: &str = "c4n4ry";

/// The canary in hexadecimal digits, and in the three alignments of Base64, without characters that depend on what stands
/// beside it.
const ENCODED: [&str; 5] = ["63346e347279", "63346E347279", "YzRuNHJ5", "M0bjRye", "jNG40cn"];

/// Neither plans nor events tell secrets, and stores are given none but sealed.
pub(super) fn nothing_told_is_secret(happened: &Happened) -> Judged {
    match happened {
        Happened::Approved { plan, .. } => {
            canaries_appear_nowhere("a plan", &plan.to_string())?;
            canaries_appear_nowhere("a plan's values", &shown(plan))
        }
        Happened::Ended { how, .. } => canaries_appear_nowhere("the end of a run", how),
        Happened::Committed { lines, writes, .. } => {
            lines.iter().try_for_each(|line| canaries_appear_nowhere("the history", line))?;
            writes.iter().try_for_each(open_parts_are_open)
        }
        _ => Ok(()),
    }
}

/// The values of a write show what a store keeps in the clear: a secret in them is shown as such, and sealed.
fn open_parts_are_open(write: &Write) -> Judged {
    canaries_appear_nowhere("a journal entry", &shown(&write.entry))?;
    canaries_appear_nowhere("a record", &shown(&write.record))
}

/// A value in debug form, in which secrets and the private bytes of providers are masked.
pub(crate) fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// A text shows no secret in any form.
pub(crate) fn canaries_appear_nowhere(place: &str, text: &str) -> Judged {
    require(!shows_canary(text), "INV-13", || format!("a secret appears in {place}: {text}"))
}

fn shows_canary(text: &str) -> bool {
    let contains = |text: &str| text.contains(CANARY) || ENCODED.iter().any(|form| text.contains(form));
    if contains(text) {
        return true;
    }
    let escapes: [(char, Unescape); 3] = [('\\', backslash), ('%', percent), ('&', entity)];
    escapes.into_iter().any(|(lead, unescape)| {
        text.contains(lead) && {
            let once = without(text, lead, unescape);
            // A document in a document.
            contains(&once) || (once.contains(lead) && contains(&without(&once, lead, unescape)))
        }
    })
}

/// Undoes the escape that a text begins with: the character that it stands for, and its length.
type Unescape = fn(&str) -> Option<(char, usize)>;

/// A text without one kind of escapes.
fn without(text: &str, lead: char, unescape: Unescape) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(lead) {
        plain.push_str(&rest[..at]);
        let (stands_for, length) = unescape(&rest[at..]).unwrap_or((lead, lead.len_utf8()));
        plain.push(stands_for);
        rest = &rest[at + length..];
    }
    plain + rest
}

/// Canaries are ASCII: no other character matters.
fn character(digits: Option<&str>, radix: u32) -> Option<char> {
    u8::from_str_radix(digits?, radix).ok().filter(u8::is_ascii).map(char::from)
}

fn backslash(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().get(1)? {
        b'u' => character(text.get(2..6), 16).map(|it| (it, 6)),
        b'"' => Some(('"', 2)),
        b'\\' => Some(('\\', 2)),
        _ => None,
    }
}

fn percent(text: &str) -> Option<(char, usize)> {
    character(text.get(1..3), 16).map(|it| (it, 3))
}

fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(8).position(|byte| byte == b';')?;
    character(text.get(1..end)?.strip_prefix('#'), 10).map(|it| (it, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::repeated;

    /// INV-13: each form that the cloud repeats is found by itself.
    #[test]
    fn a_canary_is_found_in_each_form() {
        let secret = crate::scenario::secret_of(7, 3);
        let forms = repeated(&secret);
        assert!(forms.len() >= 10);
        for (form, text) in forms {
            assert!(shows_canary(&format!("refused: {text}!")), "{form}: {text}");
        }
        assert!(!shows_canary("refused: c4n4r, 6334, %63%34 and YzRuNHJ"));
    }
}
