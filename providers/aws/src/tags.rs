//! Tags: those a program sets, and those by which objects are recognised.
//!
//! AWS takes letters, digits, spaces and `_.:/=+-@` in tags; addresses have brackets and quotes. So the values of our own
//! tags are written with `@` and two hexadecimal digits for anything else, and compared in that form.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trueup_provider::{CallContext, Error, Ownership, PlanHook, Result};

use crate::client::{CallError, Element};
use crate::failure::cannot;

/// Names and values.
pub(crate) type Tags = BTreeMap<String, String>;

/// The longest value that a tag can have.
const VALUE_LENGTH_MAX: usize = 256;

/// How much of a longer value stays readable.
const READABLE_LENGTH: usize = 180;

/// What our own tags begin with.
const OWN: &str = "trueup:";

/// What AWS sets by itself and nobody can remove.
const RESERVED: &str = "aws:";

/// The tags an object is to have: the program's, and ours.
pub(crate) fn wanted(context: &CallContext, written: &Tags) -> Tags {
    let own = context.tags().into_iter().map(|(key, value)| (key, encoded(&value)));
    written.clone().into_iter().chain(own).collect()
}

/// The tags that an object was seen with, less those that AWS sets by itself.
pub(crate) fn seen(tags: impl IntoIterator<Item = (String, String)>) -> Tags {
    tags.into_iter().filter(|(key, _)| !key.starts_with(RESERVED)).collect()
}

/// The tags as a program would write them.
pub(crate) fn written(tags: &Tags) -> Tags {
    tags.clone().into_iter().filter(|(key, _)| !key.starts_with(OWN)).collect()
}

/// Whose an object with these tags is. Marks of others are taken off what is known of it, so that whoever takes the
/// object over sees that its own are missing.
pub(crate) fn recognise(context: &CallContext, tags: &mut Tags) -> Ownership {
    let ownership = ownership(context, tags);
    if ownership == Ownership::Unowned {
        *tags = written(tags);
    }
    ownership
}

fn ownership(context: &CallContext, tags: &Tags) -> Ownership {
    let expected = context.tags();
    let decoded = tags.iter().map(|(key, value)| match expected.get(key) {
        Some(own) if encoded(own) == *value => (key.clone(), own.clone()),
        _ => (key.clone(), value.clone()),
    });
    context.recognise(&decoded.collect())
}

/// Plans an update of an object that does not bear our marks, such as one that was just taken over: only what bears
/// them is ever deleted.
pub(crate) fn update_if_unmarked(tags: Option<&Tags>, plan: &mut PlanHook) {
    plan.outputs_may_change();
    if tags.is_some_and(|tags| !tags.keys().any(|key| key.starts_with(OWN))) {
        plan.update();
    }
}

/// Whether an object belongs to the same stack and stage, whichever of its resources it is. What carries no tags itself
/// belongs to whom the object it is part of belongs to.
pub(crate) fn is_of_this_stack(context: &CallContext, tags: &Tags) -> bool {
    let own = context.tags();
    ["trueup:stack", "trueup:stage"]
        .iter()
        .all(|key| own.get(*key).map(|value| encoded(value)).as_ref() == tags.get(*key))
}

/// Refuses to delete what no longer bears our tags (DELETE-9).
pub(crate) fn ensure_owned(context: &CallContext, tags: &Tags, what: &str) -> Result<()> {
    match ownership(context, tags) {
        Ownership::Owned { .. } => Ok(()),
        Ownership::Unowned => Err(not_ours(what)),
    }
}

/// Why something is not deleted.
pub(crate) fn not_ours(what: &str) -> Error {
    Error::conflict(format!("{what} does not bear the marks of this stack, so it may be someone else's"))
        .hint("deploy once more, which marks it again, then delete it; or forget it with `trueup state rm`")
}

/// A tag as lists of them have it.
#[derive(Serialize, Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
pub(crate) struct Tag {
    key: String,
    value: String,
}

/// The form that services take which want a list.
pub(crate) fn listed(tags: Tags) -> Vec<Tag> {
    tags.into_iter().map(|(key, value)| Tag { key, value }).collect()
}

/// The tags that an object was seen with, from a list.
pub(crate) fn seen_in(tags: Vec<Tag>) -> Tags {
    seen(tags.into_iter().map(|tag| (tag.key, tag.value)))
}

