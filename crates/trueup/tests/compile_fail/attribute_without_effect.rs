use trueup::{FieldType, Inputs};

#[derive(FieldType)]
struct Credentials {
    user: String,
    #[trueup(create_only)]
    key: Option<String>,
}

#[derive(Inputs)]
struct Server {
    #[trueup(block, secret, replace)]
    credentials: Option<Credentials>,
}

fn main() {}
