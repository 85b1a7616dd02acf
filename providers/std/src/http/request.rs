//! One request of a resource: from its template to what is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use trueup_core::{Marked, Value};
use trueup_provider::{Error, FieldType, Result};

use super::send::Outgoing;
use super::template::{Place, TOKEN, Variables, names};
use crate::plain_json::plain_json;

/// A request to an API.
#[derive(FieldType, Clone)]
#[trueup(at_most_one_of("body", "body_text"))]
pub struct Request {
    /// The method. If it is not set: `POST` to create, `PUT` to update, `DELETE` to delete, otherwise `GET`.
    #[trueup(pattern = "^[A-Z]+$")]
    method: Option<String>,
    /// The address. What names in braces stand for is percent-encoded, except at the very beginning.
    url: Marked<String>,
    /// Headers, beside those of the resource. Secrets among them are shown nowhere.
    headers: Option<BTreeMap<String, Marked<String>>>,
    /// The body, sent as JSON.
    body: Option<Value>,
    /// The body as text; say what it is with a `Content-Type` header.
    body_text: Option<Marked<String>>,
    /// Where in the answer the object stands, as a JSON pointer such as `/items/0`, if it is not the whole answer.
    pub(super) pointer: Option<String>,
}

impl Request {
    /// A request with nothing but an address and a body.
    pub(crate) fn plain(url: Marked<String>, body: Option<Value>) -> Self {
        Request { method: None, url, headers: None, body, body_text: None, pointer: None }
    }

    /// Whether any part of it speaks of this name.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let texts = [Some(&self.url), self.body_text.as_ref()];
        let texts = texts.into_iter().flatten().map(|text| text.expose().as_str());
        let headers = self.headers.iter().flatten().map(|(_, value)| value.expose().as_str());
        let in_text = texts.chain(headers).any(|text| names(text).contains(&name));
        in_text || self.body.as_ref().is_some_and(|body| value_mentions(body, name))
    }

    /// Whether it asks for the same, however it authenticates.
    pub(super) fn asks_the_same_as(&self, other: &Request) -> bool {
        let body = |it: &Request| it.body.clone().unwrap_or_default();
        let plain = |it: &Request| (it.method.clone(), it.url.clone(), it.body_text.clone());
        plain(self) == plain(other) && body(self).same(&body(other))
    }

    /// Whether its method may be repeated at will.
    pub(super) fn is_idempotent(&self, method_default: &Method) -> bool {
        let method = self.method.as_deref().unwrap_or(method_default.as_str());
        matches!(method, "PUT" | "DELETE" | "GET" | "HEAD")
    }

    /// What is sent.
    pub(super) fn outgoing(
        &self,
        method_default: Method,
        common_headers: &BTreeMap<String, Marked<String>>,
        variables: &Variables,
        timeout: Duration,
    ) -> Result<Outgoing> {
        let method = match &self.method {
            Some(method) => Method::from_bytes(method.as_bytes())
                .map_err(|_| Error::invalid(format!("`{method}` is not a method")).at("method"))?,
            None => method_default,
        };
        let url = variables.fill(self.url.expose(), Place::Url).map_err(|it| Error::invalid(it).at("url"))?;
        let url = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // The URL itself is not told: it may be secret.
        let url = url.ok_or_else(|| Error::invalid("this is not the URL of a web address").at("url"))?;
        let mut headers = HeaderMap::new();
        // A read or delete has no token, and nothing to repeat by one.
        let is_sent = |(_, value): &(&String, &Marked<String>)| {
            variables.has_token() || !names(value.expose()).contains(&TOKEN)
        };
        for (name, value) in common_headers.iter().filter(is_sent).chain(self.headers.iter().flatten()) {
            let value = variables.fill(value.expose(), Place::Text).map_err(Error::invalid)?;
            let (Ok(name), Ok(mut value)) =
                (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()))
            else {
                return Err(Error::invalid(format!("the header `{name}` cannot be sent")).at("headers"));
            };
            // Keeps it out of whatever the client's libraries log.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let body = match (&self.body, &self.body_text) {
            (Some(body), _) => {
                let filled = variables.fill_value(body).map_err(|it| Error::invalid(it).at("body"))?;
                headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
                Some(plain_json(&filled).to_string().into_bytes())
            }
            (None, Some(text)) => {
                let filled = variables.fill(text.expose(), Place::Text);
                Some(filled.map_err(|it| Error::invalid(it).at("body_text"))?.into_bytes())
            }
            (None, None) => None,
        };
        Ok(Outgoing { method, url, url_is_secret: self.url.is_secret(), headers, body, timeout })
    }
}

fn value_mentions(value: &Value, name: &str) -> bool {
    value.as_str().is_some_and(|text| names(text).contains(&name))
        || value.children().any(|child| value_mentions(child, name))
}
