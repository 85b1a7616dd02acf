//! Compiles the protobuf sources of `trueup-terraform` to its `src/protocol/*.rs`, which are committed: building trueup needs
//! no protobuf compiler.
//! Run it with `cargo xtask protocol` after a change of a `.proto` file.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/trueup-terraform");
    let (sources, output) = (package.join("proto"), package.join("src/protocol"));
    let files = ["messages.proto", "plugin.proto", "tfplugin5.proto", "tfplugin6.proto"];
    tonic_prost_build::configure()
        // Calls are made by `client.rs`, in which all share one instance of generic code.
        .build_client(false)
        .server_mod_attribute(".", "#[cfg(feature = \"server\")]")
        // Schemas are cut out of one large message without copying it.
        .bytes(".tfplugin")
        .btree_map(".")
        .out_dir(&output)
        .compile_fds(protox::compile(files, [&sources])?)?;
    // A test compares this digest with the sources, so that a stale output is noticed without compiling it again.
    let mut digest = blake3::Hasher::new();
    for file in files {
        digest.update(&fs::read(sources.join(file))?);
    }
    fs::write(output.join("digest.txt"), format!("{}\n", digest.finalize()))?;
    Ok(())
}
