//! Compiles the descriptions of the plugin protocol; no compiler but Rust's own is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["messages.proto", "plugin.proto", "tfplugin5.proto", "tfplugin6.proto"];
    let descriptions = protox::compile(files, ["proto"])?;
    tonic_prost_build::configure()
        .build_server(std::env::var_os("CARGO_FEATURE_SERVER").is_some())
        // Schemas are cut out of one large message without copying it.
        .bytes(".tfplugin")
        .btree_map(".")
        .include_file("protocol.rs")
        .compile_fds(descriptions)?;
    println!("cargo::rerun-if-changed=proto");
    Ok(())
}
