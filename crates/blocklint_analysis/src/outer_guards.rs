//! All conditions on parameters that a place stands under. A label carries the innermost one to its callers; the others are
//! asked of each direct caller alone.

use std::rc::Rc;

use blocklint_facts::RegionId;
use smallvec::SmallVec;

use crate::branches::answer;
use crate::callers::{Caller, CallerKind};
use crate::constants::Constant;
use crate::ids::{BodyRef, SiteRef};
use crate::label::{Guard, Question};
use crate::link::Link;
use crate::rows::Shown;

impl Link<'_> {
    /// Whether what a caller passes to a body rules out that a site of it is reached.
    pub(crate) fn rules_out(&self, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
        if caller.arg.is_some() || caller.kind != CallerKind::Runs || self.program.body_of_site(site) != body {
            return false;
        }
        self.guards_over(site).iter().any(|guard| self.fails(caller, body, guard))
    }

    /// The conditions on parameters around a site, of all branches up to its body; remembered for its branch.
    pub(crate) fn guards_over(&self, site: SiteRef) -> Rc<[Guard]> {
        let facts = self.program.facts(site.file);
        let region = facts.site(site.site).at.region;
        if let Some(known) = self.guards.borrow().get(&(site.file, region)) {
            return known.clone();
        }
        let mut found = Vec::new();
        let mut at: RegionId = region;
        while let Some(id) = at.get() {
            found.extend(self.guards_of_branch(site, id).into_iter().filter(|guard| guard.escape.is_none()));
            at = facts.region(id).parent;
        }
        let found: Rc<[Guard]> = Rc::from(found);
        self.guards.borrow_mut().insert((site.file, region), found.clone());
        found
    }

    fn fails(&self, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
        let Question::Choice(choice) = &*guard.question else { return false };
        let mut constants: SmallVec<[Constant; 2]> = SmallVec::new();
        if guard.asked.is_some() {
            return false;
        }
        match self.passed_with(caller.site, body, guard.param, caller.with_receiver) {
            Some(form) => {
                constants.extend(self.constants_at(caller.site, form, caller.env).into_iter().map(|of| of.constant));
            }
            None if self.unpacks(caller.site) => return false,
            None => match self.default_of(body, guard.param) {
                Some(constant) => constants.push(constant),
                None => return false,
            },
        }
        constants.iter().all(|constant| match answer(choice, constant) {
            Shown::Yes => !guard.wanted,
            Shown::No => guard.wanted,
            Shown::Param(_) | Shown::Hidden => false,
        })
    }
}
