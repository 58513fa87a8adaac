//! Parameters that a branch of their body tests, if they still are the argument that the caller passed.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AltKind, At, FileFacts, Form, FormId, RegionId, RegionKind, VarId, VarKind};

use crate::effect::guard::GuardKey;
use crate::linker::Linker;
use crate::program::ids::FileId;
use crate::syntax::regions::{around, lies_in};
use crate::values::expr::Scope;

/// A parameter that a branch tests.
pub(crate) struct OwnParam {
    pub(crate) index: u32,
    /// Where this one is true the body has given it another value before.
    pub(crate) escape: Option<u32>,
    /// The key of `**kwargs` that is tested.
    pub(crate) asked: Option<Rc<GuardKey>>,
    /// True if the body assigns it a value of its own when the caller passes none.
    pub(crate) filled_in: bool,
}

impl OwnParam {
    /// Returns a parameter that still has the value that the caller passed.
    pub(crate) fn plain(index: u32) -> Self {
        OwnParam { index, escape: None, asked: None, filled_in: false }
    }
}

impl Linker<'_> {
    /// As `own_param`, also if a prefix was taken off before: `if name.startswith("env:"): name = name[4:]`. Without that
    /// prefix nothing is assigned, and with it the rest is not known to begin otherwise.
    pub(crate) fn own_param_but_for_prefixes(&self, place: Scope, form: FormId) -> Option<u32> {
        let facts = self.program.facts(place.file);
        let Form::Var(var) = facts.form(form) else { return None };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return None };
        let own = row.body == facts.body_of(place.at);
        (own && facts.assigns_of(var).all(|assign| self.takes_off_prefix(place.file, var, assign.at.region)))
            .then_some(index)
    }

    /// True if a branch is chosen by one end of a variable's text, which the branch then removes: `if
    /// name.startswith("env:"): name = name[4:]`.
    pub(crate) fn takes_off_prefix(&self, file: FileId, var: VarId, branch: RegionId) -> bool {
        let facts = self.program.facts(file);
        if branch.is_none() {
            return false;
        }
        let region = facts.region(branch);
        let Form::Result(call) = facts.form(region.test) else { return false };
        let test = facts.site(call);
        let on_it = matches!(facts.form(test.callee), Form::Attr(base, _) if facts.form(base) == Form::Var(var));
        region.kind == RegionKind::Then
            && on_it
            && lang::words_of(facts.language).string_end(facts.text(test.name)).is_some()
    }

    /// Returns the key of the body's own `**kwargs` that a form reads, as a parameter.
    pub(crate) fn own_key(&self, place: Scope, form: FormId) -> Option<OwnParam> {
        let (index, name, default) = self.kwargs_key_read(place, form)?;
        Some(OwnParam { asked: Some(Rc::new(GuardKey::Key(name, default))), ..OwnParam::plain(index) })
    }

    /// Returns the parameter of the site's own body that a form is, if it still is the argument that the caller passed
    /// where a branch tests it; for a branch that asks whether it is `None` or false, also if it was given something
    /// that falls back on it.
    pub(crate) fn own_param(
        &self,
        place: Scope,
        branch: RegionId,
        form: FormId,
        tests_absence: bool,
    ) -> Option<OwnParam> {
        let facts = self.program.facts(place.file);
        if let Some(given) = self.assigned_to_field(place, form) {
            return self.own_param(place, branch, given, tests_absence);
        }
        if let Some(param) = self.own_key(place, form) {
            return Some(param);
        }
        let Form::Var(var) = facts.form(form) else { return None };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return None };
        let at = place.at;
        let body = facts.body_of(at);
        if row.body != body {
            return None;
        }
        let (mut escape, mut filled_in) = (None, false);
        for assign in facts.assigns_of(var) {
            let own = facts.body_of(assign.at) == body;
            if own && branch.is_some() && !self.comes_before(place.file, assign.at, at, branch) {
                continue;
            }
            if own && tests_absence && assign.value.is_some() && self.falls_back_on(place, assign.value, var) {
                continue;
            }
            if own && self.replaces_only_missing(place.file, &assign, var) {
                filled_in = true;
                continue;
            }
            let under = own.then(|| self.truth_around(place.file, assign.at.region)).flatten()?;
            if escape.is_some_and(|known| known != under) {
                return None;
            }
            escape = Some(under);
        }
        Some(OwnParam { escape, filled_in, ..OwnParam::plain(index) })
    }

    /// Returns the parameter that a field of the own object is that the same body has just set: `self.folder = folder`,
    /// also `self.folder = Path(folder) if folder else None` as far as tests for being there go.
    fn assigned_to_field(&self, place: Scope, form: FormId) -> Option<FormId> {
        let facts = self.program.facts(place.file);
        let Form::Attr(base, name) = facts.form(form) else { return None };
        if !crate::program::occurrences::is_own_receiver(facts, base) {
            return None;
        }
        let body = facts.body_of(place.at);
        let own = |assign: &blocklint_facts::Assign| facts.body_of(assign.at) == body && assign.target == form;
        let index = self.program.index_of(place.file);
        let mut set = index.attr_assigns(name).iter().map(|&(assign, _)| facts.assign(assign)).filter(own);
        let (only, None) = (set.next()?, set.next()) else { return None };
        if only.at.position > place.at.position || !lies_in(facts, place.at.region, only.at.region) {
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

    /// True if an assignment can have run when a branch around a site of the same body is chosen.
    fn comes_before(&self, file: FileId, assign: At, site: At, branch: RegionId) -> bool {
        let facts = self.program.facts(file);
        // The first time the branch is chosen, nothing in it has run.
        if lies_in(facts, assign.region, branch) {
            return false;
        }
        let group = facts.region(branch).group;
        let mut in_arm = false;
        for id in around(facts, assign.region) {
            let region = facts.region(id);
            in_arm |= region.group == group;
            // Next time round it has run.
            if region.kind == RegionKind::Loop && lies_in(facts, branch, id) {
                return true;
            }
        }
        !in_arm && assign.position < site.position
    }

    /// Returns the parameter that nothing assigns to and that is true where a region runs.
    fn truth_around(&self, file: FileId, region: RegionId) -> Option<u32> {
        let facts = self.program.facts(file);
        around(facts, region).map(|id| facts.region(id)).filter(|row| row.kind == RegionKind::Then).find_map(|branch| {
            let Form::Var(var) = facts.form(branch.test) else { return None };
            let row = facts.var(var);
            let VarKind::Param(index) = row.kind else { return None };
            (row.body == branch.body && facts.assigns_of(var).next().is_none()).then_some(index)
        })
    }

    /// Returns the parameter whose part a form is, with the part's name: of a local that is the parameter, or an object
    /// that was made of its keys.
    pub(crate) fn part_of_param(&self, place: Scope, form: FormId) -> Option<(u32, String)> {
        let facts = self.program.facts(place.file);
        let Form::Attr(base, name) = facts.form(form) else { return None };
        let Form::Var(var) = facts.form(base) else { return None };
        if facts.language != Language::Python || facts.var(var).body != facts.body_of(place.at) {
            return None;
        }
        let (mut given, mut is_made) = (None, false);
        for assign in facts.assigns_of(var).filter(|assign| assign.value.is_some()) {
            let unpacked = unpacked_by(facts, assign.value);
            is_made |= unpacked.is_some();
            let source = unpacked.or_else(|| variable(facts, assign.value))?;
            let VarKind::Param(index) = facts.var(source).kind else { return None };
            if facts.assigns_of(source).next().is_some() || given.is_some_and(|known| known != index) {
                return None;
            }
            given = Some(index);
        }
        given.filter(|_| is_made).map(|index| (index, facts.text(name).to_owned()))
    }
}

/// Returns the variable whose keys a call takes: `make(name, **given)`.
fn unpacked_by(facts: &FileFacts, form: FormId) -> Option<VarId> {
    let Form::Result(call) = facts.form(form) else { return None };
    facts.args_of(call).iter().find_map(|arg| match facts.form(arg.value) {
        Form::StarStar(inner) => variable(facts, inner),
        _ => None,
    })
}

fn variable(facts: &FileFacts, form: FormId) -> Option<VarId> {
    match facts.form(form) {
        Form::Var(var) => Some(var),
        _ => None,
    }
}
