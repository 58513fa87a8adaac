//! The source files of a project, sorted, and paths compared as the plain text they are.
//!
//! Paths here are absolute and clean (`absolute`, or a folder's entries below one), so that their text tells
//! what their components would, many times faster.

use std::cmp::Ordering;

use blocklint_core::Language;
use camino::{Utf8Path, Utf8PathBuf};

/// Source files with their languages, each once, sorted by path.
#[derive(Debug, Default)]
pub(crate) struct Sources(Vec<(Utf8PathBuf, Language)>);

impl Sources {
    /// Sorts them; of one path met twice, one is kept.
    pub(crate) fn new(mut files: Vec<(Utf8PathBuf, Language)>) -> Self {
        files.sort_unstable_by(|a, b| by_parts(&a.0, &b.0));
        files.dedup_by(|a, b| a.0.as_str() == b.0.as_str());
        Sources(files)
    }

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Utf8Path, Language)> {
        self.0.iter().map(|(path, language)| (path.as_path(), *language))
    }

    /// Returns the paths in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Utf8Path> {
        self.0.iter().map(|(path, _)| path.as_path())
    }

    /// Returns those of one language, in order.
    pub(crate) fn of(&self, language: Language) -> impl Iterator<Item = &Utf8Path> {
        self.iter().filter(move |(_, of)| *of == language).map(|(path, _)| path)
    }

    /// True if a file is among them, however its path is written.
    pub(crate) fn holds(&self, path: &Utf8Path) -> bool {
        self.0.binary_search_by(|(file, _)| file.as_path().cmp(path)).is_ok()
    }

    /// Returns those below a folder, in order.
    pub(crate) fn below(&self, folder: &Utf8Path) -> impl Iterator<Item = &Utf8Path> {
        let start = self.0.partition_point(|(path, _)| by_parts(path, folder) == Ordering::Less);
        // The paths below a folder stand directly behind it in this order.
        self.0[start..].iter().map(|(path, _)| path.as_path()).take_while(move |path| path.starts_with(folder))
    }
}

/// Returns the order of paths by their parts: as of their text, but a separator comes before every other character.
pub(crate) fn by_parts(a: &Utf8Path, b: &Utf8Path) -> Ordering {
    let (a, b) = (a.as_str().as_bytes(), b.as_str().as_bytes());
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(at) if is_separator(a[at]) => Ordering::Less,
        Some(at) if is_separator(b[at]) => Ordering::Greater,
        Some(at) => a[at].cmp(&b[at]),
        None => a.len().cmp(&b.len()),
    }
}

/// Returns the rest of a path behind a folder that it lies in; empty for the folder itself.
pub(crate) fn inside<'p>(path: &'p Utf8Path, folder: &Utf8Path) -> Option<&'p str> {
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
    fn text_tells_what_components_tell() {
        let paths =
            ["/", "/a", "/a/b", "/a/b.py", "/a/b/c.py", "/a-b/c", "/a b", "/a!/x", "/ab", "/ä/x", "/a/b c/d", "/a/b"];
        for a in paths.map(Utf8Path::new) {
            for b in paths.map(Utf8Path::new) {
                assert_eq!(by_parts(a, b), a.cmp(b), "{a} {b}");
                assert_eq!(inside(a, b), a.strip_prefix(b).ok().map(Utf8Path::as_str), "{a} {b}");
            }
        }
    }

    #[test]
    fn files_are_found_once_and_below_their_folder() {
        let files = ["/p/b/c.py", "/p/b.py", "/p/b/c.py", "/p/b-c/d.py", "/p/a.py"];
        let sources = Sources::new(files.map(|path| (Utf8PathBuf::from(path), Language::Python)).to_vec());
        assert_eq!(sources.paths().collect::<Vec<_>>(), ["/p/a.py", "/p/b/c.py", "/p/b-c/d.py", "/p/b.py"]);
        assert_eq!(sources.below(Utf8Path::new("/p/b")).collect::<Vec<_>>(), ["/p/b/c.py"]);
        assert!(sources.holds(Utf8Path::new("/p/./b.py")) && !sources.holds(Utf8Path::new("/p/b")));
    }
}
