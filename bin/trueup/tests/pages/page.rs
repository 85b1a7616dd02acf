//! A page as a list of things to do.
//!
//! - A block of `sh` holds commands. A block of `text` right after it is what they show.
//! - A block of `hcl` or `toml` whose first line is `# NAME`, or of `rust` whose first line is `// NAME`, is the content
//!   of the file of that name.
//! - Nothing else may stand in a block, so that no command escapes. Only the command that runs all checks may, indented:
//!   it runs this test.

use std::path::Path;

/// A page.
pub(crate) struct Page {
    pub(crate) parts: Vec<Part>,
}

/// Something to do.
pub(crate) enum Part {
    /// Commands, and what they show if the page says so.
    Commands { line: usize, script: String, shown: Option<String> },
    /// A file to write.
    File { name: String, text: String },
}

/// What runs this test, and cannot run in it.
const ALL_CHECKS: &str = "    cargo xtask ci";

impl Page {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut parts: Vec<Part> = Vec::new();
        let mut lines = text.lines().enumerate();
        // Whether nothing but space stands between here and the last commands.
        let mut beside = false;
        while let Some((number, line)) = lines.next() {
            let place = format!("{}:{}", path.display(), number + 1);
            let Some(kind) = line.strip_prefix("```") else {
                let indented = line.starts_with("    ");
                assert!(!indented || line == ALL_CHECKS, "{place}: put this into a block that can be run");
                beside &= line.trim().is_empty();
                continue;
            };
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let body = body.join("\n") + "\n";
            match (kind, parts.last_mut()) {
                ("sh", _) => parts.push(Part::Commands { line: number + 1, script: body, shown: None }),
                ("text", Some(Part::Commands { shown: shown @ None, .. })) if beside => *shown = Some(body),
                ("hcl" | "toml" | "rust", _) => {
                    let sign = if kind == "rust" { "// " } else { "# " };
                    let name = body.lines().next().and_then(|line| line.strip_prefix(sign));
                    let name =
                        name.unwrap_or_else(|| panic!("{place}: the first line names no file")).to_owned();
                    parts.push(Part::File { name, text: body });
                }
                _ => panic!("{place}: a block of `{kind}` means nothing here"),
            }
            beside = kind == "sh";
        }
        Page { parts }
    }
}
