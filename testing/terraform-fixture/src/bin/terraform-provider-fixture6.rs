//! The provider with version 6 of the protocol.

fn main() -> std::process::ExitCode {
    trueup_terraform_fixture::main(trueup_terraform::Version::V6)
}
