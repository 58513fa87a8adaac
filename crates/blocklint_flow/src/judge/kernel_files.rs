//! Signal `file-of-the-kernel`: the kernel generates the files of `/proc` and `/sys` when they are read, so a read
//! waits for no disk.

use blocklint_facts::{Form, FormId};
use blocklint_link::effect::constant::Constant;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::SiteRef;
use blocklint_link::values::value::EnvId;

use crate::graph::FlowEdge;

/// How many expressions and variables are followed to the beginning of a path.
const MAX_PATH_DEPTH: u32 = 6;

/// The path prefixes of pseudo-files.
const PSEUDO_FILE_PREFIXES: &[&str] = &["/proc/", "/sys/"];

/// Methods and functions whose result has the prefix of their receiver or first argument.
const KEEPS_PREFIX: &[&str] = &[
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

/// True if the last call of a path opens or reads a pseudo-file. If its first argument is a parameter, the arguments of
/// the callers on the path decide.
pub(crate) fn ends_at_pseudo_file(linker: &Linker<'_>, path: &[FlowEdge]) -> bool {
    let Some((last, above)) = path.split_last() else { return false };
    let Some(first) = linker.program.args_of(last.site).first().map(|arg| arg.value) else { return false };
    let mut prefix = prefix_of(linker, last.site, first, MAX_PATH_DEPTH);
    let mut inner = last.site;
    for edge in above.iter().rev() {
        let Constant::Param(index) = prefix else { break };
        let body = linker.program.body_of_site(inner);
        let with_receiver = linker.targets(edge.site, EnvId::NONE).receiver_of(body).unwrap_or(false);
        let Some(form) = linker.argument_for_param(edge.site, body, index, with_receiver) else { return false };
        prefix = prefix_of(linker, edge.site, form, MAX_PATH_DEPTH);
        inner = edge.site;
    }
    match prefix {
        Constant::Str(text) => {
            PSEUDO_FILE_PREFIXES.iter().any(|known| text.starts_with(known) || text == known.trim_end_matches('/'))
        }
        _ => false,
    }
}

/// Returns the prefix of a text or path, or the parameter that it begins with.
fn prefix_of(linker: &Linker<'_>, site: SiteRef, form: FormId, depth: u32) -> Constant {
    let Some(depth) = depth.checked_sub(1) else { return Constant::Hidden };
    let facts = linker.program.facts(site.file);
    match facts.form(form) {
        Form::Result(made) if KEEPS_PREFIX.contains(&facts.text(facts.site(made).name)) => {
            let made_at = site.file.site_ref(made);
            match facts.form(facts.site(made).callee) {
                Form::Attr(base, _) => prefix_of(linker, made_at, base, depth),
                _ => match facts.args_of(made).first() {
                    Some(first) => prefix_of(linker, made_at, first.value, depth),
                    None => Constant::Hidden,
                },
            }
        }
        Form::Var(var) => match linker.constant(site, form, EnvId::NONE, depth) {
            Constant::Hidden => match facts.only_value_of(var) {
                Some(only) => prefix_of(linker, site, only.value, depth),
                None => Constant::Hidden,
            },
            known => known,
        },
        _ => linker.constant(site, form, EnvId::NONE, depth),
    }
}
