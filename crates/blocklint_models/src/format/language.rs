//! The syntax of paths in each language: the separator of segments, and the root by which a library is known.

use blocklint_core::Language;

/// Returns the separator of a path's segments: `::` in Rust, `.` elsewhere.
pub fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust => "::",
        Language::Python | Language::Java => ".",
    }
}

/// Returns the part of a path that identifies a library: its first segment (`requests`). In Java, where most paths
/// begin with `com` or `org`, it is up to three segments of the package, without globs and class names.
pub fn library_root(language: Language, path: &str) -> &str {
    if language != Language::Java {
        return path.split(separator(language)).next().unwrap_or(path);
    }
    let is_package = |segment: &&str| {
        segment.starts_with(|first: char| first.is_lowercase()) && !segment.contains(['*', '[', '{', '(', '<'])
    };
    let segments = path.split('.').take(3).take_while(is_package);
    let end: usize = segments.map(|segment| segment.len() + 1).sum();
    &path[..end.saturating_sub(1)]
}
