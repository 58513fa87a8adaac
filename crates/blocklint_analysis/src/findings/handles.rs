//! One problem, one finding: what a function does with a file is mended where the function opens it (`with open(path) as file:
//! file.read()`), if that is reported, or silenced.

use blocklint_core::{Confidence, Effect, Language, RuleCode, Severity};
use blocklint_facts::{Form, FormId, SiteKind, VarKind};
use blocklint_flow::graph::{EdgeTarget, FlowEdge};
use blocklint_flow::judge::signals::named;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::syntax::forms::mentions;
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::FxHashMap;

use super::{Candidate, Place};

/// How deep forms are gone through.
pub(super) const DEPTH: u32 = 4;

/// Files that are opened through one another: an archive, a file of it, what reads that.
const MOST_MAKERS: usize = 4;

/// Makes notes of what is done with files whose opening is reported in the same function, by the same rule and as no less. Gives, for
/// each call that opens one, the ways of what is done with it: causes of that finding.
pub(super) fn join_uses_of_one_file(
    linker: &Linker<'_>,
    places: &mut FxHashMap<Place, Vec<Candidate>>,
    min_confidence: Confidence,
) -> FxHashMap<Place, Vec<FlowEdge>> {
    let is_direct = |candidate: &Candidate| matches!(candidate.way.next, EdgeTarget::Leaf(_)) && !candidate.handed;
    let mut shown: FxHashMap<(SiteRef, RuleCode), Severity> = FxHashMap::default();
    for (&(site, arg, rule), candidates) in places.iter() {
        let is_meant = |of: &&Candidate| of.label.effect == Effect::File && is_direct(of);
        // Who silences where a file is opened has said what is to be said of it.
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
                // What a call of another kind gives may be written to another file.
                break;
            }
            at = made;
        }
        last
    };
    let joined: Vec<(Place, SiteRef)> = shown
        .iter()
        .filter_map(|(&(site, rule), &severity)| Some(((site, None, rule), maker(site, rule, severity)?)))
        .collect();
    let mut ways: FxHashMap<Place, Vec<FlowEdge>> = FxHashMap::default();
    for (place, made) in joined {
        for candidate in places.get_mut(&place).into_iter().flatten() {
            if candidate.label.severity > Severity::Note && is_direct(candidate) {
                candidate.make_note(named::SAME_FILE);
                ways.entry((made, None, place.2)).or_default().push(candidate.way);
            }
        }
    }
    ways
}

/// Rust: whether a call takes a value out of what may have failed.
fn is_unwrapped(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    facts.language == Language::Rust && matches!(facts.text(linker.program.site(site).name), "unwrap" | "expect")
}

/// The call in the same body that makes what another call is called on, as far as its text says: directly, or by the one value of a
/// local variable.
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
    made_in(linker, value, site)
}

/// The call of a site's body that makes the object which a value is.
pub(super) fn made_in(linker: &Linker<'_>, value: FormId, site: SiteRef) -> Option<SiteRef> {
    let (facts, site_id) = linker.program.facts_and_id(site);
    let body = facts.body_of(linker.program.site(site).at);
    let made = std::cell::Cell::new(None);
    // The outermost call gives the object, and `with` what it enters; what a call was given is another object.
    mentions(facts, value, DEPTH, &|form| match form {
        Form::Result(of) if of != site_id && facts.site(of).kind != SiteKind::Enter => {
            made.set(Some(site.file.site_ref(of)));
            true
        }
        _ => false,
    });
    made.get().filter(|made| facts.body_of(linker.program.site(*made).at) == body)
}

/// What a call gives, as far as it matters to who hands the call to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Something that blocks as well when it is used: a file, a connection.
    Blocks,
    /// An object that the call makes.
    Object,
    /// Anything else.
    Other,
}

/// What a call gives.
pub fn given_by(linker: &Linker<'_>, site: SiteRef) -> Given {
    let given = linker.values.members(linker.result(site, EnvId::NONE).value);
    let blocks = |val: &Val| matches!(*val, Val::Library { ty, .. } if linker.library.has_blocking_members(ty));
    if given.iter().any(blocks) {
        return Given::Blocks;
    }
    let makes = |val: Val| match val {
        Val::Class(_) => true,
        Val::External(path) => linker.library.is_type(path),
        _ => false,
    };
    let callee = linker.values.members(linker.callee(site, EnvId::NONE).value);
    if !callee.is_empty() && callee.into_iter().all(makes) { Given::Object } else { Given::Other }
}

/// Rust: whether a call gives something that holds the thread as well when it is used: an open file, by itself or in a `Result`.
pub fn gives_what_blocks(linker: &Linker<'_>, site: SiteRef) -> bool {
    let blocks = |ty| linker.library.has_blocking_members(ty);
    linker.values.members(linker.result(site, EnvId::NONE).value).iter().any(|val| match *val {
        Val::Library { ty, args, .. } => {
            let held = linker.values.nth(args, 0).into_iter().flat_map(|held| linker.values.members(held).to_vec());
            blocks(ty) || held.into_iter().any(|val| matches!(val, Val::Library { ty, .. } if blocks(ty)))
        }
        _ => false,
    })
}
