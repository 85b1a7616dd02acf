//! The provider with version 5 of the protocol.

fn main() -> std::process::ExitCode {
    trueup_terraform_fixture::main(trueup_terraform::Version::V5)
}
