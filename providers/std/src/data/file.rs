//! The data source `std_file`: a file that someone else makes.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trueup_core::Marked;
use trueup_files::Accept;
use trueup_provider::{Context, DataSource, Inputs, Outputs, Result};

use crate::disk::{Mode, digest, failed, unread};
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
        let bytes = trueup_files::read(&path, Accept::Regular, BYTES_MAX)
            .map_err(|error| unread("read", &path, &error).at("path"))?;
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
