//! Checks that every relative link of the markdown documents leads to a file or folder that exists.
//!
//! Inline links, images and reference definitions are followed; what stands in code is not a link. Fragments are cut
//! off, not checked; addresses with a scheme are left alone, because the check needs no network.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::repository::{self, Repository};

/// All broken links, one line each.
pub(crate) fn check(repository: &Repository) -> Result<Vec<String>, Failure> {
    let documents = repository.documents()?;
    println!("documents: {}", documents.len());
    let mut findings = Vec::new();
    for document in documents {
        let markdown = repository::read(&document)?;
        let shown = repository.relative(&document);
        for link in links(&markdown) {
            if resolve(&link.target, &document, &repository.root).is_some_and(|path| !path.exists()) {
                let Link { line, target } = link;
                findings.push(format!("{}:{line}: `{target}` does not exist", shown.display()));
            }
        }
    }
    Ok(findings)
}

/// What the links of a document lead to, as they are written.
pub(crate) fn targets(markdown: &str) -> impl Iterator<Item = String> {
    links(markdown).into_iter().map(|link| link.target)
}

#[derive(Debug, PartialEq, Eq)]
struct Link {
    line: usize,
    target: String,
}

/// The path that a link names, or nothing when it leads within its own document or out of the repository's files.
fn resolve(target: &str, document: &Path, root: &Path) -> Option<PathBuf> {
    let path = target.split(['#', '?']).next().filter(|path| !path.is_empty())?;
    if has_scheme(path) {
        return None;
    }
    match path.strip_prefix('/') {
        Some(from_root) => Some(root.join(from_root)),
        None => Some(document.parent().unwrap_or(root).join(path)),
    }
}

fn has_scheme(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// All links of a document outside code, in order.
fn links(markdown: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut open_fence: Option<&str> = None;
    for (index, line) in markdown.lines().enumerate() {
        let start = line.trim_start();
        if let Some(fence) = open_fence {
            if start.starts_with(fence) {
                open_fence = None;
            }
            continue;
        }
        open_fence = ["```", "~~~"].into_iter().find(|fence| start.starts_with(fence));
        if open_fence.is_some() {
            continue;
        }
        let text = without_code(line);
        let targets = reference_definition(&text).into_iter().chain(inline_targets(&text));
        found.extend(targets.map(|target| Link { line: index + 1, target }));
    }
    found
}

/// The line with its code spans cut out. A span ends at a run of as many backticks as opened it.
fn without_code(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        text.push_str(&rest[..open]);
        let ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let (fence, after) = rest[open..].split_at(ticks);
        match after.find(fence) {
            Some(close) => rest = after[close..].trim_start_matches('`'),
            // Backticks that nothing closes on this line stand for themselves.
            None => rest = after,
        }
    }
    text + rest
}

/// The target of a line such as `[label]: path "title"`.
fn reference_definition(line: &str) -> Option<String> {
    let (_, target) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    destination(target.trim_start())
}

/// The targets of `[text](path "title")` and `![text](path)`.
fn inline_targets(line: &str) -> Vec<String> {
    line.match_indices("](").filter_map(|(at, opening)| destination(&line[at + opening.len()..])).collect()
}

/// The link destination at the start of the text: in angle brackets, or up to white space or the closing parenthesis.
fn destination(text: &str) -> Option<String> {
    if let Some(bracketed) = text.strip_prefix('<') {
        return bracketed.split_once('>').map(|(target, _)| target.to_owned());
    }
    let mut depth = 0_usize;
    let end = text.find(|c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        c.is_whitespace()
    });
    let target = &text[..end.unwrap_or(text.len())];
    (!target.is_empty()).then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &[&str]) {
        let found: Vec<String> = links(markdown).into_iter().map(|link| link.target).collect();
        assert_eq!(found, expected, "in {markdown:?}");
    }

    #[test]
    fn inline_links_images_and_definitions_are_found() {
        check("see [a](a.md) and ![b](img/b.png \"title\"), [c][c]", &["a.md", "img/b.png"]);
        check("[label]: docs/c.md 'title'", &["docs/c.md"]);
        check("[spaced](<a b.md>) [wiki](a_(b).md)", &["a b.md", "a_(b).md"]);
        check("[`code` in the text](d.md)", &["d.md"]);
    }

    #[test]
    fn code_holds_no_links() {
        check("`[a](a.md)` and ``[`b`](b.md)``", &[]);
        check("```md\n[a](a.md)\n```\n[b](b.md)", &["b.md"]);
        check("~~~\n```\n[a](a.md)\n~~~\n", &[]);
        check("a lone ` tick [a](a.md)", &["a.md"]);
    }

    #[test]
    fn a_link_knows_its_line() {
        assert_eq!(links("\n\n[a](a.md)"), [Link { line: 3, target: "a.md".to_owned() }]);
    }

    #[test]
    fn targets_resolve_from_their_document_or_from_the_root() {
        let resolved = |target| resolve(target, Path::new("/r/docs/spec/a.md"), Path::new("/r"));
        assert_eq!(resolved("b.md"), Some(PathBuf::from("/r/docs/spec/b.md")));
        assert_eq!(resolved("../b.md#part"), Some(PathBuf::from("/r/docs/spec/../b.md")));
        assert_eq!(resolved("/README.md"), Some(PathBuf::from("/r/README.md")));
    }

    #[test]
    fn fragments_and_addresses_with_a_scheme_are_left_alone() {
        let resolved = |target| resolve(target, Path::new("/r/a.md"), Path::new("/r"));
        assert_eq!(resolved("#part"), None);
        assert_eq!(resolved("https://example.org/a.md"), None);
        assert_eq!(resolved("mailto:someone@example.org"), None);
    }
}
