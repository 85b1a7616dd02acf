//! The bytes of a plan file.
//!
//! A line with the name and version of the format; a line of JSON that anyone may read, the [`PlanHeader`]; the body; a
//! digest of all of it. The body is the plan as JSON. If it holds a secret it is sealed as a whole, together with the
//! header: half a plan is of no use to anyone, and what is not sealed cannot leak. If it holds none it stands there in
//! the clear, so that nobody needs a key to read what is no secret, and is signed where there is a key.
//!
//! Reading is for bytes from anywhere: it takes time and memory in proportion to them, which are bounded, and never
//! panics.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use smol_str::SmolStr;
use trueup_core::read_json;
use trueup_provider::BoxFuture;
use trueup_state::{Cause, Scope};

use super::SavedPlan;
use super::wire::Body;

/// The largest file that is read.
pub const PLAN_FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The version of the format.
const FORMAT: u32 = 2;

/// What every plan file begins with, whatever its version.
const MAGIC: &str = "trueup-plan ";

const HEADER_BYTES_MAX: usize = 64 * 1024;

/// What a plan file says in the clear.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanHeader {
    /// The stack.
    pub stack: SmolStr,
    /// The stage.
    pub stage: SmolStr,
    /// Where its state is kept, for people, without secrets.
    pub store: String,
    /// The version of what made it.
    pub made_by: String,
    /// How it is kept from being read and changed.
    pub protection: Protection,
}

/// How a plan file is kept from being read and changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// A digest tells damage.
    Digest,
    /// In the clear, and only who has the key could have made it.
    Signed,
    /// Only who has the key can read or have made it.
    Sealed,
}

/// What seals and opens plan files, with the key of a stage. The second argument is what is not sealed itself and must
/// be the same when it is opened.
pub trait PlanSeal: Sync {
    /// Seals.
    fn seal<'a>(&'a self, content: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>>;

    /// Opens.
    fn open<'a>(&'a self, sealed: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>>;
}

/// Why a plan file is not what it should be (PLANFILE-4).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileError {
    /// It is something else.
    #[error("it is not a plan file")]
    Foreign,
    /// It is of another format.
    #[error("it has format {found}, and this program reads format {FORMAT}: plan again with this one")]
    Format {
        /// The format it has.
        found: u64,
    },
    /// It does not read.
    #[error("it is damaged: {0}")]
    Damaged(#[source] Cause),
    /// It is larger than any plan.
    #[error("it is larger than any plan file: over {} MiB", PLAN_FILE_BYTES_MAX / (1024 * 1024))]
    TooLarge,
    /// It holds secrets, and there is no key to seal them with, or to open them.
    #[error("it holds secrets, and there is no key for them")]
    NoKey,
    /// The key is another, or it was changed.
    #[error("it cannot be opened: {0}")]
    Locked(#[source] Cause),
}

/// Whether a plan must be sealed: something in it is not for everyone.
pub fn holds_secrets(saved: &SavedPlan) -> Result<bool, PlanFileError> {
    let document = serde_json::to_value(Body::from(saved)).map_err(damaged)?;
    Ok(saved.premises.iter().any(|premise| premise.secret) || is_secret(&document))
}

/// Writes a plan file. What it is protected by follows from what it holds, and from whether there is a key.
pub async fn write_plan(
    saved: &SavedPlan,
    store: &str,
    made_by: &str,
    key: Option<&dyn PlanSeal>,
) -> Result<Vec<u8>, PlanFileError> {
    let body = serde_json::to_vec(&Body::from(saved)).map_err(damaged)?;
    let protection = match (holds_secrets(saved)?, key) {
        (true, None) => return Err(PlanFileError::NoKey),
        (true, Some(_)) => Protection::Sealed,
        (false, Some(_)) => Protection::Signed,
        (false, None) => Protection::Digest,
    };
    let Scope { stack, stage } = saved.plan.scope.clone();
    let header =
        PlanHeader { stack, stage, store: store.to_owned(), made_by: made_by.to_owned(), protection };
    let mut bytes = format!("{MAGIC}{FORMAT}\n").into_bytes();
    bytes.extend(serde_json::to_vec(&header).map_err(damaged)?);
    bytes.push(b'\n');
    let locked = PlanFileError::Locked;
    match (protection, key) {
        (Protection::Sealed, Some(key)) => {
            let sealed = key.seal(&body, &bytes).await.map_err(locked)?;
            bytes.extend(sealed);
        }
        (Protection::Signed, Some(key)) => {
            let mut beside = bytes.clone();
            beside.extend(&body);
            let signature = key.seal(&[], &beside).await.map_err(locked)?;
            bytes.extend((signature.len() as u32).to_be_bytes());
            bytes.extend(signature);
            bytes.extend(body);
        }
        _ => bytes.extend(body),
    }
    let digest = blake3::hash(&bytes);
    bytes.extend(digest.as_bytes());
    Ok(bytes)
}

/// What a plan file says in the clear.
pub fn read_plan_header(bytes: &[u8]) -> Result<PlanHeader, PlanFileError> {
    split(bytes).map(|parts| parts.header)
}

/// Reads a plan file. One that is signed is read without a key too: who wants to rely on it asks for
/// [`PlanHeader::protection`] and brings the key.
pub async fn read_plan(bytes: &[u8], key: Option<&dyn PlanSeal>) -> Result<SavedPlan, PlanFileError> {
    let Parts { header, head, rest } = split(bytes)?;
    let locked = PlanFileError::Locked;
    let opened;
    let body = match (header.protection, key) {
        (Protection::Digest, _) => rest,
        (Protection::Sealed, None) => return Err(PlanFileError::NoKey),
        (Protection::Sealed, Some(key)) => {
            opened = key.open(rest, head).await.map_err(locked)?;
            &opened
        }
        (Protection::Signed, key) => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
            let length = u32::from_be_bytes(*length) as usize;
            let (signature, body) = rest.split_at_checked(length).ok_or_else(truncated)?;
            if let Some(key) = key {
                let beside = [head, body].concat();
                key.open(signature, &beside).await.map_err(locked)?;
            }
            body
        }
    };
    read_body(body, Scope::new(header.stack, header.stage))
}

