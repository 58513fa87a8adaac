//! Python: the calls that would still hold the thread if only one call of a function were handed over. An edit frees no
//! task if it moves half of the work to a thread and leaves the rest where it was.

use blocklint_core::{Effect, Severity, Span};
use blocklint_facts::{BodyId, FileFacts, Form, FormId, RegionId, SiteKind, VarId};
use blocklint_flow::lifecycle::maker::{DEPTH, find_maker_in_body};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::syntax::forms::mentions;
use blocklint_link::syntax::regions::around;
use blocklint_link::values::value::EnvId;

use crate::by_hand::is_cheaper_than_thread;
use crate::call_result::{ResultKind, result_kind};

/// Returns the calls of the same body that hold the thread by the result of a call: on it, or with it as an argument.
/// If some known methods of an object hold the thread, its unknown methods are taken to hold it too.
pub fn uses_left_behind(linker: &Linker<'_>, site: SiteRef) -> Vec<Span> {
    let blocks = result_kind(linker, site) == ResultKind::Blocks;
    let is_use = |at: &SiteRef| {
        if *at == site {
            return false;
        }
        // Reading a part of it is no call.
        let is_call = linker.program.site(*at).kind == SiteKind::Call;
        let on_it = maker_of_receiver(linker, *at) == Some(site);
        (on_it || is_call && takes(linker, *at, site)) && holds(linker, *at)
            || on_it && is_call && blocks && is_unknown(linker, *at)
    };
    spans(linker, site, is_use)
}

/// Returns the calls of the same body that reach for the same file or folder by the same name, and hold the thread too.
pub fn beside(linker: &Linker<'_>, site: SiteRef) -> Vec<Span> {
    let own = named_by(linker, site);
    if own.is_empty() || !reaches_for_file(linker, site) {
        return Vec::new();
    }
    let is_use = |at: &SiteRef| {
        *at != site
            && named_by(linker, *at).iter().any(|var| own.contains(var))
            && runs_with(linker, *at, site)
            && reaches_for_file(linker, *at)
    };
    spans(linker, site, is_use)
}

/// Returns the call of the same body that opened the file which a call reads, writes or closes, where that holds the
/// thread too.
pub fn opener_of(linker: &Linker<'_>, site: SiteRef) -> Option<Span> {
    let made = maker_of_receiver(linker, site)?;
    let opens =
        result_kind(linker, made) == ResultKind::Blocks && held_by(linker, made).any(|effect| effect == Effect::File);
    opens.then(|| linker.program.site(made).span)
}

fn spans(linker: &Linker<'_>, site: SiteRef, is_use: impl Fn(&SiteRef) -> bool) -> Vec<Span> {
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    let all = linker.program.sites_in(site.file.body_ref(body));
    all.filter(is_use).map(|of| linker.program.site(of).span).collect()
}

/// Returns the effects of the rows of what a call is known to run.
fn held_by(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = Effect> {
    let targets = linker.targets(site, EnvId::NONE);
    let rows: Vec<Effect> = targets
        .list
        .iter()
        .filter_map(|target| match *target {
            Target::Row { path, .. } => Some(linker.library.calls(path)),
            _ => None,
        })
        .flat_map(|calls| calls.effect().filter_map(|row| row.held()).collect::<Vec<_>>())
        .collect();
    rows.into_iter()
}

fn holds(linker: &Linker<'_>, site: SiteRef) -> bool {
    held_by(linker, site).next().is_some()
}

/// True if the effect of a method is unknown: neither its object's type nor its name shows.
fn is_unknown(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    linker.targets(site, EnvId::NONE).list.is_empty()
        && !lang::words_of(facts.language).only_calculates(facts.text(linker.program.site(site).name))
}

/// True if a call goes to the file system for more than a moment.
fn reaches_for_file(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        // A call that only changes a name takes a moment.
        Target::Row { path, .. } if is_cheaper_than_thread(&linker.library.text(path)) => false,
        Target::Row { path, .. } => linker
            .library
            .calls(path)
            .effect()
            .any(|row| row.held() == Some(Effect::File) && row.severity != Some(Severity::Note)),
        _ => false,
    })
}

/// True if one of two calls of a body runs wherever the other does: of two branches one is taken.
fn runs_with(linker: &Linker<'_>, one: SiteRef, other: SiteRef) -> bool {
    let facts = linker.program.facts(one.file);
    let region = |site: SiteRef| linker.program.site(site).at.region;
    let is_around = |outer: RegionId, of: RegionId| around(facts, of).any(|at| at == outer);
    is_around(region(other), region(one)) || is_around(region(one), region(other))
}

/// Returns the variables of its own function that a call is given, or called on.
fn named_by(linker: &Linker<'_>, site: SiteRef) -> Vec<VarId> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if row.kind != SiteKind::Call {
        return Vec::new();
    }
    let body = facts.body_of(row.at);
    let given = linker.program.args_of(site).into_iter().map(|arg| arg.value).chain(linker.receiver_form(site));
    given.filter_map(|form| own_variable(facts, form, body)).collect()
}

fn own_variable(facts: &FileFacts, form: FormId, body: BodyId) -> Option<VarId> {
    match facts.form(form) {
        Form::Var(var) if facts.var(var).body == body && facts.assigns_of(var).count() <= 1 => Some(var),
        _ => None,
    }
}

/// Returns the call in the same body that makes what another call is called on: directly, or by the value that a
/// variable was given last.
fn maker_of_receiver(linker: &Linker<'_>, site: SiteRef) -> Option<SiteRef> {
    let facts = linker.program.facts(site.file);
    let receiver = linker.receiver_form(site)?;
    let mut whole = receiver;
    // `response["body"]`
    while let Form::Subscript(of, _) | Form::Element(of) = facts.form(whole) {
        whole = of;
    }
    let value = last_value(linker, whole, site).unwrap_or(receiver);
    find_maker_in_body(linker, value, site)
}

/// Returns the last value of the variable that a form is, before a site in the order of the text.
fn last_value(linker: &Linker<'_>, form: FormId, site: SiteRef) -> Option<FormId> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let Form::Var(var) = facts.form(form) else { return None };
    if facts.var(var).body != facts.body_of(row.at) {
        return None;
    }
    let before = facts.assigns_of(var).filter(|assign| assign.value.is_some() && assign.span.start < row.span.start);
    before.max_by_key(|assign| assign.span.start).map(|assign| assign.value)
}

/// True if a call is given what another call of the same body returns, or a part of it.
fn takes(linker: &Linker<'_>, site: SiteRef, made: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    linker.program.args_of(site).iter().any(|arg| {
        last_value(linker, arg.value, site).is_some_and(|value| {
            mentions(
                facts,
                value,
                DEPTH / 2,
                &|form| matches!(form, Form::Result(of) if site.file.site_ref(of) == made),
            )
        })
    })
}
