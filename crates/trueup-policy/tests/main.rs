//! Policies, and CEL, the language they are written in.

mod cel;
mod policies;
