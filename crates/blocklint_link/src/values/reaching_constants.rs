//! Constants that a variable may have at a place of its body: of several assignments, those that come before the place
//! and are not overwritten in between.

use std::rc::Rc;

use blocklint_facts::{FileFacts, Form, FormId, RegionId, RegionKind, VarKind};
use smallvec::{SmallVec, smallvec};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::mentions;
use crate::syntax::regions::{around, lies_in};
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// How deep names are followed to literals.
const DEPTH: u32 = 6;

/// A constant that a variable may have.
#[derive(Clone, Debug, PartialEq)]
pub struct ReachingConstant {
    pub constant: Constant,
    /// Where it replaces a parameter: what that was, if the branch around it shows it (`if name is None: name = ""`).
    pub instead_of: Option<Constant>,
    /// It takes the place of a parameter that is not there: `if name is None: name = look_up()`.
    pub is_for_want: bool,
    /// It is nothing only where the parameter is: `name = table.get("name", name)`.
    pub falls_back: bool,
}

impl ReachingConstant {
    /// Returns a constant that replaces no parameter.
    fn plain(constant: Constant) -> Self {
        ReachingConstant { constant, instead_of: None, is_for_want: false, falls_back: false }
    }
}

impl Linker<'_> {
    /// Returns the literals that a form can be at a site; not visible ones among them.
    pub fn constants_at(&self, site: SiteRef, form: FormId, env: EnvId) -> Rc<[ReachingConstant]> {
        let find = || self.find_constants(site, form, env).into_iter().collect();
        self.query(&self.tables.values.constants, (site, form, env), Rc::default, find)
    }

    fn find_constants(&self, site: SiteRef, form: FormId, env: EnvId) -> SmallVec<[ReachingConstant; 2]> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let at = self.program.site(site).at;
        let body = facts.body_of(at);
        let only = || smallvec![ReachingConstant::plain(self.constant(site, form, env, DEPTH))];
        let Form::Var(var) = facts.form(form) else { return only() };
        let row = facts.var(var);
        let rows: SmallVec<[_; 4]> = facts.assigns_of(var).filter(|assign| assign.value.is_some()).collect();
        let is_given = matches!(row.kind, VarKind::Param(_));
        if row.body != body
            || rows.len() + usize::from(is_given) < 2
            || rows.iter().any(|assign| facts.body_of(assign.at) != body)
        {
            return only();
        }
        let mut found: SmallVec<[ReachingConstant; 2]> = match row.kind {
            VarKind::Param(index) => smallvec![ReachingConstant::plain(Constant::Param(index))],
            _ => SmallVec::new(),
        };
        for assign in &rows {
            // The result of a call is assigned after the call: `name = f(name)`.
            let is_given_by_it = mentions(facts, assign.value, 4, &|form| form == Form::Result(site_id));
            let before = assign.at.position < at.position && !is_given_by_it;
            if !before && !in_one_loop(facts, assign.at.region, at.region)
                || in_other_arm(facts, assign.at.region, at.region)
                || self.takes_off_prefix(site.file, var, assign.at.region)
            {
                continue;
            }
            let is_for_want = is_given && self.replaces_only_missing(site.file, assign, var);
            if before && !is_for_want && lies_in(facts, at.region, assign.at.region) {
                found.clear();
            }
            let constant = self.constant_in(site.file.body_ref(body), assign.value, env, DEPTH - 1);
            let at = Scope { file: site.file, at: assign.at, env };
            let instead_of = match row.kind {
                VarKind::Param(index) => self.literal_of_branch(at, index),
                _ => None,
            };
            let falls_back = is_given && self.falls_back_on(at, assign.value, var);
            let reaching = ReachingConstant { constant, instead_of, is_for_want, falls_back };
            if !found.contains(&reaching) {
                found.push(reaching);
            }
        }
        if found.is_empty() { only() } else { found }
    }
}

/// True if a loop holds both places, so that the later one has run when the next round begins.
fn in_one_loop(facts: &FileFacts, a: RegionId, b: RegionId) -> bool {
    around(facts, a).any(|id| facts.region(id).kind == RegionKind::Loop && lies_in(facts, b, id))
}

/// True if two places stand in different arms of one branch.
fn in_other_arm(facts: &FileFacts, a: RegionId, b: RegionId) -> bool {
    let is_arm = |&id: &RegionId| matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else);
    around(facts, a).filter(is_arm).any(|one| {
        let group = facts.region(one).group;
        around(facts, b).filter(is_arm).any(|other| other != one && facts.region(other).group == group)
    })
}
