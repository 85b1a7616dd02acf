//! What must hold between the attributes of a block (CRUD-11).

use smol_str::SmolStr;

use crate::value::Entries;

/// A condition on which attributes are set together. An unknown value counts as either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One of these and no more.
    ExactlyOneOf(Vec<SmolStr>),
    /// One of these or more.
    AtLeastOneOf(Vec<SmolStr>),
    /// One of these or none.
    AtMostOneOf(Vec<SmolStr>),
    /// All of these or none.
    AllOrNone(Vec<SmolStr>),
    /// Where the first is set, all of the others are.
    RequiredWith(SmolStr, Vec<SmolStr>),
}

impl Rule {
    /// What is wrong and what to do, or `None` if the rule holds or may yet hold.
    pub(super) fn violation(&self, entries: &Entries) -> Option<(String, &'static str)> {
        let counted = |names: &[SmolStr]| {
            let given = |name: &&SmolStr| entries.get(name).filter(|value| !value.is_null());
            let set =
                names.iter().filter(|name| given(name).is_some_and(|value| !value.is_unknown())).count();
            let perhaps = names.iter().filter(|name| given(name).is_some()).count();
            (set, perhaps)
        };
        let found = |wrong: bool, summary: String, hint| wrong.then_some((summary, hint));
        match self {
            Rule::ExactlyOneOf(names) => {
                let (set, perhaps) = counted(names);
                found(
                    set > 1,
                    format!("only one of {} may be set", listed(names)),
                    "keep one, remove the others",
                )
                .or_else(|| found(perhaps == 0, format!("one of {} must be set", listed(names)), "set one"))
            }
            Rule::AtLeastOneOf(names) => found(
                counted(names).1 == 0,
                format!("at least one of {} must be set", listed(names)),
                "set one",
            ),
            Rule::AtMostOneOf(names) => {
                let summary = format!("at most one of {} may be set", listed(names));
                found(counted(names).0 > 1, summary, "keep one, remove the others")
            }
            Rule::AllOrNone(names) => {
                let (set, perhaps) = counted(names);
                let summary = format!("{} must be set together", listed(names));
                found(set > 0 && perhaps < names.len(), summary, "set all or none")
            }
            Rule::RequiredWith(name, needed) => {
                let (set, _) = counted(std::slice::from_ref(name));
                let absent = |name: &&SmolStr| counted(std::slice::from_ref(name)).1 == 0;
                let missing: Vec<SmolStr> = needed.iter().filter(absent).cloned().collect();
                let summary = format!("`{name}` needs {} as well", listed(&missing));
                found(set == 1 && !missing.is_empty(), summary, "set them all, or leave the first out")
            }
        }
    }
}

fn listed(names: &[SmolStr]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
