//! A text file, as a resource.

use trueup::{Context, Crud, Found, Inputs, NoConfig, OrAbsent, Outputs, Prior, Recovery, Result, Sightings};
use trueup::{Error, FailureClass};

/// A text file.
#[derive(Inputs)]
pub struct File {
    /// Where it lies.
    #[trueup(identity, replace, length(min = 1))]
    path: String,
    /// What it says.
    #[trueup(default = "")]
    content: String,
    /// Never shown.
    #[trueup(secret)]
    password: Option<String>,
    /// What it is for.
    labels: Option<Vec<String>>,
}

/// What is known of a file.
#[derive(Outputs)]
pub struct FileOutput {
    #[trueup(mirrors = "path")]
    path: String,
    /// Kept so that an edit by hand is noticed.
    #[trueup(mirrors = "content")]
    content: String,
    /// How long it is.
    size: u64,
}

impl Crud for File {
    type Output = FileOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<FileOutput> {
        self.write()
    }

    async fn read(&self, _: &Context, prior: &FileOutput) -> Result<FileOutput> {
        read(&prior.path)
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<FileOutput> {
        self.write()
    }

    async fn delete(&self, _: &Context, prior: &FileOutput) -> Result<()> {
        std::fs::remove_file(&prior.path).or_absent()
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn lookup(&self, _: &Context) -> Result<Sightings<Found<Self, FileOutput>>> {
        match read(&self.path) {
            Err(error) if *error.class() == FailureClass::NotFound => Ok(Sightings::absent()),
            outputs => Ok(Sightings::unowned(found(outputs?))),
        }
    }

    async fn import(&self, _: &Context, id: &str) -> Result<Found<Self, FileOutput>> {
        Ok(found(read(id)?))
    }
}

impl File {
    fn write(&self) -> Result<FileOutput> {
        assert!(!self.content.contains("panic"), "asked to panic with {:?}", self.password);
        if self.content.contains("forbidden") {
            return Err(Error::denied("not authorized to write this").hint("write something else"));
        }
        std::fs::write(&self.path, &self.content)?;
        read(&self.path)
    }
}

fn found(outputs: FileOutput) -> Found<File, FileOutput> {
    let (path, content) = (outputs.path.clone(), outputs.content.clone());
    Found { inputs: File { path, content, password: None, labels: None }, outputs }
}

fn read(path: &str) -> Result<FileOutput> {
    let content = std::fs::read_to_string(path).or_absent()?;
    Ok(FileOutput { path: path.to_owned(), size: content.len() as u64, content })
}
