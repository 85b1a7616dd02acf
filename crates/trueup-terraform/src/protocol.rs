//! The messages of the plugin protocol, made from the descriptions in `proto/`.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::pedantic)]

include!(concat!(env!("OUT_DIR"), "/protocol.rs"));

pub use tfplugin::*;
