//! Many processes contend for a store, are killed and stopped, and a referee checks that nothing got lost (STATE-2,
//! STATE-3).
//!
//! The contestants ([`contend`]) take the leases of two scopes in turn and count: each commit raises a number by one in
//! two records. The referee ([`Contest::hold`]) starts them, hears what they do, kills some, and stops some until
//! others have taken their leases over. What they left ([`Account::check`]) must be a count without gaps, with tokens
//! that only grow, that holds all that was acknowledged.
//!
//! A store's test has two functions, of which the first is what contestants run: the referee starts the test program
//! again for each of them.
//!
//! ```text
//! #[tokio::test]
//! async fn contestant() {
//!     if let Some(place) = contest::place() {
//!         contest::contend(&open(&place).await).await;
//!     }
//! }
//!
//! #[tokio::test]
//! async fn nothing_gets_lost_among_processes_that_are_killed_and_stopped() {
//!     let account = Contest::new("contestant", &place).hold();
//!     account.check(&open(&place).await).await;
//! }
//! ```

mod chance;
mod contestant;
mod count;
mod referee;
mod report;
mod verdict;

pub use contestant::{contend, place};
pub use referee::Contest;
pub use verdict::Account;
