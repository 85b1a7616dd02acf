//! Laws and tables of the vocabulary.

mod checking;
mod comparison;
mod round_trips;
mod strategies;
