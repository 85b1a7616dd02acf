//! The query protocol: each operation is a form with its name in a field, answered in XML. IAM and STS speak it.

use super::percent::encoded_pairs;
use super::xml::Element;
use super::{Answer, CallError, Client, Request};

/// A client for a service that speaks the query protocol.
pub(crate) struct QueryClient {
    client: Client,
    version: &'static str,
}

/// The fields of a request.
pub(crate) struct Form(Vec<(String, String)>);

impl<const N: usize> From<[(&str, &str); N]> for Form {
    fn from(fields: [(&str, &str); N]) -> Self {
        Form(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }
}

impl Form {
    /// Adds a field that may be absent.
    pub(crate) fn optional(mut self, name: &str, value: Option<&str>) -> Self {
        self.0.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        self
    }

    /// Adds a list, whose members are numbered from 1.
    pub(crate) fn list(mut self, name: &str, members: impl IntoIterator<Item = String>) -> Self {
        let members = members.into_iter().zip(1..);
        self.0.extend(members.map(|(member, at)| (format!("{name}.member.{at}"), member)));
        self
    }

    /// Adds tags.
    pub(crate) fn tags(mut self, tags: impl IntoIterator<Item = (String, String)>) -> Self {
        for ((key, value), at) in tags.into_iter().zip(1..) {
            self.0.push((format!("Tags.member.{at}.Key"), key));
            self.0.push((format!("Tags.member.{at}.Value"), value));
        }
        self
    }
}

impl QueryClient {
    /// A client for this version of the service's API.
    pub(crate) fn new(client: Client, version: &'static str) -> Self {
        QueryClient { client, version }
    }

    /// Calls an operation; returns its result, which is empty where there is none to tell.
    pub(crate) async fn call(&self, action: &str, form: impl Into<Form>) -> Result<Element, CallError> {
        let answer = self.client.send(request(self.version, action, form.into())).await?;
        if answer.is_success() { result(action, &answer.body) } else { Err(error(&answer)) }
    }

    /// Calls an operation whose answer says nothing but success.
    pub(crate) async fn send(&self, action: &str, form: impl Into<Form>) -> Result<(), CallError> {
        self.call(action, form).await.map(|_| ())
    }
}

fn request(version: &str, action: &str, Form(fields): Form) -> Request {
    let own = [("Action".to_owned(), action.to_owned()), ("Version".to_owned(), version.to_owned())];
    Request::new("POST", "/")
        .header("content-type", "application/x-www-form-urlencoded".to_owned())
        .body(encoded_pairs(own.into_iter().chain(fields)).into_bytes())
}

fn result(action: &str, body: &[u8]) -> Result<Element, CallError> {
    let root = Element::parse(body)
        .map_err(|reason| CallError::Unintelligible(format!("the answer is not XML: {reason}")))?;
    if root.name() != format!("{action}Response") {
        return Err(CallError::Unintelligible(format!("the answer is not that to {action}")));
    }
    Ok(root.child(&format!("{action}Result")).cloned().unwrap_or_default())
}

fn error(answer: &Answer) -> CallError {
    let root = Element::parse(&answer.body).unwrap_or_default();
    let error = root.child("Error").unwrap_or(&root);
    let text = |name| error.text_of(name).unwrap_or_default();
    CallError::answered(answer, text("Code"), text("Message"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(form: Form) -> String {
        String::from_utf8(request("2010-05-08", "TagRole", form).body).unwrap()
    }

    #[test]
    fn an_operation_is_a_form() {
        let request = request("2011-06-15", "GetCallerIdentity", Form::from([]));
        assert_eq!((request.method, request.path.as_str()), ("POST", "/"));
        assert_eq!(request.headers, [("content-type", "application/x-www-form-urlencoded".to_owned())]);
        assert_eq!(request.body, b"Action=GetCallerIdentity&Version=2011-06-15");
    }

    #[test]
    fn members_of_lists_are_numbered() {
        let role = || Form::from([("RoleName", "a b")]);
        let tags = [("team", "web"), ("x:y", "")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(
            body(role().tags(tags)),
            "Action=TagRole&Version=2010-05-08&RoleName=a%20b&Tags.member.1.Key=team&Tags.member.1.Value=web\
             &Tags.member.2.Key=x%3Ay&Tags.member.2.Value="
        );
        assert_eq!(
            body(role().list("TagKeys", ["a".to_owned(), "b".to_owned()])),
            "Action=TagRole&Version=2010-05-08&RoleName=a%20b&TagKeys.member.1=a&TagKeys.member.2=b"
        );
    }

    #[test]
    fn an_answer_is_that_to_its_operation() {
        let role =
            b"<GetRoleResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><GetRoleResult><Role>\
            <Arn>arn</Arn></Role></GetRoleResult><ResponseMetadata/></GetRoleResponse>";
        assert_eq!(result("GetRole", role).unwrap().child("Role").unwrap().text_of("Arn"), Some("arn"));
        let nothing = b"<DeleteRoleResponse><ResponseMetadata/></DeleteRoleResponse>";
        assert_eq!(result("DeleteRole", nothing).unwrap(), Element::default());
        for other in [role.as_slice(), b"<html></html>", b"{}", b""] {
            assert!(matches!(result("DeleteRole", other), Err(CallError::Unintelligible(_))));
        }
    }

    #[test]
    fn an_error_has_a_code_and_a_message() {
        let check = |body: &str, code, message| {
            let answer = Answer { status: 404, headers: Vec::new(), body: body.as_bytes().to_vec() };
            assert_eq!(error(&answer), CallError::answered(&answer, code, message));
        };
        let gone = "<ErrorResponse><Error><Type>Sender</Type><Code>NoSuchEntity</Code><Message>a &amp; b</Message>\
                    </Error><RequestId>1</RequestId></ErrorResponse>";
        check(gone, "NoSuchEntity", "a & b");
        check("<html>", "", "");
        check("", "", "");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(body: Vec<u8>) {
            let _ = result("GetRole", &body);
            let _ = error(&Answer { status: 500, headers: Vec::new(), body });
        }
    }
}
