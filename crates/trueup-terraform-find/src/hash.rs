//! Checksums of packages, in the two forms that lock files hold.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use trueup_files::Accept;

/// `h1:`: over the files of a package, packed or not: the digest of a list of each file's digest and name.
pub(crate) fn of_files(mut files: Vec<(String, [u8; 32])>) -> String {
    files.sort();
    let mut summary = String::new();
    for (name, digest) in files {
        // Text, so that nothing can fail.
        let _ = writeln!(summary, "{}  {name}", hex(&digest));
    }
    format!("h1:{}", STANDARD.encode(Sha256::digest(summary.as_bytes())))
}

/// `h1:` of an unpacked package.
pub(crate) fn of_folder(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for path in files_below(folder)? {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        // Lines of digests and names could be read in two ways.
        if name.contains(['\n', '\r']) {
            return Err(io::Error::other("a file of the package has a line break in its name"));
        }
        files.push((name, digest(trueup_files::open(&path, Accept::Regular)?)?));
    }
    Ok(of_files(files))
}

/// The SHA-256 of all that can be read.
pub(crate) fn digest(mut from: impl Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().into()),
            length => hasher.update(&chunk[..length]),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// All files below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            // A link to a folder is not followed: it could lead round in a circle.
            if entry.file_type()?.is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `terraform init` 1.11 wrote into a lock file for a package of this one file.
    #[test]
    fn the_hash_of_a_folder_is_the_one_that_terraform_writes() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("terraform-provider-toy_v2.0.0"), "2.0.0\n").unwrap();
        let hash = of_folder(folder.path()).unwrap();
        assert_eq!(hash, "h1:UL2WAQffP9JZPnr8egwd1wyx1RcPFfbo/qzd71T5nfs=");
    }
}
