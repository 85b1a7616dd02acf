//! The stacks that are measured: folders of `.tf` files, the same for every tool. All but two are of `terraform_data`,
//! which needs no provider and no network, so what is measured is the tool alone.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::operation::Edition;

/// A stack of a shape and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Workload {
    pub(crate) shape: Shape,
    pub(crate) resources: usize,
}

/// How the resources of a stack hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// One resource: what is left is the start of the tool.
    StartUp,
    /// Chains of ten.
    Chains,
    /// One, then all others, then one that takes from all of them.
    Fan,
    /// One chain.
    Deep,
    /// A module with a chain of ten, many times by `for_each`.
    Modules,
    /// Texts of a megabyte each, half of them handed on.
    LargeValues,
    /// An output for each resource, and five references in each.
    Outputs,
    /// One resource of the largest provider there is, whose plugin stays from one command to the next.
    Aws,
    /// The same, and nothing stays.
    AwsCold,
}

impl Shape {
    pub(crate) const ALL: [Shape; 9] = [
        Shape::StartUp,
        Shape::Chains,
        Shape::Fan,
        Shape::Deep,
        Shape::Modules,
        Shape::LargeValues,
        Shape::Outputs,
        Shape::Aws,
        Shape::AwsCold,
    ];

    /// What one types to have it alone.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Shape::StartUp => "start-up",
            Shape::Chains => "chains",
            Shape::Fan => "fan",
            Shape::Deep => "deep",
            Shape::Modules => "modules",
            Shape::LargeValues => "large-values",
            Shape::Outputs => "outputs",
            Shape::Aws => "aws",
            Shape::AwsCold => "aws-cold",
        }
    }

    /// What it is, in a line.
    pub(crate) fn purpose(self) -> &'static str {
        match self {
            Shape::StartUp => "one resource",
            Shape::Chains => "chains of ten",
            Shape::Fan => "one resource, all others after it, and one after all of them",
            Shape::Deep => "one chain of all resources",
            Shape::Modules => "a module with a chain of ten, many times by `for_each`",
            Shape::LargeValues => "texts of 1 MB, each handed on once",
            Shape::Outputs => "an output for each resource, and five references in each",
            Shape::Aws => {
                "one parameter by hashicorp/aws on an emulator; trueup's plugin stays a while, as at a terminal"
            }
            Shape::AwsCold => "the same, and nothing stays from one command to the next, as in CI",
        }
    }

    /// Whether its resources are those of a provider, which needs a [`crate::cloud::Cloud`].
    pub(crate) fn needs_cloud(self) -> bool {
        matches!(self, Shape::Aws | Shape::AwsCold)
    }
}

/// How long a chain is.
const CHAIN: usize = 10;
/// How many resources a file holds.
const RESOURCES_OF_A_FILE: usize = 1_000;
/// The length of a large value.
const LARGE_BYTES: usize = 1_000_000;

/// A file: its path in the folder of the stack, and its text.
pub(crate) type File = (String, String);

impl Workload {
    /// The files of an edition. Those that are the same in two editions have the same name.
    pub(crate) fn files(self, edition: Edition) -> Vec<File> {
        match self.shape {
            Shape::StartUp | Shape::Chains => self.in_files(|it| resource(it, edition, self, &chain(it))),
            Shape::Deep => self.in_files(|it| {
                resource(it, edition, self, &it.checked_sub(1).into_iter().collect::<Vec<_>>())
            }),
            Shape::Fan => self.in_files(|it| resource(it, edition, self, &self.fan(it))),
            Shape::Outputs => self.in_files(|it| {
                let earlier = (1..=5).filter_map(|back| it.checked_sub(back * 7)).collect::<Vec<_>>();
                resource(it, edition, self, &earlier)
                    + &format!("output \"o{it}\" {{\n  value = terraform_data.r{it}.output\n}}\n\n")
            }),
            Shape::LargeValues => self.in_files(|it| large(it, edition, self)),
            Shape::Modules => self.modules(edition),
            Shape::Aws | Shape::AwsCold => self.in_files(|it| parameter(it, edition, self)),
        }
    }

    /// For people, and for folders.
    pub(crate) fn name(self) -> String {
        format!("{}-{}", self.shape.name(), self.resources)
    }

    fn in_files(self, text: impl Fn(usize) -> String) -> Vec<File> {
        let all: Vec<usize> = (0..self.resources).collect();
        let files = all.chunks(RESOURCES_OF_A_FILE).enumerate();
        files.map(|(file, of)| (format!("part{file}.tf"), of.iter().map(|it| text(*it)).collect())).collect()
    }

    fn fan(self, index: usize) -> Vec<usize> {
        match index {
            0 => Vec::new(),
            last if last + 1 == self.resources => (1..last).collect(),
            _ => vec![0],
        }
    }

