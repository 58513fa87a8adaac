//! Parts that an object was made without: `memory = Cache()`, whose class keeps what its constructor is not given as `None`
//! and calls it only behind a test (`if self.remote is not None: self.remote.get(key)`).

use blocklint_facts::{AltKind, BodyId, Comparison, FileFacts, Form, FormId, ImportKind, SiteKind, Sym, VarKind};
use smallvec::SmallVec;

use crate::callers::{Caller, CallerKind, Callers};
use crate::constants::Constant;
use crate::ids::{BodyRef, ClassRef, FileId, SiteRef, VarRef};
use crate::link::Link;
use crate::mentions::is_own_receiver;
use crate::names;
use crate::targets::Target;
use crate::value::{EnvId, Val};

/// How many variables and callers an object is followed through.
const DEPTH: u32 = 4;

/// Callers beyond which nobody asks whether they all pass one object.
const MOST_CALLERS: usize = 16;

/// Where a module makes an object, and under which name it keeps it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Made {
    site: SiteRef,
    kept: VarRef,
}

impl<'a> Link<'a> {
    /// Whether a site of a method asks for a part that the object a caller calls it on was made without.
    pub(crate) fn asks_for_left_out(
        &self,
        callers: &Callers<'_, 'a>,
        caller: Caller,
        body: BodyRef,
        site: SiteRef,
    ) -> bool {
        if caller.arg.is_some() || caller.kind != CallerKind::Runs || !caller.with_receiver {
            return false;
        }
        let facts = self.program.facts(site.file);
        let parts = self.parts_over(site);
        if parts.is_empty() || facts.body_of(facts.site(site.site).at) != body.body || site.file != body.file {
            return false;
        }
        let Some(class) = self.class_around(body.file, body.body) else { return false };
        let Some(receiver) = self.receiver_form(caller.site) else { return false };
        let made = self.made_in_module(callers, caller.site, receiver, DEPTH);
        made.is_some_and(|made| parts.iter().any(|&part| self.is_left_out(made, class, part)))
    }

    /// The fields of the own object that branches around a site say to be there.
    pub(crate) fn parts_over(&self, site: SiteRef) -> SmallVec<[Sym; 2]> {
        let facts = self.program.facts(site.file);
        let mut found = SmallVec::new();
        for (test, holds) in self.tests_over(site) {
            parts_in(facts, test, holds, &mut found, 4);
        }
        found
    }

