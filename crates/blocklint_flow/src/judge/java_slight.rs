//! Java: calls that run only after a failure, and classes of settings.

use blocklint_core::Effect;
use blocklint_facts::{AltKind, Comparison, FileFacts, Form, FormId, RegionKind};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::forms::last_name;
use blocklint_link::syntax::regions::around;

use crate::graph::FlowEdge;

/// Whether a call stands on a way that is only taken after a failure, of an effect that then matters to nobody.
pub(crate) fn runs_after_failure_alone(linker: &Linker<'_>, ways: &[FlowEdge], effect: Effect) -> bool {
    matches!(effect, Effect::File | Effect::Network | Effect::Cpu)
        && ways.first().is_some_and(|way| stands_after_failure(linker, way.site))
}

/// Whether a site stands in an exception's handler, or in the branch of a listener where what it listened for has failed.
fn stands_after_failure(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).any(|id| {
        let region = facts.region(id);
        match (region.kind, region.test.get()) {
            (RegionKind::Handler, _) => true,
            (RegionKind::Then, Some(test)) => says_failed(linker, site.file, test, true),
            (RegionKind::Else, Some(test)) => says_failed(linker, site.file, test, false),
            _ => false,
        }
    })
}

/// Whether something has failed where a test comes out so: `!future.isSuccess()`, `future.cause() != null`, also of a local.
fn says_failed(linker: &Linker<'_>, file: FileId, test: FormId, holds: bool) -> bool {
    let facts = linker.program.facts(file);
    let gives_cause = |form: FormId| match facts.form(form) {
        Form::Result(call) => {
            facts.text(facts.site(call).name) == lang::java::words::CAUSE && facts.args_of(call).is_empty()
        }
        _ => false,
    };
    match facts.form(test) {
        Form::Not(inner) => says_failed(linker, file, inner, !holds),
        Form::Result(call) if facts.args_of(call).is_empty() => match facts.text(facts.site(call).name) {
            lang::java::words::IS_SUCCESS => !holds,
            _ => false,
        },
        Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right)
            if facts.form(right) == Form::None =>
        {
            (comparison == Comparison::NotEq) == holds && is_or_holds(facts, left, gives_cause)
        }
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().any(|&part| says_failed(linker, file, part, true))
        }
        _ => false,
    }
}

/// Whether the object of a static getter says by its class that it holds settings: `BrokerConfig.getInstance()`.
pub(crate) fn class_of_settings<'a>(linker: &Linker<'a>, site: SiteRef) -> Option<&'a str> {
    let facts = linker.program.facts(site.file);
    if !lang::java::words::gives_the_one(facts.text(linker.program.site(site).name)) {
        return None;
    }
    let of = linker.receiver_form(site)?;
    let name = match facts.form(of) {
        Form::Import(import) => facts.import(import).name,
        _ => last_name(facts, of)?,
    };
    Some(facts.text(name))
}

/// Whether a form is wanted, or what a local that it is was given.
fn is_or_holds(facts: &FileFacts, form: FormId, wanted: impl Fn(FormId) -> bool) -> bool {
    match facts.form(form) {
        Form::Var(var) => facts.assigns_of(var).any(|assign| wanted(assign.value)),
        _ => wanted(form),
    }
}
