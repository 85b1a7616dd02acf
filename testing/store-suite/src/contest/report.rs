//! What contestants tell the referee: a line each, among whatever else stands on their output.

use std::fmt;

/// What begins a line that is meant for the referee.
const MARK: &str = "contest: ";

/// Something that a contestant did. Scopes are named by their place in [`scopes`](super::count::scopes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Report {
    /// It has the lease.
    Took { scope: usize, token: u64 },
    /// A commit that raised the number to this was acknowledged.
    Committed { scope: usize, token: u64, number: u64 },
    /// A commit was refused because another had taken the lease over.
    Superseded { scope: usize, token: u64 },
    /// The store was out of reach; this may happen, and says nothing.
    Trouble(String),
    /// Something happened that must not.
    Broken(String),
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::Took { scope, token } => write!(f, "{MARK}took {scope} {token}"),
            Report::Committed { scope, token, number } => {
                write!(f, "{MARK}committed {scope} {token} {number}")
            }
            Report::Superseded { scope, token } => write!(f, "{MARK}superseded {scope} {token}"),
            Report::Trouble(what) => write!(f, "{MARK}trouble {}", what.replace('\n', " ")),
            Report::Broken(what) => write!(f, "{MARK}broken {}", what.replace('\n', " ")),
        }
    }
}

impl Report {
    /// The report in a line, if there is one.
    pub(crate) fn read(line: &str) -> Option<Report> {
        // The test program may have begun the line.
        let (_, report) = line.split_once(MARK)?;
        let (what, rest) = report.split_once(' ')?;
        let numbers: Vec<u64> = rest.split(' ').map_while(|number| number.parse().ok()).collect();
        match (what, numbers.as_slice()) {
            ("took", [scope, token]) => Some(Report::Took { scope: *scope as usize, token: *token }),
            ("committed", [scope, token, number]) => {
                Some(Report::Committed { scope: *scope as usize, token: *token, number: *number })
            }
            ("superseded", [scope, token]) => {
                Some(Report::Superseded { scope: *scope as usize, token: *token })
            }
            ("trouble", _) => Some(Report::Trouble(rest.to_owned())),
            ("broken", _) => Some(Report::Broken(rest.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_were_written() {
        for report in [
            Report::Took { scope: 1, token: 7 },
            Report::Committed { scope: 0, token: 7, number: 12 },
            Report::Superseded { scope: 1, token: 7 },
            Report::Trouble("no route to host".to_owned()),
            Report::Broken("12 13".to_owned()),
        ] {
            assert_eq!(Report::read(&format!("test contestant ... {report}")), Some(report));
        }
        for other in ["running 1 test", "contest: took", "contest: took 1", "contest: took a b"] {
            assert_eq!(Report::read(other), None, "{other}");
        }
    }
}
