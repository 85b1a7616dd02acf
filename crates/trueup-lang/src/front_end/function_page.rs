//! The page of the reference that lists the functions.

use trueup_front_end::GeneratedFile;

use crate::functions::{names, signatures};

pub(super) fn function_page() -> GeneratedFile {
    let mut text = format!(
        "<!-- Written by `trueup reference`. Changes made here are lost. -->\n\n# Functions\n\n\
         The {} built-in functions, each as in Terraform 1.11. A parameter with dots takes any number of arguments.\n",
        names().count()
    );
    for (family, signatures) in signatures() {
        text.push_str(&format!("\n## {family}\n\n"));
        signatures.iter().for_each(|signature| text.push_str(&format!("- `{signature}`\n")));
    }
    GeneratedFile { path: "functions.md".into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_listed_once() {
        let page = function_page().text;
        for name in names() {
            assert_eq!(page.matches(&format!("- `{name}(")).count(), 1, "{name}");
        }
    }
}
