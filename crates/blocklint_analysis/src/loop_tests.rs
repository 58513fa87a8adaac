//! Code that a test reserves for threads without a running loop: the handler of a `get_running_loop` that raised, the
//! branch where `is_running()` is false, the branch for another thread than the loop's.

use blocklint_facts::{AltKind, Comparison, Form, FormId, RegionId, RegionKind};
use blocklint_models::Asks;

use crate::ids::{FileId, SiteRef};
use crate::link::Link;
use crate::value::{EnvId, Val};

impl<'a> Link<'a> {
    /// Whether a site stands where no event loop runs in its thread.
    pub(crate) fn off_the_loop(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            let reserved = match region.kind {
                RegionKind::Then => self.says_no_loop(site.file, region.test, 4) == Some(true),
                RegionKind::Else => {
                    region.test.is_some() && self.says_no_loop(site.file, region.test, 4) == Some(false)
                        || region.test.is_none() && self.sibling_says(site.file, id)
                }
                RegionKind::Handler => self.try_asks(site.file, id),
                _ => false,
            };
            if reserved {
                return true;
            }
            at = region.parent;
        }
        false
    }

    /// For an `else` without a test of its own: what the test of its branch says.
    fn sibling_says(&self, file: FileId, id: RegionId) -> bool {
        let facts = self.program.facts(file);
        let own = facts.region(id);
        facts
            .regions
            .iter()
            .filter(|region| region.group == own.group && region.body == own.body && region.kind == RegionKind::Then)
            .any(|region| self.says_no_loop(file, region.test, 4) == Some(false))
    }

    /// Whether the guarded part before a handler asks for the running loop, so that the handler means there is none.
    fn try_asks(&self, file: FileId, handler: RegionId) -> bool {
        let facts = self.program.facts(file);
        let own = facts.region(handler);
        facts.sites.iter().enumerate().any(|(at, site)| {
            let region = facts.region(site.at.region);
            region.kind == RegionKind::Try
                && region.group == own.group
                && region.body == own.body
                && self.asks(SiteRef { file, site: blocklint_facts::SiteId(at as u32) }, 0)
        })
    }

    /// What it means that a test holds: no loop runs here (true), or one does (false).
    fn says_no_loop(&self, file: FileId, test: FormId, depth: u32) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.says_no_loop(file, inner, depth).map(|says| !says),
            // A call that tells by its truth: `loop.is_running()`.
            Form::Result(site) => self.asks(SiteRef { file, site }, depth).then_some(false),
            Form::Compare(comparison, left, right) => {
                let asked = self.is_answer(file, left, depth) || self.is_answer(file, right, depth);
                let null = facts.form(left) == Form::None || facts.form(right) == Form::None;
                match comparison {
                    // `_get_running_loop() is None`; `get_ident() == loop_thread`.
                    Comparison::Is | Comparison::Eq if asked => Some(null),
                    Comparison::IsNot | Comparison::NotEq if asked => Some(!null),
                    _ => None,
                }
            }
            Form::Alt(AltKind::And, list) => {
                facts.list(list).iter().find_map(|&part| self.says_no_loop(file, part, depth).filter(|says| *says))
            }
            Form::Var(_) => self.is_answer(file, test, depth).then_some(false),
            _ => None,
        }
    }

    /// Whether a form is the answer of a call that asks: its result, or a variable that holds it.
    fn is_answer(&self, file: FileId, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Result(site) => self.asks(SiteRef { file, site }, depth),
            Form::Var(var) => facts.assigns_of(var).any(|row| self.is_answer(file, row.value, depth)),
            _ => false,
        }
    }

    /// Whether a call tells if a loop runs in its thread.
    fn asks(&self, site: SiteRef, depth: u32) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        // The models' names decide whether looking further is worth it; a function of the project may give the answer
        // on, and is looked at where its result is tested.
        let named = self.library.name_uses(facts.language, facts.text(row.name)).intersects(blocklint_models::Uses::ASKS);
        if !named && (depth == 0 || !self.program.is_language(site.file, blocklint_core::Language::Python)) {
            return false;
        }
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| match *val {
            Val::External(path) | Val::Method { path, .. } => {
                self.library.calls(path).iter().any(|row| row.asks == Some(Asks::RunningLoop))
            }
            // A function of the project that gives the answer on.
            Val::Fn { body, .. } => depth > 0 && self.gives_answer(body, depth - 1),
            _ => false,
        })
    }

    /// Whether a function returns what such a call told.
    fn gives_answer(&self, body: crate::ids::BodyRef, depth: u32) -> bool {
        let facts = self.program.facts(body.file);
        facts.exits.iter().any(|exit| {
            facts.body_of(exit.at) == body.body && self.is_answer(body.file, exit.value, depth)
        })
    }
}
