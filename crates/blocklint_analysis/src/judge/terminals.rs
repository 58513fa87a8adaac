//! Code that runs only where a person sits at a terminal: `if not sys.stdout.isatty(): return`. Who asks that first writes
//! for one person, whom a short hold does not delay, and nothing is served there.

use blocklint_facts::{AltKind, ExitKind, Form, FormId};

use crate::link::Link;
use crate::link::names;
use crate::link::targets::Target;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, FileId, SiteRef};

/// How deep tests and the functions that they ask are followed.
const DEPTH: u32 = 5;

impl Link<'_> {
    /// Whether a site stands in a branch that asks for a terminal.
    pub(crate) fn is_for_a_terminal(&self, site: SiteRef) -> bool {
        let Some(asks) = names::asks_for_terminal(self.program.language(site.file)) else { return false };
        // Hardly a project does.
        self.program.name(asks).is_some()
            && self.tests_over(site).any(|(test, holds)| self.says_terminal(site.file, test, holds, DEPTH))
    }

    /// Whether a test that comes out as `holds` says that there is a terminal.
    fn says_terminal(&self, file: FileId, test: FormId, holds: bool, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        let says = |part: FormId| self.says_terminal(file, part, holds, depth);
        match facts.form(test) {
            Form::Not(inner) => self.says_terminal(file, inner, !holds, depth),
            Form::Alt(AltKind::And, list) if holds => facts.list(list).iter().any(|&part| says(part)),
            Form::Alt(AltKind::Or, list) if holds => facts.list(list).iter().all(|&part| says(part)),
            Form::Alt(AltKind::Or, list) => facts.list(list).iter().any(|&part| says(part)),
            Form::Result(call) if holds => {
                let asks = names::asks_for_terminal(facts.language);
                asks == Some(facts.text(facts.site(call).name)) || {
                    let targets = self.targets(SiteRef { file, site: call }, EnvId::NONE);
                    match targets.list[..] {
                        [Target::Body { body, .. }] if !targets.unknown => self.gives_terminal(body, depth),
                        _ => false,
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether a function answers with nothing but whether there is a terminal.
    fn gives_terminal(&self, body: BodyRef, depth: u32) -> bool {
        let facts = self.program.facts(body.file);
        let mut ends = facts.exits.iter().filter(|exit| {
            exit.kind == ExitKind::Return
                && facts.body_of(exit.at) == body.body
                && facts.form(exit.value) != Form::Bool(false)
        });
        let Some(first) = ends.next() else { return false };
        self.says_terminal(body.file, first.value, true, depth)
            && ends.all(|end| self.says_terminal(body.file, end.value, true, depth))
    }
}
