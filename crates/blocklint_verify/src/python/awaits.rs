//! Whether a call gives something to await.

use std::sync::LazyLock;

use blocklint_facts::{BodyId, BodyKind, Flow, Form, SiteKind};
use regex::Regex;

use super::entity::{Entity, FileRef, Function};
use super::evaluate::Place;
use super::sources::Sources;

/// Names in annotations that say that a call gives something to await.
static AWAITABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"Awaitable|Coroutine|Future|Task\b|Deferred|Async[A-Z]\w*|ContextManager\b.*Async|\b_?Async").ok()
});

/// Annotations of what is run only where it is awaited; one of several things it may give does not say so.
static COROUTINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\w+\.)*(Awaitable|Coroutine|AsyncIterator|AsyncGenerator|AsyncIterable)\b[^|]*$").ok()
});

fn matches(pattern: &Option<Regex>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl Sources {
    /// How a function runs.
    pub(super) fn flow(&self, function: &Function) -> Flow {
        self.file(function.file).facts.body(function.body).flow
    }

    fn is_written_async(&self, function: &Function) -> bool {
        matches!(self.flow(function), Flow::Coroutine | Flow::AsyncGenerator)
    }

    /// Whether calling it gives a coroutine, a future, an asynchronous iterator or context manager.
    pub(super) fn is_async(&self, entity: &Entity) -> bool {
        self.is_async_within(entity, 0)
    }

    fn is_async_within(&self, entity: &Entity, depth: u32) -> bool {
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
        if self.is_written_async(function) || marked || self.is_wrapped(function) {
            return true;
        }
        let file = self.file(function.file);
        let returns = file.facts.body(function.body).returns;
        if returns.is_some() {
            let text = self.text(function.file, returns);
            if matches(&AWAITABLE, &text) {
                return true;
            }
            let given = self.returned(function);
            let gives = given.iter().any(|entity| match entity {
                Entity::Instance(class) => self.is_async_within(&Entity::Class(*class), depth + 1),
                _ => false,
            });
            if gives {
                return true;
            }
            if !matches!(text.as_str(), "Any" | "object" | "typing.Any") {
                return false;
            }
        }
        depth <= 3 && self.returns_async(function, depth)
    }

    /// Whether one of the calls whose result it returns gives something to await.
    fn returns_async(&self, function: &Function, depth: u32) -> bool {
        let file = self.file(function.file);
        let place = Place { file: function.file, owner: function.owner };
        let returned = file.returns.get(&function.body).into_iter().flatten();
        let calls = returned.filter_map(|&form| match file.facts.form(form) {
            Form::Result(site) => Some(file.facts.site(site)).filter(|site| site.kind == SiteKind::Call),
            _ => None,
        });
        calls.into_iter().any(|site| {
            self.evaluate(site.callee, place)
                .iter()
                .filter(|target| matches!(target, Entity::Function(_) | Entity::Class(_)))
                .any(|target| target != &Entity::Function(*function) && self.is_async_within(target, depth + 1))
        })
    }

    /// Whether nothing at all happens before the result is awaited.
    pub(super) fn is_coroutine(&self, entity: &Entity) -> bool {
        let Some(function) = entity.function() else { return false };
        let returns = self.file(function.file).facts.body(function.body).returns;
        let is_said = returns.is_some() && matches(&COROUTINE, &self.text(function.file, returns));
        let is_marked = self.decorators(&function).iter().any(|name| name == "asynccontextmanager");
        self.is_written_async(&function) || is_marked || is_said || self.is_wrapped(&function)
    }

    /// Whether one of its decorators makes a coroutine function of it.
    fn is_wrapped(&self, function: &Function) -> bool {
        let file = self.file(function.file);
        let place = Place { file: function.file, owner: None };
        file.facts.list(file.facts.body(function.body).decorators).iter().any(|&decorator| {
            let called = match file.facts.form(decorator) {
                Form::Result(site) => file.facts.site(site).callee,
                _ => decorator,
            };
            let targets = self.evaluate(called, place);
            targets.iter().filter_map(Entity::function).any(|target| self.gives_coroutines(target.file, target.body))
        })
    }

    /// Whether a decorator returns an `async def` that stands in it, whatever it decorates.
    fn gives_coroutines(&self, at: FileRef, decorator: BodyId) -> bool {
        let file = self.file(at);
        let facts = &file.facts;
        let stands_in = |mut body: BodyId, outer: BodyId| loop {
            body = facts.body(body).parent;
            match body.get() {
                Some(around) if around == outer => return true,
                Some(_) => {}
                None => return false,
            }
        };
        let all = (0..facts.bodies.len() as u32).map(BodyId);
        let inner: Vec<BodyId> =
            all.filter(|&body| facts.body(body).kind == BodyKind::Function && stands_in(body, decorator)).collect();
        let mut names = Vec::new();
        for body in inner.iter().chain([&decorator]) {
            for &form in file.returns.get(body).into_iter().flatten() {
                match facts.form(form) {
                    Form::Var(var) => names.push(facts.var(var).name),
                    Form::Name(name) => names.push(name),
                    _ => {}
                }
            }
        }
        let named = |body: &BodyId| names.contains(&facts.body(*body).name);
        // One that looks at what it decorates returns a plain function besides; one with arguments the decorator.
        let returned: Vec<BodyId> = inner
            .iter()
            .copied()
            .filter(|body| named(body) && !inner.iter().any(|other| named(other) && stands_in(*other, *body)))
            .collect();
        let is_async = |body: &BodyId| matches!(facts.body(*body).flow, Flow::Coroutine | Flow::AsyncGenerator);
        !returned.is_empty() && returned.iter().all(is_async)
    }
}
