//! Hosts: processes of our own between us and plugins.
//!
//! A plugin that is our child dies with us, and with it the answer to the change that it was making. A host outlives us:
//! it starts the plugin ([`serve`]), passes on what we ask of it ([`proxy`]), and keeps the answer to each change on disk
//! until we have recorded it ([`kept`]). Whoever comes after a run that was killed finds there what came of its changes.
//!
//! A host that nobody needs any more stays for a while with its plugin, which is configured by then: the next run with the
//! same binary, environment and configuration finds it by the name of its socket ([`attach`]) and need not wait for a start.
//! A host serves one run at a time: its socket is there only while nobody uses it.

mod attach;
mod kept;
mod order;
mod proxy;
mod serve;
mod spool;

pub(crate) use attach::{Attached, Unattached, attach};
pub(crate) use kept::{KeptAnswers, Outcome, Ticket};
pub use order::Host;
pub(crate) use order::{Order, Report};
pub use serve::serve;

/// By which a request says under which ticket its answer is to be kept.
pub(crate) const TICKET_HEADER: &str = "trueup-ticket";

/// Where a host tells what its plugin prints, and how it ends.
const WORDS_PATH: &str = "/trueup.host/Words";

/// By which it says what version of the protocol is spoken.
const VERSION_HEADER: &str = "trueup-plugin-protocol";

/// Marks a failure as a lost connection to the plugin, as opposed to an answer of the plugin.
pub(crate) const GONE_HEADER: &str = "trueup-plugin-gone";

/// What begins the last line of its words: how it ended.
pub(crate) const ENDED: &str = "\u{0}ended ";
