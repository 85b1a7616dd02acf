//! State: what may follow what, the memory store, and sealing.

mod memory;
mod sealing;
mod transition;
