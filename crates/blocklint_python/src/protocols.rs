//! Truth tests, comparisons and string formatting: implicit call sites, which run `__bool__`, `__eq__`, `__format__`
//! and other methods of the operand.
//!
//! A site is added only if the operand is possibly an object of a class that defines such a method. Literals, displays,
//! comparisons and the results of builtins that return booleans, numbers or strings are not.

use blocklint_facts::{Form, FormId, SiteFlags, SiteKind};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::walk::Walker;

/// Builtins that return booleans, numbers, strings or builtin containers.
const FUNCTIONS_RETURNING_BUILTINS: &[&str] = &[
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytes",
    "callable",
    "chr",
    "dict",
    "dir",
    "float",
    "format",
    "frozenset",
    "hasattr",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "len",
    "list",
    "oct",
    "ord",
    "range",
    "repr",
    "set",
    "sorted",
    "str",
    "tuple",
    "type",
];

/// Methods of builtin types (mostly of `str`) that return booleans, numbers or strings.
const METHODS_RETURNING_BUILTINS: &[&str] = &[
    "casefold",
    "endswith",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "isoformat",
    "isspace",
    "lstrip",
    "rstrip",
    "startswith",
    "strftime",
    "strip",
    "title",
    "total_seconds",
    "zfill",
];

impl Walker<'_> {
    /// Walks a condition and adds its truth test.
    pub(crate) fn walk_test(&mut self, expr: &Expr) -> FormId {
        let form = self.walk_expr(expr);
        self.add_truth_test(expr, form);
        form
    }

    /// Adds the call of `__bool__` for a condition. Of `a and b` only `b` is tested here, because the walk of the
    /// operation has tested the operands before the last.
    pub(crate) fn add_truth_test(&mut self, expr: &Expr, form: FormId) {
        let (mut expr, mut form) = (expr, form);
        loop {
            match (expr, self.facts.facts().form(form)) {
                (Expr::BoolOp(node), Form::Alt(_, list)) => {
                    let (Some(last), Some(&last_form)) = (node.values.last(), self.facts.facts().list(list).last())
                    else {
                        return;
                    };
                    (expr, form) = (last, last_form);
                }
                (Expr::Named(node), _) => expr = &node.value,
                _ => break,
            }
        }
        if self.may_be_instance(form) {
            self.add_implicit_call(SiteKind::Test, SiteFlags::default(), form, Dunder::BOOL, expr.range());
        }
    }

    /// Adds the call that turns a value into a string: `__str__`, `__repr__` or `__format__`.
    pub(crate) fn add_format_call(&mut self, form: FormId, method: Dunder, range: TextRange) {
        if self.may_be_instance(form) {
            self.add_implicit_call(SiteKind::Format, SiteFlags::default(), form, method, range);
        }
    }

    /// Adds a call of `__str__` for each value of `"%s" % values`: the elements of a tuple, the values of a dict
    /// display, or the only value.
    pub(crate) fn add_percent_format_calls(&mut self, values: FormId, range: TextRange) {
        let facts = self.facts.facts();
        let parts: Vec<FormId> = match facts.form(values) {
            Form::Display(_, list) => facts.list(list).to_vec(),
            Form::Pairs(list) => facts.list(list).iter().skip(1).step_by(2).copied().collect(),
            _ => vec![values],
        };
        for part in parts {
            self.add_format_call(part, Dunder::STR, range);
        }
    }

    /// True if comparing two values may run a user-defined method of one of them.
    pub(crate) fn comparison_may_call(&self, left: FormId, right: FormId) -> bool {
        self.may_be_instance(left) || self.may_be_instance(right)
    }

    /// True if a value is possibly an instance of a class that is no builtin.
    fn may_be_instance(&self, form: FormId) -> bool {
        let facts = self.facts.facts();
        match facts.form(form) {
            Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Subscript(..) | Form::Element(_) | Form::Await(_) => {
                true
            }
            Form::Result(site) => {
                let row = facts.site(site);
                match facts.form(row.callee) {
                    Form::Name(name) => !FUNCTIONS_RETURNING_BUILTINS.contains(&facts.text(name)),
                    Form::Attr(_, name) => !METHODS_RETURNING_BUILTINS.contains(&facts.text(name)),
                    _ => true,
                }
            }
            Form::Part(..) | Form::Alt(..) | Form::Join(_) => true,
            _ => false,
        }
    }
}
