use trueup::Inputs;

#[derive(Inputs)]
struct File {
    #[trueup(replce, patern = "^a")]
    path: String,
}

fn main() {}
