//! Keys and self-signed certificates, kept in state. There is no object outside.

mod cert;
mod key;

pub use cert::{TlsCert, TlsCertOutput};
pub use key::{Algorithm, TlsKey, TlsKeyOutput};
