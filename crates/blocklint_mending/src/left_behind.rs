//! Finds the calls that would still block if a fix moved only one call to a thread: uses of its result, and calls on
//! the same file (Python). A fix that leaves half of the work behind frees no task.

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

/// Returns the blocking uses of a call's result in the same body: calls on it, or with it as an argument. If some
/// methods of an object block, its unknown methods are treated as blocking too.
pub fn blocking_uses_of_result(linker: &Linker<'_>, site: SiteRef) -> Vec<Span> {
    let blocks = result_kind(linker, site) == ResultKind::Blocks;
    let is_use = |use_site: &SiteRef| {
        if *use_site == site {
            return false;
        }
        // Reading an attribute or element of the result is no call.
        let is_call = linker.program.site(*use_site).kind == SiteKind::Call;
        let is_on_result = maker_of_receiver(linker, *use_site) == Some(site);
        (is_on_result || is_call && takes_result(linker, *use_site, site)) && holds_thread(linker, *use_site)
            || is_on_result && is_call && blocks && is_unknown(linker, *use_site)
    };
    spans_of_sites(linker, site, is_use)
}

/// Returns the blocking calls of the same body that access the same file or folder by the same variable.
pub fn calls_on_same_file(linker: &Linker<'_>, site: SiteRef) -> Vec<Span> {
    let variables = own_variables_of_call(linker, site);
    if variables.is_empty() || !accesses_file(linker, site) {
        return Vec::new();
    }
    let is_use = |other_site: &SiteRef| {
        *other_site != site
            && own_variables_of_call(linker, *other_site).iter().any(|var| variables.contains(var))
            && run_together(linker, *other_site, site)
            && accesses_file(linker, *other_site)
    };
    spans_of_sites(linker, site, is_use)
}

/// Returns the call of the same body that opened the file which a call reads, writes or closes, if opening it blocks
/// too.
pub fn opener_of(linker: &Linker<'_>, site: SiteRef) -> Option<Span> {
    let opening_site = maker_of_receiver(linker, site)?;
    let opens = result_kind(linker, opening_site) == ResultKind::Blocks
        && effects_of_call(linker, opening_site).any(|effect| effect == Effect::File);
    opens.then(|| linker.program.site(opening_site).span)
}

fn spans_of_sites(linker: &Linker<'_>, site: SiteRef, is_use: impl Fn(&SiteRef) -> bool) -> Vec<Span> {
    let facts = linker.program.facts(site.file);
    let body = facts.body_of(linker.program.site(site).at);
    let all = linker.program.sites_in(site.file.body_ref(body));
    all.filter(is_use).map(|site| linker.program.site(site).span).collect()
}

/// Returns the effects of the library calls that a call is known to run.
fn effects_of_call(linker: &Linker<'_>, site: SiteRef) -> impl Iterator<Item = Effect> {
    let targets = linker.targets(site, EnvId::NONE);
    let rows: Vec<Effect> = targets
        .list
        .iter()
        .filter_map(|target| match *target {
            Target::Row { path, .. } => Some(linker.library.calls(path)),
            _ => None,
        })
        .flat_map(|calls| calls.effect().filter_map(|row| row.held_effect()).collect::<Vec<_>>())
        .collect();
    rows.into_iter()
}

fn holds_thread(linker: &Linker<'_>, site: SiteRef) -> bool {
    effects_of_call(linker, site).next().is_some()
}

/// True if the effect of a method is unknown, by its receiver's type and by its name.
fn is_unknown(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    linker.targets(site, EnvId::NONE).list.is_empty()
        && !lang::words_of(facts.language).only_calculates(facts.text(linker.program.site(site).name))
}

/// True if a call accesses the file system for more than a moment.
fn accesses_file(linker: &Linker<'_>, site: SiteRef) -> bool {
    linker.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
        // A call that only changes a name (`os.rename`) takes a moment.
        Target::Row { path, .. } if is_cheaper_than_thread(&linker.library.text(path)) => false,
        Target::Row { path, .. } => linker
            .library
            .calls(path)
            .effect()
            .any(|row| row.held_effect() == Some(Effect::File) && row.severity != Some(Severity::Note)),
        _ => false,
    })
}

/// True if two calls of a body can run in one execution; false if they are in different branches.
fn run_together(linker: &Linker<'_>, first_site: SiteRef, second_site: SiteRef) -> bool {
    let facts = linker.program.facts(first_site.file);
    let region = |site: SiteRef| linker.program.site(site).at.region;
    let is_around = |outer: RegionId, inner: RegionId| around(facts, inner).any(|at| at == outer);
    is_around(region(second_site), region(first_site)) || is_around(region(first_site), region(second_site))
}

/// Returns the local variables that a call has as receiver or arguments.
fn own_variables_of_call(linker: &Linker<'_>, site: SiteRef) -> Vec<VarId> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    if row.kind != SiteKind::Call {
        return Vec::new();
    }
    let body = facts.body_of(row.at);
    let forms = linker.program.args_of(site).into_iter().map(|arg| arg.value).chain(linker.receiver_form(site));
    forms.filter_map(|form| own_variable(facts, form, body)).collect()
}

fn own_variable(facts: &FileFacts, form: FormId, body: BodyId) -> Option<VarId> {
    match facts.form(form) {
        Form::Var(var) if facts.var(var).body == body && facts.assigns_of(var).count() <= 1 => Some(var),
        _ => None,
    }
}

/// Returns the call in the same body that makes the receiver of another call, directly or through a variable.
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

/// Returns the last value that is assigned to a variable before a site, in the order of the text.
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

/// True if an argument of a call is the result of another call of the same body, or a part of it.
fn takes_result(linker: &Linker<'_>, site: SiteRef, maker: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    linker.program.args_of(site).iter().any(|arg| {
        last_value(linker, arg.value, site).is_some_and(|value| {
            mentions(
                facts,
                value,
                DEPTH / 2,
                &|form| matches!(form, Form::Result(result_site) if site.file.site_ref(result_site) == maker),
            )
        })
    })
}
