//! Import ids that follow from what a program writes, of types that have no identity in the schemas of their provider:
//! none has in hashicorp/aws before its version 6.
//!
//! Types are here whose id is made of names, of which a cloud has no two. Each is held against the ids that objects get, by
//! the cases of `bin/trueup/tests/referee`.

use trueup_core::Value;

/// Types of hashicorp/aws, and what their ids are made of.
const OF_AWS: &[(&str, &str)] = &[
    ("aws_cloudwatch_event_bus", "{name}"),
    ("aws_cloudwatch_log_group", "{name}"),
    ("aws_cloudwatch_metric_alarm", "{alarm_name}"),
    ("aws_dynamodb_table", "{name}"),
    ("aws_ecr_repository", "{name}"),
    ("aws_iam_group", "{name}"),
    ("aws_iam_instance_profile", "{name}"),
    ("aws_iam_role", "{name}"),
    ("aws_iam_role_policy", "{role}:{name}"),
    ("aws_iam_user", "{name}"),
    ("aws_iam_user_policy", "{user}:{name}"),
    ("aws_key_pair", "{key_name}"),
    ("aws_kms_alias", "{name}"),
    ("aws_lambda_function", "{function_name}"),
    ("aws_s3_bucket", "{bucket}"),
    ("aws_s3_bucket_notification", "{bucket}"),
    ("aws_s3_bucket_ownership_controls", "{bucket}"),
    ("aws_s3_bucket_policy", "{bucket}"),
    ("aws_s3_bucket_public_access_block", "{bucket}"),
    ("aws_ssm_parameter", "{name}"),
];

/// The id by which an object of this type and these inputs is imported, if it follows from them. The provider is told by its
/// address, such as `registry.terraform.io/hashicorp/aws`.
pub fn import_id_of(address: &str, type_name: &str, inputs: &Value) -> Option<String> {
    let known = if address.ends_with("hashicorp/aws") { OF_AWS } else { &[] };
    let (_, form) = known.iter().find(|(known, _)| *known == type_name)?;
    let mut id = String::new();
    let mut rest = *form;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let text = inputs.get(name)?.as_str().filter(|text| !text.is_empty())?;
        id.push_str(before);
        id.push_str(text);
        rest = after;
    }
    id.push_str(rest);
    Some(id)
}

#[cfg(test)]
mod tests {
    use trueup_core::{Type, value};

    use super::*;

    const AWS: &str = "registry.terraform.io/hashicorp/aws";

    #[test]
    fn an_id_is_made_of_what_is_written() {
        let inputs = value!({ name: "logs", role: "worker" });
        assert_eq!(import_id_of(AWS, "aws_iam_role_policy", &inputs).as_deref(), Some("worker:logs"));
        assert_eq!(import_id_of(AWS, "aws_iam_role", &inputs).as_deref(), Some("logs"));
    }

    #[test]
    fn nothing_follows_from_what_is_left_to_the_provider() {
        for name in [Value::NULL, value!(""), Value::unknown(Type::String)] {
            let inputs = value!({ name: (name), name_prefix: "logs" });
            assert_eq!(import_id_of(AWS, "aws_iam_role", &inputs), None);
        }
        assert_eq!(import_id_of(AWS, "aws_vpc", &value!({ name: "a" })), None);
        assert_eq!(import_id_of("example.com/acme/other", "aws_iam_role", &value!({ name: "a" })), None);
    }
}
