use trueup::Inputs;

#[derive(Inputs)]
struct File {
    modified: std::time::Instant,
}

fn main() {}
