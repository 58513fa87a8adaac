//! Rust: implicit calls: `next` of a loop, destructors, the conversions that `into` and `parse` run, macros. Both
//! directions are here: the functions that a site runs, and the names of the sites that run a function.

use crate::calls::targets::{Target, Targets};
use crate::lang::implicit::{self, Backward, Forward, ImplicitCall, ImplicitCallSite};
use crate::lang::rust::impl_selection::conversion_running;
use crate::linker::Linker;
use crate::models::stored_callbacks;
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::values::value::{EnvId, Val};

/// The implicit calls of Rust. The front end gives sites of loops and of ends of scopes the name of the method that
/// they run, so the method's own name finds them.
pub(crate) const IMPLICIT_CALLS: &[ImplicitCall] = &[
    ImplicitCall {
        name: "a conversion runs its trait's function",
        runs: Forward::Callee,
        found_by: Backward::NamesOfCalls(names_of_conversions),
    },
    ImplicitCall {
        name: "a macro is called without its mark",
        runs: Forward::Callee,
        found_by: Backward::NamesOfCalls(names_of_macro),
    },
    ImplicitCall {
        name: "a loop runs an iterator",
        runs: Forward::Targets(|linker, place, targets| match place {
            ImplicitCallSite::Iteration { val: Val::Lazy { made, path, .. }, .. } => {
                linker.add_lazy(targets, path, made)
            }
            ImplicitCallSite::Iteration { is_async: true, .. } => {}
            ImplicitCallSite::Iteration { val: val @ Val::Library { .. }, .. } => {
                linker.add_iteration_methods(targets, val, &["next", "into_iter"]);
            }
            ImplicitCallSite::Iteration { val, .. } => {
                linker.add_iteration_methods(targets, val, &["iterator", "next"])
            }
            _ => {}
        }),
        found_by: Backward::OwnName,
    },
    ImplicitCall {
        name: "`drop(x)` runs the destructor",
        runs: Forward::Targets(|linker, place, targets| {
            if let ImplicitCallSite::Arguments { site, env } = place {
                linker.add_dropped(targets, site, env);
            }
        }),
        found_by: Backward::OwnName,
    },
    stored_callbacks::OVERRIDES,
    implicit::OPERATORS,
];

/// Returns the names of the conversions that run a method: `into` for `from`.
fn names_of_conversions(linker: &Linker<'_>, body: BodyRef) -> Vec<Name> {
    let body_facts = linker.program.body(body);
    let conversion = conversion_running(linker.program.facts(body.file).text(body_facts.name))
        .filter(|_| body_facts.class.is_some());
    conversion.and_then(|name| linker.program.name(name)).into_iter().collect()
}

/// Returns the name of a macro's calls: without the `!` of the macro's own name.
fn names_of_macro(linker: &Linker<'_>, body: BodyRef) -> Vec<Name> {
    let macro_name = linker.program.facts(body.file).text(linker.program.body(body).name);
    macro_name.strip_suffix('!').and_then(|bare| linker.program.name(bare)).into_iter().collect()
}

impl Linker<'_> {
    /// Adds the destructor that `drop(x)` runs.
    pub(crate) fn add_dropped(&self, targets: &mut Targets, site: SiteRef, env: EnvId) {
        if self.program.facts(site.file).text(self.program.site(site).name) != "drop" {
            return;
        }
        let [argument] = self.program.args_of(site)[..] else { return };
        let is_drop = targets.list.iter().any(|target| match *target {
            Target::Row { path, .. } => &*self.library.text(path) == "std::mem::drop",
            _ => false,
        });
        let Some(name) = self.program.name("drop").filter(|_| is_drop) else { return };
        let dropped = self.eval(self.scope_of(site, env), argument.value);
        let dropped = self.as_value(dropped);
        for val in self.values.members(dropped.value) {
            self.add_method(targets, val, name);
        }
    }
}
