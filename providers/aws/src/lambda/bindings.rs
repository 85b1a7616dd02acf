//! What others attach to a function: variables in its environment, and the least it must be allowed to use them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trueup_core::Marked;
use trueup_provider::{Binding, Error, FieldType, Result};

/// A queue, table or bucket that a function may use.
#[derive(FieldType, Clone)]
pub struct Grant {
    /// Its ARN.
    arn: String,
    /// What the function may do with it. If it is left out: write to a queue, read a table or bucket.
    access: Option<Vec<Access>>,
    /// Its address, if it has one.
    url: Option<String>,
    /// More variables.
    environment: Option<BTreeMap<String, Marked<String>>>,
}

/// What a function may do with something.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Receive messages, read items or objects.
    #[trueup(rename = "read")]
    Read,
    /// Send messages, write and delete items or objects.
    #[trueup(rename = "write")]
    Write,
}

/// What all bindings of a function come to.
#[derive(Default)]
pub(super) struct Bound {
    pub(super) environment: BTreeMap<String, Marked<String>>,
    /// What its role must be allowed, as a policy document; nothing if nothing is bound.
    pub(super) policy: Option<String>,
}

impl Bound {
    pub(super) fn of(bindings: &[Binding]) -> Result<Self> {
        let mut bound = Bound::default();
        let mut statements = Vec::new();
        for binding in bindings {
            let grant: Grant =
                binding.decode().map_err(|error| not_a_grant(&binding.key, &error.to_string()))?;
            statements.extend(grant.statements().ok_or_else(|| {
                let why = format!("`{}` is not the ARN of a queue, table or bucket", grant.arn);
                not_a_grant(&binding.key, &why)
            })?);
            grant.add_variables(&binding.key, &mut bound.environment);
        }
        if !statements.is_empty() {
            let document = json!({ "Version": "2012-10-17", "Statement": statements });
            bound.policy = Some(document.to_string());
        }
        Ok(bound)
    }
}

fn not_a_grant(key: &str, why: &str) -> Error {
    Error::invalid(format!("what is bound as `{key}` is nothing that a function can use: {why}")).hint(
        "its payload is an object with `arn`, and `access`, `url` and `environment` where they are needed",
    )
}

impl Grant {
    /// The usual access to what has this ARN.
    pub fn to(arn: impl Into<String>) -> Self {
        Grant { arn: arn.into(), access: None, url: None, environment: None }
    }

    /// This access, instead of the usual.
    #[must_use]
    pub fn allowing(mut self, access: impl IntoIterator<Item = Access>) -> Self {
        self.access = Some(access.into_iter().collect());
        self
    }

