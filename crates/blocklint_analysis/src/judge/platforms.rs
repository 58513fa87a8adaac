//! Code for one operating system alone: `if sys.platform == "win32":`.

use blocklint_core::Language;
use blocklint_facts::{AltKind, Comparison, Form, FormId};

use crate::idioms;
use crate::link::Link;
use crate::link::eval::Scope;
use crate::link::names;
use crate::link::value::{EnvId, Val};
use crate::program::ids::SiteRef;

impl Link<'_> {
    /// Python: whether a site is reached only on an operating system that hardly any server runs on.
    pub(crate) fn is_for_rare_platform(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        facts.language == Language::Python
            && self.tests_over(site).any(|(test, holds)| self.says_rare_platform(site, test, holds, 4))
    }

    fn says_rare_platform(&self, site: SiteRef, test: FormId, holds: bool, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(site.file);
        let says = |part: FormId, holds: bool| self.says_rare_platform(site, part, holds, depth);
        match facts.form(test) {
            Form::Not(inner) => says(inner, !holds),
            Form::Alt(AltKind::And, list) if holds => facts.list(list).iter().any(|&part| says(part, true)),
            Form::Alt(AltKind::Or, list) if !holds => facts.list(list).iter().any(|&part| says(part, false)),
            Form::Compare(comparison, left, right) => {
                let is_equal = match comparison {
                    Comparison::Eq => holds,
                    Comparison::NotEq => !holds,
                    _ => return false,
                };
                is_equal && self.names_platform(site, left) && self.is_rare(site, right)
            }
            // `sys.platform.startswith("win")`
            Form::Result(call) => match (facts.form(facts.site(call).callee), &facts.args_of(call)[..]) {
                (Form::Attr(base, method), [begins]) => {
                    holds
                        && names::asks_for_end(facts.language, facts.text(method)) == Some(names::StringEnd::First)
                        && self.names_platform(site, base)
                        && self.is_rare(site, begins.value)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a form is what the standard library calls the operating system.
    fn names_platform(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let named = match facts.form(form) {
            Form::Result(call) => facts.site(call).callee,
            _ => form,
        };
        let scope = Scope { file: site.file, at: facts.site(site.site).at, env: EnvId::NONE };
        self.values.members(self.eval(scope, named).value).iter().any(|val| match *val {
            Val::External(path) => names::python::is_platform(&self.library.text(path)),
            _ => false,
        })
    }

    fn is_rare(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.program.facts(site.file);
        matches!(facts.form(form), Form::Str(name) if idioms::python::is_rare_platform(facts.text(name)))
    }
}
