//! Completed publishers: publishers that have their value before a call waits for them, so that the wait does not
//! block: `Mono.just(x).block()` (Java).

use blocklint_facts::{AltKind, ExitKind, Form, FormId, VarKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::reactive::upstream::CALLABLE;
use crate::values::expr::Scope;
use crate::values::value::EnvId;

/// The most nested calls that are followed to the publisher that they return.
const MAX_CALL_DEPTH: u32 = 3;

/// The states, by model rows, of publishers that complete on the subscriber's thread: they have a value or wrap a call.
const COMPLETE: &[&str] = &["complete", CALLABLE];

/// The maximal number of calls, fields and returned values through which a publisher is followed.
const MAX_DEPTH: u32 = 8;

/// The maximal number of implementations that are checked.
const MAX_IMPLEMENTATIONS: usize = 8;

impl<'a> Linker<'a> {
    /// True if every publisher that a call may wait for is completed.
    pub fn waits_for_completed_publisher(&self, site: SiteRef) -> bool {
        let Some(receiver) = self.receiver_form(site) else { return false };
        self.is_complete(self.scope_of(site, EnvId::NONE), receiver, MAX_DEPTH)
    }

    /// True if the publisher that a call waits for is the result of a method of the project that returns a completed
    /// publisher in one of its `return` statements.
    pub fn may_wait_for_completed_publisher(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let Some(Form::Result(call)) = self.receiver_form(site).map(|receiver| facts.form(receiver)) else {
            return false;
        };
        self.may_return_complete(site.file.site_ref(call), MAX_CALL_DEPTH)
    }

    /// True if a method of the project among the targets of a call returns a completed publisher in any `return`.
    fn may_return_complete(&self, site: SiteRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let targets = self.targets(site, EnvId::NONE);
        let mut bodies: Vec<BodyRef> = Vec::new();
        for target in &targets.list {
            match *target {
                Target::Body { body, .. } => bodies.push(body),
                Target::Overrides { class, name } => {
                    bodies.extend(self.overrides(class, name).iter().take(MAX_IMPLEMENTATIONS))
                }
                Target::Row { .. } => {}
            }
        }
        bodies.into_iter().filter(|&body| !self.is_stub(body) && !self.program.is_test(body.file)).any(|body| {
            let (facts, body_id) = self.program.facts_and_id(body);
            let exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
            let mut exits = exits.filter(|exit| facts.body_of(exit.at) == body_id);
            exits.any(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                let Form::Result(call) = facts.form(exit.value) else { return false };
                let call = body.file.site_ref(call);
                self.is_complete(scope, exit.value, MAX_DEPTH) || self.may_return_complete(call, depth)
            })
        })
    }

    /// True if every publisher that a form may have as its value is completed.
    fn is_complete(&self, scope: Scope, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let file = scope.file;
        let facts = self.program.facts(file);
        let var = match facts.form(form) {
            Form::Result(site) => return self.returns_completed_publisher(file.site_ref(site), depth),
            Form::Cast(inner, _) => return self.is_complete(scope, inner, depth),
            Form::Alt(kind, list) => {
                let test = usize::from(kind == AltKind::Ternary);
                let branches = facts.list(list);
                return branches[test.min(branches.len())..]
                    .iter()
                    .all(|&branch| self.is_complete(scope, branch, depth));
            }
            Form::Attr(base, sym) => self.field_of_attribute(scope, base, sym),
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => Some(file.var_ref(var)),
            _ => None,
        };
        let Some(var) = var else { return false };
        let assigned = self.values_assigned_to(var);
        !assigned.is_empty()
            && assigned
                .into_iter()
                .all(|(at, value)| self.is_complete(Scope { file: var.file, at, env: EnvId::NONE }, value, depth))
    }

    /// True if every target of a call returns a completed publisher.
    fn returns_completed_publisher(&self, site: SiteRef, depth: u32) -> bool {
        let targets = self.targets(site, EnvId::NONE);
        let mut has_target = false;
        for target in &targets.list {
            let is_complete = match *target {
                Target::Row { path, .. } => {
                    let rows = self.rows_for_call(path, site);
                    let mut stated = rows.with(|row| row.state.is_some());
                    stated.any(|row| row.state.as_deref().is_some_and(|state| COMPLETE.contains(&state)))
                }
                // The implementations are targets as well.
                Target::Body { body, .. } if self.is_stub(body) && self.has_implementations(body) => continue,
                Target::Body { body, .. } => self.returns_complete(body, depth),
                Target::Overrides { class, name } => {
                    let override_list = self.overrides(class, name);
                    let mut implementations = override_list.iter().filter(|body| {
                        !self.program.is_test(body.file)
                            && !self.is_stub(**body)
                            && self.may_run_override(class, name, **body, site)
                    });
                    override_list.len() <= MAX_IMPLEMENTATIONS
                        && implementations.all(|&body| self.returns_complete(body, depth))
                }
            };
            if !is_complete {
                return false;
            }
            has_target = true;
        }
        has_target && !targets.unknown
    }

    /// True if a body returns completed publishers only.
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