    /// The module is called for each of its keys; `changed` names the one whose last resource is another.
    fn modules(self, edition: Edition) -> Vec<File> {
        let keys: Vec<String> = (0..self.resources / CHAIN).map(|it| format!("\"k{it}\"")).collect();
        let revision = if edition == Edition::AllChanged { 2 } else { 1 };
        let changed = if edition == Edition::OneChanged { "k0" } else { "" };
        let main = format!(
            "module \"part\" {{\n  source   = \"./part\"\n  for_each = toset([{}])\n  key      = each.key\n  \
             revision = {revision}\n  changed  = each.key == \"{changed}\"\n}}\n",
            keys.join(", ")
        );
        let mut part =
            String::from("variable \"key\" {}\nvariable \"revision\" {}\nvariable \"changed\" {}\n\n");
        for it in 0..CHAIN {
            let revision = if it + 1 == CHAIN { "var.changed ? 3 : var.revision" } else { "var.revision" };
            let previous =
                chain(it).first().map_or("null".to_owned(), |it| format!("terraform_data.r{it}.id"));
            let _ = write!(
                part,
                "resource \"terraform_data\" \"r{it}\" {{\n  input = {{\n    name     = \"${{var.key}}-{it}\"\n    \
                 revision = {revision}\n    after    = [{previous}]\n  }}\n}}\n\n"
            );
        }
        part.push_str(&format!("output \"last\" {{\n  value = terraform_data.r{}.id\n}}\n", CHAIN - 1));
        vec![("main.tf".into(), main), ("part/main.tf".into(), part)]
    }
}

/// The one before it in its chain.
fn chain(index: usize) -> Vec<usize> {
    if index.is_multiple_of(CHAIN) { Vec::new() } else { vec![index - 1] }
}

/// A resource that refers to others by their ids, which stay when they are updated: so one change is one change.
fn resource(index: usize, edition: Edition, of: Workload, after: &[usize]) -> String {
    let after: Vec<String> = after.iter().map(|it| format!("terraform_data.r{it}.id")).collect();
    format!(
        "resource \"terraform_data\" \"r{index}\" {{\n  input = {{\n    name     = \"r{index}\"\n    \
         revision = {}\n    after    = [{}]\n  }}\n}}\n\n",
        revision(index, edition, of),
        after.join(", ")
    )
}

/// The even ones hold a large text, the odd ones hand on that of the one before.
fn large(index: usize, edition: Edition, of: Workload) -> String {
    let input = if index.is_multiple_of(2) {
        let letter = char::from(b'a' + (index % 26) as u8);
        format!("\"{}-{index}-{}\"", revision(index, edition, of), letter.to_string().repeat(LARGE_BYTES))
    } else {
        format!("[{}, terraform_data.r{}.output]", revision(index, edition, of), index - 1)
    };
    format!("resource \"terraform_data\" \"r{index}\" {{\n  input = {input}\n}}\n\n")
}

/// A resource of AWS that is there as soon as it is asked for.
fn parameter(index: usize, edition: Edition, of: Workload) -> String {
    format!(
        "resource \"aws_ssm_parameter\" \"r{index}\" {{\n  name  = \"/bench/r{index}\"\n  type  = \"String\"\n  \
         value = \"{}\"\n}}\n\n",
        revision(index, edition, of)
    )
}

/// What makes the input of a resource another one: of the last resource, which nothing depends on, or of all.
fn revision(index: usize, edition: Edition, of: Workload) -> u8 {
    match edition {
        Edition::First => 1,
        Edition::OneChanged => 1 + u8::from(index + 1 == of.resources),
        // Not what the one change left.
        Edition::AllChanged => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: Shape, resources: usize, edition: Edition) -> String {
        Workload { shape, resources }.files(edition).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_stack_has_as_many_resources_as_it_says() {
        for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::Modules) {
            let text = text(shape, 40, Edition::First);
            assert_eq!(text.matches("resource \"").count(), 40, "{}", shape.name());
        }
        let modules = text(Shape::Modules, 40, Edition::First);
        assert_eq!(modules.matches("resource \"").count(), CHAIN);
        assert!(modules.contains("\"k3\"") && !modules.contains("\"k4\""), "{modules}");
    }

    #[test]
    fn one_change_is_one_line() {
        for shape in Shape::ALL {
            let [first, changed] = [Edition::First, Edition::OneChanged].map(|it| text(shape, 40, it));
            let different = first.lines().zip(changed.lines()).filter(|(one, other)| one != other).count();
            assert_eq!(different, 1, "{}", shape.name());
        }
    }

    #[test]
    fn a_hundred_thousand_fill_a_hundred_files() {
        let workload = Workload { shape: Shape::Chains, resources: 100_000 };
        assert_eq!(workload.files(Edition::First).len(), 100);
    }
}
