//! Calls that are short beside what comes after them: a small file for a process that is started next.

use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::BodyRef;
use blocklint_link::values::value::EnvId;

use crate::graph::FlowEdge;

/// True if a loop around a call of a path makes one long hold of its short ones.
fn repeats(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    path.iter().any(|edge| linker.multiplies_hold(edge.site))
}

/// Returns the name of the last callee of a path.
fn called_at_the_end<'l>(linker: &'l Linker<'_>, path: &[FlowEdge]) -> Option<&'l str> {
    path.last().map(|last| {
        let facts = linker.program.facts(last.site.file);
        facts.text(linker.program.site(last.site).name)
    })
}

/// True if a path begins before a process is started in the same coroutine: the path of a small file is passed to the
/// process, and reading it once takes a fraction of the time of the start (Python).
pub(crate) fn prepares_process(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let (Some(first), Some(called)) = (path.first(), called_at_the_end(linker, path)) else { return false };
    if !lang::python::conventions::is_of_one_file(called) {
        return false;
    }
    let here = linker.program.site(first.site).at;
    // A file that is read is for the coroutine itself, so only a process that it starts itself counts.
    let depth = if lang::python::conventions::reads(called) { 0 } else { 2 };
    awaits_process(linker, linker.program.body_of_site(first.site), here.position, depth) && !repeats(linker, path)
}

/// True if a coroutine awaits the start of a process behind a position, itself or in coroutines of the project that it awaits.
fn awaits_process(linker: &Linker<'_>, body: BodyRef, after: u32, depth: u32) -> bool {
    let facts = linker.program.facts(body.file);
    linker.awaited_sites_in(body).any(|site| {
        let row = linker.program.site(site);
        let starts = || lang::python::conventions::starts_process(facts.text(row.name));
        let starts_further = || {
            linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Body { body: callee, .. } => callee != body && awaits_process(linker, callee, 0, depth - 1),
                _ => false,
            })
        };
        row.at.position > after && (starts() || depth > 0 && starts_further())
    })
}
