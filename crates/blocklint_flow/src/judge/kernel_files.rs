//! Files that the kernel makes up when they are read: `/proc` and `/sys` lie in no store, and no disk is waited for.

use blocklint_facts::{Form, FormId};
use blocklint_link::effect::constant::Constant;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::EnvId;

use crate::graph::FlowEdge;

/// The beginnings of the names of such files.
const BEGINNINGS: &[&str] = &["/proc/", "/sys/"];

/// Methods and functions whose result begins as their arguments.
const KEEPS_BEGINNING: &[&str] = &[
    "new",
    "from",
    "join",
    "as_path",
    "to_path_buf",
    "into",
    "as_ref",
    "to_owned",
    "to_string",
    "clone",
    "format",
    "with_extension",
];

/// True if the last call of a path opens or reads one of those files, by its first argument and by the arguments that
/// callers on the path pass for it.
pub(crate) fn ends_at_pseudo_file(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let Some((last, above)) = path.split_last() else { return false };
    let Some(first) = linker.program.args_of(last.site).first().map(|arg| arg.value) else { return false };
    let mut beginning = begins(linker, last.site, first, 6);
    let mut inner = last.site;
    for edge in above.iter().rev() {
        let Constant::Param(index) = beginning else { break };
        let body = linker.program.body_of_site(inner);
        let with_receiver = linker.targets(edge.site, EnvId::NONE).receiver_of(body).unwrap_or(false);
        let Some(form) = linker.argument_for_param(edge.site, body, index, with_receiver) else { return false };
        beginning = begins(linker, edge.site, form, 6);
        inner = edge.site;
    }
    match beginning {
        Constant::Str(text) => {
            BEGINNINGS.iter().any(|known| text.starts_with(known) || text == known.trim_end_matches('/'))
        }
        _ => false,
    }
}

/// Returns the beginning of a text or path, or the parameter that it begins with.
fn begins(linker: &Linker<'_>, site: SiteRef, form: FormId, depth: u32) -> Constant {
    let Some(depth) = depth.checked_sub(1) else { return Constant::Hidden };
    let facts = linker.program.facts(site.file);
    match facts.form(form) {
        Form::Result(made) if KEEPS_BEGINNING.contains(&facts.text(facts.site(made).name)) => {
            let made_at = site.file.site_ref(made);
            match facts.form(facts.site(made).callee) {
                Form::Attr(base, _) => begins(linker, made_at, base, depth),
                _ => match facts.args_of(made).first() {
                    Some(first) => begins(linker, made_at, first.value, depth),
                    None => Constant::Hidden,
                },
            }
        }
        Form::Var(var) => match linker.constant(site, form, EnvId::NONE, depth) {
            Constant::Hidden => match facts.only_value_of(var) {
                Some(only) => begins(linker, site, only.value, depth),
                None => Constant::Hidden,
            },
            known => known,
        },
        _ => linker.constant(site, form, EnvId::NONE, depth),
    }
}
