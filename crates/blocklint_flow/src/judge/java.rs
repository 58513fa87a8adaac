//! Signals of Java: calls in branches that test a setting, and calls that run only after a failure.

use blocklint_core::Effect;
use blocklint_facts::{AltKind, Comparison, FileFacts, Form, FormId, RegionKind};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};
use blocklint_link::syntax::forms::last_name;
use blocklint_link::syntax::regions::around;

use crate::graph::FlowEdge;
use crate::guards::java_setting::regions_outward;

/// True if the test of a branch around a call, or around the lambda that contains the call, meets a condition.
pub(crate) fn has_branch_around(
    linker: &Linker<'_>,
    site: SiteRef,
    is_wanted: impl Fn(&Linker<'_>, FormId) -> bool,
) -> bool {
    let facts = linker.program.facts(site.file);
    regions_outward(linker, site).into_iter().any(|id| {
        let region = facts.region(id);
        region.kind == RegionKind::Then && region.test.is_some() && is_wanted(linker, region.test)
    })
}

/// True if a call is in a branch that tests a setting of the program: `if (config.isDnsEnabled())`.
pub fn is_behind_setting(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut ancestor = linker.program.site(site).at.region;
    while let Some(id) = ancestor.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Then && region.test.is_some() && tests_setting(linker, site.file, region.test) {
            return true;
        }
        ancestor = region.parent;
    }
    false
}

/// True if a condition tests a setting of the program: `config.isDnsEnabled()`.
pub(crate) fn tests_setting(linker: &Linker<'_>, file: FileId, test: FormId) -> bool {
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| tests_setting(linker, file, part)),
        Form::Result(call) => {
            let site_facts = facts.site(call);
            if lang::java::words::is_verbose_level_test(facts.text(site_facts.name))
                || lang::java::words::is_mode_test(facts.text(site_facts.name))
            {
                return true;
            }
            if !facts.args_of(call).is_empty() || !lang::java::names::is_feature_flag(facts.text(site_facts.name)) {
                return false;
            }
            let Some(receiver) = linker.receiver_form(file.site_ref(call)) else { return false };
            let holder = match facts.form(receiver) {
                Form::Var(var) => facts.text(facts.var(var).name),
                Form::Attr(_, name) | Form::Name(name) => facts.text(name),
                Form::Result(from)
                    if class_of_settings(linker, file.site_ref(from))
                        .is_some_and(lang::java::words::keeps_settings) =>
                {
                    return true;
                }
                Form::Result(from) => facts.text(facts.site(from).name),
                _ => return false,
            };
            lang::java::names::holds_settings(holder)
        }
        _ => false,
    }
}

/// True if a path runs only after a failure and has an effect that does no harm there.
pub(crate) fn runs_after_failure_alone(linker: &Linker<'_>, path: &[FlowEdge], effect: Effect) -> bool {
    matches!(effect, Effect::File | Effect::Network | Effect::Cpu)
        && path.first().is_some_and(|edge| is_behind_failure(linker, edge.site))
}

/// True if a site is in an exception handler, or in a branch that tests that an operation failed.
fn is_behind_failure(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    around(facts, linker.program.site(site).at.region).any(|id| {
        let region = facts.region(id);
        match (region.kind, region.test.get()) {
            (RegionKind::Handler, _) => true,
            (RegionKind::Then, Some(test)) => tests_failure(linker, site.file, test, true),
            (RegionKind::Else, Some(test)) => tests_failure(linker, site.file, test, false),
            _ => false,
        }
    })
}

/// True if a test with the result `outcome` means a failure: `!future.isSuccess()`, `future.cause() != null`, also
/// through a local variable.
fn tests_failure(linker: &Linker<'_>, file: FileId, test: FormId, outcome: bool) -> bool {
    let facts = linker.program.facts(file);
    let returns_cause = |form: FormId| match facts.form(form) {
        Form::Result(call) => {
            facts.text(facts.site(call).name) == lang::java::words::CAUSE && facts.args_of(call).is_empty()
        }
        _ => false,
    };
    match facts.form(test) {
        Form::Not(inner) => tests_failure(linker, file, inner, !outcome),
        Form::Result(call) if facts.args_of(call).is_empty() => match facts.text(facts.site(call).name) {
            lang::java::words::IS_SUCCESS => !outcome,
            _ => false,
        },
        Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right)
            if facts.form(right) == Form::None =>
        {
            (comparison == Comparison::NotEq) == outcome && has_value_with(facts, left, returns_cause)
        }
        Form::Alt(AltKind::And, list) if outcome => {
            facts.list(list).iter().any(|&part| tests_failure(linker, file, part, true))
        }
        _ => false,
    }
}

/// Returns the class name of the object that a static getter returns: `BrokerConfig` of `BrokerConfig.getInstance()`.
pub(crate) fn class_of_settings<'a>(linker: &Linker<'a>, site: SiteRef) -> Option<&'a str> {
    let facts = linker.program.facts(site.file);
    if !lang::java::words::returns_singleton(facts.text(linker.program.site(site).name)) {
        return None;
    }
    let receiver = linker.receiver_form(site)?;
    let name = match facts.form(receiver) {
        Form::Import(import) => facts.import(import).name,
        _ => last_name(facts, receiver)?,
    };
    Some(facts.text(name))
}

/// True if a form, or a value of the local variable that it is, meets a condition.
fn has_value_with(facts: &FileFacts, form: FormId, is_wanted: impl Fn(FormId) -> bool) -> bool {
    match facts.form(form) {
        Form::Var(var) => facts.assigns_of(var).any(|assign| is_wanted(assign.value)),
        _ => is_wanted(form),
    }
}
