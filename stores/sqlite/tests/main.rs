//! The SQLite store on real files.

mod conformance;
mod contest;
mod damage;
mod file;
mod moving;
mod sealing;
mod shop;
