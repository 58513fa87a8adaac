//! The number of functions of a program that must not block: coroutines, handlers on event loops, greenlets.
//! `blocklint check` says so if a project has none.

use blocklint_facts::BodyId;
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::greenlet::GreenletEntries;
use blocklint_flow::entries::root::Roots;
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{SwitchEvidence, Units};
use blocklint_link::program::ids::FileId;

use crate::rules::large_response_on_loop::{other_path, shows_by_code};

/// Returns the number of bodies that must not block, in all files of a program.
pub fn count_entry_points(linker: &Linker<'_>) -> usize {
    let callers = Callers::new(linker);
    let units = Units::new(linker, SwitchEvidence { shows: shows_by_code, other_path });
    let greenlets = GreenletEntries::new(linker, &units, &callers);
    let is_green = |file: FileId| units.any_greenlets() && units.of(linker, file).greenlets.is_some();
    let roots = Roots::new(linker);
    let files = (0..linker.program.files.len() as u32).map(FileId);
    let bodies = files.flat_map(|file| {
        let bodies = linker.program.facts(file).bodies.len() as u32;
        (0..bodies).map(move |body| file.body_ref(BodyId(body)))
    });
    bodies
        .filter(|&body| {
            roots.find_root(body).is_some() || is_green(body.file) && greenlets.find_confidence(body).is_some()
        })
        .count()
}
