//! The settings of the `with` blocks around a call: a lock, a context variable, `torch.no_grad()` (Python). A call that
//! moves to a thread leaves the blocks, so the fix is wrong if a setting applies to the old thread only. Files, clients
//! and other known values set nothing; a `with` of unknown type is treated as a setting of its thread.

use blocklint_core::{Bound, BoundCall, BoundUse, Language, Span};
use blocklint_facts::{BodyId, FileFacts, Form, RegionId, RegionKind, SiteFlags, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{PathId, SiteRef};
use blocklint_link::syntax::regions;
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::Role;

use crate::thread_bound::{bound_call, code_moved_by};

/// Returns the settings of the `with` blocks around a region that apply to this thread only, the innermost first. Only
/// blocks in the body of `site` count.
pub(crate) fn settings_of_blocks_around(linker: &Linker<'_>, site: SiteRef, region: RegionId) -> Vec<BoundCall> {
    if linker.program.language(site.file) != Language::Python {
        return Vec::new();
    }
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    with_blocks_around(facts, body, region)
        .filter_map(|region| setting_of_block(linker, enter_site(linker, site, region)?))
        .collect()
}

/// Returns the spans of the blocks around a call whose setting applies to the thread that enters them. Such a block can
/// move to a thread only with all of its content.
pub fn blocks_that_can_move(linker: &Linker<'_>, site: SiteRef) -> Vec<Span> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site).at;
    let is_of_block = |&region: &RegionId| {
        enter_site(linker, site, region)
            .and_then(|enter| setting_of_block(linker, enter))
            .is_some_and(|set| set.to == Bound::Block)
    };
    with_blocks_around(facts, facts.body_of(row), row.region)
        .filter(is_of_block)
        .map(|region| facts.region(region).span)
        .collect()
}

/// Returns the `with` blocks of a body around a region, the innermost first.
fn with_blocks_around(facts: &FileFacts, body: BodyId, region: RegionId) -> impl Iterator<Item = RegionId> {
    regions::around(facts, region).filter(move |&inner_region| {
        let row = facts.region(inner_region);
        row.body == body && row.kind == RegionKind::With && row.test.is_some()
    })
}

/// Returns the site that enters a block; `None` for `async with`.
fn enter_site(linker: &Linker<'_>, site: SiteRef, region: RegionId) -> Option<SiteRef> {
    let facts = linker.program.facts(site.file);
    let block = facts.region(region);
    let is_enter = |&other_site: &SiteRef| {
        let row = linker.program.site(other_site);
        row.kind == SiteKind::Enter && row.callee == block.test && row.span.start <= block.span.start
    };
    let sites = linker.program.sites_in(site.file.body_ref(block.body));
    let entered = sites.filter(is_enter).max_by_key(|&other_site| linker.program.site(other_site).span.start)?;
    (!linker.program.site(entered).flags.has(SiteFlags::ASYNC)).then_some(entered)
}

/// Returns the setting that entering a `with` item makes, or may make, in this thread only.
fn setting_of_block(linker: &Linker<'_>, enter: SiteRef) -> Option<BoundCall> {
    let facts = linker.program.facts(enter.file);
    let row = linker.program.site(enter);
    let setting = |to: Bound, how: BoundUse, call: String| bound_call(linker, enter, to, how, call);
    let entered = |path: PathId, to: Bound| setting(to, BoundUse::Entered, linker.library.text(path).to_string());
    if let Form::Result(creation) = facts.form(row.callee) {
        for path in library_paths(linker, enter.file.site_ref(creation)) {
            let calls = linker.library.calls(path);
            match calls.with(|row| row.bound.is_some()).find_map(|row| row.row.bound) {
                Some(Bound::Nothing) => return None,
                Some(to @ (Bound::Block | Bound::Thread)) => return Some(entered(path, to)),
                _ => {}
            }
            // A call that blocks while it opens something returns a resource, not a setting: a file, a response, a
            // connection.
            if calls.effect().any(|row| row.held_effect().is_some()) {
                return None;
            }
        }
    }
    let value = linker.eval(linker.scope_of(enter, EnvId::NONE), row.callee).value;
    if let Some(lock) = lock_in(linker, value) {
        return Some(entered(lock, Bound::Thread));
    }
    if let Some(path) = library_paths(linker, enter).find(|&path| is_of_thread(linker, path)) {
        return Some(entered(path, Bound::Thread));
    }
    let members = linker.values.members(value);
    let is_known = |member: &Val| match *member {
        Val::Library { .. } => true,
        Val::Instance { .. } | Val::Iter { .. } => runs_known_code(linker, enter),
        _ => false,
    };
    if members.is_empty() || !members.iter().all(is_known) {
        return Some(setting(Bound::Thread, BoundUse::EnteredUnknown, linker.written_site(enter)));
    }
    // The project defines `__enter__` and `__exit__`, so their code decides.
    let moved = code_moved_by(linker, vec![enter]);
    let block_bound = moved.bound.filter(|bound| bound.how != BoundUse::Made)?;
    let name = if block_bound.to == Bound::Context { block_bound.call } else { linker.written_site(enter) };
    Some(setting(block_bound.to, BoundUse::Entered, name))
}

/// Returns the library paths that a site is known to call.
fn library_paths(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = PathId> {
    let targets = linker.targets(site, EnvId::NONE);
    let paths: Vec<PathId> = targets
        .list
        .iter()
        .filter_map(|target| match *target {
            Target::Row { path, .. } => Some(path),
            _ => None,
        })
        .collect();
    paths.into_iter()
}

fn is_of_thread(linker: &Linker<'_>, path: PathId) -> bool {
    linker.library.calls(path).with(|row| row.bound.is_some()).any(|row| row.row.bound == Some(Bound::Thread))
}

fn runs_known_code(linker: &Linker<'_>, enter: SiteRef) -> bool {
    let targets = linker.targets(enter, EnvId::NONE);
    targets
        .list
        .iter()
        .any(|target| matches!(target, Target::Body { .. } | Target::Overrides { .. } | Target::Row { .. }))
}

/// Returns the type of a value that is a lock for threads.
fn lock_in(linker: &Linker<'_>, value: ValueId) -> Option<PathId> {
    let types =
        linker.values.members(value).iter().flat_map(|member| linker.types_through(*member)).collect::<Vec<_>>();
    types.into_iter().find(|&ty| linker.library.role(ty).is_some_and(Role::is_lock))
}
