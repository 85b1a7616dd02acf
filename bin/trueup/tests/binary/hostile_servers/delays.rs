//! What a server asks to wait for.

use super::{Hostile, each, in_one_line, run};
use crate::binary::stack;

/// A day and more: such delays are refused at once.
const DAYS: [&str; 3] = ["100000", "4294967296", "18446744073709551615"];

/// What names no number of seconds: the run waits as long as it would have anyway.
const NONE: [&str; 13] = [
    "-1",
    "-100000",
    "",
    "soon",
    "1e9",
    "0x7fffffff",
    "99999999999999999999999999",
    "100000.5",
    "100000, 0",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "\u{661}\u{660}\u{660}",
    "100000\r\nRetry-After: 100000",
];

/// A server that is busy, and says for how long in these words.
fn busy(status: u16, words: &str) -> Hostile {
    Hostile::saying(format!(
        "HTTP/1.1 {status} busy\r\nRetry-After: {words}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ))
}

/// BOUND-1: for objects and for data sources, whatever the words.
#[test]
fn no_delay_that_a_server_asks_for_outlasts_the_timeout() {
    let rows = DAYS.map(|words| (words, true)).into_iter().chain(NONE.map(|words| (words, false)));
    let rows = rows.flat_map(|row| [429, 503].map(|status| (status, row)));
    each(rows, |(status, (words, is_asked_for))| {
        let server = busy(status, words);
        let options =
            "stack {\n  timeout = \"5s\"\n  retry {\n    attempts = 2\n    backoff  = \"1ms\"\n  }\n}\n";
        let url = &server.url;
        let rows = [
            (
                "deploy --stage t --yes",
                format!("resource \"std_http\" \"a\" {{\n  create {{\n    url = \"{url}\"\n  }}\n}}\n"),
            ),
            ("plan --stage t", format!("data \"std_http\" \"a\" {{\n  url = \"{url}\"\n}}\n")),
        ];
        for (command, text) in rows {
            let folder = stack(&(options.to_owned() + &text));
            let told = run(&folder, command, &[]);
            let said = in_one_line(&told.err);
            assert_eq!(told.code, 1, "{status}, {words:?}: {told:?}");
            assert!(said.contains(&format!("was answered with {status}")), "{words:?}: {said}");
            let refused = format!("it is to be tried again in {words} s, past the timeout of 5 s");
            // Nobody knows whether a create that was answered with 503 has happened: it is not sent again.
            let is_again = status == 429 || command.starts_with("plan");
            assert_eq!(said.contains(&refused), is_asked_for && is_again, "{status}, {words:?}: {said}");
        }
    });
}
