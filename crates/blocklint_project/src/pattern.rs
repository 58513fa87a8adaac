//! Patterns of files: what `exclude` and `per-file-ignores` mean, as users of ruff expect it.

use camino::{Utf8Path, Utf8PathBuf};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::root::absolute;

/// True if a text is a pattern.
///
/// # Errors
///
/// Returns the mistake in it.
pub fn check_pattern(pattern: &str) -> Result<(), String> {
    if pattern.is_empty() {
        return Err("a pattern is not empty".to_owned());
    }
    if pattern.len() > LONGEST {
        let start: String = pattern.chars().take(20).collect();
        return Err(format!("`{start}…` is no pattern: it has more than {LONGEST} bytes"));
    }
    let built = Glob::new(pattern).and_then(|glob| GlobSetBuilder::new().add(glob).build());
    match built {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("`{pattern}` is no pattern: {}", error.kind())),
    }
}

/// No person writes a longer pattern, in bytes.
const LONGEST: usize = 1_000;

/// Patterns of one folder's configuration, or of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patterns {
    /// Matched against whole paths.
    paths: GlobSet,
    /// Matched against the last name of a path.
    names: GlobSet,
}

impl Patterns {
    /// Patterns, each with the folder it counts from. One that is none, which was told before, matches nothing.
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = (&'p Utf8Path, &'p str)>, every_name: bool) -> Self {
        let (mut paths, mut names) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for (folder, pattern) in patterns {
            let trimmed = if pattern.len() > 1 { pattern.trim_end_matches('/') } else { pattern };
            // Signs of patterns in the folder's own name are escaped.
            let full = match Utf8Path::new(trimmed).is_absolute() {
                true => Utf8PathBuf::from(trimmed),
                false => absolute(Utf8Path::new(&globset::escape(folder.as_str())), Utf8Path::new(trimmed)),
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

    /// True if this very path is meant.
    pub(crate) fn matches(&self, path: &Utf8Path) -> bool {
        path.file_name().is_some_and(|name| self.names.is_match(name)) || self.paths.is_match(path)
    }

    /// True if this path or a folder above it, below `root`, is meant.
    pub(crate) fn covers(&self, path: &Utf8Path, root: &Utf8Path) -> bool {
        !self.is_empty() && path.ancestors().take_while(|above| *above != root).any(|above| self.matches(above))
    }
}

/// One pattern of `per-file-ignores`.
#[derive(Clone, Debug)]
pub struct FilePattern {
    patterns: Patterns,
    negated: bool,
}

impl FilePattern {
    /// Returns the pattern, counted from a folder; `!` before it means what does not match.
    pub fn new(folder: &Utf8Path, pattern: &str) -> Self {
        let (negated, pattern) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        FilePattern { patterns: Patterns::new([(folder, pattern)].into_iter(), true), negated }
    }

    /// True if a file, by its absolute path, is meant.
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
    fn a_folder_s_own_name_is_no_pattern() {
        let root = Utf8Path::new("/odd[1]");
        let patterns = Patterns::new([(root, "gen/*.py")].into_iter(), false);
        assert!(patterns.covers(Utf8Path::new("/odd[1]/gen/a.py"), root));
    }

    #[test]
    fn a_pattern_of_files_can_be_turned_round() {
        let root = Utf8Path::new("/p");
        let path = Utf8Path::new("/p/src/a.py");
        assert!(FilePattern::new(root, "src/**").matches(path) && !FilePattern::new(root, "!src/**").matches(path));
        assert!(FilePattern::new(root, "!tests/**").matches(path) && FilePattern::new(root, "a.py").matches(path));
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        assert_eq!(check_pattern("a/{b").map_err(|text| text.starts_with("`a/{b` is no pattern: ")), Err(true));
        assert!(check_pattern("").is_err() && check_pattern("**/x").is_ok());
        let long = check_pattern(&"{a,b}".repeat(1_000)).expect_err("too long");
        assert_eq!(long, "`{a,b}{a,b}{a,b}{a,b}…` is no pattern: it has more than 1000 bytes");
    }
}
