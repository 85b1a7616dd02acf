//! The folder in which everything is kept, a file for each object.

use std::fs;
use std::path::PathBuf;

use trueup::{Error, FieldType, Inputs, JsonForm, OrAbsent, Result, Value};

/// Where the notes are.
#[derive(Inputs)]
pub struct Settings {
    /// The folder.
    folder: String,
    /// How many notes there is room for.
    #[trueup(default = 100, range(min = 1))]
    capacity: u64,
}

/// A folder of notes, ready for use.
pub struct Board {
    folder: PathBuf,
    pub(crate) capacity: usize,
}

impl Board {
    pub(crate) async fn open(settings: Settings) -> Result<Board> {
        let folder = PathBuf::from(settings.folder);
        fs::create_dir_all(&folder)?;
        Ok(Board { folder, capacity: usize::try_from(settings.capacity).unwrap_or(usize::MAX) })
    }

    fn path(&self, kind: &str, name: &str) -> PathBuf {
        self.folder.join(format!("{kind}-{name}.json"))
    }

    pub(crate) fn has(&self, kind: &str, name: &str) -> bool {
        self.path(kind, name).exists()
    }

    /// Writes beside and renames, so that nobody ever sees half an object.
    pub(crate) fn put(&self, kind: &str, name: &str, object: &impl FieldType) -> Result<()> {
        let text = object.encode()?.to_json(JsonForm::RECORD);
        let beside = self.folder.join(format!("{name}.new"));
        fs::write(&beside, text)?;
        Ok(fs::rename(beside, self.path(kind, name))?)
    }

    /// Reads an object. One that is gone is an error of the class *not found*.
    pub(crate) fn get<T: FieldType>(&self, kind: &str, name: &str) -> Result<T> {
        let text = fs::read_to_string(self.path(kind, name)).or_absent()?;
        let value = Value::from_json(&text).map_err(|error| Error::fatal(error.to_string()))?;
        Ok(T::decode(&value)?)
    }

    pub(crate) fn remove(&self, kind: &str, name: &str) -> Result<()> {
        fs::remove_file(self.path(kind, name)).or_absent()
    }

    /// The names of all objects of a kind, in order.
    pub(crate) fn names(&self, kind: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let file = entry?.file_name().to_string_lossy().into_owned();
            let name = file.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-'));
            names.extend(name.and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }
}
