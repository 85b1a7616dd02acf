//! Different ways to write one path.

use std::path::{Component, Path, PathBuf};

/// Whether two paths are the same as far as their text tells: `./a//b` is `a/b`. What links and absolute paths lead to
/// takes a look at the disk, and may differ tomorrow.
pub(crate) fn same_path(left: &str, right: &str) -> bool {
    plain(left) == plain(right)
}

/// A path without steps that lead nowhere. Steps up stay: behind a link they lead elsewhere than they seem to.
fn plain(path: &str) -> PathBuf {
    Path::new(path).components().filter(|step| !matches!(step, Component::CurDir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_however_it_is_written() {
        assert!(same_path("./a//b/", "a/b"));
        assert!(same_path("/a/./b", "/a/b"));
        assert!(!same_path("a/../b", "b"));
        assert!(!same_path("/a", "a"));
    }
}
