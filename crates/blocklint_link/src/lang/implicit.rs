//! Implicit calls, which run a method without naming it: operators, loops, properties, conversions, callbacks of
//! libraries. Each language lists its own in `implicit_calls.rs` of its folder. A row of the table has both directions:
//! from a site to the methods that it runs, and from a method to the sites that may run it. A row without one of the
//! two does not compile. `tests/fixtures/implicit-calls.md` has a section for each row; its finding needs both
//! directions.

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

/// The forward direction: from a site to the methods that it runs.
#[derive(Clone, Copy)]
pub(crate) enum Forward {
    /// Adds the methods to the targets of a site.
    Targets(for<'l, 'p, 't> fn(&'l Linker<'p>, ImplicitCallSite, &'t mut Targets)),
    /// The lookup of the callee already finds the method: `obj()` calls `__call__`.
    Callee,
}

/// A function that returns the names of sites that may run a method.
type SiteNames = for<'l, 'p> fn(&'l Linker<'p>, BodyRef) -> Vec<Name>;

/// The backward direction: from a method to the sites that may run it.
#[derive(Clone, Copy)]
pub(crate) enum Backward {
    /// The sites have the method's own name.
    OwnName,
    /// The sites are calls of these names that pass their arguments to the method: `into` for `from`.
    NamesOfCalls(SiteNames),
    /// The sites have these names, and pass no arguments to the method.
    NamesOfSites(SiteNames),
    /// The sites are the uses of instances of the method's class, if the function returns true for the method.
    Instances(for<'l, 'p> fn(&'l Linker<'p>, BodyRef) -> bool),
}

/// One kind of implicit call, with both directions.
#[derive(Clone, Copy)]
pub(crate) struct ImplicitCall {
    /// A short description; the title of its section in `tests/fixtures/implicit-calls.md`.
    pub name: &'static str,
    /// From a site to its methods.
    pub runs: Forward,
    /// From a method to its sites.
    pub found_by: Backward,
}

/// An operator that calls the method of its name, and the end of a scope that calls the destructor.
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
    /// Adds the methods that implicit calls of a language run at a site.
    pub(crate) fn add_implicit_targets(
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

    fn implicit_calls_of_language(&self, body: BodyRef) -> &'static [ImplicitCall] {
        crate::lang::semantics(self.program.language(body.file)).implicit_calls()
    }

    /// Returns the names of calls that pass their arguments to a method of another name: `into` for `from`.
    pub(crate) fn names_of_implicit_calls(&self, body: BodyRef) -> Vec<Name> {
        self.names_found_by(body, |found_by| match found_by {
            Backward::NamesOfCalls(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the names of sites that may run a method without passing arguments to it: loops, calls of a library that
    /// stores its object.
    pub fn names_of_implicit_sites(&self, body: BodyRef) -> Vec<Name> {
        self.names_found_by(body, |found_by| match found_by {
            Backward::NamesOfSites(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the names of the sites that may run a method, by the backward directions that `select` picks.
    fn names_found_by(&self, body: BodyRef, select: impl Fn(Backward) -> Option<SiteNames>) -> Vec<Name> {
        let calls = self.implicit_calls_of_language(body).iter();
        calls.filter_map(|call| select(call.found_by)).flat_map(|names| names(self, body)).collect()
    }

    /// True if a method runs when an instance of its class is called, read as a descriptor or passed as a callable.
    pub fn is_run_by_instance(&self, body: BodyRef) -> bool {
        self.program.body(body).class.is_some()
            && self.implicit_calls_of_language(body).iter().any(|call| match call.found_by {
                Backward::Instances(is_run) => is_run(self, body),
                _ => false,
            })
    }

    /// Adds the method that has the operator's name, for each possible value of the operand.
    fn add_operator(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        let site_facts = self.program.site(site);
        if !matches!(site_facts.kind, SiteKind::Operator | SiteKind::Subscript | SiteKind::Drop) {
            return;
        }
        let operand = self.without_none(self.eval(self.scope_of(site, env), site_facts.callee));
        if let Some(name) = self.program.global(site.file, site_facts.name) {
            self.add_members(targets, operand, |linker, targets, val| linker.add_method(targets, val, name));
        }
    }
}
