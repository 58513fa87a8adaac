//! Reaching constants: the literals that a variable may have at a site, from the assignments in its body that are not
//! overwritten before the site.

use std::rc::Rc;

use blocklint_facts::{FileFacts, Form, FormId, RegionId, RegionKind, VarKind};
use smallvec::{SmallVec, smallvec};

use crate::effect::constant::Constant;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::syntax::forms::mentions;
use crate::syntax::regions::{around, is_region_in};
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// How deep an expression is searched for the result of a call.
const MAX_FORM_DEPTH: u32 = 4;

/// The maximal number of names that are followed to a literal.
const DEPTH: u32 = 6;

/// A constant that a variable may have.
#[derive(Clone, Debug, PartialEq)]
pub struct ReachingConstant {
    /// The constant.
    pub constant: Constant,
    /// The literal that a parameter had before the assignment, if the branch around it shows it: `None` for
    /// `if name is None: name = ""`.
    pub instead_of: Option<Constant>,
    /// True if it replaces a parameter that is missing: `if name is None: name = look_up()`.
    pub replaces_missing: bool,
    /// True if it is missing only if the parameter is missing: `name = table.get("name", name)`.
    pub falls_back: bool,
}

impl ReachingConstant {
    /// Returns a constant that replaces no parameter.
    fn plain(constant: Constant) -> Self {
        ReachingConstant { constant, instead_of: None, replaces_missing: false, falls_back: false }
    }
}

impl Linker<'_> {
    /// Returns the constants that a form may have at a site, including [`Constant::Hidden`].
    pub fn constants_at(&self, site: SiteRef, form: FormId, env: EnvId) -> Rc<[ReachingConstant]> {
        let find = || self.find_constants(site, form, env).into_iter().collect();
        self.query(&self.tables.values.constants, (site, form, env), Rc::default, find)
    }

    fn find_constants(&self, site: SiteRef, form: FormId, env: EnvId) -> SmallVec<[ReachingConstant; 2]> {
        let (facts, site_id) = self.program.facts_and_id(site);
        let position = self.program.site(site).at;
        let body = facts.body_of(position);
        let only = || smallvec![ReachingConstant::plain(self.constant(site, form, env, DEPTH))];
        let Form::Var(var) = facts.form(form) else { return only() };
        let var_facts = facts.var(var);
        let rows: SmallVec<[_; 4]> = facts.assigns_of(var).filter(|assign| assign.value.is_some()).collect();
        let is_param = matches!(var_facts.kind, VarKind::Param(_));
        if var_facts.body != body
            || rows.len() + usize::from(is_param) < 2
            || rows.iter().any(|assign| facts.body_of(assign.at) != body)
        {
            return only();
        }
        let mut constants: SmallVec<[ReachingConstant; 2]> = match var_facts.kind {
            VarKind::Param(index) => smallvec![ReachingConstant::plain(Constant::Param(index))],
            _ => SmallVec::new(),
        };
        for assign in &rows {
            // The result of a call is assigned after the call: `name = f(name)`.
            let is_result = mentions(facts, assign.value, MAX_FORM_DEPTH, &|form| form == Form::Result(site_id));
            let before = assign.at.position < position.position && !is_result;
            if !before && !have_common_loop(facts, assign.at.region, position.region)
                || are_in_different_branches(facts, assign.at.region, position.region)
                || self.removes_prefix(site.file, var, assign.at.region)
            {
                continue;
            }
            let replaces_missing = is_param && self.replaces_only_missing(site.file, assign, var);
            if before && !replaces_missing && is_region_in(facts, position.region, assign.at.region) {
                constants.clear();
            }
            let constant = self.constant_in(site.file.body_ref(body), assign.value, env, DEPTH - 1);
            let scope = Scope { file: site.file, at: assign.at, env };
            let instead_of = match var_facts.kind {
                VarKind::Param(index) => self.literal_of_branch(scope, index),
                _ => None,
            };
            let falls_back = is_param && self.falls_back_on(scope, assign.value, var);
            let reaching = ReachingConstant { constant, instead_of, replaces_missing, falls_back };
            if !constants.contains(&reaching) {
                constants.push(reaching);
            }
        }
        if constants.is_empty() { only() } else { constants }
    }
}

/// True if a loop is around both regions, so that the later one has run when the next iteration begins.
fn have_common_loop(facts: &FileFacts, a: RegionId, b: RegionId) -> bool {
    around(facts, a).any(|id| facts.region(id).kind == RegionKind::Loop && is_region_in(facts, b, id))
}

/// True if two regions are in different branches of the same `if`.
fn are_in_different_branches(facts: &FileFacts, a: RegionId, b: RegionId) -> bool {
    let is_branch = |&id: &RegionId| matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else);
    around(facts, a).filter(is_branch).any(|branch| {
        let group = facts.region(branch).group;
        around(facts, b).filter(is_branch).any(|other| other != branch && facts.region(other).group == group)
    })
}
