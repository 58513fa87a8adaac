//! The sorted list of source files, and comparisons of paths by their text.
//!
//! Paths here are absolute and without `.` and `..`, so comparing their texts is equal to comparing their components,
//! and much faster.

use std::cmp::Ordering;

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};

/// Source files with their languages, sorted by path, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Sources(Vec<(Utf8PathBuf, Language)>);

impl Sources {
    /// Sorts the files and removes duplicates.
    pub(crate) fn new(mut files: Vec<(Utf8PathBuf, Language)>) -> Self {
        files.sort_unstable_by(|a, b| compare_paths(&a.0, &b.0));
        files.dedup_by(|a, b| a.0.as_str() == b.0.as_str());
        Sources(files)
    }

    /// Returns the files with their languages, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Utf8Path, Language)> {
        self.0.iter().map(|(path, language)| (path.as_path(), *language))
    }

    /// Returns the paths in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Utf8Path> {
        self.0.iter().map(|(path, _)| path.as_path())
    }

    /// Returns the files of a language, in order.
    pub(crate) fn of_language(&self, language: Language) -> impl Iterator<Item = &Utf8Path> {
        self.iter().filter(move |(_, file_language)| *file_language == language).map(|(path, _)| path)
    }

    /// True if a file is in the list, even if its path is written with `.`.
    pub(crate) fn contains(&self, path: &Utf8Path) -> bool {
        self.0.binary_search_by(|(file, _)| file.as_path().cmp(path)).is_ok()
    }

    /// Returns the files below a folder, in order.
    pub(crate) fn below(&self, folder: &Utf8Path) -> impl Iterator<Item = &Utf8Path> {
        let start = self.0.partition_point(|(path, _)| compare_paths(path, folder) == Ordering::Less);
        // In this order, the paths below a folder directly follow it.
        self.0[start..].iter().map(|(path, _)| path.as_path()).take_while(move |path| path.starts_with(folder))
    }
}

/// Compares two paths by components: by their texts, but a separator comes before every other character.
pub(crate) fn compare_paths(a: &Utf8Path, b: &Utf8Path) -> Ordering {
    let (a, b) = (a.as_str().as_bytes(), b.as_str().as_bytes());
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(index) if is_separator(a[index]) => Ordering::Less,
        Some(index) if is_separator(b[index]) => Ordering::Greater,
        Some(index) => a[index].cmp(&b[index]),
        None => a.len().cmp(&b.len()),
    }
}

/// Returns the part of a path below a folder; `None` if it is not in the folder, and empty for the folder itself.
pub(crate) fn rest_below<'p>(path: &'p Utf8Path, folder: &Utf8Path) -> Option<&'p str> {
    let rest = path.as_str().strip_prefix(folder.as_str())?;
    match rest.as_bytes().first() {
        None => Some(rest),
        Some(first) if is_separator(*first) => Some(&rest[1..]),
        // The root of a file system ends with its separator.
        Some(_) => folder.as_str().bytes().last().is_some_and(is_separator).then_some(rest),
    }
}

fn is_separator(byte: u8) -> bool {
    std::path::is_separator(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparing_texts_equals_comparing_components() {
        let paths =
            ["/", "/a", "/a/b", "/a/b.py", "/a/b/c.py", "/a-b/c", "/a b", "/a!/x", "/ab", "/ä/x", "/a/b c/d", "/a/b"];
        for a in paths.map(Utf8Path::new) {
            for b in paths.map(Utf8Path::new) {
                assert_eq!(compare_paths(a, b), a.cmp(b), "{a} {b}");
                assert_eq!(rest_below(a, b), a.strip_prefix(b).ok().map(Utf8Path::as_str), "{a} {b}");
            }
        }
    }

    #[test]
    fn duplicates_are_removed_and_below_returns_a_folder() {
        let files = ["/p/b/c.py", "/p/b.py", "/p/b/c.py", "/p/b-c/d.py", "/p/a.py"];
        let sources = Sources::new(files.map(|path| (Utf8PathBuf::from(path), Language::Python)).to_vec());
        assert_eq!(sources.paths().collect::<Vec<_>>(), ["/p/a.py", "/p/b/c.py", "/p/b-c/d.py", "/p/b.py"]);
        assert_eq!(sources.below(Utf8Path::new("/p/b")).collect::<Vec<_>>(), ["/p/b/c.py"]);
        assert!(sources.contains(Utf8Path::new("/p/./b.py")) && !sources.contains(Utf8Path::new("/p/b")));
    }
}
