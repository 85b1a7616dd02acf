//! The objects that exist: a file each, in a folder for each type.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use trueup_core::Value;
use trueup_terraform::TypeSchema;

/// The objects that exist.
#[derive(Clone)]
pub(crate) struct Objects {
    folder: PathBuf,
    /// Stands before the name in each id.
    pub(crate) prefix: String,
}

impl Objects {
    pub(crate) fn new(folder: String, prefix: String) -> Self {
        Objects { folder: folder.into(), prefix }
    }

    fn path(&self, kind: &str, id: &str) -> PathBuf {
        self.folder.join(kind).join(format!("{}.json", id.replace('/', "_")))
    }

    /// The object with this id, if there is one.
    pub(crate) fn get(&self, kind: &str, schema: &TypeSchema, id: &str) -> io::Result<Option<Value>> {
        match fs::read(self.path(kind, id)) {
            Ok(text) => schema.decode_json(&text).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn put(&self, kind: &str, schema: &TypeSchema, id: &str, object: &Value) -> io::Result<()> {
        let path = self.path(kind, id);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        fs::write(path, schema.encode_json(object).map_err(io::Error::other)?)
    }

    /// Whether there is such an object.
    pub(crate) fn has(&self, kind: &str, id: &str) -> bool {
        self.path(kind, id).exists()
    }

    pub(crate) fn remove(&self, kind: &str, id: &str) -> io::Result<()> {
        match fs::remove_file(self.path(kind, id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Never comes back, the first time. Says so to whoever reads the pipe.
    pub(crate) async fn hang_once(&self) {
        if self.note("hung") {
            let pipe = self.folder.join("reached");
            let _ = tokio::task::spawn_blocking(move || fs::write(pipe, "reached\n")).await;
            std::future::pending::<()>().await;
        }
    }

    /// Waits, the first time, until someone writes to the pipe `go`; says so to whoever reads the pipe `reached`.
    pub(crate) async fn wait_once(&self) {
        if self.note("waited") {
            let (reached, go) = (self.folder.join("reached"), self.folder.join("go"));
            let waited = move || fs::write(reached, "reached\n").and_then(|()| fs::read(go));
            let _ = tokio::task::spawn_blocking(waited).await;
        }
    }

    /// Adds a line to a file; which line of it that is.
    pub(crate) fn log(&self, file: &str, line: &str) -> usize {
        let _ = fs::create_dir_all(&self.folder);
        let path = self.folder.join(file);
        if let Ok(mut file) = fs::OpenOptions::new().append(true).create(true).open(&path) {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
        fs::read_to_string(path).map_or(0, |text| text.lines().count())
    }

    /// Notes something that outlives the process; whether it is new.
    pub(crate) fn note(&self, what: &str) -> bool {
        let _ = fs::create_dir_all(&self.folder);
        fs::OpenOptions::new().write(true).create_new(true).open(self.folder.join(what)).is_ok()
    }
}
