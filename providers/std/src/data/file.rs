//! The data source `std_file`: a file that someone else makes.

use std::fs;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trueup_core::Marked;
use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::disk::{Mode, digest, failed};
use crate::surroundings::Surroundings;

/// The largest file whose content can become a value.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A file that someone else makes.
#[derive(Inputs)]
pub struct ExistingFile {
    /// Where it lies. A relative path begins at the stack's folder. Symbolic links are followed.
    #[trueup(length(min = 1))]
    path: String,
    /// Whether its content is secret.
    #[trueup(default)]
    secret: bool,
}

/// A file and its content.
#[derive(Outputs)]
pub struct ExistingFileOutput {
    /// What it says, if it is text.
    content: Option<Marked<String>>,
    /// What it holds, in base64.
    content_base64: Marked<String>,
    /// How many bytes it has.
    size: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    sha256: Marked<String>,
    /// Its permissions, in four octal digits.
    mode: String,
}

impl DataSource for ExistingFile {
    type Output = ExistingFileOutput;
    type Config = Surroundings;

    async fn read(&self, context: &Context<Surroundings>) -> Result<ExistingFileOutput> {
        let path = context.config().resolve(&self.path);
        let metadata = fs::metadata(&path).map_err(|error| failed("read", &path, &error).at("path"))?;
        // To open a pipe may wait for ever, and to read a device may never end.
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "a directory" } else { "a socket, pipe or device" };
            return Err(Error::invalid(format!("`{}` is {what}, not a file", path.display())).at("path"));
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
        read.map_err(|error| failed("read", &path, &error).at("path"))?;
        if bytes.len() as u64 > BYTES_MAX {
            let message = format!("`{}` has more than {} MiB", path.display(), BYTES_MAX / (1024 * 1024));
            return Err(Error::invalid(message).at("path"));
        }
        let (size, sha256) = digest(&bytes[..])?;
        Ok(ExistingFileOutput {
            content_base64: Marked::new(STANDARD.encode(&bytes), self.secret),
            content: String::from_utf8(bytes).ok().map(|text| Marked::new(text, self.secret)),
            size,
            sha256: Marked::new(sha256, self.secret),
            mode: Mode::of(&metadata.permissions()).to_string(),
        })
    }
}