    /// Where the one object is made that a form is, if a module keeps it.
    fn made_in_module(&self, callers: &Callers<'_, 'a>, at: SiteRef, form: FormId, depth: u32) -> Option<Made> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(at.file);
        let body = facts.body_of(facts.site(at.site).at);
        let kept = match facts.form(form) {
            Form::Var(var) => {
                let row = facts.var(var);
                let mut values = facts.assigns_of(var).filter(|row| row.value.is_some());
                match (row.kind, values.next(), values.next()) {
                    (VarKind::Param(index), None, _) if row.body == body => {
                        return self.passed_by_all(callers, BodyRef { file: at.file, body }, index, depth);
                    }
                    (VarKind::Param(_), ..) | (_, None, _) | (_, _, Some(_)) => return None,
                    (_, Some(only), None) => match facts.form(only.value) {
                        Form::Import(import) => {
                            let import = facts.import(import);
                            if import.kind != ImportKind::Name {
                                return None;
                            }
                            let Val::Module(file) = names::python::module_named(self, at.file, &import) else {
                                return None;
                            };
                            let name = self.program.global(at.file, import.name)?;
                            VarRef { file, var: self.program.scope_var(file, BodyId(0), name)? }
                        }
                        _ if row.body == BodyId(0) => VarRef { file: at.file, var },
                        _ if row.body == body => return self.made_in_module(callers, at, only.value, depth),
                        _ => return None,
                    },
                }
            }
            Form::Attr(base, name) => {
                let module = self.values.members(self.eval(self.scope_of(at, EnvId::NONE), base).value);
                let [Val::Module(file)] = module[..] else { return None };
                let name = self.program.global(at.file, name)?;
                VarRef { file, var: self.program.scope_var(file, BodyId(0), name)? }
            }
            _ => return None,
        };
        let facts = self.program.facts(kept.file);
        let mut values = facts.assigns_of(kept.var).filter(|row| row.value.is_some());
        let (only, None) = (values.next()?, values.next()) else { return None };
        match facts.form(only.value) {
            Form::Result(site) if matches!(facts.site(site).kind, SiteKind::Call | SiteKind::New) => {
                Some(Made { site: SiteRef { file: kept.file, site }, kept })
            }
            _ => None,
        }
    }

    /// The one object that all callers of a body pass to a parameter.
    fn passed_by_all(&self, callers: &Callers<'_, 'a>, body: BodyRef, index: u32, depth: u32) -> Option<Made> {
        let sites = callers.call_sites(body);
        if sites.is_empty() || sites.len() > MOST_CALLERS {
            return None;
        }
        let mut found = None;
        for &site in sites.iter() {
            let made = self.made_in_module(callers, site, self.passed(site, body, index)?, depth)?;
            if found.is_some_and(|known| known != made) {
                return None;
            }
            found = Some(made);
        }
        found
    }

    /// Whether an object was made without a part, and nobody gives it one later under its name.
    fn is_left_out(&self, made: Made, class: ClassRef, part: Sym) -> bool {
        let Some(index) = self.constructor_param(class, part) else { return false };
        let targets = self.targets(made.site, EnvId::NONE);
        let constructor = targets.list.iter().find_map(|target| match *target {
            Target::Body { body, with_receiver, .. } if self.is_constructor_of(class, body) => {
                Some((body, with_receiver))
            }
            _ => None,
        });
        let Some((body, with_receiver)) = constructor else { return false };
        let is_none = match self.passed_with(made.site, body, index, with_receiver) {
            Some(form) => self.constant(made.site, form, EnvId::NONE, 3) == Constant::Null,
            None => !self.unpacks(made.site) && self.default_of(body, index) == Some(Constant::Null),
        };
        is_none && !self.is_given_later(made, class.file, part)
    }

    fn is_constructor_of(&self, class: ClassRef, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        body.file == class.file
            && facts.body(body.body).class.get() == Some(class.class)
            && names::is_constructor(facts.language, facts.text(facts.body(body.body).name))
    }

    /// The constructor's parameter that is all a field of a class ever is.
    fn constructor_param(&self, class: ClassRef, field: Sym) -> Option<u32> {
        let facts = self.program.facts(class.file);
        let mut found = None;
        for &(assign, own) in self.program.index_of(class.file).attr_assigns(field) {
            let row = facts.assign(assign);
            let body = BodyRef { file: class.file, body: facts.body_of(row.at) };
            if !own || row.value.is_none() || self.class_around(class.file, body.body) != Some(class) {
                continue;
            }
            let Form::Var(var) = facts.form(row.value) else { return None };
            let var = facts.var(var);
            let VarKind::Param(index) = var.kind else { return None };
            if found.is_some() || var.body != body.body || !self.is_constructor_of(class, body) {
                return None;
            }
            found = Some(index);
        }
        found
    }

    /// Whether somebody assigns the field of an object of that name: `memory.remote = connect()`.
    fn is_given_later(&self, made: Made, declared: FileId, field: Sym) -> bool {
        let Some(field) = self.program.global(declared, field) else { return true };
        let name = self.program.global(made.kept.file, self.program.facts(made.kept.file).var(made.kept.var).name);
        self.program.occurrences(field).iter().any(|&(file, sym)| {
            let facts = self.program.facts(file);
            self.program.index_of(file).attr_assigns(sym).iter().any(|&(assign, own)| {
                let Form::Attr(base, _) = facts.form(facts.assign(assign).target) else { return false };
                let last = match facts.form(base) {
                    Form::Var(var) => facts.var(var).name,
                    Form::Attr(_, name) | Form::Name(name) => name,
                    _ => return !own,
                };
                !own && self.program.global(file, last) == name
            })
        })
    }
}

/// The fields of the own object that a test which comes out as `holds` says to be there.
fn parts_in(facts: &FileFacts, test: FormId, holds: bool, found: &mut SmallVec<[Sym; 2]>, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match facts.form(test) {
        Form::Not(inner) => parts_in(facts, inner, !holds, found, depth),
        Form::Attr(base, name) if holds && is_own_receiver(facts, base) => found.push(name),
        Form::Compare(comparison, left, right) if facts.form(right) == Form::None => {
            let is_there = match comparison {
                Comparison::Is | Comparison::Eq => !holds,
                Comparison::IsNot | Comparison::NotEq => holds,
                _ => false,
            };
            if is_there {
                parts_in(facts, left, true, found, depth);
            }
        }
        Form::Alt(AltKind::And, list) if holds => {
            facts.list(list).iter().for_each(|&part| parts_in(facts, part, true, found, depth));
        }
        Form::Alt(AltKind::Or, list) if !holds => {
            facts.list(list).iter().for_each(|&part| parts_in(facts, part, false, found, depth));
        }
        _ => {}
    }
}
