//! The messages of the plugin protocol, generated from `proto/` by `cargo xtask protocol`.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::pedantic)]

#[rustfmt::skip]
pub mod plugin;
#[rustfmt::skip]
pub mod tfplugin;
#[rustfmt::skip]
pub mod tfplugin5;
#[rustfmt::skip]
pub mod tfplugin6;

pub use tfplugin::*;

#[cfg(test)]
mod tests {
    #[test]
    fn the_messages_are_generated_from_the_current_sources() {
        let mut digest = blake3::Hasher::new();
        for source in [
            include_str!("../../proto/messages.proto"),
            include_str!("../../proto/plugin.proto"),
            include_str!("../../proto/tfplugin5.proto"),
            include_str!("../../proto/tfplugin6.proto"),
        ] {
            digest.update(source.as_bytes());
        }
        let generated_from = include_str!("digest.txt").trim();
        assert_eq!(digest.finalize().to_string(), generated_from, "run `cargo xtask protocol`");
    }
}
