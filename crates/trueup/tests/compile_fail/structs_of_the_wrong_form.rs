use trueup::Inputs;

#[derive(Inputs)]
struct File {
    path: String,
    #[trueup(inject)]
    disk: (),
    #[trueup(inject)]
    clock: (),
}

#[derive(Inputs)]
struct Wrapper<T> {
    inner: T,
}

#[derive(Inputs)]
struct Pair(String, String);

fn main() {}
