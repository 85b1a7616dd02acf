//! The schemas of a provider, kept on disk.
//!
//! A provider may have thousands of types, of which a run uses a few, and takes a second to tell them. So what it told is
//! kept in a file: an index of what stands where, then the messages as they came. A run reads the index and the few
//! messages it needs. The file is named by the provider's address and by what the binary contains, so it is never out of
//! date; one that is damaged is made anew.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use prost::bytes::Bytes;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::client::Version;
use crate::protocol::{IdentitySchemasResponse, SchemaResponse};

/// Changes whenever the form of the file does.
const FORM: u32 = 2;

/// What a schema is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Section {
    Provider,
    Meta,
    Resources,
    Data,
    Ephemeral,
    Lists,
    Functions,
    Identities,
}

/// What a provider said of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Abilities {
    /// It wants to plan deletions.
    pub(crate) plans_deletions: bool,
    /// It works without having told its schemas first.
    pub(crate) works_untold: bool,
    /// It can take over the state of other types.
    pub(crate) moves: bool,
}

/// All schemas of a provider.
pub(crate) struct Catalogue {
    index: Index,
    messages: Messages,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Index {
    form: u32,
    protocol: u8,
    abilities: Abilities,
    /// Where each message begins and how long it is.
    sections: BTreeMap<Section, BTreeMap<SmolStr, (u64, u64)>>,
}

enum Messages {
    Memory(Vec<u8>),
    File { file: File, start: u64 },
}

impl Catalogue {
    /// What a provider just told.
    pub(crate) fn told(
        version: Version,
        schemas: SchemaResponse,
        identities: Option<IdentitySchemasResponse>,
    ) -> Self {
        let capabilities = schemas.server_capabilities.unwrap_or_default();
        let abilities = Abilities {
            plans_deletions: capabilities.plan_destroy,
            works_untold: capabilities.get_provider_schema_optional,
            moves: capabilities.move_resource_state,
        };
        let provider = BTreeMap::from([(String::new(), schemas.provider)]);
        let meta = Some(schemas.provider_meta).filter(|meta| !meta.is_empty());
        let meta = meta.into_iter().map(|meta| (String::new(), meta)).collect();
        let sections: [(Section, BTreeMap<String, Bytes>); 8] = [
            (Section::Provider, provider),
            (Section::Meta, meta),
            (Section::Resources, schemas.resource_schemas),
            (Section::Data, schemas.data_source_schemas),
            (Section::Ephemeral, schemas.ephemeral_resource_schemas),
            (Section::Lists, schemas.list_resource_schemas),
            (Section::Functions, schemas.functions),
            (Section::Identities, identities.map(|it| it.identity_schemas).unwrap_or_default()),
        ];
        let mut messages = Vec::new();
        let mut placed = |message: &Bytes| {
            let place = (messages.len() as u64, message.len() as u64);
            messages.extend_from_slice(message);
            place
        };
        let sections = sections.map(|(section, named)| {
            (section, named.iter().map(|(name, message)| (name.into(), placed(message))).collect())
        });
        let protocol = match version {
            Version::V5 => 5,
            Version::V6 => 6,
        };
        let index = Index { form: FORM, protocol, abilities, sections: sections.into() };
        Catalogue { index, messages: Messages::Memory(messages) }
    }

    /// What was kept, if anything was and it is whole.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        let mut reader = BufReader::new(File::open(path).ok()?);
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).ok()?;
        let index: Index = serde_json::from_slice(&line).ok()?;
        if index.form != FORM || !matches!(index.protocol, 5 | 6) {
            return None;
        }
        let file = reader.into_inner();
        let start = line.len() as u64;
        let places = index.sections.values().flat_map(BTreeMap::values);
        let end = places.map(|(begin, length)| begin.saturating_add(*length)).max().unwrap_or_default();
        let whole = file.metadata().ok()?.len() == start + end;
        whole.then_some(Catalogue { index, messages: Messages::File { file, start } })
    }

    /// Keeps it for the next run.
    pub(crate) fn store(&self, path: &Path) -> std::io::Result<()> {
        let Messages::Memory(messages) = &self.messages else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, &self.index)?;
        file.write_all(b"\n")?;
        file.write_all(messages)?;
        file.persist(path)?;
        Ok(())
    }

    pub(crate) fn version(&self) -> Version {
        if self.index.protocol == 5 { Version::V5 } else { Version::V6 }
    }

    pub(crate) fn abilities(&self) -> Abilities {
        self.index.abilities
    }

    pub(crate) fn names(&self, section: Section) -> Vec<SmolStr> {
        self.index.sections.get(&section).map(|named| named.keys().cloned().collect()).unwrap_or_default()
    }

    /// The message of this name, if there is one.
    pub(crate) fn message(&self, section: Section, name: &str) -> std::io::Result<Option<Vec<u8>>> {
        let place = self.index.sections.get(&section).and_then(|named| named.get(name));
        let Some(&(begin, length)) = place else { return Ok(None) };
        let out_of_range = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        let length = usize::try_from(length).map_err(|_| out_of_range())?;
        match &self.messages {
            Messages::Memory(messages) => {
                let begin = usize::try_from(begin).map_err(|_| out_of_range())?;
                let message = begin.checked_add(length).and_then(|end| messages.get(begin..end));
                message.map(|message| Some(message.to_vec())).ok_or_else(out_of_range)
            }
            Messages::File { file, start } => {
                let mut message = vec![0; length];
                file.read_exact_at(&mut message, start + begin)?;
                Ok(Some(message))
            }
        }
    }
}

/// What a binary looked like when its contents were last read: to read all of it again takes longer than to ask it.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    length: u64,
    modified: (i64, i64),
    inode: (u64, u64),
    digest: String,
}

/// Where the schemas of a provider are kept in this folder. Two providers may come as the same file: a script that starts
/// either, by where it lies.
pub(crate) fn place(
    folder: &Path,
    address: &str,
    program: &Path,
    arguments: &[OsString],
) -> std::io::Result<PathBuf> {
    let mut digest = blake3::Hasher::new();
    digest.update(contents(folder, program)?.as_bytes());
    let arguments = arguments.iter().map(|argument| argument.as_encoded_bytes());
    for part in std::iter::once(address.as_bytes()).chain(arguments) {
        digest.update(part);
        digest.update(&[0]);
    }
    Ok(folder.join(format!("{}.schemas", digest.finalize().to_hex())))
}

/// The digest of a binary's contents.
fn contents(folder: &Path, program: &Path) -> std::io::Result<String> {
    let path = program.canonicalize()?;
    let meta = path.metadata()?;
    let (modified, inode) = ((meta.mtime(), meta.mtime_nsec()), (meta.dev(), meta.ino()));
    let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    let stamped = folder.join(format!("{name}.stamp"));
    let known = fs::read(&stamped).ok().and_then(|text| serde_json::from_slice::<Stamp>(&text).ok());
    if let Some(stamp) = known
        && (stamp.length, stamp.modified, stamp.inode) == (meta.len(), modified, inode)
    {
        return Ok(stamp.digest);
    }
    let digest = read_through(&path)?;
    let stamp = Stamp { length: meta.len(), modified, inode, digest: digest.clone() };
    // Without the stamp the next run reads the binary again, and nothing else happens.
    let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&stamped, serde_json::to_vec(&stamp)?));
    Ok(digest)
}

fn read_through(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = blake3::Hasher::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(digest.finalize().to_hex().to_string()),
            length => digest.update(&chunk[..length]),
        };
    }
}
