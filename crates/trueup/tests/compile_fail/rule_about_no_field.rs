use trueup::Inputs;

#[derive(Inputs)]
#[trueup(rename_all = "kebab-case", exactly_one_of("file_name", "content"))]
struct File {
    file_name: Option<String>,
    content: Option<String>,
}

fn main() {}
