//! How a command ended, as scripts see it.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// 0: what was asked for is done.
    Done,
    /// 1: something is wrong, with the command line too; it was told.
    Error,
    /// 2: there is something to do, and `--detailed-exitcode` asked to be told so.
    Changes,
    /// 3: `drift` found objects that are not as recorded.
    Drift,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Changes => 2,
            Exit::Drift => 3,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
