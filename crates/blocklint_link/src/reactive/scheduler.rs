//! Where the tasks of a scheduler or executor run, by the call that made it.

use blocklint_facts::{ExitKind, Form, FormId, VarKind};
use blocklint_models::Runs;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// Assignments, calls and fields that a scheduler is followed through.
const DEEPEST: u32 = 8;

/// The number of callers up to which a scheduler that they agree on is searched.
const MOST_CALLERS: usize = 48;

impl<'a> Linker<'a> {
    /// Returns where the tasks of the scheduler that a form is run; `None` where neither a call nor its type shows.
    pub(crate) fn scheduler_of(&self, scope: Scope, form: FormId) -> Option<Runs> {
        self.scheduler_within(scope, form, DEEPEST)
    }

    fn scheduler_within(&self, scope: Scope, form: FormId, depth: u32) -> Option<Runs> {
        let depth = depth.checked_sub(1)?;
        let file = scope.file;
        let facts = self.program.facts(file);
        let made = match facts.form(form) {
            Form::Result(site) => self.scheduler_made(file.site_ref(site), depth),
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                self.scheduler_assigned(file.var_ref(var), depth)
            }
            Form::Var(var) if facts.assigns_of(var).next().is_none() => self.scheduler_passed(file.var_ref(var), depth),
            Form::Attr(base, sym) => {
                self.field_behind(scope, base, sym).and_then(|var| self.scheduler_assigned(var, depth))
            }
            Form::Cast(inner, _) => self.scheduler_within(scope, inner, depth),
            Form::Alt(_, list) => facts.list(list).iter().find_map(|&part| self.scheduler_within(scope, part, depth)),
            _ => None,
        };
        made.or_else(|| {
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

    fn scheduler_assigned(&self, var: VarRef, depth: u32) -> Option<Runs> {
        let given = self.values_assigned_to(var);
        if given.is_empty() {
            return self.scheduler_provided(var, depth);
        }
        given
            .into_iter()
            .find_map(|(at, value)| self.scheduler_within(Scope { file: var.file, at, env: EnvId::NONE }, value, depth))
    }

    /// Returns the scheduler that all known callers pass to a parameter, if they agree.
    fn scheduler_passed(&self, param: VarRef, depth: u32) -> Option<Runs> {
        let row = self.program.var(param);
        let VarKind::Param(index) = row.kind else { return None };
        let body = param.file.body_ref(row.body);
        let sites = self.sites_calling(body);
        if sites.is_empty() && self.is_injected(body) {
            return self.scheduler_provided(param, depth);
        }
        if sites.len() > MOST_CALLERS {
            return None;
        }
        let mut agreed = None;
        for site in sites {
            let form = self.passed(site, body, index)?;
            let runs = self.scheduler_within(self.scope_of(site, EnvId::NONE), form, depth)?;
            if *agreed.get_or_insert(runs) != runs {
                return None;
            }
        }
        agreed
    }

    /// Returns where an object out of a container runs its tasks, if all places that may have made it agree.
    fn scheduler_provided(&self, var: VarRef, depth: u32) -> Option<Runs> {
        let mut agreed = None;
        for body in self.providers_for(var) {
            let runs = self.scheduler_returned(body, depth)?;
            if *agreed.get_or_insert(runs) != runs {
                return None;
            }
        }
        agreed
    }

    fn scheduler_made(&self, site: SiteRef, depth: u32) -> Option<Runs> {
        let targets = self.targets(site, EnvId::NONE);
        targets.list.iter().find_map(|target| match *target {
            Target::Row { path, .. } => {
                let rows = self.rows_for_call(path, site);
                let made = rows.with(|row| row.scheduler.is_some()).next().and_then(|row| row.row.scheduler);
                // A constructor makes its own type.
                let types = self.library.supertypes(path);
                made.or_else(|| types.iter().find_map(|&ty| self.library.ty(ty).and_then(|rows| rows.scheduler())))
            }
            Target::Body { body, .. } => self.scheduler_returned(body, depth),
            Target::Overrides { .. } => None,
        })
    }

    fn scheduler_returned(&self, body: BodyRef, depth: u32) -> Option<Runs> {
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
