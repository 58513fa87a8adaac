//! Dispatch: calls through a container of callables, by callable (`table[key]()`, `for hook in hooks: hook()`).

use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteId, SiteKind};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most assignments that are followed from a called element to its container.
const MAX_ASSIGNMENT_DEPTH: u32 = 3;

/// Methods that return an element of a container.
const TAKERS: &[&str] = &["get", "pop", "popleft", "get_nowait", "setdefault"];

/// Calls through containers.
#[derive(Debug, Default)]
pub(crate) struct Dispatch {
    /// By callable: the sites that run it as one of several callables of a container.
    pub(crate) among_others: FxHashMap<BodyRef, Vec<SiteRef>>,
    /// By callable: the sites that run it as the only callable of a container.
    as_only: FxHashMap<BodyRef, Vec<SiteRef>>,
    /// The files whose calls have been added.
    visited: FxHashSet<FileId>,
}

impl Dispatch {
    /// Adds the calls of a file whose callee is an element of a container. Does nothing the second time.
    pub(crate) fn add_file(&mut self, linker: &Linker<'_>, file: FileId) {
        if !self.visited.insert(file) {
            return;
        }
        let facts = linker.program.facts(file);
        for (index, site_facts) in facts.sites.iter().enumerate() {
            if site_facts.kind != SiteKind::Call || !is_element(linker, file, site_facts.callee, MAX_ASSIGNMENT_DEPTH) {
                continue;
            }
            let site = file.site_ref(SiteId(index as u32));
            let targets = linker.attempt_site(site, || {
                let has_type_arguments =
                    facts.language == Language::Rust && has_type_arguments(linker, site, site_facts.callee);
                (!has_type_arguments).then(|| linker.targets(site, EnvId::NONE))
            });
            let Some(targets) = targets.flatten() else { continue };
            let alternatives = targets.list.len() + usize::from(targets.unknown);
            for target in &targets.list {
                let Target::Body { body, kind: TargetKind::Call, .. } = *target else { continue };
                let sites = if alternatives > 1 { &mut self.among_others } else { &mut self.as_only };
                sites.entry(body).or_default().push(site);
            }
        }
    }

    /// Returns the sites that run a body as the only callable of a container.
    pub(crate) fn sites_of_only_callable(&self, body: BodyRef) -> &[SiteRef] {
        self.as_only.get(&body).map_or(&[], Vec::as_slice)
    }
}

/// True if a callee is a function with type arguments (`self.read::<u8>(…)`), which the facts record like an index
/// (Rust).
fn has_type_arguments(linker: &Linker<'_>, site: SiteRef, callee: FormId) -> bool {
    let facts = linker.program.facts(site.file);
    let Form::Subscript(base, _) = facts.form(callee) else { return false };
    let typed = linker.eval(linker.scope_of(site, EnvId::NONE), base);
    let is_function = |val: &Val| matches!(val, Val::Fn { .. } | Val::Method { .. } | Val::External(_) | Val::Class(_));
    linker.values.members(typed.value).iter().any(is_function)
}

/// True if a callee is an element of a container.
fn is_element(linker: &Linker<'_>, file: FileId, callee: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(callee) {
        Form::Subscript(..) | Form::Element(_) => true,
        Form::Part(inner, _) => is_element(linker, file, inner, depth),
        Form::Result(site) => {
            let site_facts = facts.site(site);
            site_facts.kind == SiteKind::Call
                && matches!(facts.form(site_facts.callee), Form::Attr(..))
                && TAKERS.contains(&facts.text(site_facts.name))
        }
        Form::Var(var) => facts
            .assigns_of(var)
            .any(|assignment| assignment.value.is_some() && is_element(linker, file, assignment.value, depth)),
        _ => false,
    }
}
