//! Files whose paths match a pattern: `*`, `?`, `[a-z]`, `{a,b}` within a folder, `**` across folders.

use std::path::Path;

use regex::Regex;

use super::filesystem::is_file;

/// How deep folders are searched, and how many entries are looked at.
const DEPTH_MAX: usize = 64;
const ENTRIES_MAX: usize = 1_000_000;

/// The paths of matching files, relative to the folder, with slashes. A folder that is not there holds none.
pub(super) fn matching_files(folder: &Path, pattern: &str) -> Result<Vec<String>, String> {
    let matcher = matcher(pattern)?;
    // What comes before the first folder with a special character leads to where the search begins, even upwards.
    let fixed_end = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    let fixed = pattern[..fixed_end].rfind('/').map_or("", |slash| &pattern[..=slash]);
    let depth =
        if pattern.contains("**") { DEPTH_MAX } else { pattern[fixed.len()..].matches('/').count() + 1 };
    let mut search = Search { matcher, found: Vec::new(), looked_at: 0 };
    search.folder(&folder.join(fixed), fixed, depth)?;
    search.found.sort();
    Ok(search.found)
}

struct Search {
    matcher: Regex,
    found: Vec<String>,
    looked_at: usize,
}

impl Search {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), String> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            self.looked_at += 1;
            if self.looked_at > ENTRIES_MAX {
                return Err(format!("there are more than {ENTRIES_MAX} files to look at"));
            }
            // A name that is no text cannot stand in a value.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let relative = format!("{prefix}{name}");
            let path = entry.path();
            // Links to folders are not followed: they may lead in circles.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth > 1 {
                    self.folder(&path, &format!("{relative}/"), depth - 1)?;
                }
            } else if self.matcher.is_match(&relative) && is_file(&path) {
                self.found.push(relative);
            }
        }
        Ok(())
    }
}

/// The pattern as one for texts.
fn matcher(pattern: &str) -> Result<Regex, String> {
    let invalid = |what: &str| format!("the pattern cannot be used: {what}");
    let mut text = String::from("^");
    let mut rest = pattern;
    let mut alternatives = 0usize;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        match char {
            '*' if rest.starts_with("*/") => {
                rest = &rest[2..];
                text.push_str("(?:.*/)?");
            }
            '*' if rest.starts_with('*') => {
                rest = &rest[1..];
                text.push_str(".*");
            }
            '*' => text.push_str("[^/]*"),
            '?' => text.push_str("[^/]"),
            '[' => {
                let end =
                    rest.find(']').filter(|end| *end > 0).ok_or_else(|| invalid("a `[` is never closed"))?;
                let class = &rest[..end];
                rest = &rest[end + 1..];
                let (negated, class) = match class.strip_prefix(['!', '^']) {
                    Some(class) => ("^/", class),
                    None => ("", class),
                };
                let class =
                    class.replace('\\', "\\\\").replace('[', "\\[").replace('&', "\\&").replace('~', "\\~");
                text.push_str(&format!("[{negated}{class}]"));
            }
            '{' => {
                alternatives += 1;
                text.push_str("(?:");
            }
            '}' if alternatives > 0 => {
                alternatives -= 1;
                text.push(')');
            }
            ',' if alternatives > 0 => text.push('|'),
            '\\' => {
                let escaped = rest.chars().next().ok_or_else(|| invalid("nothing follows a `\\`"))?;
                rest = &rest[escaped.len_utf8()..];
                text.push_str(&regex::escape(&escaped.to_string()));
            }
            other => text.push_str(&regex::escape(&other.to_string())),
        }
    }
    if alternatives > 0 {
        return Err(invalid("a `{` is never closed"));
    }
    text.push('$');
    Regex::new(&text).map_err(|_| invalid("a class in brackets is invalid"))
}
