//! Python: containers that are still empty where they are passed or tested: `files = {}` before any element is added.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, At, BodyKind, Form, FormId, RegionKind, SiteId, VarKind};

use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::mentions;
use crate::syntax::regions::{around, is_region_in};

/// The number of nested forms that are searched for a variable.
const DEPTH: u32 = 6;

impl Linker<'_> {
    /// True if a form is an empty container at a site: a literal, or a local that has no use between its assignment and
    /// the site.
    pub fn is_still_empty(&self, site: SiteRef, form: FormId) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        let is_empty = |form: FormId| match facts.form(form) {
            Form::Display(_, list) | Form::Pairs(list) => facts.list(list).is_empty(),
            _ => false,
        };
        if facts.language != Language::Python {
            return false;
        }
        let var = match facts.form(form) {
            Form::Display(..) | Form::Pairs(_) => return is_empty(form),
            Form::Var(var) => var,
            _ => return false,
        };
        let site_at = self.program.site(site).at;
        let body = facts.body_of(site_at);
        let var_facts = facts.var(var);
        if var_facts.body != body
            || facts.body(body).kind != BodyKind::Function
            || matches!(var_facts.kind, VarKind::Param(_))
        {
            return false;
        }
        let mut assigned = facts.assigns_of(var);
        let (Some(assign), None) = (assigned.next(), assigned.next()) else { return false };
        if assign.kind != AssignKind::Plain
            || !is_empty(assign.value)
            || assign.at.position > site_at.position
            || !is_region_in(facts, site_at.region, assign.at.region)
        {
            return false;
        }
        let mentions_var = |form: FormId| mentions(facts, form, DEPTH, &|form| form == Form::Var(var));
        // A later use runs before the site if both are in a loop and the assignment is outside of it.
        let repeats_before = |region| {
            around(facts, region).any(|id| {
                facts.region(id).kind == RegionKind::Loop
                    && is_region_in(facts, site_at.region, id)
                    && !is_region_in(facts, assign.at.region, id)
            })
        };
        let before = |earlier: At| {
            facts.body_of(earlier) != body || earlier.position < site_at.position || repeats_before(earlier.region)
        };
        let in_site = facts.sites.iter().enumerate().any(|(id, site_facts)| {
            let is_own = id == site_id.index();
            !is_own
                && !site_facts.kind.keeps_no_operand()
                && before(site_facts.at)
                && (mentions_var(site_facts.callee)
                    || facts.args_of(SiteId(id as u32)).iter().any(|argument| mentions_var(argument.value)))
        });
        let in_assign = || {
            facts.assigns.iter().any(|assignment| {
                let is_alias = assignment.value == assign.value && assignment.target != assign.target;
                is_alias
                    || before(assignment.at)
                        && assignment != assign
                        && (mentions_var(assignment.value) || mentions_var(assignment.target))
            })
        };
        let in_exit = || facts.exits.iter().any(|exit| facts.body_of(exit.at) != body && mentions_var(exit.value));
        !in_site && !in_assign() && !in_exit()
    }
}
