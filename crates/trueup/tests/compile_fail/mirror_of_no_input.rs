use trueup::{Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Result};

#[derive(Inputs)]
struct File {
    path: String,
}

#[derive(Outputs)]
struct FileOutput {
    #[trueup(mirrors = "pth")]
    path: String,
}

impl Crud for File {
    type Output = FileOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<FileOutput> {
        Ok(FileOutput { path: self.path.clone() })
    }

    async fn read(&self, _: &Context, _: &FileOutput) -> Result<FileOutput> {
        Ok(FileOutput { path: self.path.clone() })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<FileOutput> {
        Ok(FileOutput { path: self.path.clone() })
    }

    async fn delete(&self, _: &Context, _: &FileOutput) -> Result<()> {
        Ok(())
    }
}

fn main() {
    let _ = NativeProvider::new("my").crud::<File>("file");
}
