//! Python: containers that are still empty where they are passed or tested: `files = {}`, and nothing is put in before.

use blocklint_core::Language;
use blocklint_facts::{AssignKind, BodyKind, Form, FormId, RegionKind, VarKind};

use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::mentions;
use crate::syntax::regions::{around, is_region_in};

/// How deep forms are searched for a name.
const DEPTH: u32 = 6;

impl Linker<'_> {
    /// True if a form is an empty container at a site: written there, or a local that is named nowhere before it.
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
        let at = self.program.site(site).at;
        let body = facts.body_of(at);
        let row = facts.var(var);
        if row.body != body || facts.body(body).kind != BodyKind::Function || matches!(row.kind, VarKind::Param(_)) {
            return false;
        }
        let mut assigned = facts.assigns_of(var);
        let (Some(only), None) = (assigned.next(), assigned.next()) else { return false };
        if only.kind != AssignKind::Plain
            || !is_empty(only.value)
            || only.at.position > at.position
            || !is_region_in(facts, at.region, only.at.region)
        {
            return false;
        }
        let names = |form: FormId| mentions(facts, form, DEPTH, &|form| form == Form::Var(var));
        // A later place counts as earlier in a loop that does not assign an empty container in each round.
        let comes_round = |region| {
            around(facts, region).any(|id| {
                facts.region(id).kind == RegionKind::Loop
                    && is_region_in(facts, at.region, id)
                    && !is_region_in(facts, only.at.region, id)
            })
        };
        let before =
            |of: blocklint_facts::At| facts.body_of(of) != body || of.position < at.position || comes_round(of.region);
        let in_site = facts.sites.iter().enumerate().any(|(id, row)| {
            let is_own = id == site_id.index();
            !is_own
                && !row.kind.only_asks()
                && before(row.at)
                && (names(row.callee)
                    || facts.args_of(blocklint_facts::SiteId(id as u32)).iter().any(|argument| names(argument.value)))
        });
        let in_assign = || {
            facts.assigns.iter().any(|row| {
                let is_alias = row.value == only.value && row.target != only.target;
                is_alias || before(row.at) && row != only && (names(row.value) || names(row.target))
            })
        };
        let in_exit = || facts.exits.iter().any(|row| facts.body_of(row.at) != body && names(row.value));
        !in_site && !in_assign() && !in_exit()
    }
}
