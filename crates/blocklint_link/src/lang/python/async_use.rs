//! Python: callees that the use of a call's result rules out. `async with self.session.get(url)` calls the one of two sessions
//! whose result has `__aenter__`.

use blocklint_facts::{BodyKind, FileFacts, Flow, Form, SiteFlags, SiteId, SiteKind, VarId};

use crate::classes::hierarchy::Ancestor;
use crate::lang::python::builtins;
use crate::linker::{Linker, Typed};
use crate::program::ids::SiteRef;
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val};

/// How code uses the result of a call, if only some values allow that use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AsyncUse {
    /// `await`.
    Await,
    /// `async with`.
    Enter,
    /// `async for`.
    Iterate,
}

impl AsyncUse {
    /// Returns the method that a value needs for this use.
    fn method(self) -> &'static str {
        match self {
            AsyncUse::Await => "__await__",
            AsyncUse::Enter => "__aenter__",
            AsyncUse::Iterate => "__aiter__",
        }
    }
}

impl Linker<'_> {
    /// Returns the callees of a call without those whose result cannot be used as the code uses it, if the result of another
    /// one can.
    pub(crate) fn callees_that_fit_use(&self, callee: Typed, site: SiteRef, env: EnvId) -> Typed {
        let members = self.values.members(callee.value);
        if members.len() < 2 {
            return callee;
        }
        let Some(used) = self.async_use(site) else { return callee };
        let fits: Vec<Option<bool>> = members.iter().map(|&val| self.result_fits(used, val, site, env)).collect();
        let one_fits = fits.contains(&Some(true));
        let may_fit = |(val, fits): &(&Val, &Option<bool>)| match fits {
            Some(fits) => *fits,
            // A library's blocking function beside one that is made for this use.
            None => !one_fits || !self.is_function_of_library(**val),
        };
        let kept: Vec<Val> = members.iter().zip(&fits).filter(may_fit).map(|(&val, _)| val).collect();
        if kept.is_empty() || kept.len() == members.len() {
            return callee;
        }
        Typed { value: self.values.union(&kept), ..callee }
    }

    /// Returns how the code uses the result of a call, also through the one variable that keeps it.
    fn async_use(&self, site: SiteRef) -> Option<AsyncUse> {
        let (facts, site_id) = self.program.facts_and_id(site);
        if facts.site(site_id).flags.has(SiteFlags::AWAITED) {
            return Some(AsyncUse::Await);
        }
        self.program.uses_of_result(site).iter().find_map(|(mention, _)| match mention {
            Mention::Operand(of) => use_at(facts, of),
            Mention::Assign(assign) => {
                let Form::Var(var) = facts.form(facts.assign(assign).target) else { return None };
                facts.only_value_of(var).filter(|only| facts.form(only.value) == Form::Result(site_id))?;
                self.async_use_of(site, var)
            }
            _ => None,
        })
    }

    /// Returns how the code uses a variable that has one value.
    fn async_use_of(&self, site: SiteRef, var: VarId) -> Option<AsyncUse> {
        let facts = self.program.facts(site.file);
        let mentions = self.program.index_of(site.file).mentions_named(facts.var(var).name);
        mentions.iter().find_map(|(mention, _)| match mention {
            Mention::Operand(of) if facts.form(facts.site(of).callee) == Form::Var(var) => use_at(facts, of),
            _ => None,
        })
    }

    /// Returns true if all that a callee returns allows a use, false if none of it does, and `None` if that is not known.
    fn result_fits(&self, used: AsyncUse, callee: Val, site: SiteRef, env: EnvId) -> Option<bool> {
        if matches!(callee, Val::Unknown(_)) {
            return None;
        }
        let given = self.values.members(self.call_member(callee, site, env).value);
        let mut fit = given.iter().map(|&val| self.value_fits(used, val));
        let first = fit.next()??;
        fit.all(|of| of == Some(first)).then_some(first)
    }

    /// True if a callee is a library's function or method and no type: the object that a type makes may have methods that no
    /// row names.
    fn is_function_of_library(&self, callee: Val) -> bool {
        matches!(callee, Val::External(path) | Val::Method { path, .. } if !self.library.is_type(path))
    }

    /// Returns true if a value allows a use, false if it does not, and `None` if that is not known.
    fn value_fits(&self, used: AsyncUse, val: Val) -> Option<bool> {
        match val {
            Val::None | Val::Tuple(_) => Some(false),
            Val::Coroutine { .. } | Val::Awaitable(_) => Some(used == AsyncUse::Await),
            Val::Iter { body, .. } => match (used, self.program.body(body).flow) {
                (AsyncUse::Await, _) => Some(false),
                (AsyncUse::Iterate, flow) => Some(flow == Flow::AsyncGenerator),
                // The decorator that makes a generator one that is entered keeps its kind.
                (AsyncUse::Enter, Flow::AsyncGenerator) => Some(true),
                (AsyncUse::Enter, _) => Some(self.program.body(body).kind != BodyKind::Function),
            },
            Val::Instance { class, exact, .. } => {
                let name = self.program.name(used.method());
                let mut is_open = !exact && !self.direct_subclasses(class).is_empty();
                for ancestor in self.mro(class).iter() {
                    match *ancestor {
                        Ancestor::Class(of) => {
                            if name.is_some_and(|name| self.own_member(of, name).is_some()) {
                                return Some(true);
                            }
                        }
                        Ancestor::Library(path, _) => {
                            is_open |= !builtins::is_interface_marker(&self.library.text(path));
                        }
                        Ancestor::Unknown => is_open = true,
                    }
                }
                (!is_open).then_some(false)
            }
            Val::Library { ty, .. } => {
                let types = self.library.supertypes(ty);
                let allows = types.iter().any(|&of| {
                    self.library.ty(of).is_some_and(|rows| rows.awaits().is_some())
                        || !self.library.calls(self.library.member(of, used.method())).is_empty()
                });
                match allows {
                    true => Some(true),
                    false => self.library.text(ty).starts_with("builtins.").then_some(false),
                }
            }
            _ => None,
        }
    }
}

/// Returns the use that a site makes of its operand.
fn use_at(facts: &FileFacts, of: SiteId) -> Option<AsyncUse> {
    let row = facts.site(of);
    match row.kind {
        SiteKind::Await => Some(AsyncUse::Await),
        SiteKind::Enter if row.flags.has(SiteFlags::ASYNC) => Some(AsyncUse::Enter),
        SiteKind::Iterate if row.flags.has(SiteFlags::ASYNC) => Some(AsyncUse::Iterate),
        _ => None,
    }
}
