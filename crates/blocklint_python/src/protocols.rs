//! Where a value is tested, compared or made a text: sites without parentheses that run `__bool__`, `__eq__`, `__format__` and
//! their like.
//!
//! A site is made only where the operand may be an object with methods of its own. Literals, displays, comparisons and the results
//! of builtins that give booleans, numbers or texts have none.

use blocklint_facts::{Form, FormId, SiteFlags, SiteKind};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::walk::Walker;

/// Builtins that give booleans, numbers, texts or containers of the language.
const GIVE_PLAIN: &[&str] = &[
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

/// Methods of texts that no other type has, and that give booleans or texts.
const GIVE_PLAIN_AS_METHODS: &[&str] = &[
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
    /// Walks an expression whose truth is tested where it stands.
    pub(crate) fn tested(&mut self, expr: &Expr) -> FormId {
        let form = self.expr(expr);
        self.test(expr, form);
        form
    }

    /// Adds the test of a value's truth; of `and` and `or` the operands before the last are tested already.
    pub(crate) fn test(&mut self, expr: &Expr, form: FormId) {
        let (mut expr, mut form) = (expr, form);
        loop {
            match (expr, self.facts.facts().form(form)) {
                (Expr::BoolOp(node), Form::Alt(_, list)) => {
                    let (Some(last), Some(&of_last)) = (node.values.last(), self.facts.facts().list(list).last())
                    else {
                        return;
                    };
                    (expr, form) = (last, of_last);
                }
                (Expr::Named(node), _) => expr = &node.value,
                _ => break,
            }
        }
        if self.may_have_methods(form) {
            self.implicit(SiteKind::Test, SiteFlags::default(), form, Dunder::BOOL, expr.range());
        }
    }

    /// Adds what makes a value a text.
    pub(crate) fn formatted(&mut self, form: FormId, method: Dunder, range: TextRange) {
        if self.may_have_methods(form) {
            self.implicit(SiteKind::Format, SiteFlags::default(), form, method, range);
        }
    }

    /// Adds what `"%s" % values` makes texts: the values of a tuple or mapping that stands there, or the one value.
    pub(crate) fn formatted_by_percent(&mut self, values: FormId, range: TextRange) {
        let facts = self.facts.facts();
        let parts: Vec<FormId> = match facts.form(values) {
            Form::Display(_, list) => facts.list(list).to_vec(),
            Form::Pairs(list) => facts.list(list).iter().skip(1).step_by(2).copied().collect(),
            _ => vec![values],
        };
        for part in parts {
            self.formatted(part, Dunder::STR, range);
        }
    }

    /// True if comparing two values may run a method of one of them.
    pub(crate) fn may_run_method(&self, left: FormId, right: FormId) -> bool {
        self.may_have_methods(left) || self.may_have_methods(right)
    }

    /// True if a value may be an object of a class with methods of its own.
    fn may_have_methods(&self, form: FormId) -> bool {
        let facts = self.facts.facts();
        match facts.form(form) {
            Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Subscript(..) | Form::Element(_) | Form::Await(_) => {
                true
            }
            Form::Result(site) => {
                let row = facts.site(site);
                match facts.form(row.callee) {
                    Form::Name(name) => !GIVE_PLAIN.contains(&facts.text(name)),
                    Form::Attr(_, name) => !GIVE_PLAIN_AS_METHODS.contains(&facts.text(name)),
                    _ => true,
                }
            }
            Form::Part(..) | Form::Alt(..) | Form::Join(_) => true,
            _ => false,
        }
    }
}
