//! The doubts that lower the confidence of a finding, as sentences.

use blocklint_analysis::{BodyRef, Choice, Doubt, Explainer, Linker, RawFinding, RootKind, SiteRef};
use blocklint_core::{Confidence, Mistake};
use blocklint_output::Remark;
use blocklint_rules::rule;

use super::sites::{body_text, place_of_site};
use super::values::value_text;

/// The greatest number of implementations that a sentence lists.
const MAX_LISTED: usize = 4;

/// Returns the reasons besides signals that lower the confidence of a finding.
pub(super) fn doubts(explainer: &Explainer<'_, '_>, raw: &RawFinding) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    let mut add = |remark: Remark| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    raw.doubts.iter().for_each(|doubt| add(doubt_text(explainer, doubt)));
    if raw.confidence < Confidence::High && raw.doubts.is_empty() {
        doubt_of_rule(raw).into_iter().for_each(|text| add(Remark::new(text)));
    }
    remarks
}

fn doubt_text(explainer: &Explainer<'_, '_>, doubt: &Doubt) -> Remark {
    let linker = explainer.linker();
    match doubt {
        Doubt::Choice(choice) => Remark::at(choice_text(linker, choice), place_of_site(linker, choice.site)),
        Doubt::Inferred(site) => Remark::at(inferred_text(explainer, *site), place_of_site(linker, *site)),
        Doubt::PerhapsOther(site) => {
            let written = linker.written_site(*site);
            Remark::at(format!("`{written}` may also run unknown code"), place_of_site(linker, *site))
        }
        Doubt::ByName(site) => {
            let written = linker.written_site(*site);
            let says = format!("the receiver of `{written}` is unknown; the project has only one method of this name");
            Remark::at(says, place_of_site(linker, *site))
        }
        Doubt::Argument(site, arg) => {
            let argument =
                linker.program.args_of(*site).get(*arg as usize).map(|arg| linker.written(site.file, arg.value));
            let argument = argument
                .filter(|text| !text.is_empty())
                .map_or_else(|| "its argument".to_owned(), |text| format!("`{text}`"));
            let written = linker.written_site(*site);
            Remark::at(
                format!("the analysis only infers that `{written}` runs {argument}"),
                place_of_site(linker, *site),
            )
        }
        Doubt::Undecided(site) => {
            let written = linker.written_site(*site);
            let says = format!("a condition of `{written}`, or around it, is neither shown to hold nor ruled out");
            Remark::at(says, place_of_site(linker, *site))
        }
        Doubt::Root(kind) => Remark::new(match kind {
            RootKind::Dispatched => "it is one of several callables that event-loop code chooses from",
            RootKind::Composed => "the place that subscribes to its chain is unknown",
            _ => "the thread that composes its result is unknown",
        }),
        Doubt::Entry(of) => {
            Remark::new(format!("the analysis only infers that a greenlet runs {}", body_text(linker, *of)))
        }
    }
}

/// Returns a sentence about a call with several targets:
/// `` `self.store.read` may run one of 3, of which 1 blocks (`app.Slow.read`) and 2 do not (…) ``.
fn choice_text(linker: &Linker<'_>, choice: &Choice) -> String {
    let named = |bodies: &[BodyRef]| {
        let mut names: Vec<String> =
            bodies.iter().take(MAX_LISTED).map(|&body| format!("`{}`", linker.qualified_name(body))).collect();
        if bodies.len() > MAX_LISTED {
            names.push("…".to_owned());
        }
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let others = choice.all.saturating_sub(choice.holding);
    let written = linker.written_site(choice.site);
    let block = if choice.holding == 1 { "blocks" } else { "block" };
    let not = if others == 1 { "does not" } else { "do not" };
    let holders = named(&choice.holders);
    match others {
        0 => format!("`{written}` may run one of {}, each of which blocks{holders}", choice.all),
        _ => format!(
            "`{written}` may run one of {}, of which {} {block}{holders} and {others} {not}{}",
            choice.all,
            choice.holding,
            named(&choice.others)
        ),
    }
}

/// Returns a sentence about a receiver or callee that is inferred.
fn inferred_text(explainer: &Explainer<'_, '_>, site: SiteRef) -> String {
    let linker = explainer.linker();
    let written = linker.written_site(site);
    match explainer.receiver(site) {
        Some((receiver, of)) if !linker.values.is_unknown(of) => {
            format!("the value of `{receiver}` is inferred: {}", value_text(linker, of))
        }
        _ => format!("the callee of `{written}` is inferred"),
    }
}

/// Returns the doubt of a rule that needs no path to a blocking call.
fn doubt_of_rule(raw: &RawFinding) -> Option<&'static str> {
    match raw.mistake {
        // A long calculation, because other code runs the same function in a thread.
        Mistake::BlockingCall if raw.causes.is_empty() => {
            Some("its duration is inferred: other code runs the same call in a thread")
        }
        Mistake::BlockingCall => None,
        _ => rule(raw.rule)?.doubt(&raw.mistake),
    }
}
