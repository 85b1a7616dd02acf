//! The proxies of HTTP clients, from variables that are handed in: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`,
//! in capitals or not.
//!
//! reqwest would read the environment of the process by itself. [`Proxies::apply`] keeps it from that.

use reqwest::{ClientBuilder, NoProxy, Proxy};

/// The proxies that variables name.
#[derive(Clone, Default)]
pub struct Proxies(Vec<Proxy>);

/// A variable whose value does not name a proxy. The value may hold a password, so it is not quoted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the environment variable `{variable}` does not name a proxy")]
pub struct InvalidProxy {
    /// The name of the variable.
    pub variable: &'static str,
}

impl Proxies {
    /// Reads the variables through `get`. Empty ones count as not set. A name in capitals takes precedence.
    pub fn from_variables<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, InvalidProxy> {
        let variable = |name: &str| {
            let set = |name: &str| get(name).filter(|value| !value.is_empty());
            set(name).or_else(|| set(&name.to_lowercase()))
        };
        let except = variable("NO_PROXY").and_then(NoProxy::from_string);
        let named = [
            ("HTTPS_PROXY", variable("HTTPS_PROXY").map(Proxy::https)),
            ("HTTP_PROXY", variable("HTTP_PROXY").map(Proxy::http)),
            ("ALL_PROXY", variable("ALL_PROXY").map(Proxy::all)),
        ];
        let named = named.into_iter().filter_map(|(variable, proxy)| Some((variable, proxy?)));
        let checked = named.map(|(variable, proxy)| match proxy {
            Ok(proxy) => Ok(proxy.no_proxy(except.clone())),
            Err(_) => Err(InvalidProxy { variable }),
        });
        Ok(Proxies(checked.collect::<Result<_, _>>()?))
    }

    /// The client with these proxies and no others. The first that fits a request is used.
    pub fn apply(&self, client: ClientBuilder) -> ClientBuilder {
        self.0.iter().cloned().fold(client.no_proxy(), ClientBuilder::proxy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&'static str, &'static str)]) -> Result<usize, InvalidProxy> {
        let get = |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        Proxies::from_variables(get).map(|proxies| proxies.0.len())
    }

    #[test]
    fn proxies_are_named_in_capitals_or_not() {
        assert_eq!(read(&[("HTTP_PROXY", ""), ("NO_PROXY", "localhost"), ("PATH", "/bin")]), Ok(0));
        assert_eq!(read(&[("https_proxy", "http://a:1"), ("ALL_PROXY", "http://b:2")]), Ok(2));
        assert_eq!(read(&[("HTTP_PROXY", "http://a:1"), ("http_proxy", "http://b:2")]), Ok(1));
    }

    #[test]
    fn a_variable_that_names_no_proxy_is_not_quoted() {
        let told = read(&[("all_proxy", "http://ada:hunter22@[")]).unwrap_err();
        assert_eq!(told.to_string(), "the environment variable `ALL_PROXY` does not name a proxy");
    }
}
