//! Rule `late-monkey-patch`: imports that run before `monkey.patch_all()` and keep unpatched names. The rule follows
//! the top level of modules in the order of execution.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{BodyId, FileFacts, Form, FormId, Import, ImportKind, SiteId, SiteKind};
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_link::lang;
use blocklint_link::lang::python::names::{imported_module, module_file_in};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{Units, calls_of};
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_models::Switch;
use rustc_hash::FxHashSet;

use crate::rules::mistakes::MistakeSearch;

/// An import that runs before the patch.
#[derive(Clone, Debug)]
pub(crate) struct LateImport {
    /// The import in the file that patches or starts the program, or the patching call if it is in a function.
    pub(crate) site: SiteRef,
    /// The imports from `site` to the import that takes the name, one in each file. Empty if `site` is a patching call
    /// in a function, which runs after all imports of its module.
    pub(crate) imports: Vec<SiteRef>,
    /// The name that is imported unpatched (`time.sleep`), or the module that imports such names.
    pub(crate) taken: String,
    /// True if `taken` is a module that imports such names itself.
    pub(crate) is_module: bool,
    /// The path of the patching call.
    pub(crate) patch: String,
    /// The confidence that the import runs first.
    pub(crate) confidence: Confidence,
}

/// The most imports through which modules are followed.
const MAX_IMPORTS: usize = 12;

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LATE_MONKEY_PATCH);
    let all = search.attempt(rule, || find_late_imports(linker, search.units));
    let finding = |import: LateImport| {
        let LateImport { site, imports, taken, is_module, patch, confidence } = import;
        let mistake = Mistake::LateMonkeyPatch { imported: taken.clone(), is_module, patch };
        let mut finding = search.finding((rule, mistake), site, taken.clone(), Severity::Warning, confidence);
        if !imports.is_empty() {
            finding.trace = imports.iter().map(|&site| import_step(linker, site, &taken)).collect();
        }
        finding
    };
    all.into_iter().map(finding).collect()
}

/// Returns the trace step for an import.
fn import_step(linker: &Linker<'_>, site: SiteRef, taken: &str) -> RawStep {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    RawStep {
        file: site.file,
        span: site_facts.span,
        function: linker.module_name(site.file),
        call: taken.to_owned(),
        written: format!("import {}", facts.text(site_facts.name)),
    }
}

/// Returns every import that runs before the patch, one for each statement.
pub(crate) fn find_late_imports(linker: &Linker<'_>, units: &Units) -> Vec<LateImport> {
    let switches: Vec<&Switch> = linker.library.of(Language::Python).switches().map(|(switch, _)| switch).collect();
    let mut late_imports = Vec::new();
    for switch in switches.into_iter().filter(|switch| !switch.patches.is_empty()) {
        let patching: Vec<SiteRef> = switch.call.iter().flat_map(|path| calls_of(linker, path)).collect();
        for path in &switch.call {
            for call in calls_of(linker, path) {
                let is_patched_before = units.is_set(linker, call.file, &switch.name);
                // If a server patches before it loads the program, no import is too early.
                if !is_patched_before && !linker.program.is_test(call.file) && is_top_level(linker, call) {
                    add_imports_before_call(linker, switch, path, call, &mut late_imports);
                } else if !is_patched_before
                    && !linker.program.is_test(call.file)
                    && !patching.iter().any(|other| {
                        // Another module of the same program that patches at import time may run first.
                        is_top_level(linker, *other)
                            && !linker.program.is_test(other.file)
                            && std::ptr::eq(units.of(linker, other.file), units.of(linker, call.file))
                    })
                {
                    late_imports.extend(import_before_late_call(linker, switch, path, call));
                }
            }
        }
    }
    late_imports.sort_by_key(|import: &LateImport| (import.site, std::cmp::Reverse(import.confidence)));
    late_imports.dedup_by_key(|import| import.site);
    late_imports
}

