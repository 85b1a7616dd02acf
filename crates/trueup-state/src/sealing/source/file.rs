//! A key in a file: for its owner alone, whole or not there, and never near what it opens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use trueup_files::{Accept, ReadError};
use zeroize::Zeroizing;

use super::{KeyBytes, KeyError, NewKeyFile, key_of_text, key_to_text, new_key};
use crate::cause::Cause;

/// A key and a page of remarks.
const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;

/// The key in a file.
pub(super) fn read(path: &Path) -> Result<KeyBytes, KeyError> {
    let looked = || path.display().to_string();
    let text = match trueup_files::read_text(path, Accept::Inherited, KEY_FILE_BYTES_MAX) {
        Ok(text) => Zeroizing::new(text),
        Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => {
            return Err(KeyError::Missing { looked: looked() });
        }
        Err(error) => return Err(unusable(path, error)),
    };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let why = "it does not hold 32 bytes in Base64 or hexadecimal digits";
    line.and_then(key_of_text).ok_or_else(|| KeyError::Unusable { looked: looked(), why: why.into() })
}

/// The key in a file, which is made as the policy says if it is not there.
pub(super) fn read_or_make(
    path: &Path,
    never_in: &[PathBuf],
    policy: &NewKeyFile,
) -> Result<KeyBytes, KeyError> {
    match read(path) {
        Err(KeyError::Missing { .. }) => {}
        other => return other,
    }
    if let NewKeyFile::Refuse = policy {
        return Err(KeyError::Unmade { looked: path.display().to_string() });
    }
    let made = make_at(path, never_in)?;
    if let NewKeyFile::Announce(announce) = policy
        && made
    {
        announce(path);
    }
    // Whoever was first has made it.
    read(path)
}

/// Makes a key file; `false` if there is one by now.
pub(super) fn make_at(path: &Path, never_in: &[PathBuf]) -> Result<bool, KeyError> {
    if let Some(folder) = never_in.iter().find(|folder| real(path).starts_with(real(folder))) {
        let why =
            format!("it would lie in {}, with what it is to protect: name another place", folder.display());
        return Err(KeyError::Unusable { looked: path.display().to_string(), why: why.into() });
    }
    make(path).map_err(|error| unusable(path, error))
}

/// A path without links and detours, as far as it leads to something.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|it| Some((it, fs::canonicalize(it).ok()?)));
    match there {
        Some((ancestor, real)) => real.join(path.strip_prefix(ancestor).unwrap_or(path)),
        None => path.to_owned(),
    }
}

fn unusable(path: &Path, error: impl Into<io::Error>) -> KeyError {
    KeyError::Unusable { looked: path.display().to_string(), why: Cause::new(error.into()) }
}

/// Makes a file with a new key; `false` if another process was faster. It is on the disk before anything is sealed by it.
fn make(path: &Path) -> io::Result<bool> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let (key, id) = new_key();
    let draft = folder.join(format!(".{id}.new"));
    let written = write_draft(&draft, &key).and_then(|()| match fs::hard_link(&draft, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        // A file system without links.
        Err(_) if !path.exists() => fs::rename(&draft, path).map(|()| true),
        Err(error) => Err(error),
    });
    // After a rename it is gone already.
    let _ = fs::remove_file(&draft);
    let made = written?;
    // Windows opens no folders, and needs no such thing.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(made)
}

fn write_draft(draft: &Path, key: &KeyBytes) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    file.write_all(b"# This key opens the secrets in your state. Keep a copy where the state is not.\n")?;
    file.write_all(key_to_text(key).as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config/trueup/key");
        let key = read_or_make(&path, &[], &NewKeyFile::Make).unwrap();
        assert_eq!(read_or_make(&path, &[], &NewKeyFile::Make).unwrap(), key);
        assert_eq!(read(&path).unwrap(), key);
        #[cfg(unix)]
        {
            let mode = |path: &Path| {
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
            };
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        make(&path).unwrap();
        assert_eq!(read(&path).unwrap(), key, "the first one stays");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// SECRET-14.
    #[test]
    fn whoever_makes_a_key_file_says_so_once_or_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let refused = read_or_make(&path, &[], &NewKeyFile::Refuse).unwrap_err();
        assert_eq!(refused, KeyError::Unmade { looked: path.display().to_string() });
        assert!(!path.exists());
        let (sender, told) = std::sync::mpsc::channel();
        let announce = NewKeyFile::Announce(std::sync::Arc::new(move |path: &Path| {
            sender.send(path.to_owned()).unwrap();
        }));
        let key = read_or_make(&path, &[], &announce).unwrap();
        assert_eq!(read_or_make(&path, &[], &announce).unwrap(), key);
        assert_eq!(read_or_make(&path, &[], &NewKeyFile::Refuse).unwrap(), key);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [path]);
    }

    #[test]
    fn a_key_file_is_never_made_beside_what_it_protects() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stack/key");
        fs::create_dir(folder.path().join("stack")).unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        for path in [path.clone(), folder.path().join("other/../stack/key")] {
            let refused = read_or_make(&path, &[folder.path().join("stack")], &NewKeyFile::Make).unwrap_err();
            assert!(
                matches!(&refused, KeyError::Unusable { why, .. } if why.to_string().contains("name another place"))
            );
        }
        assert!(!path.exists());
        assert!(make_at(&folder.path().join("stack/../key"), &[folder.path().join("stack")]).is_ok());
    }

    #[test]
    fn what_is_no_key_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for text in ["", "# only a remark\n", "short", &"zz".repeat(32)] {
            fs::write(&path, text).unwrap();
            assert!(
                matches!(read_or_make(&path, &[], &NewKeyFile::Make), Err(KeyError::Unusable { .. })),
                "{text:?}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, format!("# remark\n\n  {}  \n", "0f".repeat(32))).unwrap();
        assert_eq!(read(&path).unwrap()[..], [0x0f; 32]);
    }
}
