//! AWS JSON: each operation is a `POST` of a document, named by a header. DynamoDB, SQS, KMS and CloudWatch
//! Logs speak it.
//!
//! Fields that are `null` count as absent, in requests as in answers, so answers are structs with defaults.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::{Answer, CallError, Client, Request};

/// A client for a service that speaks AWS JSON.
pub(crate) struct JsonClient {
    client: Client,
    dialect: JsonDialect,
}

/// The traits of one such service.
#[derive(Clone, Copy)]
pub(crate) struct JsonDialect {
    /// The version of the protocol, `1.0` or `1.1`.
    version: &'static str,
    /// The name in front of each operation.
    target: &'static str,
    /// The service used to speak the query protocol, and keeps its error codes.
    keeps_query_codes: bool,
}

impl JsonDialect {
    pub(crate) const DYNAMODB: Self =
        JsonDialect { version: "1.0", target: "DynamoDB_20120810", keeps_query_codes: false };
    pub(crate) const KMS: Self =
        JsonDialect { version: "1.1", target: "TrentService", keeps_query_codes: false };
    pub(crate) const LOGS: Self =
        JsonDialect { version: "1.1", target: "Logs_20140328", keeps_query_codes: false };
    pub(crate) const SQS: Self = JsonDialect { version: "1.0", target: "AmazonSQS", keeps_query_codes: true };
}

impl JsonClient {
    pub(crate) fn new(client: Client, dialect: JsonDialect) -> Self {
        JsonClient { client, dialect }
    }

    /// Calls an operation and reads its answer.
    pub(crate) async fn call<A: DeserializeOwned>(
        &self,
        operation: &str,
        input: Value,
    ) -> Result<A, CallError> {
        let answer = self.client.send(request(self.dialect, operation, input)).await?;
        if answer.is_success() { read(&answer.body) } else { Err(error(&answer)) }
    }

    /// Calls an operation whose answer says nothing but success.
    pub(crate) async fn send(&self, operation: &str, input: Value) -> Result<(), CallError> {
        self.call::<IgnoredAny>(operation, input).await.map(|_| ())
    }
}

fn request(dialect: JsonDialect, operation: &str, input: Value) -> Request {
    let request = Request::new("POST", "/")
        .header("content-type", format!("application/x-amz-json-{}", dialect.version))
        .header("x-amz-target", format!("{}.{operation}", dialect.target))
        .body(document(input));
    if dialect.keeps_query_codes { request.header("x-amzn-query-mode", "true".to_owned()) } else { request }
}

/// A document without fields that are `null`.
pub(super) fn document(input: Value) -> Vec<u8> {
    without_nulls(input).to_string().into_bytes()
}

/// Reads the body of a successful answer. An empty one is an empty document.
pub(super) fn read<A: DeserializeOwned>(body: &[u8]) -> Result<A, CallError> {
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    let value: Value = serde_json::from_slice(body).map_err(|error| unintelligible(&error))?;
    serde_json::from_value(without_nulls(value)).map_err(|error| unintelligible(&error))
}

