//! Tested parameters: the parameter that the test of a branch reads, if it still has the value that the caller passed.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AltKind, Assign, At, FileFacts, Form, FormId, RegionId, RegionKind, VarId, VarKind};

use crate::effect::guard::GuardKey;
use crate::linker::Linker;
use crate::program::ids::FileId;
use crate::syntax::regions::{around, is_region_in};
use crate::values::expr::Scope;

/// A parameter that a branch tests.
pub(crate) struct TestedParam {
    /// The index of the parameter.
    pub(crate) index: u32,
    /// A parameter that invalidates the guard if it is true, because the body then assigns another value before the
    /// test.
    pub(crate) escape: Option<u32>,
    /// The key of `**kwargs` that is tested.
    pub(crate) asked: Option<Rc<GuardKey>>,
    /// True if the body assigns a value to the parameter when the caller passes none.
    pub(crate) filled_in: bool,
}

impl TestedParam {
    /// Returns a parameter that still has the value that the caller passed.
    pub(crate) fn plain(index: u32) -> Self {
        TestedParam { index, escape: None, asked: None, filled_in: false }
    }
}

impl Linker<'_> {
    /// Returns the index of the tested parameter if the body assigns it only to remove a prefix:
    /// `if name.startswith("env:"): name = name[4:]`. A later test of another prefix still tests the argument, because
    /// an argument without the first prefix is unchanged.
    pub(crate) fn tested_param_without_prefix(&self, place: Scope, form: FormId) -> Option<u32> {
        let facts = self.program.facts(place.file);
        let Form::Var(var) = facts.form(form) else { return None };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return None };
        let is_own = var_facts.body == facts.body_of(place.at);
        (is_own && facts.assigns_of(var).all(|assign| self.removes_prefix(place.file, var, assign.at.region)))
            .then_some(index)
    }

    /// True if a branch tests the prefix or suffix of a variable, which the branch then removes:
    /// `if name.startswith("env:"): name = name[4:]`.
    pub(crate) fn removes_prefix(&self, file: FileId, var: VarId, branch: RegionId) -> bool {
        let facts = self.program.facts(file);
        if branch.is_none() {
            return false;
        }
        let region = facts.region(branch);
        let Form::Result(call) = facts.form(region.test) else { return false };
        let test = facts.site(call);
        let is_on_var = matches!(facts.form(test.callee), Form::Attr(base, _) if facts.form(base) == Form::Var(var));
        region.kind == RegionKind::Then
            && is_on_var
            && lang::words_of(facts.language).string_end(facts.text(test.name)).is_some()
    }

    /// Returns the key of the body's `**kwargs` that a form reads: `kwargs.get("wipe")`.
    pub(crate) fn tested_key(&self, place: Scope, form: FormId) -> Option<TestedParam> {
        let (index, name, default) = self.kwargs_key_read(place, form)?;
        Some(TestedParam { asked: Some(Rc::new(GuardKey::Key(name, default))), ..TestedParam::plain(index) })
    }

    /// Returns the parameter that a form reads in the test of a branch, if it still has the value that the caller
    /// passed. With `tests_absence` (the branch tests for `None` or false), assignments that fall back on the parameter
    /// are allowed: `name = table.get("name", name)`.
    pub(crate) fn tested_param(
        &self,
        place: Scope,
        branch: RegionId,
        form: FormId,
        tests_absence: bool,
    ) -> Option<TestedParam> {
        let facts = self.program.facts(place.file);
        if let Some(source) = self.source_of_field(place, form) {
            return self.tested_param(place, branch, source, tests_absence);
        }
        if let Some(param) = self.tested_key(place, form) {
            return Some(param);
        }
        let Form::Var(var) = facts.form(form) else { return None };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return None };
        let at = place.at;
        let body = facts.body_of(at);
        if var_facts.body != body {
            return None;
        }
        let (mut escape, mut filled_in) = (None, false);
        for assign in facts.assigns_of(var) {
            let is_own = facts.body_of(assign.at) == body;
            if is_own && branch.is_some() && !self.comes_before(place.file, assign.at, at, branch) {
                continue;
            }
            if is_own && tests_absence && assign.value.is_some() && self.falls_back_on(place, assign.value, var) {
                continue;
            }
            if is_own && self.replaces_only_missing(place.file, &assign, var) {
                filled_in = true;
                continue;
            }
            let under = is_own.then(|| self.true_param_around(place.file, assign.at.region)).flatten()?;
            if escape.is_some_and(|known| known != under) {
                return None;
            }
            escape = Some(under);
        }
        Some(TestedParam { escape, filled_in, ..TestedParam::plain(index) })
    }

    /// Returns the variable that the same body has assigned to a field of the receiver before: `folder` for
    /// `self.folder = folder`. For `self.folder = Path(folder) if folder else None` it also returns `folder`, because
    /// both are missing together.
    fn source_of_field(&self, place: Scope, form: FormId) -> Option<FormId> {
        let facts = self.program.facts(place.file);
        let Form::Attr(base, name) = facts.form(form) else { return None };
        if !crate::program::occurrences::is_own_receiver(facts, base) {
            return None;
        }
        let body = facts.body_of(place.at);
        let is_own = |assign: &Assign| facts.body_of(assign.at) == body && assign.target == form;
        let index = self.program.index_of(place.file);
        let mut set = index.attr_assigns(name).iter().map(|&(assign, _)| facts.assign(assign)).filter(is_own);
        let (only, None) = (set.next()?, set.next()) else { return None };
        if only.at.position > place.at.position || !is_region_in(facts, place.at.region, only.at.region) {
            return None;
        }
        match facts.form(only.value) {
            Form::Var(_) => Some(only.value),
            Form::Alt(AltKind::Ternary, list) => match facts.list(list) {
                &[test, _, otherwise] if facts.form(otherwise) == Form::None => {
                    matches!(facts.form(test), Form::Var(_)).then_some(test)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// True if an assignment may run before the test of a branch around a site of the same body.
    fn comes_before(&self, file: FileId, assign: At, site: At, branch: RegionId) -> bool {
        let facts = self.program.facts(file);
        // An assignment inside of the branch runs after its test.
        if is_region_in(facts, assign.region, branch) {
            return false;
        }
        let group = facts.region(branch).group;
        let mut in_arm = false;
        for id in around(facts, assign.region) {
            let region = facts.region(id);
            in_arm |= region.group == group;
            // In the next iteration of a loop around both, the assignment has run.
            if region.kind == RegionKind::Loop && is_region_in(facts, branch, id) {
                return true;
            }
        }
        !in_arm && assign.position < site.position
    }

    /// Returns the parameter without assignments that is true where a region runs, because a branch tests it.
    fn true_param_around(&self, file: FileId, region: RegionId) -> Option<u32> {
        let facts = self.program.facts(file);
        around(facts, region).map(|id| facts.region(id)).filter(|row| row.kind == RegionKind::Then).find_map(|branch| {
            let Form::Var(var) = facts.form(branch.test) else { return None };
            let var_facts = facts.var(var);
            let VarKind::Param(index) = var_facts.kind else { return None };
            (var_facts.body == branch.body && facts.assigns_of(var).next().is_none()).then_some(index)
        })
    }

    /// Returns the parameter whose key a form reads as an attribute, with the key: `options.name` where
    /// `options = Options(**given)`. A variable that has the parameter itself as another value counts too (Python).
    pub(crate) fn key_of_unpacked_param(&self, place: Scope, form: FormId) -> Option<(u32, String)> {
        let facts = self.program.facts(place.file);
        let Form::Attr(base, name) = facts.form(form) else { return None };
        let Form::Var(var) = facts.form(base) else { return None };
        if facts.language != Language::Python || facts.var(var).body != facts.body_of(place.at) {
            return None;
        }
        let (mut param, mut is_unpacked) = (None, false);
        for assign in facts.assigns_of(var).filter(|assign| assign.value.is_some()) {
            let unpacked = unpacked_variable(facts, assign.value);
            is_unpacked |= unpacked.is_some();
            let source = unpacked.or_else(|| variable(facts, assign.value))?;
            let VarKind::Param(index) = facts.var(source).kind else { return None };
            if facts.assigns_of(source).next().is_some() || param.is_some_and(|known| known != index) {
                return None;
            }
            param = Some(index);
        }
        param.filter(|_| is_unpacked).map(|index| (index, facts.text(name).to_owned()))
    }
}

/// Returns the variable that a call unpacks: `given` of `make(name, **given)`.
fn unpacked_variable(facts: &FileFacts, form: FormId) -> Option<VarId> {
    let Form::Result(call) = facts.form(form) else { return None };
    facts.args_of(call).iter().find_map(|arg| match facts.form(arg.value) {
        Form::StarStar(inner) => variable(facts, inner),
        _ => None,
    })
}

/// Returns the variable that a form reads.
fn variable(facts: &FileFacts, form: FormId) -> Option<VarId> {
    match facts.form(form) {
        Form::Var(var) => Some(var),
        _ => None,
    }
}
