//! One problem, one finding: a function's uses of a file are mended where the function opens it (`with open(path) as file:
//! file.read()`), if that is reported, or silenced.

use blocklint_core::{Effect, Language, RuleCode, Severity};
use blocklint_facts::{Form, VarKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use rustc_hash::FxHashMap;

use crate::graph::EdgeTarget;
use crate::graph::marks::AskId;
use crate::judge::beside::Beside;
use crate::judge::candidate::{Candidate, FindingPlace};
use crate::lifecycle::maker::find_maker_in_body;

/// Files that are opened through one another: an archive, a file of it, its reader.
const MOST_MAKERS: usize = 4;

/// Lowers uses of files whose opening is reported in the same function, by the same rule and as no less. The uses become causes of the
/// finding at the call that opens the file.
pub(crate) fn join_uses_of_one_file(all: &mut Beside<'_, '_, '_>, ask: AskId) {
    let (linker, min_confidence) = (all.linker, all.min_confidence);
    let places = &mut *all.places;
    let is_direct = |candidate: &Candidate| matches!(candidate.edge.next, EdgeTarget::Sink(_)) && !candidate.handed;
    let mut shown: FxHashMap<(SiteRef, RuleCode), Severity> = FxHashMap::default();
    for (&(site, arg, rule), candidates) in places.iter() {
        let is_meant = |of: &&Candidate| of.label.effect == Effect::File && is_direct(of);
        // A comment at the call that opens the file covers its uses too.
        let is_said = |of: &&Candidate| of.label.severity > Severity::Note && of.confidence() >= min_confidence;
        let reported = candidates.iter().filter(is_meant).filter(is_said);
        if let Some(severity) = reported.map(|of| of.label.severity).max()
            && arg.is_none()
        {
            shown.insert((site, rule), severity);
        }
    }
    let maker = |site: SiteRef, rule: RuleCode, severity: Severity| {
        let is_shown = |made: SiteRef| shown.get(&(made, rule)).is_some_and(|&of_maker| of_maker >= severity);
        let mut last = None;
        let mut at = site;
        for _ in 0..MOST_MAKERS {
            let Some(made) = maker_of_receiver(linker, at) else { break };
            if is_shown(made) {
                last = Some(made);
            } else if !places.contains_key(&(made, None, rule)) && !is_unwrapped(linker, made) {
                // The result of a call of another kind may be written to another file.
                break;
            }
            at = made;
        }
        last
    };
    let joined: Vec<(FindingPlace, SiteRef)> = shown
        .iter()
        .filter_map(|(&(site, rule), &severity)| Some(((site, None, rule), maker(site, rule, severity)?)))
        .collect();
    let path = &mut all.joined.uses_of_file;
    for (place, made) in joined {
        for candidate in places.get_mut(&place).into_iter().flatten() {
            if candidate.label.severity > Severity::Note && is_direct(candidate) {
                candidate.apply(ask, false);
                path.entry((made, None, place.2)).or_default().push(candidate.edge);
            }
        }
    }
}

/// True if a call takes the value out of a result that may be an error (Rust).
fn is_unwrapped(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.language == Language::Rust && matches!(facts.text(linker.program.site(site).name), "unwrap" | "expect")
}

/// Returns the call in the same body that makes the receiver of another call, as far as its text shows: directly, or by
/// the one value of a local variable.
fn maker_of_receiver(linker: &Linker<'_>, site: SiteRef) -> Option<SiteRef> {
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    let receiver = linker.receiver_form(site)?;
    let value = match facts.form(receiver) {
        Form::Var(var) if facts.var(var).body == body && !matches!(facts.var(var).kind, VarKind::Param(_)) => {
            facts.only_value_of(var)?.value
        }
        _ => receiver,
    };
    find_maker_in_body(linker, value, site)
}
