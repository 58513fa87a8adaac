//! Python: tests for the kind of a function, `iscoroutinefunction(func)`. Their result is known if the function is: a
//! decorated function that a wrapper captures, or an argument of a call.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{AltKind, Flow, Form, FormId, RegionId, VarId, VarKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of nested tests and variables that are followed.
const DEPTH: u32 = 4;

/// A test for the kind of a function: the function, the kind, and true if the function must be of that kind.
type KindTest = (FormId, Flow, bool);

impl Linker<'_> {
    /// Returns the function and the kind in a test for the kind of a function, and true if the function has that kind
    /// when the test's result is `outcome`.
    fn find_kind_test(&self, file: FileId, test: FormId, outcome: bool, depth: u32) -> Option<KindTest> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.find_kind_test(file, inner, !outcome, depth),
            // `is_async = iscoroutinefunction(func)`
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                self.find_kind_test(file, facts.only_value_of(var)?.value, outcome, depth)
            }
            Form::Alt(AltKind::And, list) if outcome => {
                facts.list(list).iter().find_map(|&part| self.find_kind_test(file, part, true, depth))
            }
            Form::Alt(AltKind::Or, list) if !outcome => {
                facts.list(list).iter().find_map(|&part| self.find_kind_test(file, part, false, depth))
            }
            Form::Result(call) => {
                let [argument] = facts.args_of(call)[..] else { return None };
                let kind = lang::python::conventions::tested_kind(facts.text(facts.site(call).name))?;
                matches!(facts.form(argument.value), Form::Var(_)).then_some((argument.value, kind, outcome))
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
        self.tests_at(file, region).any(|(test, outcome)| {
            self.find_kind_test(file, test, outcome, DEPTH).is_some_and(|(function, kind, outcome)| {
                outcome && kind == Flow::Coroutine && facts.form(function) == Form::Var(param)
            }) || outcome && self.is_coroutine_test(file, test, param)
        })
    }

    /// True for `iscoroutine(target)`, a test whether a variable holds a coroutine object.
    fn is_coroutine_test(&self, file: FileId, test: FormId, var: VarId) -> bool {
        let facts = self.program.facts(file);
        let Form::Result(call) = facts.form(test) else { return false };
        let [only] = facts.args_of(call)[..] else { return false };
        lang::python::conventions::is_awaitable_test(facts.text(facts.site(call).name))
            && facts.form(only.value) == Form::Var(var)
    }

    /// Returns the kind of the function that a form refers to, if all possible functions have the same kind.
    fn kind_of_function(&self, scope: Scope, form: FormId) -> Option<Flow> {
        let kind_of = |val: &Val| match *val {
            Val::Fn { body, .. } => Some(self.program.body(body).flow),
            Val::Class(_) => Some(Flow::Sync),
            // A library's callable that holds its thread is no coroutine function.
            Val::External(path) | Val::Method { path, .. } => {
                let rows = self.library.calls(path);
                let is_async = rows.with(|row| row.is_async == Some(true)).next().is_some();
                (!is_async && rows.effect().any(|row| row.held_effect().is_some())).then_some(Flow::Sync)
            }
            _ => None,
        };
        let members = self.values.members(self.eval(scope, form).value);
        let first_kind = kind_of(members.first()?)?;
        members.iter().all(|val| kind_of(val) == Some(first_kind)).then_some(first_kind)
    }

    /// Returns the result of a test for the kind of a function, if the function is known.
    pub(crate) fn kind_test_result(&self, scope: Scope, test: FormId) -> Option<bool> {
        if self.program.language(scope.file) != Language::Python {
            return None;
        }
        let (function, kind, must_be) = self.find_kind_test(scope.file, test, true, DEPTH)?;
        Some((self.kind_of_function(scope, function)? == kind) == must_be)
    }

    /// True if a region cannot run because a test requires another kind of the captured function.
    pub(crate) fn is_ruled_out_by_captured_kind(&self, scope: Scope, region: RegionId) -> bool {
        scope.env != EnvId::NONE
            && self.program.language(scope.file) == Language::Python
            && self.kind_tests_at(scope.file, region).iter().any(|&(function, asked, must_be)| {
                self.kind_of_function(scope, function).is_some_and(|kind| (kind == asked) != must_be)
            })
    }

    fn kind_tests_at(&self, file: FileId, region: RegionId) -> Vec<KindTest> {
        self.tests_at(file, region)
            .filter_map(|(test, outcome)| self.find_kind_test(file, test, outcome, DEPTH))
            .collect()
    }

    /// True if a site is in a branch of a test for the kind of a function.
    pub fn is_under_kind_test(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        facts.language == Language::Python
            && !self.kind_tests_at(site.file, self.program.site(site).at.region).is_empty()
    }

    /// True if a call of a body does not reach a site in it, because a test requires another kind of the function that
    /// the body captures or takes as an argument.
    pub fn is_ruled_out_by_kind(&self, call: SiteRef, env: EnvId, body: BodyRef, site: SiteRef) -> bool {
        if self.program.body_of_site(site) != body {
            return false;
        }
        let facts = self.program.facts(site.file);
        let site_at = self.program.site(site).at;
        let tests = self.kind_tests_at(site.file, site_at.region);
        if tests.is_empty() {
            return false;
        }
        let targets = self.targets(call, env);
        let mut is_called = false;
        for target in &targets.list {
            let Target::Body { body: target_body, env: captured, with_receiver, .. } = *target else { continue };
            if target_body != body {
                continue;
            }
            is_called = true;
            let scope = Scope { file: site.file, at: site_at, env: captured };
            let is_other = tests.iter().any(|&(function, asked, must_be)| {
                let kind = match facts.form(function) {
                    Form::Var(var) if site.file.body_ref(facts.var(var).body) == body => {
                        let VarKind::Param(index) = facts.var(var).kind else { return false };
                        let argument = self.argument_for_param(call, body, index, with_receiver);
                        argument.and_then(|form| self.kind_of_function(self.scope_of(call, env), form))
                    }
                    _ => self.kind_of_function(scope, function),
                };
                kind.is_some_and(|kind| (kind == asked) != must_be)
            });
            if !is_other {
                return false;
            }
        }
        is_called
    }
}
