//! Real servers for tests: found or installed, started on this machine, gone with the test.
//!
//! - [`disk`]: a file system of a chosen size
//! - [`environment`]: that of the test command
//! - [`emulator`]: an emulator of AWS, which can be killed and started again
//! - [`faketime`]: another time for one process
//! - [`gate`]: what stands before a server and holds an exchange in its middle
//! - [`http`]: a server of HTTP whose answers a test decides
//! - [`postgres`]: a PostgreSQL server of its own, which can be killed and started again
//! - `vault`, with the feature of that name: a server with the API of Vault's transit engine
//! - [`left_out`]: whether the test command said to do without a server
//! - [`sized`]: the size of a test, in every run and in a soak
//! - [`is_built`]: whether the test command has built the whole workspace

pub mod disk;
pub mod emulator;
pub mod environment;
pub mod faketime;
pub mod gate;
pub mod http;
pub mod postgres;
#[cfg(feature = "vault")]
pub mod vault;

/// The variable in which the test command names the servers that this machine does not have and cannot install,
/// separated by commas. Without it a test that misses its server fails, so that nothing is left out unsaid.
pub const LEFT_OUT: &str = "TRUEUP_TESTS_WITHOUT";

/// The name by which a test command leaves jq out, with which the book reads JSON.
pub const JQ: &str = "jq";

/// Whether the test command said to do without this server. The test should then return at once.
pub fn left_out(server: &str) -> bool {
    environment::text_variable(LEFT_OUT)
        .is_some_and(|names| names.split(',').any(|name| name.trim() == server))
}

/// The variable by which `cargo xtask soak` asks tests for their long form: `TRUEUP_TESTS=long`.
pub const SIZE: &str = "TRUEUP_TESTS";

/// The size of a test: `short` in every run, `long` in a soak.
pub fn sized<T>(short: T, long: T) -> T {
    if environment::text_variable(SIZE).is_some_and(|size| size == "long") { long } else { short }
}

/// The variable by which the test command says that every binary of the workspace is built and up to date.
pub const BUILT: &str = "TRUEUP_TESTS_BUILT";

/// Whether the binaries of other packages can be used as they are. Otherwise a test that needs one builds it.
pub fn is_built() -> bool {
    environment::variable(BUILT).is_some()
}

/// A number for names on a shared server. Process ids come again within one run of all tests.
pub(crate) fn unique() -> u64 {
    getrandom::u64().expect("the system has randomness")
}
