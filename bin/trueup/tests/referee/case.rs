//! Cases: the configurations that a folder has one after another.

use std::path::Path;

/// A case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// A configuration.
pub(crate) struct Step {
    pub(crate) title: String,
    /// Objects to change by hand before: the object, the attribute, and its value in JSON.
    pub(crate) tampered: Vec<(String, String, String)>,
    /// The files: paths and texts, `main.tf` first.
    pub(crate) files: Vec<(String, String)>,
}

impl Case {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        Self::parse(&path.file_stem().unwrap().to_string_lossy(), &text)
    }

    pub(crate) fn parse(name: &str, text: &str) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("=== ") {
                let files = vec![("main.tf".to_owned(), String::new())];
                steps.push(Step { title: title.to_owned(), tampered: Vec::new(), files });
                continue;
            }
            // What stands before the first step says what the case is about.
            let Some(step) = steps.last_mut() else { continue };
            if let Some(path) = line.strip_prefix("--- ") {
                step.files.push((path.to_owned(), String::new()));
            } else if let Some(change) = line.strip_prefix("!!! ") {
                let mut words = change.splitn(3, ' ').map(str::to_owned);
                step.tampered.push((words.next().unwrap(), words.next().unwrap(), words.next().unwrap()));
            } else if let Some((_, text)) = step.files.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
        Case { name: name.to_owned(), steps }
    }

    /// The versions of our own provider that have all that it uses.
    pub(crate) fn versions(&self) -> Vec<u8> {
        let mut texts = self.steps.iter().flat_map(|step| &step.files);
        if texts.any(|(_, text)| text.contains("fixture_tree")) { vec![6] } else { vec![5, 6] }
    }
}

impl Step {
    /// The resources that `main.tf` declares and that are not repeated: type and name.
    pub(crate) fn resources(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        let (_, text) = &self.files[0];
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
            let ["resource", kind, name, "{"] = words.as_slice() else { continue };
            let next = lines.peek().map_or("", |line| line.trim_start());
            // The ids of `terraform_data` are random.
            if !next.starts_with("count") && !next.starts_with("for_each") && *kind != "terraform_data" {
                found.push((*kind, *name));
            }
        }
        found
    }
}
