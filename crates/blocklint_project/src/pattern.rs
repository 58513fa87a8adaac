//! Patterns of files in `exclude` and `per-file-ignores`, with the meaning that they have in ruff.

use camino::{Utf8Path, Utf8PathBuf};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::root::absolute;

/// Checks that a text is a pattern.
///
/// # Errors
///
/// The mistake in it.
pub fn check_pattern(pattern: &str) -> Result<(), String> {
    if pattern.is_empty() {
        return Err("a pattern is not empty".to_owned());
    }
    if pattern.len() > MAX_LENGTH {
        let start: String = pattern.chars().take(20).collect();
        return Err(format!("`{start}…` is no pattern: it has more than {MAX_LENGTH} bytes"));
    }
    let built = Glob::new(pattern).and_then(|glob| GlobSetBuilder::new().add(glob).build());
    match built {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("`{pattern}` is no pattern: {}", error.kind())),
    }
}

/// The greatest length of a pattern, in bytes.
const MAX_LENGTH: usize = 1_000;

/// A set of patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    /// The patterns of whole paths.
    paths: GlobSet,
    /// The patterns of the last name of a path.
    names: GlobSet,
}

impl Patterns {
    /// Compiles patterns, each with the folder to which it is relative. An invalid pattern matches nothing;
    /// [`check_pattern`] reported it before. With `every_name`, also a pattern with `/` is matched with the last name
    /// of a path.
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = (&'p Utf8Path, &'p str)>, every_name: bool) -> Self {
        let (mut paths, mut names) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for (folder, pattern) in patterns {
            let trimmed = if pattern.len() > 1 { pattern.trim_end_matches('/') } else { pattern };
            // Special characters in the name of the folder itself are escaped.
            let full = if Utf8Path::new(trimmed).is_absolute() {
                Utf8PathBuf::from(trimmed)
            } else {
                absolute(Utf8Path::new(&globset::escape(folder.as_str())), Utf8Path::new(trimmed))
            };
            if let Ok(glob) = Glob::new(full.as_str()) {
                paths.add(glob);
            }
            if (every_name || !trimmed.contains('/'))
                && let Ok(glob) = Glob::new(trimmed)
            {
                names.add(glob);
            }
        }
        Patterns { paths: paths.build().unwrap_or_default(), names: names.build().unwrap_or_default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.names.is_empty()
    }

    /// True if a pattern matches this path itself.
    pub(crate) fn matches(&self, path: &Utf8Path) -> bool {
        path.file_name().is_some_and(|name| self.names.is_match(name)) || self.paths.is_match(path)
    }

    /// True if a pattern matches this path, or a folder above it that is below `root`.
    pub(crate) fn covers(&self, path: &Utf8Path, root: &Utf8Path) -> bool {
        !self.is_empty() && path.ancestors().take_while(|above| *above != root).any(|above| self.matches(above))
    }
}

/// A pattern of `per-file-ignores`.
#[derive(Clone, Debug)]
pub struct FilePattern {
    patterns: Patterns,
    negated: bool,
}

impl FilePattern {
    /// Compiles a pattern that is relative to a folder. With a `!` before it, it matches all other files.
    pub fn new(folder: &Utf8Path, pattern: &str) -> Self {
        let (negated, pattern) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        FilePattern { patterns: Patterns::new([(folder, pattern)].into_iter(), true), negated }
    }

    /// True if the pattern matches a file, by its absolute path.
    pub fn matches(&self, path: &Utf8Path) -> bool {
        self.patterns.matches(path) != self.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        let root = Utf8Path::new("/p");
        Patterns::new([(root, pattern)].into_iter(), false).covers(Utf8Path::new(path), root)
    }

    #[test]
    fn names_match_at_any_depth_and_paths_from_their_folder() {
        for (pattern, path) in [
            ("build", "/p/build/a.py"),
            ("build/", "/p/x/build/a.py"),
            ("*_pb2.py", "/p/x/y_pb2.py"),
            ("docs/examples", "/p/docs/examples/x/a.py"),
            ("./docs", "/p/docs/a.py"),
            ("**/vendor/*.py", "/p/x/vendor/a.py"),
            ("tests/*", "/p/tests/a/b.py"),
            ("/p/a.py", "/p/a.py"),
        ] {
            assert!(covers(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("docs/examples", "/p/x/docs/examples/a.py"),
            ("build", "/p/builder/a.py"),
            ("p", "/p/a.py"),
            ("a", "/p/a.py"),
        ] {
            assert!(!covers(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn special_characters_in_the_folders_name_are_literal() {
        let root = Utf8Path::new("/odd[1]");
        let patterns = Patterns::new([(root, "gen/*.py")].into_iter(), false);
        assert!(patterns.covers(Utf8Path::new("/odd[1]/gen/a.py"), root));
    }

    #[test]
    fn an_exclamation_mark_negates_a_file_pattern() {
        let root = Utf8Path::new("/p");
        let path = Utf8Path::new("/p/src/a.py");
        assert!(FilePattern::new(root, "src/**").matches(path) && !FilePattern::new(root, "!src/**").matches(path));
        assert!(FilePattern::new(root, "!tests/**").matches(path) && FilePattern::new(root, "a.py").matches(path));
    }

    #[test]
    fn check_pattern_returns_the_mistake() {
        assert_eq!(check_pattern("a/{b").map_err(|text| text.starts_with("`a/{b` is no pattern: ")), Err(true));
        assert!(check_pattern("").is_err() && check_pattern("**/x").is_ok());
        let long = check_pattern(&"{a,b}".repeat(1_000)).expect_err("too long");
        assert_eq!(long, "`{a,b}{a,b}{a,b}{a,b}…` is no pattern: it has more than 1000 bytes");
    }
}
