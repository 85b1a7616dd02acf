//! The path to a line of a YAML document, by its indentation.
//!
//! YAML is compared line by line, because comments and layout matter to whoever reads it. The path tells which member
//! changed. A text that is not plainly YAML has no paths: none is better than a wrong one.

/// The members and items of a YAML document, read once for the paths to all of its lines.
pub(crate) struct YamlOutline<'t> {
    entries: Vec<Entry<'t>>,
}

/// A line with a key, a dash or both.
struct Entry<'t> {
    line: usize,
    indent: usize,
    /// How many items of its list stand above, if it is one.
    item: Option<usize>,
    key: Option<&'t str>,
    key_indent: usize,
    /// The entry that it is part of.
    parent: Option<usize>,
}

impl<'t> YamlOutline<'t> {
    /// `None` unless every line is a comment, blank, a member, an item, or deeper than the line before.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let mut entries: Vec<Entry<'t>> = Vec::new();
        // The last entry and all that it is part of, from the outside in.
        let mut open: Vec<usize> = Vec::new();
        let mut indent_max = 0;
        for (number, line) in text.lines().enumerate() {
            let rest = line.trim_start_matches(' ');
            if line == "---" {
                open.clear();
            }
            if rest.is_empty() || rest.starts_with('#') || rest == "---" {
                continue;
            }
            match Entry::of(line, number) {
                Some(mut entry) => {
                    indent_max = entry.indent;
                    entry.place(&entries, &mut open);
                    open.push(entries.len());
                    entries.push(entry);
                }
                // Text of a block, such as a script.
                None if line.len() - rest.len() > indent_max && !line.starts_with('\t') => {}
                None => return None,
            }
        }
        let members = entries.iter().filter(|entry| entry.key.is_some()).count();
        (members >= 2).then_some(YamlOutline { entries })
    }

    /// The path to a line, such as `spec.containers[0].image`.
    pub(crate) fn path(&self, line: usize) -> Option<String> {
        let mut at = self.entries.partition_point(|entry| entry.line <= line).checked_sub(1);
        let mut steps: Vec<String> = Vec::new();
        // What stands further right is beside the path. The key of a list may stand right above its dashes.
        let mut keys_left_of = usize::MAX;
        while let Some(entry) = at.map(|at| &self.entries[at]) {
            steps.extend(entry.key.filter(|_| entry.key_indent < keys_left_of).map(str::to_owned));
            steps.extend(entry.item.map(|above| format!("[{above}]")));
            keys_left_of = entry.indent + usize::from(entry.item.is_some());
            at = entry.parent;
        }
        let mut path = String::new();
        for step in steps.iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        (!path.is_empty()).then_some(path)
    }
}

impl<'t> Entry<'t> {
    fn of(line: &'t str, number: usize) -> Option<Self> {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let item = rest.strip_prefix("- ").or_else(|| (rest == "-").then_some(""));
        let inside = item.unwrap_or(rest).trim_start_matches(' ');
        let key = key(inside);
        (item.is_some() || key.is_some()).then_some(Entry {
            line: number,
            indent,
            item: item.map(|_| 0),
            key,
            key_indent: line.len() - inside.len(),
            parent: None,
        })
    }

    /// Closes what it is not part of.
    fn place(&mut self, entries: &[Entry<'_>], open: &mut Vec<usize>) {
        while let Some(last) = open.last().map(|at| &entries[*at]) {
            let is_above_dash = last.indent == self.indent && self.item.is_some() && last.item.is_none();
            if last.indent < self.indent || is_above_dash {
                break;
            }
            if let (Some(_), Some(before)) = (self.item, last.item.filter(|_| last.indent == self.indent)) {
                self.item = Some(before + 1);
            }
            open.pop();
        }
        self.parent = open.last().copied();
    }
}

/// The key that a line begins with.
fn key(text: &str) -> Option<&str> {
    let end = text.find(": ").or_else(|| text.strip_suffix(':').map(str::len))?;
    let key = &text[..end];
    let is_plain = |char: char| char.is_alphanumeric() || "_-./ \"'".contains(char);
    (!key.is_empty() && key.chars().all(is_plain)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
# Made by hand.
kind: Deployment
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        image: web:1
        args:
          - --quiet
          - --port
      - name: log
        image: log:1
  script: |
    echo one
    echo two
";

    fn check(text: &str, line: &str, expected: Option<&str>) {
        let at = text.lines().position(|it| it == line).unwrap();
        let path = YamlOutline::of(text).and_then(|outline| outline.path(at));
        assert_eq!(path.as_deref(), expected, "{line}");
    }

    #[test]
    fn a_line_of_yaml_has_a_path() {
        check(MANIFEST, "kind: Deployment", Some("kind"));
        check(MANIFEST, "  replicas: 2", Some("spec.replicas"));
        check(MANIFEST, "        image: web:1", Some("spec.template.spec.containers[0].image"));
        check(MANIFEST, "        image: log:1", Some("spec.template.spec.containers[1].image"));
        check(MANIFEST, "      - name: log", Some("spec.template.spec.containers[1].name"));
        check(MANIFEST, "          - --port", Some("spec.template.spec.containers[0].args[1]"));
        check(MANIFEST, "    echo two", Some("spec.script"));
        let documents = "a: 1\n- b: 2\n---\n- - c\n- d: 3\n  e:\n  - 4\n  f: 5\n";
        check(documents, "- b: 2", Some("a[0].b"));
        check(documents, "- d: 3", Some("[1].d"));
        check(documents, "  - 4", Some("[1].e[0]"));
        check(documents, "  f: 5", Some("[1].f"));
    }

    #[test]
    fn other_texts_have_no_paths() {
        check("Dear all,\nnote: this is prose.\n", "note: this is prose.", None);
        check("def f():\n    return 1\n", "    return 1", None);
        check("a: 1\n", "a: 1", None);
    }
}
