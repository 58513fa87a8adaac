//! Rust: closures as arguments: library functions that run a closure during the call, and types that hold one.

use crate::calls::targets::{Target, Targets};
use crate::linker::Linker;
use crate::program::ids::{FileId, PathId, SiteRef};
use blocklint_core::Language;
use blocklint_facts::{BodyFlags, BodyKind, Form, FormId, SiteKind};
use blocklint_models::{Argument, TypeExpr};

/// Methods of `Option`, `Result`, iterators and slices that run their closure during the call: `map`, `retain`. The list
/// is for receivers whose type is unknown; for known types the rows "closures that run here" of
/// `rules/models/rust/std.toml` decide, so a new method goes into both.
pub(crate) const RUN_DURING_CALL: &[&str] = &[
    "map",
    "and_then",
    "or_else",
    "map_err",
    "map_or",
    "map_or_else",
    "unwrap_or_else",
    "ok_or_else",
    "filter",
    "filter_map",
    "flat_map",
    "for_each",
    "try_for_each",
    "fold",
    "try_fold",
    "any",
    "all",
    "find",
    "find_map",
    "position",
    "is_some_and",
    "is_ok_and",
    "is_none_or",
    "inspect",
    "inspect_err",
    "get_or_insert_with",
    "or_insert_with",
    "and_modify",
    "retain",
    "sort_by",
    "sort_by_key",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "partition",
    "take_while",
    "skip_while",
    "map_while",
    "get_or_init",
    "get_or_try_init",
    "with",
];

impl<'a> Linker<'a> {
    /// True if a closure in an argument of a library call without rows runs during the call. A closure that borrows
    /// from its environment cannot outlive the call, because a callee that stores a closure requires `'static`, so
    /// `move`.
    pub(crate) fn runs_closure_during_call(&self, site: SiteRef, arg: u32, targets: &Targets) -> bool {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        if facts.language != Language::Rust || !matches!(site_facts.kind, SiteKind::Call | SiteKind::Macro) {
            return false;
        }
        let Some(argument) = self.program.args_of(site).get(arg as usize).copied() else { return false };
        let Form::Callable(closure) = facts.form(argument.value) else { return false };
        let closure = facts.body(closure);
        let name = facts.text(site_facts.name);
        // A scoped thread (`scope.spawn(|| …)`) also takes a closure that borrows.
        if closure.kind != BodyKind::Lambda
            || name.starts_with("spawn")
            || self.is_parallel_iterator_chain(site.file, site_facts.callee)
        {
            return false;
        }
        let is_described = targets.list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                !self.library.calls(path).is_empty() || !self.library.handovers(path).is_empty()
            }
            Target::Body { .. } | Target::Overrides { .. } => true,
        });
        if is_described {
            return false;
        }
        let is_method = matches!(facts.form(site_facts.callee), Form::Attr(..));
        if is_method && RUN_DURING_CALL.contains(&name) {
            return true;
        }
        closure.flags.has(BodyFlags::CAPTURES) && !closure.flags.has(BodyFlags::MOVE)
    }

    /// True if a chain of calls begins with a parallel iterator (`items.par_iter()`), whose closures run on other
    /// threads.
    pub(crate) fn is_parallel_iterator_chain(&self, file: FileId, callee: FormId) -> bool {
        let facts = self.program.facts(file);
        let mut form = callee;
        for _ in 0..32 {
            form = match facts.form(form) {
                Form::Attr(base, sym) => {
                    let name = facts.text(sym);
                    if name.starts_with("par_") || name.starts_with("into_par_") {
                        return true;
                    }
                    base
                }
                Form::Result(site) => facts.site(site).callee,
                Form::Try(inner) | Form::Subscript(inner, _) => inner,
                _ => return false,
            };
        }
        false
    }

    /// True if the result of a library call holds the n-th argument: `Box::new(f)`, `Some(f)`.
    pub(crate) fn result_wraps_argument(&self, path: PathId, arg: u32) -> bool {
        self.library.language(path) == Language::Rust && self.result_holds_argument(path, arg)
    }

    /// True if the result of a library call, in any language, holds the n-th argument, for example a reader around a
    /// stream: `new InputStreamReader(in)`.
    pub(crate) fn result_holds_argument(&self, path: PathId, arg: u32) -> bool {
        let rows = self.library.calls(path);
        rows.with(|row| row.returns.is_some()).any(|matched| match &matched.row.returns {
            Some(TypeExpr::Path { arguments, .. } | TypeExpr::SelfType(arguments)) => arguments
                .iter()
                .any(|argument| matches!(argument, TypeExpr::Argument(Argument::Position(index)) if i64::from(*index) == i64::from(arg))),
            Some(TypeExpr::Argument(Argument::Position(index))) => i64::from(*index) == i64::from(arg),
            _ => false,
        })
    }

    /// True if values of a type of the standard library may be callable: `Box<dyn FnOnce()>`, `impl Fn()`.
    pub fn may_be_callable(&self, ty: PathId) -> bool {
        let path = self.library.text(ty);
        matches!(&*path, "std::boxed::Box" | "std::ops::Fn" | "std::ops::FnMut" | "std::ops::FnOnce")
    }
}