/// The tags that an object was seen with, from the elements of a document.
pub(crate) fn seen_in_xml<'a>(tags: impl Iterator<Item = &'a Element>) -> Tags {
    seen(tags.map(|tag| (tag.owned_text_of("Key"), tag.owned_text_of("Value"))))
}

/// Gives an object the tags it is to have: what is missing is set, what is too many taken away, each by the service's own
/// call.
pub(crate) async fn synchronise<S, R>(
    (context, written): (&CallContext, &Tags),
    seen: &Tags,
    what: &str,
    set: impl FnOnce(Tags) -> S,
    remove: impl FnOnce(Vec<String>) -> R,
) -> Result<()>
where
    S: Future<Output = Result<(), CallError>>,
    R: Future<Output = Result<(), CallError>>,
{
    let changes = TagChanges::between(seen, &wanted(context, written));
    if !changes.set.is_empty() {
        set(changes.set).await.map_err(cannot(format!("tag {what}")))?;
    }
    if !changes.removed.is_empty() {
        remove(changes.removed).await.map_err(cannot(format!("untag {what}")))?;
    }
    Ok(())
}

/// What to set and what to take away, to come from some tags to others.
#[derive(Debug, PartialEq, Eq)]
struct TagChanges {
    set: Tags,
    removed: Vec<String>,
}

impl TagChanges {
    fn between(seen: &Tags, wanted: &Tags) -> Self {
        let set = wanted.iter().filter(|(key, value)| seen.get(*key) != Some(value));
        let removed = seen.keys().filter(|key| !wanted.contains_key(*key)).cloned();
        TagChanges {
            set: set.map(|(key, value)| (key.clone(), value.clone())).collect(),
            removed: removed.collect(),
        }
    }
}

/// A value as AWS takes it; no two values become one.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b' '
            | b'_'
            | b'.'
            | b':'
            | b'/'
            | b'='
            | b'+'
            | b'-' => {
                text.push(char::from(byte));
            }
            other => {
                let _ = write!(text, "@{other:02x}");
            }
        }
    }
    if text.len() > VALUE_LENGTH_MAX {
        let digest = Sha256::digest(value.as_bytes());
        text.truncate(READABLE_LENGTH);
        text.push_str("@@");
        for byte in &digest[..16] {
            let _ = write!(text, "{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use trueup_provider::GenerationNumber;

    use super::*;

    fn context(address: &str) -> CallContext {
        CallContext::new("shop", "prod", address.parse().unwrap())
    }

    /// RECONCILE-4: an address of any form is recognised in what AWS takes for a tag.
    #[test]
    fn an_object_is_recognised_by_tags_that_aws_takes() {
        let long = format!("module.{}.awsn_sqs_queue.jobs", "m".repeat(300));
        for address in [r#"awsn_sqs_queue.jobs["a/ü"]"#, "awsn_sqs_queue.jobs", &long] {
            let context = context(address);
            let tags = wanted(&context, &Tags::from([("team".to_owned(), "web".to_owned())]));
            let allowed = |char: char| char.is_ascii_alphanumeric() || " _.:/=+-@".contains(char);
            assert!(tags.values().all(|value| value.len() <= 256 && value.chars().all(allowed)), "{tags:?}");
            assert_eq!(
                ownership(&context, &tags),
                Ownership::Owned { generation: Some(GenerationNumber::FIRST) }
            );
            assert_eq!(written(&tags).len(), 1);
        }
        let tags = wanted(&context(r#"awsn_sqs_queue.jobs["a"]"#), &Tags::new());
        assert_eq!(ownership(&context(r#"awsn_sqs_queue.jobs["b"]"#), &tags), Ownership::Unowned);
        assert!(is_of_this_stack(&context("awsn_sqs_queue.other"), &tags));
    }

    #[test]
    fn changes_leave_alone_what_is_as_it_should_be() {
        let tags = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<Tags>()
        };
        let changes = TagChanges::between(
            &tags(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &tags(&[("a", "1"), ("b", "2")]),
        );
        assert_eq!(changes, TagChanges { set: tags(&[("b", "2")]), removed: vec!["c".to_owned()] });
    }
}
