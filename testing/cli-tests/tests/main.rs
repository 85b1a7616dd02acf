//! The command line on small binaries: `commands` without a terminal, `terminal` in one.

mod commands;
mod terminal;
