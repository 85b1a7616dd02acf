//! The provider as a plugin: Terraform, OpenTofu and trueup start this binary.

fn main() -> std::process::ExitCode {
    trueup::plugin::serve(notes_provider::provider())
}
