//! Writes the seeds of all targets below a folder, one folder each, where the fuzzer looks for what to start from.

use std::path::PathBuf;

#[expect(clippy::disallowed_methods, reason = "its command line")]
fn main() -> std::io::Result<()> {
    let below = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or_else(|| std::io::Error::other("name a folder"))?;
    for target in trueup_fuzz::TARGETS {
        let folder = below.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (at, seed) in target.seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at}")), seed)?;
        }
    }
    Ok(())
}
