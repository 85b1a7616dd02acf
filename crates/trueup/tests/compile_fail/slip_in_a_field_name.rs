use trueup::{Error, Inputs};

#[derive(Inputs)]
struct File {
    path: String,
}

fn main() {
    let _ = Error::invalid("no").at(File::FIELDS.pth);
}
