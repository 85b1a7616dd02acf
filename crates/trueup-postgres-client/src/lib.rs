//! Where a PostgreSQL server is and how to connect to it.
//!
//! An [`Address`] is what was written; completed by the variables that PostgreSQL's own programs know, it becomes a
//! [`Server`], to which one can connect. The password is in these two and nowhere else: no `Debug`, no error and no
//! [`Server::location`] shows it. [`rows_within`] takes the rows of an answer up to a set size. Nothing here reads the environment itself, keeps connections or tries again.

mod address;
mod answer;
mod server;
mod tls;

pub use address::{Address, AddressError};
pub use answer::{AnswerError, AnswerMeter, rows_within};
pub use server::{ConnectError, Server, ServerConnection};
