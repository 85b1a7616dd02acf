//! The language: text to tree (`syntax`), formatting (`format`), expressions to values, stacks to programs.

mod expressions;
mod format;
mod stacks;
mod syntax;
