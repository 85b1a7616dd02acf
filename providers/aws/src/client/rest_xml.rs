//! REST with XML, as S3 speaks it: each operation is a method on a bucket and one of its subresources.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::endpoint::Endpoint;
use super::percent::encoded;
use super::xml::Element;
use super::{Answer, CallError, Client, Request};

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// A client for S3.
pub(crate) struct S3Client(Client);

/// A call: a method on a bucket, and what goes with it.
pub(crate) struct BucketCall<'a> {
    method: &'static str,
    bucket: &'a str,
    /// The aspect of the bucket that is meant, such as `versioning`; empty for the bucket itself.
    subresource: &'static str,
    body: Option<(&'static str, String)>,
}

impl<'a> BucketCall<'a> {
    pub(crate) fn head(bucket: &'a str) -> Self {
        BucketCall { method: "HEAD", bucket, subresource: "", body: None }
    }

    pub(crate) fn get(bucket: &'a str, subresource: &'static str) -> Self {
        BucketCall { method: "GET", bucket, subresource, body: None }
    }

    pub(crate) fn put(bucket: &'a str, subresource: &'static str, body: &Element) -> Self {
        BucketCall { method: "PUT", bucket, subresource, body: Some(xml(body)) }
    }

    /// A body that is not XML: a policy.
    pub(crate) fn put_text(bucket: &'a str, subresource: &'static str, body: &str) -> Self {
        BucketCall { method: "PUT", bucket, subresource, body: Some(("text/plain", body.to_owned())) }
    }

    pub(crate) fn post(bucket: &'a str, subresource: &'static str, body: &Element) -> Self {
        BucketCall { method: "POST", bucket, subresource, body: Some(xml(body)) }
    }

    pub(crate) fn delete(bucket: &'a str, subresource: &'static str) -> Self {
        BucketCall { method: "DELETE", bucket, subresource, body: None }
    }

    fn into_request(self, endpoint: &Endpoint) -> Result<Request, CallError> {
        let bucket = self.bucket;
        if matches!(bucket, "" | "." | "..") {
            return Err(CallError::NotSent("the name of the bucket is empty".to_owned()));
        }
        let request = if endpoint.takes_virtual_host(bucket) {
            Request::new(self.method, "/").host_prefix(bucket)
        } else {
            Request::new(self.method, &format!("/{}/", encoded(bucket)))
        };
        let request = request.query(self.subresource.to_owned());
        let Some((content_type, body)) = self.body else { return Ok(request) };
        let request = request.header("content-type", content_type.to_owned());
        // S3 demands a checksum of whatever changes an aspect of a bucket.
        let request = if self.subresource.is_empty() {
            request
        } else {
            let digest = STANDARD.encode(Sha256::digest(body.as_bytes()));
            request
                .header("x-amz-sdk-checksum-algorithm", "SHA256".to_owned())
                .header("x-amz-checksum-sha256", digest)
        };
        Ok(request.body(body.into_bytes()))
    }
}

fn xml(body: &Element) -> (&'static str, String) {
    ("application/xml", body.to_document(NAMESPACE))
}

impl S3Client {
    pub(crate) fn new(client: Client) -> Self {
        S3Client(client)
    }

    /// Makes a call and reads its answer, whose root has this name.
    pub(crate) async fn read(&self, call: BucketCall<'_>, root: &str) -> Result<Element, CallError> {
        document(&self.exchange(call).await?, root)
    }

    /// Makes a call whose answer is a text.
    pub(crate) async fn read_text(&self, call: BucketCall<'_>) -> Result<String, CallError> {
        let answer = self.exchange(call).await?;
        String::from_utf8(answer.body)
            .map_err(|_| CallError::Unintelligible("the answer is not in UTF-8".to_owned()))
    }

    /// Makes a call whose answer says nothing but success.
    pub(crate) async fn send(&self, call: BucketCall<'_>) -> Result<(), CallError> {
        self.exchange(call).await.map(|_| ())
    }

    async fn exchange(&self, call: BucketCall<'_>) -> Result<Answer, CallError> {
        let answer = self.0.send(call.into_request(self.0.endpoint()?)?).await?;
        if answer.is_success() { Ok(answer) } else { Err(error(&answer)) }
    }
}

