//! Calls through a container of callables, by callable: `table[key]()`, `for hook in hooks: hook()`.

use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteKind};
use blocklint_link::calls::targets::{Target, TargetKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::{FxHashMap, FxHashSet};

/// Methods that return an element of a container.
const TAKERS: &[&str] = &["get", "pop", "popleft", "get_nowait", "setdefault"];

/// Calls through containers.
#[derive(Debug, Default)]
pub(crate) struct Dispatch {
    /// Sites at which one of several callables runs, by callable.
    pub(crate) among: FxHashMap<BodyRef, Vec<SiteRef>>,
    /// Sites at which the only callable of a container runs, by callable.
    only: FxHashMap<BodyRef, Vec<SiteRef>>,
    /// Files looked at.
    seen: FxHashSet<FileId>,
}

impl Dispatch {
    /// Looks at each call of a file whose callee is taken out of a container, once.
    pub(crate) fn look_at(&mut self, linker: &Linker<'_>, file: FileId) {
        if !self.seen.insert(file) {
            return;
        }
        let facts = linker.program.facts(file);
        for (at, row) in facts.sites.iter().enumerate() {
            if row.kind != SiteKind::Call || !is_taken_out(linker, file, row.callee, 3) {
                continue;
            }
            let site = file.site_ref(blocklint_facts::SiteId(at as u32));
            let targets = linker.attempt_site(site, || {
                let names_types = facts.language == Language::Rust && names_types(linker, site, row.callee);
                (!names_types).then(|| linker.targets(site, EnvId::NONE))
            });
            let Some(targets) = targets.flatten() else { continue };
            let alternatives = targets.list.len() + usize::from(targets.unknown);
            for target in &targets.list {
                let Target::Body { body, kind: TargetKind::Call, .. } = *target else { continue };
                let sites = if alternatives > 1 { &mut self.among } else { &mut self.only };
                sites.entry(body).or_default().push(site);
            }
        }
    }

    /// Returns the sites at which a body runs as the only callable of a container.
    pub(crate) fn only(&self, body: BodyRef) -> &[SiteRef] {
        self.only.get(&body).map_or(&[], Vec::as_slice)
    }
}

/// True if a callee is a function with the types it is for (`self.read::<u8>(…)`), which is recorded as an index is
/// (Rust).
fn names_types(linker: &Linker<'_>, site: SiteRef, callee: FormId) -> bool {
    let facts = linker.program.facts(site.file);
    let Form::Subscript(base, _) = facts.form(callee) else { return false };
    let typed = linker.eval(linker.scope_of(site, EnvId::NONE), base);
    let functions = |val: &Val| matches!(val, Val::Fn { .. } | Val::Method { .. } | Val::External(_) | Val::Class(_));
    linker.values.members(typed.value).iter().any(functions)
}

/// True if a callee is an element of a container.
fn is_taken_out(linker: &Linker<'_>, file: FileId, callee: FormId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    match facts.form(callee) {
        Form::Subscript(..) | Form::Element(_) => true,
        Form::Part(inner, _) => is_taken_out(linker, file, inner, depth),
        Form::Result(site) => {
            let row = facts.site(site);
            row.kind == SiteKind::Call
                && matches!(facts.form(row.callee), Form::Attr(..))
                && TAKERS.contains(&facts.text(row.name))
        }
        Form::Var(var) => {
            facts.assigns_of(var).any(|row| row.value.is_some() && is_taken_out(linker, file, row.value, depth))
        }
        _ => false,
    }
}
