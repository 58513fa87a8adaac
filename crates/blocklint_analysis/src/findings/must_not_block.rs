//! How many functions of a program must not block: coroutines, handlers on event loops, greenlets. For the line about a
//! project that has none.

use blocklint_facts::BodyId;
use blocklint_flow::callers::Callers;
use blocklint_flow::entries::greenlet::Entries;
use blocklint_flow::entries::root::Roots;
use blocklint_link::linker::Linker;
use blocklint_link::models::unit_facts::{SwitchEvidence, Units};
use blocklint_link::program::ids::FileId;

use crate::rules::large_response_on_loop::{other_path, shows_by_code};

/// Returns how many bodies of a program must not block, in all its files.
pub fn count_what_must_not_block(linker: &Linker<'_>) -> usize {
    let callers = Callers::new(linker);
    let units = Units::new(linker, SwitchEvidence { shows: shows_by_code, other_path });
    let greenlets = Entries::new(linker, &units, &callers);
    let is_green = |file: FileId| units.any_greenlets() && units.of(linker, file).greenlets.is_some();
    let roots = Roots::new(linker);
    let files = (0..linker.program.files.len() as u32).map(FileId);
    let bodies = files.flat_map(|file| {
        let bodies = linker.program.facts(file).bodies.len() as u32;
        (0..bodies).map(move |body| file.body_ref(BodyId(body)))
    });
    bodies.filter(|&body| roots.of(body).is_some() || is_green(body.file) && greenlets.of(body).is_some()).count()
}
