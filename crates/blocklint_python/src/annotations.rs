//! Type annotations, also those in strings: forms without call sites.

use blocklint_facts::{DisplayKind, Form, FormId};
use ruff_python_ast::{Expr, ExprStringLiteral, ExprSubscript, Operator};
use ruff_python_parser::parse_string_annotation;

use crate::walk::{EXPRESSION_DEPTH, Walker};

/// Longest string that is parsed as a type.
const LONGEST: usize = 1_000;

impl Walker<'_> {
    /// Returns the form of an annotation. It has call sites only for calls, and in the metadata of `Annotated[…]`.
    pub(crate) fn walk_annotation(&mut self, expr: &Expr) -> FormId {
        if self.expression_depth >= EXPRESSION_DEPTH {
            self.leave_out(expr);
            return self.facts.form(Form::Other);
        }
        self.expression_depth += 1;
        let form = match expr {
            Expr::Attribute(node) if !node.attr.id.is_empty() => {
                let base = self.walk_annotation(&node.value);
                let sym = self.facts.intern(&node.attr.id);
                self.facts.form(Form::Attr(base, sym))
            }
            Expr::Subscript(node) => self.walk_type_arguments(node),
            Expr::BinOp(node) if node.op == Operator::BitOr => self.walk_type_union(expr),
            Expr::StringLiteral(literal) => self.walk_string_annotation(literal),
            Expr::Tuple(node) => self.walk_type_display(DisplayKind::Tuple, &node.elts),
            Expr::List(node) => self.walk_type_display(DisplayKind::List, &node.elts),
            Expr::Starred(node) => {
                let form = self.walk_annotation(&node.value);
                self.facts.form(Form::Star(form))
            }
            _ => self.walk_expr(expr),
        };
        self.expression_depth -= 1;
        form
    }

    /// Walks `A | B | …`; the operator is left-associative.
    fn walk_type_union(&mut self, expr: &Expr) -> FormId {
        let mut members = Vec::new();
        let mut first = expr;
        while let Expr::BinOp(node) = first {
            if node.op != Operator::BitOr {
                break;
            }
            members.push(&*node.right);
            first = &node.left;
        }
        let items = self.items.len();
        for member in std::iter::once(first).chain(members.into_iter().rev()) {
            let form = self.walk_annotation(member);
            self.items.push(form);
        }
        let list = self.finish_list(items);
        self.facts.form(Form::Join(list))
    }

    fn walk_type_display(&mut self, kind: DisplayKind, elements: &[Expr]) -> FormId {
        let items = self.items.len();
        for element in elements {
            let form = self.walk_annotation(element);
            self.items.push(form);
        }
        let list = self.finish_list(items);
        self.facts.form(Form::Display(kind, list))
    }

    fn walk_type_arguments(&mut self, node: &ExprSubscript) -> FormId {
        let base = self.walk_annotation(&node.value);
        let arguments = match last_name(&node.value) {
            // A string in `Literal["a"]` is a value.
            "Literal" => self.walk_expr(&node.slice),
            "Annotated" => match &*node.slice {
                Expr::Tuple(tuple) => {
                    let items = self.items.len();
                    for (index, element) in tuple.elts.iter().enumerate() {
                        let form = if index == 0 { self.walk_annotation(element) } else { self.walk_expr(element) };
                        self.items.push(form);
                    }
                    let list = self.finish_list(items);
                    self.facts.form(Form::Display(DisplayKind::Tuple, list))
                }
                slice => self.walk_annotation(slice),
            },
            _ => self.walk_annotation(&node.slice),
        };
        self.facts.form(Form::Subscript(base, arguments))
    }

    /// Returns the form of a type in a string. A text that is no expression stays a string, and so does an implicitly
    /// concatenated string, because offsets into its parts are unknown.
    fn walk_string_annotation(&mut self, literal: &ExprStringLiteral) -> FormId {
        if let [part] = literal.value.as_slice() {
            if is_identifier(part) {
                return match &**part {
                    "None" => self.facts.form(Form::None),
                    name => self.load_name(name),
                };
            }
            if part.len() <= LONGEST
                && let Ok(parsed) = parse_string_annotation(self.source, part)
            {
                return self.walk_annotation(&parsed.syntax().body);
            }
        }
        self.string_form(literal)
    }
}

/// True if a subscript of this name is a type in every expression (`Optional["Store"]`), so that strings in it are
/// types.
pub(crate) fn is_type_constructor(base: &Expr) -> bool {
    matches!(
        last_name(base),
        "Optional"
            | "Union"
            | "Annotated"
            | "Literal"
            | "Callable"
            | "ClassVar"
            | "Generic"
            | "Protocol"
            | "List"
            | "Dict"
            | "Set"
            | "FrozenSet"
            | "Tuple"
            | "Type"
            | "Iterable"
            | "Iterator"
            | "Sequence"
            | "Mapping"
            | "Awaitable"
            | "Coroutine"
            | "AsyncIterator"
            | "AsyncGenerator"
            | "Generator"
    )
}

/// Returns `b` of `a.b` and `a` of `a`; else an empty string.
pub(crate) fn last_name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(name) => &name.id,
        Expr::Attribute(attribute) => &attribute.attr.id,
        _ => "",
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.as_bytes()[0].is_ascii_digit()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !matches!(text, "True" | "False")
}