/// True if a file is the start of a program: it tests `__name__`, or has a usual name (`main.py`).
fn is_entry_point(linker: &Linker<'_>, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let is_documentation = relative.split('/').any(|folder| matches!(folder, "docs" | "doc" | "examples" | "example"));
    let facts = linker.program.facts(file);
    let tests_name = facts.regions.iter().any(|region| match facts.form(region.test) {
        Form::Compare(_, left, _) => is_dunder_name(facts, left),
        _ => false,
    });
    let has_usual_name =
        matches!(name, "__main__.py" | "main.py" | "wsgi.py" | "app.py" | "server.py" | "manage.py" | "run.py");
    !is_documentation && !linker.program.is_test(file) && (tests_name || has_usual_name)
}

/// True if a site is at the top level of its file.
fn is_top_level(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.program.body_of_site(site) == site.file.body_ref(BodyId(0))
}

/// Returns the late import for a patching call in a function, which runs after all imports of its module.
fn import_before_late_call(linker: &Linker<'_>, switch: &Switch, path: &str, call: SiteRef) -> Option<LateImport> {
    let facts = linker.program.facts(call.file);
    facts.imports.iter().filter(|import| runs_at_import(linker, call.file, import)).find_map(|import| {
        let mut imports = vec![import_site(linker, call.file, &import)?];
        let mut visited = FxHashSet::from_iter([call.file]);
        let (taken, is_module) = find_unpatched_name(linker, switch, call.file, &import, &mut imports, &mut visited)?;
        let (patch, confidence) = (path.to_owned(), Confidence::High);
        Some(LateImport { site: call, imports: Vec::new(), taken, is_module, patch, confidence })
    })
}

/// Adds the imports that run before a patching call: in its own file, and in entry points that import that file.
fn add_imports_before_call(
    linker: &Linker<'_>,
    switch: &Switch,
    path: &str,
    call: SiteRef,
    late_imports: &mut Vec<LateImport>,
) {
    let until = linker.program.site(call).at.position;
    add_imports_before(linker, switch, path, call.file, until, Confidence::High, late_imports);
    for (file, import) in importers(linker, call.file) {
        // A file that others import may run after an entry point has patched.
        if !is_entry_point(linker, file) || !importers(linker, file).is_empty() {
            continue;
        }
        let patches_itself = switch.call.iter().flat_map(|path| calls_of(linker, path)).any(|other| {
            other.file == file && position_of(linker, other) < import.at.position && is_top_level(linker, other)
        });
        if patches_itself {
            continue;
        }
        add_imports_before(linker, switch, path, file, import.at.position, Confidence::Medium, late_imports);
    }
}

/// Adds the imports of a file that run before a position and take unpatched names.
fn add_imports_before(
    linker: &Linker<'_>,
    switch: &Switch,
    path: &str,
    file: FileId,
    until: u32,
    confidence: Confidence,
    late_imports: &mut Vec<LateImport>,
) {
    let facts = linker.program.facts(file);
    for import in facts.imports.iter().filter(|import| runs_at_import(linker, file, import)) {
        if import.at.position >= until {
            continue;
        }
        let Some(site) = import_site(linker, file, &import) else { continue };
        let mut imports = vec![site];
        let mut visited = FxHashSet::from_iter([file]);
        if let Some((taken, is_module)) = find_unpatched_name(linker, switch, file, &import, &mut imports, &mut visited)
        {
            late_imports.push(LateImport { site, imports, taken, is_module, patch: path.to_owned(), confidence });
        }
    }
}

