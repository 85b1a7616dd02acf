//! Cases: the configurations that a folder has one after another.

use std::path::Path;

use trueup_test_servers::sized;

/// A case.
pub(crate) struct Case {
    pub(crate) name: String,
    /// As it is written.
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
}

/// A configuration.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) title: String,
    /// Objects to change by hand before: the object, the attribute, and its value in JSON.
    pub(crate) tampered: Vec<(String, String, String)>,
    /// The files: paths and texts, `main.tf` first. But for that one, those of the step before are still there.
    pub(crate) files: Vec<(String, String)>,
}

impl Case {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        Self::parse(&path.file_stem().unwrap().to_string_lossy(), &text)
    }

    fn parse(name: &str, text: &str) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        let mut current = 0;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("=== ") {
                let mut files = vec![("main.tf".to_owned(), String::new())];
                files.extend(steps.last().iter().flat_map(|step| step.files.iter().skip(1).cloned()));
                steps.push(Step { title: title.to_owned(), tampered: Vec::new(), files });
                current = 0;
                continue;
            }
            // What stands before the first step says what the case is about.
            let Some(step) = steps.last_mut() else { continue };
            if let Some(path) = line.strip_prefix("--- ") {
                let known = step.files.iter().position(|(known, _)| known == path);
                current = known.unwrap_or(step.files.len());
                match step.files.get_mut(current) {
                    Some((_, text)) => text.clear(),
                    None => step.files.push((path.to_owned(), String::new())),
                }
            } else if let Some(change) = line.strip_prefix("!!! ") {
                let mut words = change.splitn(3, ' ').map(str::to_owned);
                step.tampered.push((words.next().unwrap(), words.next().unwrap(), words.next().unwrap()));
            } else if let Some((_, text)) = step.files.get_mut(current) {
                text.push_str(line);
                text.push('\n');
            }
        }
        Case { name: name.to_owned(), text: text.to_owned(), steps }
    }

    /// The versions of our own provider that have all that it uses.
    pub(crate) fn versions(&self) -> Vec<u8> {
        let mut texts = self.steps.iter().flat_map(|step| &step.files);
        if texts.any(|(_, text)| text.contains("fixture_tree")) { vec![6] } else { vec![5, 6] }
    }

    /// In the ordinary run the first configurations alone.
    pub(crate) fn shortened(mut self) -> Self {
        self.steps.truncate(sized(3, usize::MAX));
        self
    }

    /// The versions to run it with: in the ordinary run one of them, which differs from case to case.
    pub(crate) fn versions_to_run(&self) -> Vec<u8> {
        let all = self.versions();
        let either = all[self.name.len() % all.len()];
        sized(vec![either], all)
    }
}

impl Step {
    /// An output of all that is declared in the folder itself and not repeated.
    pub(crate) fn output_of_all(&self) -> String {
        let declared = self.resources();
        let lines: String =
            declared.iter().map(|(kind, name)| format!("    \"{kind}.{name}\" = {kind}.{name}\n")).collect();
        format!("output \"all\" {{\n  sensitive = true\n  value = {{\n{lines}  }}\n}}\n")
    }

    fn resources(&self) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for (_, text) in self.files.iter().filter(|(path, _)| path.ends_with(".tf") && !path.contains('/')) {
            let mut lines = text.lines().peekable();
            while let Some(line) = lines.next() {
                let Some(("resource", kind, name)) = head_of(line) else { continue };
                let next = lines.peek().map_or("", |line| line.trim_start());
                // The ids of `terraform_data` are random.
                if !next.starts_with("count") && !next.starts_with("for_each") && kind != "terraform_data" {
                    found.push((kind, name));
                }
            }
        }
        found
    }

    /// The types that are declared, in all folders: those of resources, or of data sources.
    pub(crate) fn types<'s>(&'s self, block: &'s str) -> impl Iterator<Item = &'s str> {
        let lines = self.files.iter().flat_map(|(_, text)| text.lines());
        lines.filter_map(head_of).filter(move |(word, ..)| *word == block).map(|(_, kind, _)| kind)
    }

    /// The sources of the providers that are required.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        let lines = self.files.iter().flat_map(|(_, text)| text.lines());
        let sources = lines.filter_map(|line| {
            // `source = "…"`, by itself or in a line with the provider's name.
            let line = line.split_once('{').map_or(line, |(_, rest)| rest).trim_start();
            line.strip_prefix("source")?.trim_start().strip_prefix('=')?.split('"').nth(1)
        });
        // Those of modules are folders.
        sources.filter(|source| !source.starts_with('.') && source.contains('/'))
    }
}

/// The head of a block with two labels.
fn head_of(line: &str) -> Option<(&str, &str, &str)> {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
    match words.as_slice() {
        [word, kind, name, "{"] => Some((word, kind, name)),
        _ => None,
    }
}
