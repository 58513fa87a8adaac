//! Python: tests for the kind of a function, `iscoroutinefunction(func)`, where it is known which function is meant: that which a
//! decorator was put on, or which a caller passes.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{AltKind, Flow, Form, FormId, RegionId, VarId, VarKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// How deep tests and names are followed.
const DEPTH: u32 = 4;

/// A test for the kind of a function around a place: the function, the kind, and whether it must be of that kind there.
type KindTest = (FormId, Flow, bool);

impl Linker<'_> {
    /// Returns the function whose kind a test with the result `holds` shows, the kind, and whether the function has it.
    fn kind_asked(&self, file: FileId, test: FormId, holds: bool, depth: u32) -> Option<KindTest> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.kind_asked(file, inner, !holds, depth),
            // `is_async = iscoroutinefunction(func)`
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                self.kind_asked(file, facts.only_value_of(var)?.value, holds, depth)
            }
            Form::Alt(AltKind::And, list) if holds => {
                facts.list(list).iter().find_map(|&part| self.kind_asked(file, part, true, depth))
            }
            Form::Alt(AltKind::Or, list) if !holds => {
                facts.list(list).iter().find_map(|&part| self.kind_asked(file, part, false, depth))
            }
            Form::Result(call) => {
                let [only] = facts.args_of(call)[..] else { return None };
                let kind = lang::python::conventions::kind_asked_for(facts.text(facts.site(call).name))?;
                matches!(facts.form(only.value), Form::Var(_)).then_some((only.value, kind, holds))
            }
            _ => None,
        }
    }

    /// True if a parameter is a coroutine or a coroutine function wherever this region runs: `if iscoroutine(target):`,
    /// `if iscoroutinefunction(target):`.
    pub(crate) fn is_of_coroutine_at(&self, file: FileId, region: RegionId, param: VarId) -> bool {
        let facts = self.program.facts(file);
        if facts.language != Language::Python {
            return false;
        }
        self.tests_at(file, region).any(|(test, holds)| {
            self.kind_asked(file, test, holds, DEPTH).is_some_and(|(function, kind, holds)| {
                holds && kind == Flow::Coroutine && facts.form(function) == Form::Var(param)
            }) || holds && self.is_coroutine_test(file, test, param)
        })
    }

    /// True for `iscoroutine(target)`, a test whether a variable holds a coroutine object.
    fn is_coroutine_test(&self, file: FileId, test: FormId, var: VarId) -> bool {
        let facts = self.program.facts(file);
        let Form::Result(call) = facts.form(test) else { return false };
        let [only] = facts.args_of(call)[..] else { return false };
        lang::python::conventions::asks_for_coroutine(facts.text(facts.site(call).name))
            && facts.form(only.value) == Form::Var(var)
    }

    /// Returns the kind of the function that a form is, if all that it may be are of one.
    fn kind_of_function(&self, scope: Scope, form: FormId) -> Option<Flow> {
        let of = |val: &Val| match *val {
            Val::Fn { body, .. } => Some(self.program.body(body).flow),
            Val::Class(_) => Some(Flow::Sync),
            // A library's callable that holds its thread is no coroutine function.
            Val::External(path) | Val::Method { path, .. } => {
                let rows = self.library.calls(path);
                let is_async = rows.with(|row| row.is_async == Some(true)).next().is_some();
                (!is_async && rows.effect().any(|row| row.held().is_some())).then_some(Flow::Sync)
            }
            _ => None,
        };
        let members = self.values.members(self.eval(scope, form).value);
        let first = of(members.first()?)?;
        members.iter().all(|val| of(val) == Some(first)).then_some(first)
    }

    /// Returns the result of a test for the kind of a function, if the function is known.
    pub(crate) fn kind_test(&self, scope: Scope, test: FormId) -> Option<bool> {
        if self.program.language(scope.file) != Language::Python {
            return None;
        }
        let (function, kind, wanted) = self.kind_asked(scope.file, test, true, DEPTH)?;
        Some((self.kind_of_function(scope, function)? == kind) == wanted)
    }

    /// True if a place is reached only with functions of another kind than the captured one.
    pub(crate) fn is_for_other_kind(&self, scope: Scope, region: RegionId) -> bool {
        scope.env != EnvId::NONE
            && self.program.language(scope.file) == Language::Python
            && self.kinds_at(scope.file, region).iter().any(|&(function, asked, wanted)| {
                self.kind_of_function(scope, function).is_some_and(|kind| (kind == asked) != wanted)
            })
    }

    fn kinds_at(&self, file: FileId, region: RegionId) -> Vec<KindTest> {
        self.tests_at(file, region).filter_map(|(test, holds)| self.kind_asked(file, test, holds, DEPTH)).collect()
    }

    /// True if the kind of a function decides that a site is reached.
    pub fn asks_for_kind(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        facts.language == Language::Python && !self.kinds_at(site.file, self.program.site(site).at.region).is_empty()
    }

    /// True if a site of a body is not reached from this call, because the function that the body captured, or takes as
    /// an argument, is of another kind.
    pub fn other_kind_rules_out(&self, call: SiteRef, env: EnvId, body: BodyRef, site: SiteRef) -> bool {
        if self.program.body_of_site(site) != body {
            return false;
        }
        let facts = self.program.facts(site.file);
        let at = self.program.site(site).at;
        let tests = self.kinds_at(site.file, at.region);
        if tests.is_empty() {
            return false;
        }
        let targets = self.targets(call, env);
        let mut seen = false;
        for target in &targets.list {
            let Target::Body { body: of, env: bound, with_receiver, .. } = *target else { continue };
            if of != body {
                continue;
            }
            seen = true;
            let scope = Scope { file: site.file, at, env: bound };
            let is_other = tests.iter().any(|&(function, asked, wanted)| {
                let kind = match facts.form(function) {
                    Form::Var(var) if site.file.body_ref(facts.var(var).body) == body => {
                        let VarKind::Param(index) = facts.var(var).kind else { return false };
                        let passed = self.argument_for_param(call, body, index, with_receiver);
                        passed.and_then(|form| self.kind_of_function(self.scope_of(call, env), form))
                    }
                    _ => self.kind_of_function(scope, function),
                };
                kind.is_some_and(|kind| (kind == asked) != wanted)
            });
            if !is_other {
                return false;
            }
        }
        seen
    }
}
