// src/file.rs
use std::fs;

use trueup::{
    Context, Crud, FailureClass, Found, Inputs, ModifyPlan, NoConfig, OrAbsent, Outputs, PlanHook, Prior,
    Recovery, Result, Sightings, changed,
};

/// A text file.
#[derive(Inputs)]
pub struct File {
    /// Its path.
    #[trueup(identity, replace)]
    path: String,
    /// Its text.
    content: String,
}

#[derive(Outputs)]
pub struct FileOutput {
    #[trueup(mirrors = "path")]
    path: String,
    #[trueup(mirrors = "content")]
    content: String,
    size: u64,
}

impl Crud for File {
    type Output = FileOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 1;

    async fn create(&self, _: &Context) -> Result<FileOutput> {
        write(&self.path, &self.content)
    }

    async fn read(&self, _: &Context, prior: &FileOutput) -> Result<FileOutput> {
        read(&prior.path)
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<FileOutput> {
        write(&self.path, &self.content)
    }

    async fn delete(&self, _: &Context, prior: &FileOutput) -> Result<()> {
        fs::remove_file(&prior.path).or_absent()
    }

    // Optional: an update changes the size if the text changes, and nothing else.
    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        if request.prior_inputs().is_some_and(|prior| changed(&prior.content, &request.current.content)) {
            plan.mark_output_unknown(FileOutput::FIELDS.size);
        }
        Ok(())
    }

    // Optional: how the next run finds out what an interrupted create did.
    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn lookup(&self, _: &Context) -> Result<Sightings<Found<Self, FileOutput>>> {
        match read(&self.path) {
            Err(error) if *error.class() == FailureClass::NotFound => Ok(Sightings::absent()),
            outputs => {
                let outputs = outputs?;
                // A file bears no marks: one that says what ours would is taken for ours.
                let ours = outputs.content == self.content;
                let inputs = File { path: outputs.path.clone(), content: outputs.content.clone() };
                let found = Found { inputs, outputs };
                Ok(if ours { Sightings::owned(found) } else { Sightings::unowned(found) })
            }
        }
    }
}

fn write(path: &str, content: &str) -> Result<FileOutput> {
    fs::write(path, content)?;
    read(path)
}

fn read(path: &str) -> Result<FileOutput> {
    // A file that is gone is an error of the class *not found*: the next plan creates it again.
    let content = fs::read_to_string(path).or_absent()?;
    Ok(FileOutput { path: path.to_owned(), size: content.len() as u64, content })
}
