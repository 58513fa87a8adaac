//! What a body gives back: what it yields, returns or declares, and what calling it gives.

use blocklint_core::Language;
use blocklint_facts::{At, BodyId, BodyKind, ExitKind, Flow, Form, FormId, SiteKind, VarKind};
use blocklint_models::Uses;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, ValueId, Why};

/// Returns of one body that are looked at.
const MOST_EXITS: usize = 8;

impl Linker<'_> {
    /// What a generator yields.
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

    /// What a body returns when it has run to its end: its declared type, else what its exits give.
    pub(crate) fn returned(&self, body: BodyRef, env: EnvId, receiver: Option<Val>) -> Typed {
        let (facts, body_id) = self.program.facts_and_id(body);
        let row = self.program.body(body);
        let declared = row.returns;
        if declared.is_some() {
            let mut typed = self.annotation_with_self(self.signature_scope(body), declared, receiver);
            if facts.language == Language::Rust
                && let (Some(class), Some(receiver)) = (row.class.get(), receiver)
            {
                if let Some(projected) = self.projected(body, declared, receiver) {
                    return projected;
                }
                typed = self.substitute(typed, &self.bindings(body.file.class_ref(class), receiver));
            }
            let vague = self.values.members(typed.value).iter().all(|val| matches!(val, Val::Unknown(_)));
            if !vague {
                return self.or_returned_callables(body, env, self.narrowed_return(body, typed));
            }
        }
        self.query_value(&self.tables.values.returns, (body, env), || {
            let mut parts = Vec::new();
            for exit in facts
                .exits
                .iter()
                .filter(|exit| exit.kind == ExitKind::Return && facts.body_of(exit.at) == body_id)
                .take(32)
            {
                let scope = Scope { file: body.file, at: exit.at, env };
                if exit.value.is_some() && !self.is_for_other_kind(scope, exit.at.region) {
                    let given = self.eval(scope, exit.value);
                    parts.push(if facts.language == Language::Rust { self.as_value(given) } else { given });
                }
            }
            if parts.is_empty() { self.unknown(Why::Result) } else { self.join(&parts) }
        })
    }

    /// Java: what a body returns by its only `return`, where that is of a library's type derived from the declared one: the
    /// type of a stream or directory says whether it is a file. By any of them what a lazy value holds back.
    pub(crate) fn narrowed_return(&self, body: BodyRef, declared: Typed) -> Typed {
        let (facts, body_id) = self.program.facts_and_id(body);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        if facts.language != Language::Java {
            return declared;
        }
        let Some(of) = only(declared.value) else { return self.made_by(body, declared).unwrap_or(declared) };
        // What a chain of methods returns is typed by its declarations, which may go round in circles.
        let is_plain = |value: FormId| match facts.form(value) {
            Form::Var(var) => facts.var(var).body == body_id && !matches!(facts.var(var).kind, VarKind::Param(_)),
            Form::Result(site) => {
                let name = facts.text(facts.site(site).name);
                facts.site(site).kind == SiteKind::New
                    || self.library.of(Language::Java).name_uses(name).intersects(Uses::LAZY)
            }
            _ => false,
        };
        let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
        let given: Vec<Option<Typed>> = exits
            .take(MOST_EXITS)
            .map(|exit| {
                let scope = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                is_plain(exit.value).then(|| self.eval(scope, exit.value))
            })
            .collect();
        if let [Some(given)] = given[..]
            && only(given.value).is_some_and(|ty| ty != of && self.library.supertypes(ty).contains(&of))
        {
            return given;
        }
        // Also beside an empty one, where opening it failed.
        let members = given.iter().flatten().flat_map(|typed| self.values.members(typed.value));
        let held_back: Vec<Val> = members.filter(|val| matches!(val, Val::Lazy { .. })).collect();
        if held_back.is_empty() {
            return declared;
        }
        Typed { value: self.values.union(&held_back), ..declared }
    }

    /// Java: the objects that a method makes and returns where it is declared to give an interface or base of the project, and no
    /// class derived from its own gives another: `Source source() { return new Remote(); }`.
    fn made_by(&self, body: BodyRef, declared: Typed) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let [Val::Instance { class: base, .. }] = self.values.members(declared.value)[..] else { return None };
        let row = self.program.body(body);
        let own = body.file.class_ref(row.class.get()?);
        let name = self.program.global(body.file, row.name)?;
        if self.derived(base).is_empty() || !self.overrides(own, name).is_empty() {
            return None;
        }
        let mut found: Vec<Val> = Vec::new();
        let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
        for (at, exit) in exits.enumerate() {
            let made = match facts.form(exit.value) {
                Form::None => continue,
                Form::Cast(inner, _) => facts.form(inner),
                made => made,
            };
            let Form::Result(site) = made else { return None };
            if at >= MOST_EXITS || facts.site(site).kind != SiteKind::New {
                return None;
            }
            let made = self.result(body.file.site_ref(site), EnvId::NONE);
            for val in self.values.members(made.value) {
                match val {
                    Val::Instance { class, .. } if self.is_subclass(class, base) => found.push(val),
                    _ => return None,
                }
            }
        }
        (!found.is_empty()).then(|| Typed { value: self.values.union(&found), ..declared })
    }

    /// Java: what a field is given by its only assignment, `this.directory = open()`, where that is of a library's type derived
    /// from the declared one.
    pub(crate) fn narrower_field(&self, var: VarRef, declared: Typed) -> Typed {
        let facts = self.program.facts(var.file);
        let only = |value: ValueId| match self.values.members(value)[..] {
            [Val::Library { ty, .. }] => Some(ty),
            _ => None,
        };
        if facts.body(self.program.var(var).body).kind != BodyKind::Class {
            return declared;
        }
        let Some(of) = only(declared.value) else { return declared };
        let [(at, value)] = self.given_to(var)[..] else { return declared };
        if !matches!(facts.form(value), Form::Result(_)) {
            return declared;
        }
        let given = self.eval(Scope { file: var.file, at, env: EnvId::NONE }, value);
        match only(given.value) {
            Some(ty) if ty != of && self.library.supertypes(ty).contains(&of) => given,
            _ => declared,
        }
    }

    /// The place where a body's annotations, defaults and decorators are read.
    pub fn signature_scope(&self, body: BodyRef) -> Scope {
        let facts = self.program.facts(body.file);
        let parent = self.program.body(body).parent.get().unwrap_or(BodyId(0));
        let at = At { region: facts.body(parent).region, position: u32::MAX };
        Scope { file: body.file, at, env: EnvId::NONE }
    }

    /// What calling a body gives: a coroutine, an iterator, or what it returns.
    pub(crate) fn called(&self, body: BodyRef, env: EnvId, receiver: Option<Val>) -> Typed {
        match self.program.body(body).flow {
            Flow::Coroutine => self.known(Val::Coroutine { body, env }),
            Flow::Generator | Flow::AsyncGenerator => self.known(Val::Iter { body, env }),
            Flow::Sync => self.returned(body, env, receiver),
        }
    }
}
