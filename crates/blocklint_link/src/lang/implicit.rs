//! Calls that code makes without naming the method: operators, loops, properties, conversions, callbacks of libraries. Each language lists
//! its own in `implicit_calls.rs` of its folder. A row holds both directions: the methods that a site runs, and the way back from a
//! method to the sites that may run it. A row without one of the two does not compile, and the fixtures of
//! `tests/fixtures/implicit-calls.md` have a section for each row, which is a finding only if both directions hold.

use blocklint_facts::SiteKind;

use crate::calls::targets::Targets;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, PathId, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// A place at which code may call a method that it does not name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ImplicitCallSite {
    /// An operation on operands: `a + b`, `a[i]`, `if a:`, `f"{a}"`.
    Operation { site: SiteRef, env: EnvId },
    /// The arguments of a call: `len(a)`, `drop(a)`.
    Arguments { site: SiteRef, env: EnvId },
    /// One value that a loop iterates over.
    Iteration { val: Val, is_async: bool },
    /// The call of a library's method on an object.
    LibraryMethod { path: PathId, receiver: BoundId, site: SiteRef },
}

/// The way from a site to the methods that it runs.
#[derive(Clone, Copy)]
pub(crate) enum Forward {
    /// Adds the methods to the targets of a site.
    Targets(for<'l, 'p, 't> fn(&'l Linker<'p>, ImplicitCallSite, &'t mut Targets)),
    /// The language's lookup of callees, or a call of the value itself, leads to the method.
    Callee,
}

/// A function that returns the names of sites that may run a method.
type NamesOf = for<'l, 'p> fn(&'l Linker<'p>, BodyRef) -> Vec<Name>;

/// The way from a method to the sites that may run it.
#[derive(Clone, Copy)]
pub(crate) enum Backward {
    /// The sites bear the method's own name.
    OwnName,
    /// The sites bear these names, and their arguments are the method's.
    NamesOfCalls(NamesOf),
    /// The sites bear these names.
    NamesOfSites(NamesOf),
    /// The sites use an instance of the method's class, if this is true of the method.
    Instances(for<'l, 'p> fn(&'l Linker<'p>, BodyRef) -> bool),
}

/// One kind of implicit call, with both directions.
#[derive(Clone, Copy)]
pub(crate) struct ImplicitCall {
    /// The rule in a few words; the title of its section in the fixtures.
    pub name: &'static str,
    /// From a site to its methods.
    pub runs: Forward,
    /// From a method to its sites.
    pub found_by: Backward,
}

/// An operator that calls the method of its name, and the destructor at the end of a scope.
pub(crate) const OPERATORS: ImplicitCall = ImplicitCall {
    name: "an operator runs the method of its name, and the end of a scope runs the destructor",
    runs: Forward::Targets(|linker, place, targets| {
        if let ImplicitCallSite::Operation { site, env } = place {
            linker.add_operator(targets, site, env);
        }
    }),
    found_by: Backward::OwnName,
};

impl Linker<'_> {
    /// Adds the methods that implicit calls of a language run at a place.
    pub(crate) fn add_implicit(
        &self,
        targets: &mut Targets,
        language: blocklint_core::Language,
        place: ImplicitCallSite,
    ) {
        for call in crate::lang::semantics(language).implicit_calls() {
            if let Forward::Targets(add) = call.runs {
                add(self, place, targets);
            }
        }
    }

    fn implicit_calls_of(&self, body: BodyRef) -> &'static [ImplicitCall] {
        crate::lang::semantics(self.program.language(body.file)).implicit_calls()
    }

    /// Returns the names of calls that run a method with its arguments, without naming it: `into` for `from`.
    pub(crate) fn names_of_implicit_calls(&self, body: BodyRef) -> Vec<Name> {
        self.names_found_by(body, |found_by| match found_by {
            Backward::NamesOfCalls(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the names of other sites that may run a method: loops, and calls of libraries that keep its object.
    pub fn names_of_implicit_sites(&self, body: BodyRef) -> Vec<Name> {
        self.names_found_by(body, |found_by| match found_by {
            Backward::NamesOfSites(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the names of the sites that may run a method, by the backward directions of one kind.
    fn names_found_by(&self, body: BodyRef, of_kind: impl Fn(Backward) -> Option<NamesOf>) -> Vec<Name> {
        let calls = self.implicit_calls_of(body).iter();
        calls.filter_map(|call| of_kind(call.found_by)).flat_map(|names| names(self, body)).collect()
    }

    /// True if a method runs where an instance of its class is called, read or given away as a callable.
    pub fn is_run_by_instance(&self, body: BodyRef) -> bool {
        self.program.body(body).class.is_some()
            && self.implicit_calls_of(body).iter().any(|call| match call.found_by {
                Backward::Instances(is_run) => is_run(self, body),
                _ => false,
            })
    }

    /// Adds the method of an operator's name, on each member of its operand.
    fn add_operator(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        let row = self.program.site(site);
        if !matches!(row.kind, SiteKind::Operator | SiteKind::Subscript | SiteKind::Drop) {
            return;
        }
        let operand = self.without_none(self.eval(self.scope_of(site, env), row.callee));
        if let Some(name) = self.program.global(site.file, row.name) {
            self.add_members(targets, operand, |linker, targets, val| linker.add_method(targets, val, name));
        }
    }
}
