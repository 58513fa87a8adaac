//! What differs between the languages in how names are written.

use blocklint_core::Language;

/// What stands between the segments of a path: `::` in Rust, `.` elsewhere.
pub fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust => "::",
        Language::Python | Language::Java => ".",
    }
}
