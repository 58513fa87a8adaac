//! Signal `prepares-a-process`: a small file is written or read for a process that the coroutine starts next, and the
//! start takes much longer.

use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::BodyRef;
use blocklint_link::values::value::EnvId;

use crate::graph::FlowEdge;

/// True if a loop repeats a call of a path, so that its short holds add up.
fn is_repeated(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().any(|edge| linker.multiplies_hold(edge.site))
}

/// Returns the name of the last callee of a path.
fn last_callee_name<'l>(linker: &'l Linker<'_>, path: &[FlowEdge]) -> Option<&'l str> {
    path.last().map(|last| {
        let facts = linker.program.facts(last.site.file);
        facts.text(linker.program.site(last.site).name)
    })
}

/// True if a path accesses one small file before the same coroutine starts a process. The file access takes a fraction
/// of the time of the start (Python).
pub(crate) fn prepares_process(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let (Some(first), Some(callee)) = (path.first(), last_callee_name(linker, path)) else { return false };
    if !lang::python::conventions::is_single_file_function(callee) {
        return false;
    }
    let first_at = linker.program.site(first.site).at;
    // A read file is for the coroutine itself, so only a process that the coroutine itself starts counts.
    let depth = if lang::python::conventions::reads(callee) { 0 } else { 2 };
    awaits_process(linker, linker.program.body_of_site(first.site), first_at.position, depth)
        && !is_repeated(linker, path)
}

/// True if a coroutine awaits the start of a process after a position, itself or in coroutines of the project that it
/// awaits.
fn awaits_process(linker: &Linker<'_>, body: BodyRef, after: u32, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    linker.awaited_sites_in(body).any(|site| {
        let site_facts = linker.program.site(site);
        let starts_process = || lang::python::conventions::starts_process(facts.text(site_facts.name));
        let callee_starts_process = || {
            linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Body { body: callee, .. } => callee != body && awaits_process(linker, callee, 0, depth - 1),
                _ => false,
            })
        };
        site_facts.at.position > after && (starts_process() || depth > 0 && callee_starts_process())
    })
}
