//! The resource type: a text file.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use trueup::{
    Context, Crud, Error, FailureClass, Found, Inputs, ModifyPlan, NoConfig, Outputs, PlanHook, Prior,
};
use trueup::{OrAbsent, Recovery, Result, Sightings, changed};

/// A text file.
#[derive(Inputs)]
pub struct File {
    /// Where it lies.
    #[trueup(identity, replace, length(min = 1))]
    path: String,
    /// What it says.
    content: String,
    /// Who may do what with it, as for chmod.
    #[trueup(default = "0644", pattern = "^0[0-7]{3}$")]
    mode: String,
}

#[derive(Outputs)]
pub struct FileOutput {
    #[trueup(mirrors = "path")]
    path: String,
    /// Kept so that an edit by hand is noticed.
    #[trueup(mirrors = "content")]
    content: String,
    #[trueup(mirrors = "mode")]
    mode: String,
    size: u64,
}

impl Crud for File {
    type Output = FileOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 1;

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
        fs::remove_file(&prior.path).or_absent()
    }

    // What follows is optional.

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let inputs = request.prior_inputs();
        if inputs.is_some_and(|prior| changed(&prior.content, &request.current.content)) {
            plan.mark_output_unknown("size");
        }
        Ok(())
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    /// A file bears no tags: one that lies where ours would and says what ours would is taken for ours.
    async fn lookup(&self, _: &Context) -> Result<Sightings<Found<Self, FileOutput>>> {
        let outputs = match read(&self.path) {
            Err(error) if *error.class() == FailureClass::NotFound => return Ok(Sightings::absent()),
            outputs => outputs?,
        };
        let ours = outputs.content == self.content;
        let FileOutput { path, content, mode, .. } = &outputs;
        let inputs = File { path: path.clone(), content: content.clone(), mode: mode.clone() };
        let found = Found { inputs, outputs };
        Ok(if ours { Sightings::owned(found) } else { Sightings::unowned(found) })
    }
}

impl File {
    /// Writes beside and renames, so that no reader and no crash ever sees half a file.
    fn write(&self) -> Result<FileOutput> {
        let mode = u32::from_str_radix(&self.mode, 8)
            .map_err(|error| Error::invalid(error.to_string()).at("mode"))?;
        let beside = format!("{}.new", self.path);
        fs::write(&beside, &self.content)?;
        fs::set_permissions(&beside, Permissions::from_mode(mode))?;
        fs::rename(&beside, &self.path)?;
        read(&self.path)
    }
}

fn read(path: &str) -> Result<FileOutput> {
    // A file that is gone is an error of the class *not found*: the next plan creates it again.
    let content = fs::read_to_string(path).or_absent()?;
    let mode = format!("0{:03o}", fs::metadata(path)?.permissions().mode() & 0o777);
    Ok(FileOutput { path: path.to_owned(), size: content.len() as u64, content, mode })
}
