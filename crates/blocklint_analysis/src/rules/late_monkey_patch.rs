//! Imports before a call that patches, which keep the unpatched names: the top level of modules, read in order.

use crate::raw_finding::RawFinding;
use blocklint_core::{Confidence, Language, Mistake, RuleCode, Severity};
use blocklint_facts::{BodyId, Form, Import, ImportKind, SiteId, SiteKind};
use blocklint_flow::graph::raw_finding::RawStep;
use blocklint_link::lang;
use blocklint_link::lang::python::names::{imported_module, module_file_in};
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{Units, calls_of};
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_models::Switch;
use rustc_hash::FxHashSet;

use crate::rules::mistakes::MistakeSearch;

/// One import that comes too early.
#[derive(Clone, Debug)]
pub(crate) struct LateImport {
    /// The import, in the file whose order decides; or the call that comes too late.
    pub(crate) site: SiteRef,
    /// The imports from there to the one that takes the name, each in its file; the first is the site. None where the site is
    /// the call that patches, which comes after all imports of its module.
    pub(crate) imports: Vec<SiteRef>,
    /// The name that was taken (`time.sleep`), or the module that takes such names.
    pub(crate) taken: String,
    /// True if it is a module that takes names itself.
    pub(crate) is_module: bool,
    /// The call that patches, as it is known.
    pub(crate) patch: String,
    /// How sure it is that the import comes first.
    pub(crate) confidence: Confidence,
}

/// Modules are followed through so many imports.
const DEEPEST: usize = 12;

/// Returns the findings of this rule.
pub(crate) fn findings(search: &mut MistakeSearch<'_, '_, '_, '_>) -> Vec<RawFinding> {
    let (linker, rule) = (search.linker, RuleCode::LATE_MONKEY_PATCH);
    let all = search.attempt(rule, || late_imports(linker, search.units));
    let finding = |one: LateImport| {
        let LateImport { site, imports, taken, is_module, patch, confidence } = one;
        let mistake = Mistake::LateMonkeyPatch { taken: taken.clone(), is_module, patch };
        let mut finding = search.finding((rule, mistake), site, taken.clone(), Severity::Warning, confidence);
        if !imports.is_empty() {
            finding.trace = imports.iter().map(|&site| import_step(linker, site, &taken)).collect();
        }
        finding
    };
    all.into_iter().map(finding).collect()
}

/// Returns the step of a trace that is an import.
fn import_step(linker: &Linker<'_>, site: SiteRef, taken: &str) -> RawStep {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    RawStep {
        file: site.file,
        span: row.span,
        function: linker.module_name(site.file),
        call: taken.to_owned(),
        written: format!("import {}", facts.text(row.name)),
    }
}

/// Returns every import that comes before patching; one per statement.
pub(crate) fn late_imports(linker: &Linker<'_>, units: &Units) -> Vec<LateImport> {
    let switches: Vec<&Switch> = linker.library.of(Language::Python).switches().map(|(switch, _)| switch).collect();
    let mut found = Vec::new();
    for switch in switches.into_iter().filter(|switch| !switch.patches.is_empty()) {
        let patching: Vec<SiteRef> = switch.call.iter().flat_map(|path| calls_of(linker, path)).collect();
        for path in &switch.call {
            for call in calls_of(linker, path) {
                let is_patched_before = units.is_set(linker, call.file, &switch.name);
                // A server that patches before it loads the program leaves nothing to be late for.
                if !is_patched_before && !linker.program.is_test(call.file) && is_top_level(linker, call) {
                    before(linker, switch, path, call, &mut found);
                } else if !is_patched_before
                    && !linker.program.is_test(call.file)
                    && !patching.iter().any(|other| {
                        // A module of the same program that patches when it is imported may come first.
                        is_top_level(linker, *other)
                            && !linker.program.is_test(other.file)
                            && std::ptr::eq(units.of(linker, other.file), units.of(linker, call.file))
                    })
                {
                    found.extend(called_late(linker, switch, path, call));
                }
            }
        }
    }
    found.sort_by_key(|one: &LateImport| (one.site, std::cmp::Reverse(one.confidence)));
    found.dedup_by_key(|one| one.site);
    found
}

/// True if a file is run as a program: it asks for its own name, or is called so.
fn is_entry_point(linker: &Linker<'_>, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let aside = relative.split('/').any(|folder| matches!(folder, "docs" | "doc" | "examples" | "example"));
    let facts = linker.program.facts(file);
    let asks = facts.regions.iter().any(|region| match facts.form(region.test) {
        Form::Compare(_, left, _) => is_dunder_name(facts, left),
        _ => false,
    });
    let named = matches!(name, "__main__.py" | "main.py" | "wsgi.py" | "app.py" | "server.py" | "manage.py" | "run.py");
    !aside && !linker.program.is_test(file) && (asks || named)
}

fn is_top_level(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.program.body_of_site(site) == site.file.body_ref(BodyId(0))
}

