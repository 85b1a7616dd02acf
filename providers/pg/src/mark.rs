//! Whose an object is, kept as the last line of its comment: PostgreSQL has no other place for it.
//!
//! What people wrote stands before it and stays. Grants have no comment: they are known by what they say.

use std::collections::BTreeMap;

use trueup_provider::{CallContext, Ownership};

/// What the line begins with; the tags follow as JSON.
const BEGINNING: &str = "trueup: ";

/// A comment, taken apart.
pub(crate) struct Comment<'a> {
    human: &'a str,
    tags: BTreeMap<String, String>,
}

impl<'a> Comment<'a> {
    pub(crate) fn parse(text: Option<&'a str>) -> Self {
        let text = text.unwrap_or_default();
        let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
        let tags = last.strip_prefix(BEGINNING).and_then(|tags| serde_json::from_str(tags).ok());
        match tags {
            Some(tags) => Comment { human: before, tags },
            None => Comment { human: text, tags: BTreeMap::new() },
        }
    }

    /// What stands before the mark.
    pub(crate) fn human(&self) -> &str {
        self.human
    }

    pub(crate) fn ownership(&self, context: &CallContext) -> Ownership {
        context.recognise(&self.tags)
    }

    pub(crate) fn is_ours(&self, context: &CallContext) -> bool {
        self.ownership(context) != Ownership::Unowned
    }

    /// Whether it says that the object is someone else's, rather than nothing.
    pub(crate) fn is_of_another(&self, context: &CallContext) -> bool {
        !self.tags.is_empty() && !self.is_ours(context)
    }

    /// The comment that says whose the object is, if this one does not say it yet.
    pub(crate) fn marked(&self, context: &CallContext) -> Option<String> {
        let tags = context.tags();
        (tags != self.tags).then(|| with_mark(self.human, &tags))
    }
}

/// The comment of a new object.
pub(crate) fn new_mark(context: &CallContext) -> String {
    with_mark("", &context.tags())
}

fn with_mark(human: &str, tags: &BTreeMap<String, String>) -> String {
    let tags = serde_json::Value::from_iter(tags.clone());
    match human {
        "" => format!("{BEGINNING}{tags}"),
        human => format!("{human}\n{BEGINNING}{tags}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_behind_what_people_wrote_and_is_recognised() {
        let context = CallContext::new("site", "prod", "pg_role.app".parse().unwrap());
        let marked = Comment::parse(Some("for\nthe app")).marked(&context).unwrap();
        assert_eq!(
            marked,
            "for\nthe app\ntrueup: {\"trueup:address\":\"pg_role.app\",\"trueup:generation\":\"0\",\
             \"trueup:stack\":\"site\",\"trueup:stage\":\"prod\"}"
        );
        let again = Comment::parse(Some(&marked));
        assert!(again.is_ours(&context) && again.marked(&context).is_none());
        let other = CallContext::new("site", "dev", "pg_role.app".parse().unwrap());
        assert!(!again.is_ours(&other) && again.is_of_another(&other) && !again.is_of_another(&context));
        assert_eq!(again.marked(&other).unwrap(), marked.replace("prod", "dev"));
        assert!(!Comment::parse(None).is_ours(&context));
        assert!(!Comment::parse(Some("trueup: {nonsense")).is_ours(&context));
    }
}
