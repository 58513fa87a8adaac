//! The differences between the languages in how names are written.

use blocklint_core::Language;

/// Returns the separator of a path's segments: `::` in Rust, `.` elsewhere.
pub fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust => "::",
        Language::Python | Language::Java => ".",
    }
}

/// Returns the part of a path by which a project has a library: its first segment; of Java, where most begin alike, the
/// first three segments of the package, as far as they are plain.
pub fn root(language: Language, path: &str) -> &str {
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
