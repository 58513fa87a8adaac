//! Signal `same-file`: the uses of a file become causes of the finding at the call that opens the file
//! (`with open(path) as file: file.read()`), because one edit there mends all of them.

use blocklint_core::{Effect, Language, RuleCode, Severity};
use blocklint_facts::{Form, VarKind};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use rustc_hash::FxHashMap;

use crate::graph::EdgeTarget;
use crate::graph::marks::QuestionId;
use crate::judge::beside::CandidateComparison;
use crate::judge::candidate::{Candidate, FindingPlace};
use crate::lifecycle::maker::find_maker_in_body;

/// The most calls that are followed from a file to the file through which it is opened: a reader, a file in an archive,
/// the archive.
const MOST_MAKERS: usize = 4;

/// Lowers uses of files whose opening the same rule reports in the same function with at least the same severity. The
/// uses become causes of the finding at the call that opens the file.
pub(crate) fn join_uses_of_one_file(comparison: &mut CandidateComparison<'_, '_, '_>, question: QuestionId) {
    let (linker, min_confidence) = (comparison.linker, comparison.min_confidence);
    let places = &mut *comparison.places;
    let is_direct = |candidate: &Candidate| matches!(candidate.edge.next, EdgeTarget::Sink(_)) && !candidate.handed;
    let mut shown: FxHashMap<(SiteRef, RuleCode), Severity> = FxHashMap::default();
    for (&(site, arg, rule), candidates) in places.iter() {
        let is_direct_file_access =
            |candidate: &&Candidate| candidate.label.effect == Effect::File && is_direct(candidate);
        // Suppressed candidates are included: a comment at the call that opens the file covers the uses too.
        let is_reported = |candidate: &&Candidate| {
            candidate.label.severity > Severity::Note && candidate.confidence() >= min_confidence
        };
        let reported = candidates.iter().filter(is_direct_file_access).filter(is_reported);
        if let Some(severity) = reported.map(|candidate| candidate.label.severity).max()
            && arg.is_none()
        {
            shown.insert((site, rule), severity);
        }
    }
    let outermost_maker = |site: SiteRef, rule: RuleCode, severity: Severity| {
        let is_shown = |maker: SiteRef| shown.get(&(maker, rule)).is_some_and(|&of_maker| of_maker >= severity);
        let mut outermost = None;
        let mut call = site;
        for _ in 0..MOST_MAKERS {
            let Some(maker) = maker_of_receiver(linker, call) else { break };
            if is_shown(maker) {
                outermost = Some(maker);
            } else if !places.contains_key(&(maker, None, rule)) && !is_unwrap(linker, maker) {
                // The result of any other call may belong to another file.
                break;
            }
            call = maker;
        }
        outermost
    };
    let joined: Vec<(FindingPlace, SiteRef)> = shown
        .iter()
        .filter_map(|(&(site, rule), &severity)| Some(((site, None, rule), outermost_maker(site, rule, severity)?)))
        .collect();
    let uses_of_file = &mut comparison.joined.uses_of_file;
    for (place, opening) in joined {
        for candidate in places.get_mut(&place).into_iter().flatten() {
            if candidate.label.severity > Severity::Note && is_direct(candidate) {
                candidate.apply(question, false);
                uses_of_file.entry((opening, None, place.2)).or_default().push(candidate.edge);
            }
        }
    }
}

/// True if a call is `unwrap` or `expect` (Rust).
fn is_unwrap(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.language == Language::Rust && matches!(facts.text(linker.program.site(site).name), "unwrap" | "expect")
}

/// Returns the call in the same body that makes the receiver of another call: the receiver is that call, or a local
/// variable with that call as its only value.
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
