//! Signal `for-a-terminal`: code that runs only with a terminal, as after `if not sys.stdout.isatty(): return`. It
//! serves one person, who does not notice a short block, and no requests.

use blocklint_facts::{AltKind, ExitKind, Form, FormId};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::EnvId;

/// The depth to which tests, and the functions that they call, are followed.
const DEPTH: u32 = 5;

/// True if a site runs only with a terminal.
pub(crate) fn is_for_a_terminal(linker: &Linker<'_>, site: SiteRef) -> bool {
    let Some(check) = lang::words_of(linker.program.language(site.file)).terminal_check else { return false };
    // Few projects have such a check, so the name is looked up first.
    linker.program.name(check).is_some()
        && linker.tests_around(site).any(|(test, outcome)| tests_terminal(linker, site.file, test, outcome, DEPTH))
}

/// True if a test with the result `outcome` means that there is a terminal.
fn tests_terminal(linker: &Linker<'_>, file: FileId, test: FormId, outcome: bool, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let facts = linker.program.facts(file);
    let part_tests = |part: FormId| tests_terminal(linker, file, part, outcome, depth);
    match facts.form(test) {
        Form::Not(inner) => tests_terminal(linker, file, inner, !outcome, depth),
        Form::Alt(AltKind::And, list) if outcome => facts.list(list).iter().any(|&part| part_tests(part)),
        Form::Alt(AltKind::Or, list) if outcome => facts.list(list).iter().all(|&part| part_tests(part)),
        Form::Alt(AltKind::Or, list) => facts.list(list).iter().any(|&part| part_tests(part)),
        Form::Result(call) if outcome => {
            let check = lang::words_of(facts.language).terminal_check;
            check == Some(facts.text(facts.site(call).name)) || {
                let targets = linker.targets(file.site_ref(call), EnvId::NONE);
                match targets.list[..] {
                    [Target::Body { body, .. }] if !targets.unknown => returns_terminal_test(linker, body, depth),
                    _ => false,
                }
            }
        }
        _ => false,
    }
}

/// True if every return value of a function, except `False`, is a test for a terminal.
fn returns_terminal_test(linker: &Linker<'_>, body: BodyRef, depth: u32) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    let mut returns = facts.exits.iter().filter(|exit| {
        exit.kind == ExitKind::Return
            && facts.body_of(exit.at) == body_id
            && facts.form(exit.value) != Form::Bool(false)
    });
    let Some(first) = returns.next() else { return false };
    tests_terminal(linker, body.file, first.value, true, depth)
        && returns.all(|exit| tests_terminal(linker, body.file, exit.value, true, depth))
}
