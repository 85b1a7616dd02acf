//! Policies, and CEL, the language they are written in.

mod bypasses;
mod cel;
mod policies;
