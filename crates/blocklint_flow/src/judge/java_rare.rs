//! Java: calls that a setting asks for.

use blocklint_facts::{AltKind, Form, FormId, RegionKind};
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{FileId, SiteRef};

use crate::guards::java_setting::regions_outward;
use crate::judge::java_slight::class_of_settings;

/// Whether a branch around a call, or around the literal that it stands in, asks for something.
pub(crate) fn is_asked_around(linker: &Linker<'_>, site: SiteRef, asks: impl Fn(&Linker<'_>, FormId) -> bool) -> bool {
    let facts = linker.program.facts(site.file);
    regions_outward(linker, site).into_iter().any(|id| {
        let region = facts.region(id);
        region.kind == RegionKind::Then && region.test.is_some() && asks(linker, region.test)
    })
}

/// Whether a call stands where a program's settings ask for it.
pub fn is_switched_on(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut at = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Then && region.test.is_some() && asks_for_setting(linker, site.file, region.test)
        {
            return true;
        }
        at = region.parent;
    }
    false
}

/// Whether a test asks a program's settings if something is wanted: `if (config.isDnsEnabled())`.
pub(crate) fn asks_for_setting(linker: &Linker<'_>, file: FileId, test: FormId) -> bool {
    let facts = linker.program.facts(file);
    match facts.form(test) {
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| asks_for_setting(linker, file, part)),
        Form::Result(call) => {
            let row = facts.site(call);
            if lang::java::words::asks_for_details(facts.text(row.name))
                || lang::java::words::asks_for_mode(facts.text(row.name))
            {
                return true;
            }
            if !facts.args_of(call).is_empty() || !lang::java::names::asks_if_wanted(facts.text(row.name)) {
                return false;
            }
            let Some(of) = linker.receiver_form(file.site_ref(call)) else { return false };
            let holder = match facts.form(of) {
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