/// Says where reading stopped; the error's own text could quote a value.
fn unintelligible(error: &serde_json::Error) -> CallError {
    CallError::Unintelligible(match error.classify() {
        serde_json::error::Category::Data => "the answer has a field of an unexpected type".to_owned(),
        _ => format!("the answer is not JSON (line {}, column {})", error.line(), error.column()),
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().filter(|item| !item.is_null()).map(without_nulls).collect(),
        other => other,
    }
}

/// Reads an error. Its code is in a header or in the body, with a namespace in front or a URL behind.
pub(super) fn error(answer: &Answer) -> CallError {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |names: &[&str]| names.iter().find_map(|name| body.get(*name)?.as_str());
    let code = answer.header("x-amzn-errortype").or_else(|| text(&["code", "__type"])).unwrap_or_default();
    let code = code.split(':').next().unwrap_or(code);
    let code = code.split_once('#').map_or(code, |(_, code)| code);
    let query_code = answer.header("x-amzn-query-error").and_then(|error| error.split_once(';'));
    let code = query_code.map_or(code, |(code, _)| code);
    CallError::answered(answer, code, text(&["message", "Message", "errorMessage"]).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_is_a_document_with_its_name_in_a_header() {
        let sqs = request(JsonDialect::SQS, "GetQueueUrl", json!({ "QueueName": "jobs", "Owner": null }));
        assert_eq!((sqs.method, sqs.path.as_str(), sqs.query.as_str()), ("POST", "/", ""));
        assert_eq!(
            sqs.headers,
            [
                ("content-type", "application/x-amz-json-1.0".to_owned()),
                ("x-amz-target", "AmazonSQS.GetQueueUrl".to_owned()),
                ("x-amzn-query-mode", "true".to_owned()),
            ]
        );
        assert_eq!(sqs.body, br#"{"QueueName":"jobs"}"#);
        let logs = request(JsonDialect::LOGS, "DeleteLogGroup", json!({}));
        assert_eq!(
            logs.headers,
            [
                ("content-type", "application/x-amz-json-1.1".to_owned()),
                ("x-amz-target", "Logs_20140328.DeleteLogGroup".to_owned()),
            ]
        );
        let dynamodb = request(JsonDialect::DYNAMODB, "ListTables", json!({}));
        assert_eq!(dynamodb.headers[1].1, "DynamoDB_20120810.ListTables");
    }

    #[derive(Deserialize, Default, PartialEq, Debug)]
    #[serde(default, rename_all = "PascalCase")]
    struct Sample {
        name: String,
        count: i64,
        items: Vec<String>,
    }

    #[test]
    fn absent_empty_and_null_fields_are_the_same() {
        for body in ["", " \n", "{}", r#"{"Name":null,"Items":null,"Other":{"a":[1.5]}}"#] {
            assert_eq!(read::<Sample>(body.as_bytes()).unwrap(), Sample::default(), "{body}");
        }
        let full = read::<Sample>(br#"{"Name":"a","Count":3,"Items":["x",null]}"#).unwrap();
        assert_eq!(full, Sample { name: "a".to_owned(), count: 3, items: vec!["x".to_owned()] });
    }

    /// SECRET-1
    #[test]
    fn an_answer_that_makes_no_sense_is_not_quoted() {
        for body in ["<html>hunter2", r#"{"Name":["hunter2"]}"#, r#"{"Count":"hunter2"}"#, "hunter2"] {
            let Err(CallError::Unintelligible(told)) = read::<Sample>(body.as_bytes()) else {
                panic!("{body}")
            };
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    fn check(headers: &[(&str, &str)], body: &str, code: &str, message: &str) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let answer = Answer { status: 400, headers, body: body.as_bytes().to_vec() };
        assert_eq!(error(&answer), CallError::answered(&answer, code, message));
    }

    #[test]
    fn a_code_is_found_wherever_a_service_puts_it() {
        let lambda = r#"{"Type":"User","Message":"gone"}"#;
        check(
            &[("x-amzn-errortype", "ResourceNotFoundException")],
            lambda,
            "ResourceNotFoundException",
            "gone",
        );
        let url = "ValidationException:http://internal.amazon.com/coral/";
        check(&[("x-amzn-ErrorType", url)], "", "ValidationException", "");
        let dynamodb =
            r#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException","message":"busy"}"#;
        check(&[], dynamodb, "ResourceInUseException", "busy");
        check(&[], r#"{"code":"A","__type":"B","errorMessage":"m"}"#, "A", "m");
        let sqs = r#"{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no such queue"}"#;
        let query = ("x-amzn-query-error", "AWS.SimpleQueueService.NonExistentQueue;Sender");
        check(&[query], sqs, "AWS.SimpleQueueService.NonExistentQueue", "no such queue");
        check(&[], "<html>", "", "");
        check(&[], "[1]", "", "");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(body: Vec<u8>) {
            let _ = read::<Sample>(&body);
            let _ = error(&Answer { status: 500, headers: Vec::new(), body });
        }

        #[test]
        fn no_markup_makes_the_reader_panic(body in "[{}\\[\\]\":,a-cN0-9.eE+-]{0,60}") {
            let _ = read::<Sample>(body.as_bytes());
            let _ = error(&Answer { status: 500, headers: Vec::new(), body: body.into_bytes() });
        }
    }
}