/// Returns the first name that an import takes before the patch, itself or in the modules that it runs, and true if
/// that name is a module that takes such names.
fn find_unpatched_name(
    linker: &Linker<'_>,
    switch: &Switch,
    file: FileId,
    import: &Import,
    imports: &mut Vec<SiteRef>,
    visited: &mut FxHashSet<FileId>,
) -> Option<(String, bool)> {
    let facts = linker.program.facts(file);
    let (module, name) = (facts.text(import.module), facts.text(import.name));
    let (target, folder) = imported_module(linker, file, import);
    if target.is_none() && folder.is_none() && import.level == 0 {
        if import.kind == ImportKind::Name {
            let full = format!("{module}.{name}");
            if switch.patches.contains(&full) {
                return Some((full, false));
            }
        }
        let is_copy = |copy: &String| {
            module == copy || module.strip_prefix(copy.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        return switch.copies.iter().find(|copy| is_copy(copy)).map(|copy| (copy.clone(), true));
    }
    let mut targets: Vec<FileId> = target.into_iter().collect();
    if import.kind == ImportKind::Name
        && let Some(folder) = folder
        && let Some(name) = linker.program.global(file, import.name)
    {
        targets.extend(module_file_in(linker, &folder, name));
    }
    for target in targets {
        if imports.len() >= MAX_IMPORTS
            || !visited.insert(target)
            || linker.program.language(target) != Language::Python
        {
            continue;
        }
        let inner = linker.program.facts(target);
        // Imports after a patch in the module are in order.
        let patched = switch.call.iter().flat_map(|path| calls_of(linker, path));
        let patched = patched.filter(|call| call.file == target && is_top_level(linker, *call));
        let until = patched.map(|call| linker.program.site(call).at.position).min().unwrap_or(u32::MAX);
        for import in inner.imports.iter().filter(|import| runs_at_import(linker, target, import)) {
            let Some(site) = import_site(linker, target, &import).filter(|_| import.at.position < until) else {
                continue;
            };
            imports.push(site);
            if let Some(taken) = find_unpatched_name(linker, switch, target, &import, imports, visited) {
                return Some(taken);
            }
            imports.pop();
        }
    }
    None
}

/// True if an import runs with its module: at the top level, and not only for type checkers.
fn runs_at_import(linker: &Linker<'_>, file: FileId, import: &Import) -> bool {
    let facts = linker.program.facts(file);
    if facts.body_of(import.at) != BodyId(0) {
        return false;
    }
    // `if TYPE_CHECKING`, `if __name__ == "__main__"`.
    !linker.tests_at(file, import.at.region).any(|(test, outcome)| {
        let is_program = matches!(facts.form(test), Form::Compare(_, left, _) if is_dunder_name(facts, left));
        outcome && (is_program || lang::python::conventions::is_for_type_checkers(facts, test))
    })
}

/// Returns the site of an import statement.
fn import_site(linker: &Linker<'_>, file: FileId, import: &Import) -> Option<SiteRef> {
    let facts = linker.program.facts(file);
    let row = facts.sites.iter().enumerate().find(|(_, site)| {
        site.kind == SiteKind::Import && site.span.start <= import.span.start && site.span.end >= import.span.end
    });
    row.map(|(at, _)| file.site_ref(SiteId(at as u32)))
}

/// Returns the files whose top level imports a file, with the import.
fn importers(linker: &Linker<'_>, file: FileId) -> Vec<(FileId, Import)> {
    let relative = &linker.program.files[file.index()].relative;
    let stem = relative.strip_suffix("/__init__.py").or_else(|| relative.strip_suffix(".py")).unwrap_or(relative);
    let last = stem.rsplit('/').next().unwrap_or(stem);
    let mut importers = Vec::new();
    for (slot, source) in linker.program.files.iter().enumerate() {
        let importer = FileId(slot as u32);
        if source.facts.language != Language::Python || importer == file {
            continue;
        }
        for import in source.facts.imports.iter() {
            let (module, name) = (source.facts.text(import.module), source.facts.text(import.name));
            if module.rsplit('.').next() != Some(last) && name != last || !runs_at_import(linker, importer, &import) {
                continue;
            }
            let (target, folder) = imported_module(linker, importer, &import);
            let imported_file = || {
                let name = linker.program.global(importer, import.name)?;
                module_file_in(linker, folder.as_deref()?, name)
            };
            if target == Some(file) || imported_file() == Some(file) {
                importers.push((importer, import));
            }
        }
    }
    importers
}

/// Returns the position of a site in the order of execution of its file.
fn position_of(linker: &Linker<'_>, site: SiteRef) -> u32 {
    linker.program.site(site).at.position
}

/// True if a form is `__name__`.
fn is_dunder_name(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Name(name) => facts.text(name) == "__name__",
        Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
        _ => false,
    }
}
