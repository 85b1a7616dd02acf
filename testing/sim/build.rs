//! Tells the tests whether they were built for speed, which nothing else does.

#[allow(clippy::disallowed_methods, reason = "this is how cargo tells a build script")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
}
