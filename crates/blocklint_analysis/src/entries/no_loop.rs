//! Code that a test reserves for threads without a running loop: the handler of a `get_running_loop` that raised, the
//! branch where `is_running()` is false, the branch for another thread than the loop's.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AltKind, BodyId, Comparison, Exit, Form, FormId, RegionId, RegionKind};
use blocklint_models::Asks;
use rustc_hash::FxHashSet;

use crate::entries::memo::Memo;
use crate::link::Link;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, FileId, Name, SiteRef};

/// Where one file asks whether a loop runs.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    /// Guarded parts (their body and group) that ask: their handlers mean that none runs.
    tries: FxHashSet<(BodyId, u32)>,
    /// Bodies that ask.
    bodies: FxHashSet<BodyId>,
}

impl<'a> Link<'a> {
    /// Whether a site stands where no event loop runs in its thread.
    pub(crate) fn off_the_loop(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at.region;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            let reserved = match region.kind {
                RegionKind::Then => self.says_no_loop(site.file, region.test, 6) == Some(true),
                RegionKind::Else => {
                    region.test.is_some() && self.says_no_loop(site.file, region.test, 6) == Some(false)
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

    /// Java: whether an event loop runs in the thread where a form is true.
    pub(crate) fn says_loop(&self, file: FileId, form: FormId) -> bool {
        self.program.language(file) == Language::Java && self.says_no_loop(file, form, 6) == Some(false)
    }

    /// For an `else` without a test of its own: what the test of its branch says.
    fn sibling_says(&self, file: FileId, id: RegionId) -> bool {
        let facts = self.program.facts(file);
        let own = facts.region(id);
        facts
            .regions
            .iter()
            .filter(|region| region.group == own.group && region.body == own.body && region.kind == RegionKind::Then)
            .any(|region| self.says_no_loop(file, region.test, 6) == Some(false))
    }

    /// Whether the guarded part before a handler asks for the running loop, so that the handler means there is none.
    fn try_asks(&self, file: FileId, handler: RegionId) -> bool {
        let own = self.program.facts(file).region(handler);
        self.asking(file).tries.contains(&(own.body, own.group))
    }

    /// Where a file asks whether a loop runs, remembered.
    fn asking(&self, file: FileId) -> Rc<Asking> {
        if let Some(known) = self.above::<Memo>().asking.borrow().get(&file) {
            return known.clone();
        }
        let mut asking = Asking::default();
        let facts = self.program.facts(file);
        for name in self.ask_names(facts.language).iter() {
            let Some(sym) = self.program.local(file, *name) else { continue };
            for &site in self.program.index_of(file).sites_named(sym) {
                let row = facts.site(site);
                let region = facts.region(row.at.region);
                if self.asks(SiteRef { file, site }, 0) != Some(Asks::RunningLoop) {
                    continue;
                }
                if region.kind == RegionKind::Try {
                    asking.tries.insert((region.body, region.group));
                }
                asking.bodies.insert(facts.body_of(row.at));
            }
        }
        let asking = Rc::new(asking);
        self.above::<Memo>().asking.borrow_mut().insert(file, asking.clone());
        asking
    }

    /// Names of calls that ask, and those of project functions that give such an answer on.
    fn ask_names(&self, language: Language) -> Rc<[Name]> {
        if let Some(known) = self.above::<Memo>().ask_names.borrow().get(&language) {
            return known.clone();
        }
        let models = self.library.of(language).names(blocklint_models::Uses::ASKS);
        let mut names: Vec<Name> = models.filter_map(|row| self.program.name(row.name)).collect();
        names = names.into_iter().flat_map(|name| self.with_aliases(name)).collect();
        names.sort();
        names.dedup();
        let names: Rc<[Name]> = Rc::from(names);
        self.above::<Memo>().ask_names.borrow_mut().insert(language, names.clone());
        names
    }

    /// Names of project functions that return what such a call told.
    fn answering_names(&self, language: Language) -> Rc<FxHashSet<Name>> {
        if let Some(known) = self.above::<Memo>().answering.borrow().get(&language) {
            return known.clone();
        }
        self.above::<Memo>().answering.borrow_mut().insert(language, Rc::default());
        let mut found = FxHashSet::default();
        for name in self.ask_names(language).iter() {
            for &(file, _) in self.program.occurrences(*name) {
                if self.program.language(file) != language {
                    continue;
                }
                for &body in &self.asking(file).bodies {
                    let body = BodyRef { file, body };
                    if self.gives_answer(body, 3) {
                        found.extend(self.body_names(body));
                    }
                }
            }
        }
        let found = Rc::new(found);
        self.above::<Memo>().answering.borrow_mut().insert(language, found.clone());
        found
    }

    /// What it means that a test holds: no loop runs here (true), or one does (false).
    fn says_no_loop(&self, file: FileId, test: FormId, depth: u32) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.says_no_loop(file, inner, depth).map(|says| !says),
            // A call that tells by its truth: `loop.is_running()`.
            Form::Result(site) => match self.asks(SiteRef { file, site }, depth)? {
                Asks::RunningLoop => Some(false),
                Asks::Worker => Some(true),
            },
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
            Form::Result(site) => self.asks(SiteRef { file, site }, depth) == Some(Asks::RunningLoop),
            Form::Var(var) => facts.assigns_of(var).any(|row| self.is_answer(file, row.value, depth)),
            _ => false,
        }
    }

    /// What a call tells of its thread.
    fn asks(&self, site: SiteRef, depth: u32) -> Option<Asks> {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        // Names decide whether looking further is worth it.
        let name = self.program.global(site.file, row.name)?;
        let named = self.ask_names(facts.language).binary_search(&name).is_ok();
        if !named && (depth == 0 || !self.answering_names(facts.language).contains(&name)) {
            return None;
        }
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().find_map(|val| match *val {
            Val::External(path) | Val::Method { path, .. } => self.library.calls(path).iter().find_map(|row| row.asks),
            // A function of the project that gives the answer on.
            Val::Fn { body, .. } => (depth > 0 && self.gives_answer(body, depth - 1)).then_some(Asks::RunningLoop),
            _ => None,
        })
    }

    /// Whether a function returns what such a call told.
    fn gives_answer(&self, body: BodyRef, depth: u32) -> bool {
        let facts = self.program.facts(body.file);
        // `for (Executor executor : loops) { if (executor.inEventLoop()) return true; } return false;`
        let is_true_on_loop = |exit: Exit| {
            let says_loop = |(test, holds)| holds && self.says_no_loop(body.file, test, depth) == Some(false);
            facts.language == Language::Java
                && facts.form(exit.value) == Form::Bool(true)
                && self.tests_at(body.file, exit.at.region).any(says_loop)
        };
        let mut ends = facts.exits.iter().filter(|exit| facts.body_of(exit.at) == body.body && exit.value.is_some());
        ends.any(|exit| self.is_answer(body.file, exit.value, depth) || is_true_on_loop(exit))
    }
}