    /// Its address too.
    #[must_use]
    pub fn at(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    fn service(&self) -> &str {
        self.arn.split(':').nth(2).unwrap_or_default()
    }

    fn allows(&self, access: Access) -> bool {
        let usual = if self.service() == "sqs" { Access::Write } else { Access::Read };
        self.access.as_ref().map_or(access == usual, |granted| granted.contains(&access))
    }

    /// What the role must be allowed; `None` if this is nothing that a function can use.
    fn statements(&self) -> Option<Vec<Value>> {
        let arn = &self.arn;
        let inside = format!("{arn}/*");
        let indexes = format!("{arn}/index/*");
        let allow = |actions: &[&str], resources: &[&str]| json!({ "Effect": "Allow", "Action": actions, "Resource": resources });
        let mut statements = Vec::new();
        let (read, write) = (self.allows(Access::Read), self.allows(Access::Write));
        match self.service() {
            "sqs" => {
                if read {
                    let receive = [
                        "sqs:ReceiveMessage",
                        "sqs:DeleteMessage",
                        "sqs:ChangeMessageVisibility",
                        "sqs:GetQueueAttributes",
                        "sqs:GetQueueUrl",
                    ];
                    statements.push(allow(&receive, &[arn]));
                }
                if write {
                    statements.push(allow(&["sqs:SendMessage", "sqs:GetQueueUrl"], &[arn]));
                }
            }
            "dynamodb" => {
                if read {
                    let get =
                        ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan"];
                    statements.push(allow(&get, &[arn, &indexes]));
                }
                if write {
                    let put = [
                        "dynamodb:PutItem",
                        "dynamodb:UpdateItem",
                        "dynamodb:DeleteItem",
                        "dynamodb:BatchWriteItem",
                        "dynamodb:ConditionCheckItem",
                    ];
                    statements.push(allow(&put, &[arn]));
                }
            }
            "s3" => {
                if read {
                    statements.push(allow(&["s3:ListBucket"], &[arn]));
                    statements.push(allow(&["s3:GetObject"], &[&inside]));
                }
                if write {
                    statements.push(allow(&["s3:PutObject", "s3:DeleteObject"], &[&inside]));
                }
            }
            _ => return None,
        }
        Some(statements)
    }

    /// `JOBS_ARN`, `JOBS_NAME` and `JOBS_URL` for what is bound as `jobs`.
    fn add_variables(&self, key: &str, environment: &mut BTreeMap<String, Marked<String>>) {
        let readable =
            |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
        let key: String = key.chars().map(readable).collect();
        let name = self.arn.rsplit([':', '/']).next().unwrap_or_default();
        environment.insert(format!("{key}_ARN"), Marked::open(self.arn.clone()));
        environment.insert(format!("{key}_NAME"), Marked::open(name.to_owned()));
        if let Some(url) = &self.url {
            environment.insert(format!("{key}_URL"), Marked::open(url.clone()));
        }
        environment.extend(self.environment.clone().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    fn bound(key: &str, payload: trueup_core::Value) -> Bound {
        Bound::of(&[Binding::new(key, payload)]).unwrap_or_else(|error| panic!("{:?}", error.into_parts().0))
    }

    fn actions(bound: &Bound) -> Vec<String> {
        let policy: Value = serde_json::from_str(bound.policy.as_ref().unwrap()).unwrap();
        let statements = policy["Statement"].as_array().unwrap().clone();
        let actions = statements.iter().flat_map(|it| it["Action"].as_array().unwrap().clone());
        actions.map(|action| action.as_str().unwrap().to_owned()).collect()
    }

    /// BIND-1
    #[test]
    fn what_is_bound_gives_variables_and_the_least_policy() {
        let queue = value!({ arn: "arn:aws:sqs:eu-central-1:1:jobs", url: "https://q/1/jobs", name: "jobs" });
        let queue = bound("to-do", queue);
        let names: Vec<&str> = queue.environment.keys().map(String::as_str).collect();
        assert_eq!(names, ["TO_DO_ARN", "TO_DO_NAME", "TO_DO_URL"]);
        assert_eq!(actions(&queue), ["sqs:SendMessage", "sqs:GetQueueUrl"]);
        let table = value!({ arn: "arn:aws:dynamodb:eu-central-1:1:table/items", access: ["write"] });
        let table = bound("items", table);
        assert_eq!(table.environment["ITEMS_NAME"].expose(), "items");
        assert!(actions(&table).contains(&"dynamodb:PutItem".to_owned()));
        assert!(!actions(&table).contains(&"dynamodb:Scan".to_owned()));
        assert!(Bound::of(&[]).is_ok_and(|nothing| nothing.policy.is_none()));
    }

    #[test]
    fn what_no_function_can_use_is_refused() {
        for payload in [value!("jobs"), value!({ name: "jobs" }), value!({ arn: "arn:aws:iam::1:role/jobs" })]
        {
            let refused = Bound::of(&[Binding::new("jobs", payload)]).err().map(|error| error.into_parts().0);
            assert!(refused.is_some_and(|failure| failure.message.contains("`jobs`")));
        }
    }
}
