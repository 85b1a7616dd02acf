//! gRPC calls over HTTP/2, as far as plugins need them: one request message, one or more response messages, no compression.
//!
//! [`Channel`] owns the connection and sends requests. [`framing`] puts messages into bytes and cuts them out again.
//! [`Messages`] reads a response to its end, where the server says how the call went ([`Status`]).
//!
//! Messages are opaque bytes here: callers encode and decode them, so all methods share one instance of this code. There
//! are no deadlines: callers drop a call that takes too long, which resets its stream.

mod channel;
mod framing;
mod response;
mod status;
#[cfg(test)]
mod tests;

pub(crate) use channel::{Body, Channel, Connector, Duplex};
pub(crate) use response::Messages;
pub use status::{Code, Status};
pub(crate) use status::{GRPC_CONTENT_TYPE, GRPC_STATUS, with_causes};
