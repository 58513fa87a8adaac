//! Publishers that already have their value when a call waits for them: `Mono.just(x).block()` waits for nothing.

use blocklint_facts::{ExitKind, Form, FormId, VarKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::reactive::upstream::CALLABLE;
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// States in which a row puts a publisher that runs wholly where it is subscribed to: it has its value, or calls for it.
const COMPLETE: &[&str] = &["complete", CALLABLE];

/// Calls, fields and returned values that a publisher is followed through.
const DEEPEST: u32 = 8;

/// Implementations that are asked.
const MOST: usize = 8;

impl<'a> Linker<'a> {
    /// True if all values that a call may wait for are there when it begins to wait.
    pub fn waits_for_complete(&self, site: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        self.is_complete(self.scope_of(site, EnvId::NONE), receiver, DEEPEST)
    }

    /// True if a project's method makes the publisher that a call waits for, and one of its returns is a publisher that
    /// already has its value.
    pub fn may_wait_for_complete(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let Some(Form::Result(made)) = self.receiver_form(site).map(|of| facts.form(of)) else { return false };
        self.may_return_complete(site.file.site_ref(made), 3)
    }

    fn may_return_complete(&self, site: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let targets = self.targets(site, EnvId::NONE);
        let mut bodies: Vec<BodyRef> = Vec::new();
        for target in &targets.list {
            match *target {
                Target::Body { body, .. } => bodies.push(body),
                Target::Overrides { class, name } => bodies.extend(self.overrides(class, name).iter().take(MOST)),
                Target::Row { .. } => {}
            }
        }
        bodies.into_iter().filter(|&body| !self.is_stub(body) && !self.program.is_test(body.file)).any(|body| {
            let (facts, body_id) = self.program.facts_and_id(body);
            let exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
            let mut exits = exits.filter(|exit| facts.body_of(exit.at) == body_id);
            exits.any(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                let Form::Result(given) = facts.form(exit.value) else { return false };
                let given = body.file.site_ref(given);
                self.is_complete(scope, exit.value, DEEPEST) || self.may_return_complete(given, depth)
            })
        })
    }

    fn is_complete(&self, scope: Scope, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let file = scope.file;
        let facts = self.program.facts(file);
        let var = match facts.form(form) {
            Form::Result(site) => return self.completes_at_once(file.site_ref(site), depth),
            Form::Cast(inner, _) => return self.is_complete(scope, inner, depth),
            Form::Alt(kind, list) => {
                let test = usize::from(kind == blocklint_facts::AltKind::Ternary);
                let ends = facts.list(list);
                return ends[test.min(ends.len())..].iter().all(|&end| self.is_complete(scope, end, depth));
            }
            Form::Attr(base, sym) => self.field_behind(scope, base, sym),
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => Some(file.var_ref(var)),
            _ => None,
        };
        let Some(var) = var else { return false };
        let given = self.values_assigned_to(var);
        !given.is_empty()
            && given
                .into_iter()
                .all(|(at, value)| self.is_complete(Scope { file: var.file, at, env: EnvId::NONE }, value, depth))
    }

    fn completes_at_once(&self, site: SiteRef, depth: u32) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        let mut any = false;
        for target in &targets.list {
            let holds = match *target {
                Target::Row { path, .. } => {
                    let rows = self.rows_for_call(path, site);
                    let mut stated = rows.with(|row| row.state.is_some());
                    stated.any(|row| row.state.as_deref().is_some_and(|state| COMPLETE.contains(&state)))
                }
                // Its implementations decide.
                Target::Body { body, .. } if self.is_stub(body) && self.has_implementations(body) => continue,
                Target::Body { body, .. } => self.returns_complete(body, depth),
                Target::Overrides { class, name } => {
                    let all = self.overrides(class, name);
                    let mut meant = all.iter().filter(|of| {
                        !self.program.is_test(of.file)
                            && !self.is_stub(**of)
                            && self.may_run_override(class, name, **of, site)
                    });
                    all.len() <= MOST && meant.all(|&of| self.returns_complete(of, depth))
                }
            };
            if !holds {
                return false;
            }
            any = true;
        }
        any && !targets.unknown
    }

    fn returns_complete(&self, body: BodyRef, depth: u32) -> bool {
        let (facts, body_id) = self.program.facts_and_id(body);
        let mut exits = facts
            .exits
            .iter()
            .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
            .filter(|exit| exit.value.is_some())
            .peekable();
        exits.peek().is_some()
            && exits.all(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                self.is_complete(scope, exit.value, depth)
            })
    }
}