/// Returns a call in a function: by then its module has imported all that it does.
fn called_late(linker: &Linker<'_>, switch: &Switch, path: &str, call: SiteRef) -> Option<LateImport> {
    let facts = linker.program.facts(call.file);
    facts.imports.iter().filter(|import| runs_at_import(linker, call.file, import)).find_map(|import| {
        let mut imports = vec![import_site(linker, call.file, &import)?];
        let mut seen = FxHashSet::from_iter([call.file]);
        let (taken, is_module) = takes_early(linker, switch, call.file, &import, &mut imports, &mut seen)?;
        let (patch, confidence) = (path.to_owned(), Confidence::High);
        Some(LateImport { site: call, imports: Vec::new(), taken, is_module, patch, confidence })
    })
}

/// The imports before a call: in its own file, and in entry points that import that file.
fn before(linker: &Linker<'_>, switch: &Switch, path: &str, call: SiteRef, found: &mut Vec<LateImport>) {
    let until = linker.program.site(call).at.position;
    imports_before(linker, switch, path, call.file, until, Confidence::High, found);
    for (file, import) in importers(linker, call.file) {
        // One that others import, or that some program loads, may run after an entry point has patched.
        if !is_entry_point(linker, file) || !importers(linker, file).is_empty() {
            continue;
        }
        let patches_itself = switch.call.iter().flat_map(|path| calls_of(linker, path)).any(|other| {
            other.file == file && facts_at(linker, other) < import.at.position && is_top_level(linker, other)
        });
        if patches_itself {
            continue;
        }
        imports_before(linker, switch, path, file, import.at.position, Confidence::Medium, found);
    }
}

fn imports_before(
    linker: &Linker<'_>,
    switch: &Switch,
    path: &str,
    file: FileId,
    until: u32,
    confidence: Confidence,
    found: &mut Vec<LateImport>,
) {
    let facts = linker.program.facts(file);
    for import in facts.imports.iter().filter(|import| runs_at_import(linker, file, import)) {
        if import.at.position >= until {
            continue;
        }
        let Some(site) = import_site(linker, file, &import) else { continue };
        let mut imports = vec![site];
        let mut seen = FxHashSet::from_iter([file]);
        if let Some((taken, is_module)) = takes_early(linker, switch, file, &import, &mut imports, &mut seen) {
            found.push(LateImport { site, imports, taken, is_module, patch: path.to_owned(), confidence });
        }
    }
}

/// Returns the first name that an import takes before it is patched, itself or in the modules it runs; true if it is a
/// module that takes names.
fn takes_early(
    linker: &Linker<'_>,
    switch: &Switch,
    file: FileId,
    import: &Import,
    imports: &mut Vec<SiteRef>,
    seen: &mut FxHashSet<FileId>,
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
        if imports.len() >= DEEPEST || !seen.insert(target) || linker.program.language(target) != Language::Python {
            continue;
        }
        let inner = linker.program.facts(target);
        // A module that patches first has everything behind it in order.
        let patched = switch.call.iter().flat_map(|path| calls_of(linker, path));
        let patched = patched.filter(|call| call.file == target && is_top_level(linker, *call));
        let until = patched.map(|call| linker.program.site(call).at.position).min().unwrap_or(u32::MAX);
        for import in inner.imports.iter().filter(|import| runs_at_import(linker, target, import)) {
            let Some(site) = import_site(linker, target, &import).filter(|_| import.at.position < until) else {
                continue;
            };
            imports.push(site);
            if let Some(taken) = takes_early(linker, switch, target, &import, imports, seen) {
                return Some(taken);
            }
            imports.pop();
        }
    }
    None
}

/// True if an import runs when its module does: at the top level, and not for type checkers only.
fn runs_at_import(linker: &Linker<'_>, file: FileId, import: &Import) -> bool {
    let facts = linker.program.facts(file);
    if facts.body_of(import.at) != BodyId(0) {
        return false;
    }
    // `if TYPE_CHECKING`, `if __name__ == "__main__"`.
    !linker.tests_at(file, import.at.region).any(|(test, holds)| {
        let is_program = matches!(facts.form(test), Form::Compare(_, left, _) if is_dunder_name(facts, left));
        holds && (is_program || lang::python::conventions::is_for_type_checkers(facts, test))
    })
}

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
    let mut found = Vec::new();
    for (slot, source) in linker.program.files.iter().enumerate() {
        let other = FileId(slot as u32);
        if source.facts.language != Language::Python || other == file {
            continue;
        }
        for import in source.facts.imports.iter() {
            let (module, name) = (source.facts.text(import.module), source.facts.text(import.name));
            if module.rsplit('.').next() != Some(last) && name != last || !runs_at_import(linker, other, &import) {
                continue;
            }
            let (target, folder) = imported_module(linker, other, &import);
            let below = || {
                let name = linker.program.global(other, import.name)?;
                module_file_in(linker, folder.as_deref()?, name)
            };
            if target == Some(file) || below() == Some(file) {
                found.push((other, import));
            }
        }
    }
    found
}

fn facts_at(linker: &Linker<'_>, site: SiteRef) -> u32 {
    linker.program.site(site).at.position
}

fn is_dunder_name(facts: &blocklint_facts::FileFacts, form: blocklint_facts::FormId) -> bool {
    match facts.form(form) {
        Form::Name(name) => facts.text(name) == "__name__",
        Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
        _ => false,
    }
}
