//! Requests to a provider that is served as a plugin. The first byte chooses the method, the rest is the message. Each
//! request gets a response or a status.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use trueup_core::Secret;
use trueup_plugin::Server;
use trueup_provider::{Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Result};
use trueup_terraform::Version;

const METHODS: [&str; 8] = [
    "ReadResource",
    "PlanResourceChange",
    "ApplyResourceChange",
    "UpgradeResourceState",
    "MoveResourceState",
    "ValidateResourceConfig",
    "ImportResourceState",
    "ConfigureProvider",
];

pub(crate) const SEEDS: &[&str] = &[
    "\u{0}\n\nfuzz_thing\u{12}\u{17}\u{12}\u{15}{\"name\":\"a\",\"id\":\"b\"}",
    "\u{1}\n\nfuzz_thing\u{22}\u{e}\u{12}\u{c}{\"name\":\"a\"}",
    "\u{3}\n\nfuzz_thing\u{10}\u{1}\u{1a}\u{e}\n\u{c}{\"name\":\"a\"}",
    "\u{4}\u{12}\nfuzz_thing\u{22}\u{e}\n\u{c}{\"name\":\"a\"}*\nfuzz_thing",
    "\u{6}\n\nfuzz_thing\u{12}\u{1}a",
    "\u{7}\u{12}\u{4}\u{12}\u{2}{}",
];

#[derive(Inputs)]
struct Thing {
    #[trueup(identity, replace)]
    name: String,
    #[trueup(default = 1)]
    size: u64,
    parts: Option<Vec<u64>>,
    password: Option<Secret<String>>,
}

#[derive(Outputs)]
struct ThingOutput {
    id: String,
    #[trueup(mirrors = "size")]
    size: u64,
    total: u64,
    key: Option<Secret<String>>,
}

impl Thing {
    fn made(&self) -> ThingOutput {
        let total = self.parts.as_ref().map_or(0, Vec::len) as u64;
        ThingOutput { id: self.name.clone(), size: self.size, total, key: self.password.clone() }
    }
}

impl Crud for Thing {
    type Output = ThingOutput;
    type Config = NoConfig;
    const SCHEMA_VERSION: u64 = 1;
    const MOVES_FROM: &'static [&'static str] = &["fuzz_other"];

    async fn create(&self, _: &Context) -> Result<ThingOutput> {
        Ok(self.made())
    }

    async fn read(&self, _: &Context, _: &ThingOutput) -> Result<ThingOutput> {
        Ok(self.made())
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<ThingOutput> {
        Ok(self.made())
    }

    async fn delete(&self, _: &Context, _: &ThingOutput) -> Result<()> {
        Ok(())
    }
}

fn server() -> &'static (Runtime, Server) {
    static SERVER: OnceLock<(Runtime, Server)> = OnceLock::new();
    SERVER.get_or_init(|| {
        let runtime =
            Builder::new_current_thread().enable_time().build().expect("there is room for a runtime");
        let provider = NativeProvider::new("fuzz").crud::<Thing>("thing");
        let server = runtime.block_on(Server::new(provider, Version::V6));
        (runtime, server.expect("the type can be served"))
    })
}

pub(crate) fn check(bytes: &[u8]) {
    let Some((choice, message)) = bytes.split_first() else { return };
    let (runtime, server) = server();
    let method = METHODS[usize::from(*choice) % METHODS.len()];
    let path = format!("/tfplugin6.Provider/{method}");
    let _ = runtime.block_on(server.call(&path, message.to_vec().into()));
}
