//! Types as they are written: forms without sites, also from strings.

use blocklint_facts::{DisplayKind, Form, FormId};
use ruff_python_ast::{Expr, ExprStringLiteral, ExprSubscript, Operator};
use ruff_python_parser::parse_string_annotation;

use crate::walk::{EXPRESSION_DEPTH, Walker};

/// Longest string that is parsed as a type.
const LONGEST: usize = 1_000;

impl Walker<'_> {
    /// Returns the form of an annotation. Only what stands in the metadata of `Annotated[…]`, and calls, run code and
    /// make sites.
    pub(crate) fn annotation(&mut self, expr: &Expr) -> FormId {
        if self.expressions >= EXPRESSION_DEPTH {
            self.leave_out(expr);
            return self.facts.form(Form::Other);
        }
        self.expressions += 1;
        let form = match expr {
            Expr::Attribute(node) if !node.attr.id.is_empty() => {
                let base = self.annotation(&node.value);
                let sym = self.facts.intern(&node.attr.id);
                self.facts.form(Form::Attr(base, sym))
            }
            Expr::Subscript(node) => self.type_arguments(node),
            Expr::BinOp(node) if node.op == Operator::BitOr => self.union(expr),
            Expr::StringLiteral(literal) => self.string_annotation(literal),
            Expr::Tuple(node) => self.type_display(DisplayKind::Tuple, &node.elts),
            Expr::List(node) => self.type_display(DisplayKind::List, &node.elts),
            Expr::Starred(node) => {
                let form = self.annotation(&node.value);
                self.facts.form(Form::Star(form))
            }
            _ => self.expr(expr),
        };
        self.expressions -= 1;
        form
    }

    /// `A | B | …`, which leans to the left.
    fn union(&mut self, expr: &Expr) -> FormId {
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
            let form = self.annotation(member);
            self.items.push(form);
        }
        let list = self.list(items);
        self.facts.form(Form::Join(list))
    }

    fn type_display(&mut self, kind: DisplayKind, elements: &[Expr]) -> FormId {
        let items = self.items.len();
        for element in elements {
            let form = self.annotation(element);
            self.items.push(form);
        }
        let list = self.list(items);
        self.facts.form(Form::Display(kind, list))
    }

    fn type_arguments(&mut self, node: &ExprSubscript) -> FormId {
        let base = self.annotation(&node.value);
        let arguments = match last_name(&node.value) {
            // Strings are values there.
            "Literal" => self.expr(&node.slice),
            "Annotated" => match &*node.slice {
                Expr::Tuple(tuple) => {
                    let items = self.items.len();
                    for (at, element) in tuple.elts.iter().enumerate() {
                        let form = if at == 0 { self.annotation(element) } else { self.expr(element) };
                        self.items.push(form);
                    }
                    let list = self.list(items);
                    self.facts.form(Form::Display(DisplayKind::Tuple, list))
                }
                slice => self.annotation(slice),
            },
            _ => self.annotation(&node.slice),
        };
        self.facts.form(Form::Subscript(base, arguments))
    }

    /// Returns a type in a string; what is no expression stays a string, and so does a string in pieces, in which
    /// places would not be known.
    fn string_annotation(&mut self, literal: &ExprStringLiteral) -> FormId {
        if let [part] = literal.value.as_slice() {
            if is_identifier(part) {
                return match &**part {
                    "None" => self.facts.form(Form::None),
                    name => self.name(name),
                };
            }
            if part.len() <= LONGEST
                && let Ok(parsed) = parse_string_annotation(self.source, part)
            {
                return self.annotation(&parsed.syntax().body);
            }
        }
        self.string(literal)
    }
}

/// True if subscripting this name makes a type wherever it stands, so that strings inside are types.
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

/// Returns the name, or the attribute's name.
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
