//! What a file is to hold, from whichever input says so.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trueup_core::Marked;
use trueup_files::Accept;
use trueup_provider::{Error, Result};

use crate::disk::{digest, failed, unread};
use crate::surroundings::Surroundings;

/// What a file is to hold.
pub(super) enum Content<'a> {
    Text(&'a Marked<String>),
    Bytes(Vec<u8>, bool),
    Source(PathBuf),
}

impl<'a> Content<'a> {
    /// The content that the one input says which is set.
    pub(super) fn of(
        content: Option<&'a Marked<String>>,
        content_base64: Option<&'a Marked<String>>,
        source: Option<&str>,
        surroundings: &Surroundings,
    ) -> Result<Content<'a>> {
        match (content, content_base64, source) {
            (Some(text), ..) => Ok(Content::Text(text)),
            (_, Some(encoded), _) => match STANDARD.decode(encoded.expose()) {
                Ok(bytes) => Ok(Content::Bytes(bytes, encoded.is_secret())),
                // Its words would quote a character of what may be secret.
                Err(_) => Err(Error::invalid("this is not base64").at("content_base64")),
            },
            (_, _, Some(source)) => Ok(Content::Source(surroundings.resolve(source))),
            (None, None, None) => Err(Error::invalid("the file has no content")),
        }
    }

    pub(super) fn is_secret(&self) -> bool {
        match self {
            Content::Text(text) => text.is_secret(),
            Content::Bytes(_, secret) => *secret,
            Content::Source(_) => false,
        }
    }

    pub(super) fn open(&self) -> Result<Box<dyn Read + '_>> {
        Ok(match self {
            Content::Text(text) => Box::new(Cursor::new(text.expose().as_bytes())),
            Content::Bytes(bytes, _) => Box::new(Cursor::new(bytes)),
            Content::Source(path) => Box::new(open_regular(path)?),
        })
    }

    /// Its size and SHA-256.
    pub(super) fn digest(&self) -> Result<(u64, String)> {
        digest(self.open()?).map_err(|error| match self {
            Content::Source(path) => failed("read the source", path, &error).at("source"),
            Content::Text(_) | Content::Bytes(..) => error.into(),
        })
    }
}

fn open_regular(path: &Path) -> Result<File> {
    trueup_files::open(path, Accept::Regular)
        .map_err(|error| unread("read the source", path, &error).at("source"))
}

/// Bytes that were found as the inputs that would write them: text where they are text.
pub(super) fn as_inputs(bytes: Vec<u8>, secret: bool) -> (Option<Marked<String>>, Option<Marked<String>>) {
    match String::from_utf8(bytes) {
        Ok(text) => (Some(Marked::new(text, secret)), None),
        Err(error) => (None, Some(Marked::new(STANDARD.encode(error.into_bytes()), secret))),
    }
}
