use trueup::{Inputs, Outputs};

#[derive(Inputs)]
struct File {
    #[trueup(stable)]
    path: String,
}

#[derive(Outputs)]
struct FileOutput {
    #[trueup(replace, default = 5)]
    size: u64,
}

fn main() {}
