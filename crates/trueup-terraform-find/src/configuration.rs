//! Terraform's CLI configuration (`.terraformrc`), as far as it says where providers are.
//!
//! It is Terraform's file: what in it is about other things is passed over.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use trueup_core::Secret;
use trueup_provider::ProviderAddress;

use crate::pattern::{AddressPattern, Selection};
use crate::plain::{self, Entry, Plain};

/// What a CLI configuration says about providers.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Providers under development, and the folders of their programs.
    pub overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// How others are installed; `None`: as is usual.
    pub methods: Option<Vec<Method>>,
    /// Where packages are kept for all folders.
    pub cache: Option<PathBuf>,
    /// Tokens for registries, by host.
    pub tokens: BTreeMap<String, Secret<String>>,
    /// Services of hosts that are not asked for them: host, service, URL.
    pub services: BTreeMap<String, BTreeMap<String, String>>,
}

/// One way to install providers, and which ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// For which providers.
    pub selection: Selection,
    /// The way.
    pub kind: MethodKind,
}

/// A way to install providers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MethodKind {
    /// A folder with packages.
    FilesystemMirror(PathBuf),
    /// A server with packages.
    NetworkMirror(String),
    /// The provider's own registry.
    Direct,
}

impl fmt::Display for MethodKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodKind::FilesystemMirror(path) => write!(f, "the mirror {}", path.display()),
            MethodKind::NetworkMirror(url) => write!(f, "the mirror {url}"),
            MethodKind::Direct => write!(f, "its registry"),
        }
    }
}

/// What is wrong with a CLI configuration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ConfigurationError {
    line: usize,
    what: String,
}

fn wrong(entry: &Entry, what: impl Into<String>) -> ConfigurationError {
    ConfigurationError { line: entry.line, what: what.into() }
}

impl Configuration {
    /// Reads the text of a configuration file. Paths are relative to `folder`, and `~` is the user's own.
    pub fn read(text: &str, folder: &Path, home: Option<&Path>) -> Result<Self, ConfigurationError> {
        let entries =
            plain::read(text).map_err(|error| ConfigurationError { line: error.line, what: error.what })?;
        let places = Places { folder, home };
        let mut read = Configuration::default();
        for entry in &entries {
            match entry.key.as_str() {
                "plugin_cache_dir" => read.cache = Some(places.path(expect_text(entry)?)),
                "provider_installation" if read.methods.is_some() => {
                    return Err(wrong(entry, "`provider_installation` stands here a second time"));
                }
                "provider_installation" => read.installation(entry, &places)?,
                "credentials" => {
                    for (host, block) in labelled(entry)? {
                        if let Some(token) = text_of(block, "token") {
                            read.tokens.insert(host.to_lowercase(), Secret::new(token.to_owned()));
                        }
                    }
                }
                "host" => {
                    for (host, block) in labelled(entry)? {
                        let services = block.iter().find(|it| it.key == "services");
                        let services = services.and_then(|it| it.value.as_block()).unwrap_or_default();
                        let named =
                            services.iter().filter_map(|it| Some((it.key.clone(), it.value.as_text()?)));
                        let named = named.map(|(name, url)| (name, url.to_owned())).collect();
                        read.services.insert(host.to_lowercase(), named);
                    }
                }
                _ => {}
            }
        }
        Ok(read)
    }

    fn installation(&mut self, entry: &Entry, places: &Places<'_>) -> Result<(), ConfigurationError> {
        let mut methods = Vec::new();
        for method in expect_block(entry)? {
            let block = expect_block(method)?;
            let path = |name: &str| {
                text_of(block, name).ok_or_else(|| wrong(method, format!("`{}` needs `{name}`", method.key)))
            };
            let kind = match method.key.as_str() {
                "dev_overrides" => {
                    for entry in block {
                        let address = entry.key.parse::<ProviderAddress>();
                        let address = address
                            .map_err(|why| wrong(entry, format!("`{}` is no provider: {why}", entry.key)))?;
                        self.overrides.insert(address, places.path(expect_text(entry)?));
                    }
                    continue;
                }
                "filesystem_mirror" => MethodKind::FilesystemMirror(places.path(path("path")?)),
                "network_mirror" => MethodKind::NetworkMirror(path("url")?.to_owned()),
                "direct" => MethodKind::Direct,
                other => {
                    let what = format!(
                        "`{other}` is not a way to install providers: there are dev_overrides, \
                         filesystem_mirror, network_mirror and direct"
                    );
                    return Err(wrong(method, what));
                }
            };
            let include = patterns(block, "include")?;
            let exclude = patterns(block, "exclude")?.unwrap_or_default();
            methods.push(Method { selection: Selection { include, exclude }, kind });
        }
        self.methods = Some(methods);
        Ok(())
    }

