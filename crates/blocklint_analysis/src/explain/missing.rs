//! Library calls without a row, in bodies that must not block (`blocklint debug missing`): they show which models are
//! missing.

use blocklint_core::{Confidence, Language, Span};
use blocklint_facts::{SiteFlags, SiteId, SiteKind};
use blocklint_flow::entries::root::Roots;
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, PathId};
use blocklint_link::values::value::EnvId;

/// A call of a library path that no row describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCall {
    /// The file.
    pub file: FileId,
    /// The call.
    pub span: Span,
    /// The library path.
    pub path: String,
    /// True if a model describes other names of this library.
    pub known_library: bool,
    /// True if the result is awaited, so that the call holds no thread while it waits.
    pub awaited: bool,
}

/// Returns every call in a root of a reported file whose library path no row describes, in the order of files and
/// places. Built-in names of the language and tests are left out.
pub fn find_missing_calls(linker: &Linker<'_>) -> Vec<MissingCall> {
    let roots = Roots::new(linker);
    let mut calls = Vec::new();
    for (index, file) in linker.program.files.iter().enumerate().filter(|(_, file)| file.reported) {
        let id = FileId(index as u32);
        if linker.program.is_test(id) {
            continue;
        }
        for site in 0..file.facts.sites.len() as u32 {
            let site = id.site_ref(SiteId(site));
            let site_facts = linker.program.site(site);
            if !matches!(site_facts.kind, SiteKind::Call | SiteKind::New | SiteKind::Macro) {
                continue;
            }
            let body = id.body_ref(file.facts.body_of(site_facts.at));
            if roots.find_root(body).is_none_or(|root| root.confidence() < Confidence::Medium)
                || linker.is_inside_tests(body)
            {
                continue;
            }
            let targets = linker.targets(site, EnvId::NONE);
            for target in &targets.list {
                let Target::Row { path, property: false, .. } = *target else { continue };
                let Some((path, known_library)) = undescribed_path(linker, file.facts.language, path) else { continue };
                let awaited = site_facts.flags.has(SiteFlags::AWAITED);
                calls.push(MissingCall { file: id, span: site_facts.span, path, known_library, awaited });
            }
        }
    }
    calls
}

/// Returns the path if no row describes it, and true if a row describes other names of its library.
fn undescribed_path(linker: &Linker<'_>, language: Language, path: PathId) -> Option<(String, bool)> {
    let library = &linker.library;
    let text = library.text(path);
    let separator = blocklint_link::models::library::separator(language);
    let library_name = text.split(separator).next().unwrap_or(&text);
    // Outside of Python a name without a path belongs to no library, because no import shows its origin.
    let is_bare = language != Language::Python && !text.contains(separator);
    let is_own = is_bare || matches!((language, library_name), (Language::Python, "builtins"));
    // Types with `<` exist only in models.
    if is_own || text.contains('<') {
        return None;
    }
    // A path with members that rows describe is a type, and its constructor is harmless.
    let is_described = !library.calls(path).is_empty()
        || !library.handovers(path).is_empty()
        || library.ty(path).is_some()
        || library.is_type(path);
    (!is_described).then(|| (text.to_string(), library.knows_root(language, library_name)))
}