fn document(answer: &Answer, root: &str) -> Result<Element, CallError> {
    let document = Element::parse(&answer.body)
        .map_err(|reason| CallError::Unintelligible(format!("the answer is not XML: {reason}")))?;
    // S3 may find out after it began to answer.
    if document.name() == "Error" {
        return Err(error(answer));
    }
    if document.name() != root {
        return Err(CallError::Unintelligible(format!("the answer is not a {root}")));
    }
    Ok(document)
}

fn error(answer: &Answer) -> CallError {
    let error = Element::parse(&answer.body).unwrap_or_default();
    let text = |name| error.text_of(name).unwrap_or_default();
    CallError::answered(answer, text("Code"), text("Message"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::endpoint::EndpointOptions;
    use super::super::service::Service;
    use super::*;

    fn request(url: Option<&str>, call: BucketCall<'_>) -> Result<Request, CallError> {
        let (region, url) = ("eu-central-1".to_owned(), url.map(ToOwned::to_owned));
        let options = EndpointOptions { region, url, ..EndpointOptions::default() };
        call.into_request(&Endpoint::resolve(Service::S3, &options).unwrap())
    }

    #[test]
    fn a_bucket_is_named_in_the_host_or_in_the_path() {
        let place = |url: Option<&str>, bucket: &str| {
            let request = request(url, BucketCall::get(bucket, "versioning")).unwrap();
            assert_eq!(request.query, "versioning");
            (request.host_prefix, request.path)
        };
        assert_eq!(place(None, "pictures"), (Some("pictures".to_owned()), "/".to_owned()));
        assert_eq!(place(None, "a.b"), (None, "/a.b/".to_owned()));
        assert_eq!(place(Some("http://127.0.0.1:4566"), "pictures"), (None, "/pictures/".to_owned()));
        assert_eq!(place(None, "a/../b c"), (None, "/a%2F..%2Fb%20c/".to_owned()));
        for bucket in ["", ".", ".."] {
            assert!(matches!(request(None, BucketCall::delete(bucket, "")), Err(CallError::NotSent(_))));
        }
    }

    #[test]
    fn a_change_of_an_aspect_carries_its_checksum() {
        let body = Element::new("VersioningConfiguration").with_text("Status", "Enabled");
        let put = request(None, BucketCall::put("pictures", "versioning", &body)).unwrap();
        assert_eq!(
            String::from_utf8(put.body).unwrap(),
            "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status>\
             </VersioningConfiguration>"
        );
        assert_eq!(
            put.headers,
            [
                ("content-type", "application/xml".to_owned()),
                ("x-amz-sdk-checksum-algorithm", "SHA256".to_owned()),
                ("x-amz-checksum-sha256", "SC1OUQtc3PC786BE6Cgy3HEfTyh1emwG6yF1goKnPvc=".to_owned()),
            ]
        );
        let create = request(None, BucketCall::put("pictures", "", &body)).unwrap();
        assert_eq!(create.headers, [("content-type", "application/xml".to_owned())]);
        assert!(request(None, BucketCall::head("pictures")).unwrap().headers.is_empty());
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn an_error_has_a_code_and_a_message() {
        let check = |status, body, code, message| {
            let answer = answer(status, body);
            assert_eq!(error(&answer), CallError::answered(&answer, code, message));
        };
        let gone = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>";
        check(404, gone, "NoSuchBucket", "m");
        check(301, "", "", "");
        check(502, "<html><body>Bad Gateway", "", "");
    }

    #[test]
    fn an_answer_is_of_the_form_that_was_asked_for() {
        let root = "VersioningConfiguration";
        assert!(document(&answer(200, "<VersioningConfiguration/>"), root).is_ok());
        let late = document(&answer(200, "<Error><Code>InternalError</Code></Error>"), root);
        assert!(matches!(late, Err(CallError::Answered(_))));
        for other in ["<html/>", "", "{}"] {
            assert!(matches!(document(&answer(200, other), root), Err(CallError::Unintelligible(_))));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(body: Vec<u8>) {
            let answer = Answer { status: 200, headers: Vec::new(), body };
            let _ = document(&answer, "Tagging");
            let _ = error(&answer);
        }
    }
}