    /// Both; what `self` says counts more.
    pub(crate) fn over(mut self, mut under: Configuration) -> Configuration {
        for (address, path) in std::mem::take(&mut under.overrides) {
            self.overrides.entry(address).or_insert(path);
        }
        for (host, token) in std::mem::take(&mut under.tokens) {
            self.tokens.entry(host).or_insert(token);
        }
        for (host, services) in std::mem::take(&mut under.services) {
            self.services.entry(host).or_insert(services);
        }
        self.methods = self.methods.or(under.methods);
        self.cache = self.cache.or(under.cache);
        self
    }
}

/// What paths are relative to.
struct Places<'a> {
    folder: &'a Path,
    home: Option<&'a Path>,
}

impl Places<'_> {
    fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.folder.join(text),
        }
    }
}

fn expect_text(entry: &Entry) -> Result<&str, ConfigurationError> {
    entry.value.as_text().ok_or_else(|| wrong(entry, format!("`{}` must be a text", entry.key)))
}

fn expect_block(entry: &Entry) -> Result<&[Entry], ConfigurationError> {
    entry.value.as_block().ok_or_else(|| wrong(entry, format!("`{}` must be a block", entry.key)))
}

fn text_of<'e>(block: &'e [Entry], name: &str) -> Option<&'e str> {
    block.iter().find(|entry| entry.key == name).and_then(|entry| entry.value.as_text())
}

/// `key "label" { … }`, or the same as `key = { label = { … } }`.
fn labelled(entry: &Entry) -> Result<Vec<(&str, &[Entry])>, ConfigurationError> {
    let block = expect_block(entry)?;
    match entry.labels.as_slice() {
        [label] => Ok(vec![(label, block)]),
        _ => block.iter().map(|inner| Ok((inner.key.as_str(), expect_block(inner)?))).collect(),
    }
}

fn patterns(block: &[Entry], name: &str) -> Result<Option<Vec<AddressPattern>>, ConfigurationError> {
    let Some(entry) = block.iter().find(|entry| entry.key == name) else { return Ok(None) };
    let texts = Plain::as_texts(&entry.value);
    let texts = texts.ok_or_else(|| wrong(entry, format!("`{name}` must be a list of texts")))?;
    let parsed = texts.iter().map(|text| text.parse().map_err(|what: String| wrong(entry, what)));
    parsed.collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Configuration, ConfigurationError> {
        Configuration::read(text, Path::new("/work"), Some(Path::new("/home/me")))
    }

    #[test]
    fn all_ways_to_install_are_read() {
        let read = read(
            r#"
            plugin_cache_dir = "~/cache"
            disable_checkpoint = true
            credentials "Tf.Example.com" { token = "s3cret" }
            host "tf.example.com" { services = { "providers.v1" = "http://localhost:1/" } }
            provider_installation {
              dev_overrides { "acme/widgets" = "bin" }
              filesystem_mirror {
                path    = "/mirror"
                include = ["example.com/*/*"]
              }
              network_mirror { url = "https://mirror.example.com/" }
              direct { exclude = ["example.com/*/*"] }
            }
            "#,
        )
        .unwrap();
        assert_eq!(read.cache.as_deref(), Some(Path::new("/home/me/cache")));
        assert_eq!(read.overrides[&"acme/widgets".parse().unwrap()], Path::new("/work/bin"));
        let kinds: Vec<_> = read.methods.unwrap().into_iter().map(|method| method.kind).collect();
        assert_eq!(
            kinds,
            [
                MethodKind::FilesystemMirror("/mirror".into()),
                MethodKind::NetworkMirror("https://mirror.example.com/".into()),
                MethodKind::Direct,
            ]
        );
        assert!(read.tokens.contains_key("tf.example.com"));
        assert_eq!(read.services["tf.example.com"]["providers.v1"], "http://localhost:1/");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let check = |text: &str, expected: &str| {
            let told = read(text).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{told}");
        };
        check("\nplugin_cache_dir = []", "line 2: `plugin_cache_dir` must be a text");
        check("provider_installation {\n foo {}\n}", "line 2: `foo` is not a way to install providers");
        check(
            "provider_installation {\n filesystem_mirror {}\n}",
            "line 2: `filesystem_mirror` needs `path`",
        );
        check("provider_installation {\n direct {\n include = [\"x\"]\n}\n}", "line 3: `x` is neither");
        check(
            "provider_installation {\n dev_overrides {\n \"a b\" = \"\"\n}\n}",
            "line 3: `a b` is no provider",
        );
        check("provider_installation {}\nprovider_installation {}", "line 2: `provider_installation` stands");
    }
}
