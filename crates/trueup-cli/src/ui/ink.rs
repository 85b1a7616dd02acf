//! Colour that only our own formatting can apply.
//!
//! Text and colour travel together as strings, through many hands. So that no text from outside passes for colour,
//! [`genuine`] sequences carry a seal that is drawn anew for each process and never shown. Whatever is written goes
//! through [`written`] or [`written_line`]: sealed sequences lose their seal, everything else that would act on a
//! terminal is escaped (OUTPUT-1). Nothing else in the command line has to think of it.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use trueup_core::{escape, escape_line};

use super::workflow::disarmed;

const ESCAPE: char = '\x1b';

/// What follows the escape character of a genuine sequence. Each `RandomState` has a key of its own from the operating
/// system.
static SEAL: LazyLock<String> =
    LazyLock::new(|| format!("{:016x}", RandomState::new().build_hasher().finish()));

/// Seals the colours in a text of our own making, which holds nothing from outside that is not escaped.
pub(crate) fn genuine(ours: &str) -> String {
    ours.replace(ESCAPE, &format!("{ESCAPE}{}", *SEAL))
}

/// A text of several lines as it is written.
pub(super) fn written(text: &str) -> String {
    each_stretch(text, |stretch| escape(stretch).into_owned(), str::to_owned)
}

/// The same for a text that is one line, whatever it quotes.
pub(super) fn written_line(text: &str) -> String {
    each_stretch(text, |stretch| escape_line(stretch).into_owned(), str::to_owned)
}

/// A line as it is written, without its colours.
pub(super) fn unpainted_line(text: &str) -> String {
    each_stretch(text, |stretch| escape_line(stretch).into_owned(), |_| String::new())
}

/// Puts a text together again from its stretches of text and its genuine sequences, the latter without their seal.
fn each_stretch(text: &str, plain: impl Fn(&str) -> String, colour: impl Fn(&str) -> String) -> String {
    let sealed = format!("{ESCAPE}{}", *SEAL);
    let mut stretches = text.split(&sealed);
    let mut whole = plain(stretches.next().unwrap_or_default());
    for stretch in stretches {
        let (parameters, rest) = stretch.split_once('m').unwrap_or(("", stretch));
        whole.push_str(&colour(&format!("{ESCAPE}{parameters}m")));
        whole.push_str(&plain(rest));
    }
    match disarmed(&whole) {
        Cow::Borrowed(_) => whole,
        Cow::Owned(disarmed) => disarmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OUTPUT-1: colours of ours take effect, all others are shown.
    #[test]
    fn only_our_own_colours_take_effect() {
        let text = format!("{}red\x1b[31m{} \u{9b}1m\nnext", genuine("\x1b[1;31m"), genuine("\x1b[0m"));
        assert_eq!(written(&text), "\x1b[1;31mred\\u{1b}[31m\x1b[0m \\u{9b}1m\nnext");
        assert_eq!(written_line(&text), "\x1b[1;31mred\\u{1b}[31m\x1b[0m \\u{9b}1m\\nnext");
        assert_eq!(unpainted_line(&text), "red\\u{1b}[31m \\u{9b}1m\\nnext");
        assert_eq!(written("\x1b0000000000000000[31m"), "\\u{1b}0000000000000000[31m", "a guessed seal");
    }
}
