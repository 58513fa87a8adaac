//! The check if a call returns an awaitable: a coroutine, a future, an asynchronous iterator or context manager.

use std::sync::LazyLock;

use blocklint_facts::{BodyKind, ExitKind, Flow, Form, FormId, SiteKind};
use blocklint_link::program::ids::BodyRef;
use regex::Regex;

use super::entity::{Entity, Function};
use super::sources::Sources;

/// Names of awaitable types in annotations.
static AWAITABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"Awaitable|Coroutine|Future|Task\b|Deferred|Async[A-Z]\w*|ContextManager\b.*Async|\b_?Async").ok()
});

/// Annotations of results that run only when they are awaited. A union with another type does not match.
static COROUTINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\w+\.)*(Awaitable|Coroutine|AsyncIterator|AsyncGenerator|AsyncIterable)\b[^|]*$").ok()
});

fn matches(pattern: &Option<Regex>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl Sources<'_> {
    /// Returns the way in which a call runs a function.
    pub(super) fn flow(&self, function: &Function) -> Flow {
        self.program.body(function.body).flow
    }

    fn is_declared_async(&self, function: &Function) -> bool {
        matches!(self.flow(function), Flow::Coroutine | Flow::AsyncGenerator)
    }

    /// True if a call of the entity returns a coroutine, a future, an asynchronous iterator or context manager.
    pub(super) fn is_async(&self, entity: &Entity) -> bool {
        self.is_async_at_depth(entity, 0)
    }

    fn is_async_at_depth(&self, entity: &Entity, depth: u32) -> bool {
        if depth > 16 {
            return false;
        }
        let function = match entity {
            Entity::Class(_) => {
                let protocol = ["__await__", "__aenter__", "__aiter__", "__anext__"];
                return protocol.iter().any(|name| self.member(entity, name).iter().any(|found| !found.is_outside()));
            }
            Entity::Function(function) => function,
            _ => return false,
        };
        let decorators = self.decorators(function);
        let marked = decorators.iter().any(|name| name == "asynccontextmanager" || name == "coroutine");
        if self.is_declared_async(function) || marked || self.is_wrapped(function) {
            return true;
        }
        let returns = self.program.body(function.body).returns;
        if returns.is_some() {
            let text = self.text(function.body.file, returns);
            if matches(&AWAITABLE, &text) {
                return true;
            }
            let is_awaitable = |entity: &Entity| match entity {
                Entity::Instance(class) => self.is_async_at_depth(&Entity::Class(*class), depth + 1),
                _ => false,
            };
            if self.returned_entities(function).iter().any(is_awaitable) {
                return true;
            }
            if !matches!(text.as_str(), "Any" | "object" | "typing.Any") {
                return false;
            }
        }
        depth <= 3 && self.returns_async(function, depth)
    }

    /// True if the function returns the result of a call that returns an awaitable.
    fn returns_async(&self, function: &Function, depth: u32) -> bool {
        let file = function.body.file;
        let facts = self.program.facts(file);
        let mut calls = self.returned_forms(function.body).filter_map(|form| match facts.form(form) {
            Form::Result(site) => Some(facts.site(site)).filter(|site| site.kind == SiteKind::Call),
            _ => None,
        });
        calls.any(|site| {
            self.evaluate(site.callee, file, function.owner)
                .iter()
                .filter(|target| matches!(target, Entity::Function(_) | Entity::Class(_)))
                .any(|target| target != &Entity::Function(*function) && self.is_async_at_depth(target, depth + 1))
        })
    }

    /// True if the code of the function runs only when the result of the call is awaited.
    pub(super) fn is_coroutine(&self, entity: &Entity) -> bool {
        let Some(function) = entity.function() else { return false };
        let returns = self.program.body(function.body).returns;
        let is_annotated = returns.is_some() && matches(&COROUTINE, &self.text(function.body.file, returns));
        let is_marked = self.decorators(&function).iter().any(|name| name == "asynccontextmanager");
        self.is_declared_async(&function) || is_marked || is_annotated || self.is_wrapped(&function)
    }

    fn returned_forms(&self, body: BodyRef) -> impl Iterator<Item = FormId> + '_ {
        self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return).map(|exit| exit.value)
    }

    /// True if one of the decorators returns a coroutine function.
    fn is_wrapped(&self, function: &Function) -> bool {
        let file = function.body.file;
        let facts = self.program.facts(file);
        facts.list(self.program.body(function.body).decorators).iter().any(|&decorator| {
            let called = match facts.form(decorator) {
                Form::Result(site) => facts.site(site).callee,
                _ => decorator,
            };
            let targets = self.evaluate(called, file, None);
            targets.iter().filter_map(Entity::function).any(|target| self.returns_coroutine_functions(target.body))
        })
    }

    /// True if a decorator always returns a nested `async def`, whatever function it decorates.
    fn returns_coroutine_functions(&self, decorator: BodyRef) -> bool {
        let facts = self.program.facts(decorator.file);
        let mut inner = Vec::new();
        let mut waiting = vec![decorator];
        while let Some(around) = waiting.pop() {
            let below = self.program.bodies_in(around);
            waiting.extend(below.clone());
            inner.extend(
                below.filter(|&body| self.program.body(body).kind == BodyKind::Function).map(|body| (around, body)),
            );
        }
        let bodies = inner.iter().map(|(_, body)| *body).chain([decorator]);
        let forms = bodies.flat_map(|body| self.returned_forms(body));
        let names: Vec<_> = forms
            .filter_map(|form| match facts.form(form) {
                Form::Var(var) => Some(facts.var(var).name),
                Form::Name(name) => Some(name),
                _ => None,
            })
            .collect();
        let is_returned = |body: BodyRef| names.contains(&self.program.body(body).name);
        // A decorator that distinguishes plain functions returns a plain function as well. A decorator with arguments
        // returns the actual decorator, whose nested functions count.
        let returned = inner.iter().map(|(_, body)| *body).filter(|&body| {
            is_returned(body) && !inner.iter().any(|(around, other)| is_returned(*other) && *around == body)
        });
        let flows: Vec<Flow> = returned.map(|body| self.program.body(body).flow).collect();
        !flows.is_empty() && flows.iter().all(|flow| matches!(flow, Flow::Coroutine | Flow::AsyncGenerator))
    }
}
