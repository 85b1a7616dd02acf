//! REST with JSON: each operation is a method and a path. Lambda and API Gateway speak it.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::percent::{encoded, encoded_pairs};
use super::{CallError, Client, Request, json};

/// A client for a service that speaks REST with JSON.
pub(crate) struct RestJsonClient(Client);

/// A call: a method on a path, and what goes with it.
pub(crate) struct RestCall {
    method: &'static str,
    /// Percent-encoded; `None` if a segment is missing.
    path: Option<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl RestCall {
    pub(crate) fn get(segments: &[&str]) -> Self {
        Self::new("GET", segments)
    }

    pub(crate) fn post(segments: &[&str], body: Value) -> Self {
        RestCall { body: Some(body), ..Self::new("POST", segments) }
    }

    pub(crate) fn put(segments: &[&str], body: Value) -> Self {
        RestCall { body: Some(body), ..Self::new("PUT", segments) }
    }

    pub(crate) fn patch(segments: &[&str], body: Value) -> Self {
        RestCall { body: Some(body), ..Self::new("PATCH", segments) }
    }

    pub(crate) fn delete(segments: &[&str]) -> Self {
        Self::new("DELETE", segments)
    }

    fn new(method: &'static str, segments: &[&str]) -> Self {
        // An empty segment would make it the path of another operation, such as that on all objects.
        let is_usable = |segment: &&str| !matches!(*segment, "" | "." | "..");
        let path = segments
            .iter()
            .all(is_usable)
            .then(|| segments.iter().fold(String::new(), |path, segment| path + "/" + &encoded(segment)));
        RestCall { method, path, query: Vec::new(), body: None }
    }

    /// Adds values of one name to the query, one parameter each.
    pub(crate) fn query(mut self, name: &'static str, values: impl IntoIterator<Item = String>) -> Self {
        self.query.extend(values.into_iter().map(|value| (name, value)));
        self
    }

    fn into_request(self) -> Result<Request, CallError> {
        let path = self.path.ok_or_else(|| CallError::NotSent("an identifier is empty".to_owned()))?;
        let request = Request::new(self.method, &path).query(encoded_pairs(self.query));
        Ok(match self.body {
            Some(body) => {
                request.header("content-type", "application/json".to_owned()).body(json::document(body))
            }
            None => request,
        })
    }
}

impl RestJsonClient {
    pub(crate) fn new(client: Client) -> Self {
        RestJsonClient(client)
    }

    /// Makes a call and reads its answer.
    pub(crate) async fn call<A: DeserializeOwned>(&self, call: RestCall) -> Result<A, CallError> {
        let answer = self.0.send(call.into_request()?).await?;
        if answer.is_success() { json::read(&answer.body) } else { Err(json::error(&answer)) }
    }

    /// Makes a call whose answer says nothing but success.
    pub(crate) async fn send(&self, call: RestCall) -> Result<(), CallError> {
        self.call::<IgnoredAny>(call).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_is_a_method_and_a_path() {
        let call = RestCall::put(&["2015-03-31", "functions", "jobs", "code"], json!({ "ZipFile": "UEs=" }));
        let request = call.into_request().unwrap();
        assert_eq!((request.method, request.path.as_str()), ("PUT", "/2015-03-31/functions/jobs/code"));
        assert_eq!(request.headers, [("content-type", "application/json".to_owned())]);
        assert_eq!(request.body, br#"{"ZipFile":"UEs="}"#);
        let request = RestCall::get(&["v2", "apis"]).into_request().unwrap();
        assert_eq!((request.headers.len(), request.body.len(), request.query.as_str()), (0, 0, ""));
    }

    #[test]
    fn identifiers_stay_in_their_segment() {
        let arn = "arn:aws:apigateway:eu-central-1::/apis/a1/stages/$default";
        let call = RestCall::delete(&["v2", "tags", arn]);
        let request = call.query("tagKeys", ["a b".to_owned(), "c".to_owned()]).into_request().unwrap();
        assert_eq!(
            request.path,
            "/v2/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fapis%2Fa1%2Fstages%2F%24default"
        );
        assert_eq!(request.query, "tagKeys=a%20b&tagKeys=c");
    }

    #[test]
    fn an_empty_identifier_is_never_sent() {
        for identifier in ["", ".", ".."] {
            let request = RestCall::delete(&["v2", "apis", identifier]).into_request();
            assert!(matches!(request, Err(CallError::NotSent(_))), "{identifier}");
        }
    }
}
