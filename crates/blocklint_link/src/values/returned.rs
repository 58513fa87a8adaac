//! Results of a body: the values that it yields, returns or declares, and the value of a call of the body.

use std::ops::ControlFlow;

use blocklint_facts::{At, BodyId, ExitKind, Flow};

use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::BodyRef;
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// The most `return` statements of one function that are read.
const MAX_RETURNS: usize = 32;

impl Linker<'_> {
    /// Returns the elements that a generator yields.
    pub(crate) fn yielded(&self, body: BodyRef, env: EnvId) -> Typed {
        self.query_value(&self.tables.values.yields, (body, env), || {
            let declared = self.program.body(body).returns;
            if declared.is_some() {
                let scope = self.signature_scope(body);
                let typed = self.annotation(scope, declared);
                let element = self.map(typed, |val| match val {
                    Val::Library { args, .. } if args != ArgsId::NONE => self.element(val),
                    _ => self.unknown(Why::Result),
                });
                if !self.values.is_unknown(element.value) {
                    return element;
                }
            }
            let mut parts = Vec::new();
            for exit in self.program.exits_in(body) {
                let scope = Scope { file: body.file, at: exit.at, env };
                match exit.kind {
                    ExitKind::Yield if exit.value.is_some() => parts.push(self.eval(scope, exit.value)),
                    ExitKind::YieldFrom => {
                        let inner = self.eval(scope, exit.value);
                        parts.push(self.map(inner, |val| self.element(val)));
                    }
                    _ => {}
                }
            }
            if parts.is_empty() { self.unknown(Why::Result) } else { self.join(&parts) }
        })
    }

    /// Returns the value that a body returns: its declared type, else the union of its `return` values.
    pub(crate) fn returned(&self, body: BodyRef, env: EnvId, receiver: Option<Val>) -> Typed {
        let (facts, body_id) = self.program.facts_and_id(body);
        let semantics = lang::semantics(facts.language);
        let declared = self.program.body(body).returns;
        if declared.is_some() {
            let mut typed = self.annotation_with_self(self.signature_scope(body), declared, receiver);
            if let Some(receiver) = receiver {
                match semantics.returned_on_receiver(self, body, typed, receiver) {
                    ControlFlow::Continue(refined) => typed = refined,
                    ControlFlow::Break(projected) => return projected,
                }
            }
            let is_unknown = self.values.members(typed.value).iter().all(|val| matches!(val, Val::Unknown(_)));
            if !is_unknown {
                return self.with_returned_callables(body, env, semantics.refine_returned(self, body, typed));
            }
        }
        self.query_value(&self.tables.values.returns, (body, env), || {
            let mut parts = Vec::new();
            for exit in facts
                .exits
                .iter()
                .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
                .take(MAX_RETURNS)
            {
                let scope = Scope { file: body.file, at: exit.at, env };
                if exit.value.is_some() && !self.is_ruled_out_by_captured_kind(scope, exit.at.region) {
                    let value = self.eval(scope, exit.value);
                    parts.push(semantics.as_owned(self, value));
                }
            }
            if parts.is_empty() { self.unknown(Why::Result) } else { self.join(&parts) }
        })
    }

    /// Returns the scope in which a body's annotations, defaults and decorators are evaluated.
    pub fn signature_scope(&self, body: BodyRef) -> Scope {
        let facts = self.program.facts(body.file);
        let parent = self.program.body(body).parent.get().unwrap_or(BodyId(0));
        let at = At { region: facts.body(parent).region, position: u32::MAX };
        Scope { file: body.file, at, env: EnvId::NONE }
    }

    /// Returns the value of a call of a body: a coroutine, an iterator, or the value that the body returns.
    pub(crate) fn value_of_call(&self, body: BodyRef, env: EnvId, receiver: Option<Val>) -> Typed {
        match self.program.body(body).flow {
            Flow::Coroutine => self.known(Val::Coroutine { body, env }),
            Flow::Generator | Flow::AsyncGenerator => self.known(Val::Iter { body, env }),
            Flow::Sync => self.returned(body, env, receiver),
        }
    }
}