/// Reads a plan from the JSON that it is written as.
fn read_body(body: &[u8], scope: Scope) -> Result<SavedPlan, PlanFileError> {
    let text = std::str::from_utf8(body).map_err(damaged)?;
    let body: Body = read_json(text).map_err(damaged)?;
    body.into_saved(scope).map_err(|why| PlanFileError::Damaged(why.into()))
}

struct Parts<'a> {
    header: PlanHeader,
    /// The lines before the body, as they stand there.
    head: &'a [u8],
    rest: &'a [u8],
}

/// Splits a file, and tells what it is not.
fn split(bytes: &[u8]) -> Result<Parts<'_>, PlanFileError> {
    if bytes.len() as u64 > PLAN_FILE_BYTES_MAX {
        return Err(PlanFileError::TooLarge);
    }
    let after_magic = bytes.strip_prefix(MAGIC.as_bytes()).ok_or(PlanFileError::Foreign)?;
    let (format, _) = line(after_magic, 20)?;
    let found: u64 = format.parse().map_err(damaged)?;
    if found != u64::from(FORMAT) {
        return Err(PlanFileError::Format { found });
    }
    let (content, digest) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>().ok_or_else(truncated)?;
    if blake3::hash(content) != *digest {
        return Err(PlanFileError::Damaged("its digest is not that of its content".into()));
    }
    let content = content.strip_prefix(MAGIC.as_bytes()).ok_or_else(truncated)?;
    let (_, after_format) = line(content, 20)?;
    let (header, rest) = line(after_format, HEADER_BYTES_MAX)?;
    let header = read_json(header).map_err(damaged)?;
    let head = &bytes[..bytes.len() - blake3::OUT_LEN - rest.len()];
    Ok(Parts { header, head, rest })
}

/// The line with which bytes begin, and what comes after it.
fn line(bytes: &[u8], bytes_max: usize) -> Result<(&str, &[u8]), PlanFileError> {
    let end = bytes.iter().take(bytes_max).position(|byte| *byte == b'\n').ok_or_else(truncated)?;
    let text = std::str::from_utf8(&bytes[..end]).map_err(damaged)?;
    Ok((text, &bytes[end + 1..]))
}

/// Whether a value or what a provider keeps for itself is in a document that not everyone may read.
fn is_secret(document: &Json) -> bool {
    match document {
        Json::Array(items) => items.iter().any(is_secret),
        Json::Object(entries) => {
            // What will be a secret is none yet.
            let secret = entries.contains_key("$secret") && !entries.contains_key("$unknown");
            let kept_for_provider = entries.contains_key("private") && entries.contains_key("schema_version");
            secret || kept_for_provider || entries.values().any(is_secret)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> PlanFileError {
    PlanFileError::Damaged(Cause::new(error))
}

fn truncated() -> PlanFileError {
    PlanFileError::Damaged("it ends too early".into())
}
