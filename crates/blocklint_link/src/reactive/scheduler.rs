//! Schedulers and executors: the threads on which their tasks run, by the call that created them or by their type.

use blocklint_facts::{ExitKind, Form, FormId, VarKind};
use blocklint_models::Runs;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The maximal number of assignments, calls and fields through which a scheduler is followed.
const MAX_DEPTH: u32 = 8;

/// The maximal number of callers whose arguments are compared.
const MAX_CALLERS: usize = 48;

impl<'a> Linker<'a> {
    /// Returns the threads on which the scheduler in a form runs its tasks; `None` if neither the call that created it
    /// nor its type is known.
    pub(crate) fn scheduler_of(&self, scope: Scope, form: FormId) -> Option<Runs> {
        self.scheduler_within(scope, form, MAX_DEPTH)
    }

    /// Returns the threads of the scheduler in a form; `depth` bounds the assignments, calls and fields that are followed.
    fn scheduler_within(&self, scope: Scope, form: FormId, depth: u32) -> Option<Runs> {
        let depth = depth.checked_sub(1)?;
        let file = scope.file;
        let facts = self.program.facts(file);
        let runs = match facts.form(form) {
            Form::Result(site) => self.scheduler_created_by(file.site_ref(site), depth),
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                self.scheduler_assigned_to(file.var_ref(var), depth)
            }
            Form::Var(var) if facts.assigns_of(var).next().is_none() => {
                self.scheduler_passed_to(file.var_ref(var), depth)
            }
            Form::Attr(base, sym) => {
                self.field_of_attribute(scope, base, sym).and_then(|var| self.scheduler_assigned_to(var, depth))
            }
            Form::Cast(inner, _) => self.scheduler_within(scope, inner, depth),
            Form::Alt(_, list) => facts.list(list).iter().find_map(|&part| self.scheduler_within(scope, part, depth)),
            _ => None,
        };
        runs.or_else(|| {
            let typed = self.eval(scope, form);
            self.values.members(typed.value).into_iter().find_map(|val| match val {
                Val::Library { ty, .. } => {
                    let types = self.library.supertypes(ty);
                    types.iter().find_map(|&ty| self.library.ty(ty).and_then(|rows| rows.scheduler()))
                }
                _ => None,
            })
        })
    }

    /// Returns the threads of the scheduler that is assigned to a variable or injected into it.
    fn scheduler_assigned_to(&self, var: VarRef, depth: u32) -> Option<Runs> {
        let assigned = self.values_assigned_to(var);
        if assigned.is_empty() {
            return self.scheduler_injected_into(var, depth);
        }
        assigned
            .into_iter()
            .find_map(|(at, value)| self.scheduler_within(Scope { file: var.file, at, env: EnvId::NONE }, value, depth))
    }

    /// Returns the threads of the scheduler that all known callers pass to a parameter; `None` if they differ.
    fn scheduler_passed_to(&self, param: VarRef, depth: u32) -> Option<Runs> {
        let var_facts = self.program.var(param);
        let VarKind::Param(index) = var_facts.kind else { return None };
        let body = param.file.body_ref(var_facts.body);
        let sites = self.sites_calling(body);
        if sites.is_empty() && self.is_injected(body) {
            return self.scheduler_injected_into(param, depth);
        }
        if sites.len() > MAX_CALLERS {
            return None;
        }
        let mut agreed = None;
        for site in sites {
            let form = self.passed_argument(site, body, index)?;
            let runs = self.scheduler_within(self.scope_of(site, EnvId::NONE), form, depth)?;
            if *agreed.get_or_insert(runs) != runs {
                return None;
            }
        }
        agreed
    }

    /// Returns the threads of the scheduler that a dependency-injection container provides for a variable; `None` if
    /// the factory methods that may have created it differ.
    fn scheduler_injected_into(&self, var: VarRef, depth: u32) -> Option<Runs> {
        let mut agreed = None;
        for body in self.providers_for(var) {
            let runs = self.scheduler_returned_by(body, depth)?;
            if *agreed.get_or_insert(runs) != runs {
                return None;
            }
        }
        agreed
    }

    /// Returns the threads of the scheduler that a call creates.
    fn scheduler_created_by(&self, site: SiteRef, depth: u32) -> Option<Runs> {
        let targets = self.targets(site, EnvId::NONE);
        targets.list.iter().find_map(|target| match *target {
            Target::Row { path, .. } => {
                let rows = self.rows_for_call(path, site);
                let runs = rows.with(|row| row.scheduler.is_some()).next().and_then(|matched| matched.row.scheduler);
                // A constructor creates an instance of its own type.
                let types = self.library.supertypes(path);
                runs.or_else(|| types.iter().find_map(|&ty| self.library.ty(ty).and_then(|rows| rows.scheduler())))
            }
            Target::Body { body, .. } => self.scheduler_returned_by(body, depth),
            Target::Overrides { .. } => None,
        })
    }

    /// Returns the threads of the scheduler that a body returns.
    fn scheduler_returned_by(&self, body: BodyRef, depth: u32) -> Option<Runs> {
        let (facts, body_id) = self.program.facts_and_id(body);
        facts
            .exits
            .iter()
            .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
            .filter(|exit| exit.value.is_some())
            .find_map(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                self.scheduler_within(scope, exit.value, depth)
            })
    }
}
