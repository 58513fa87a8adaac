//! Calls, struct expressions and literals.

use blocklint_facts::{Arg, Form, FormId, List, Site, SiteFlags, SiteKind};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::attrs::last_segment;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, span};

impl Walker<'_> {
    /// Walks a call; `callee` is the form of its callee.
    pub(crate) fn walk_call(&mut self, node: Node<'_>, callee: FormId) -> FormId {
        let f = fields();
        let mut args = Vec::new();
        for part in child(node, f.arguments).into_iter().flat_map(named) {
            if kind(part) != K::AttributeItem {
                args.push(Arg { name: NO_NAME, value: self.walk_value(part), span: span(part) });
            }
        }
        let (name, name_span) = match child(node, f.function).and_then(name_of_callee) {
            Some(name) => (self.name_symbol(name), span(name)),
            None => (self.facts.intern(""), child(node, f.function).map_or(span(node), span)),
        };
        let at = self.at();
        let site = self.facts.site(
            Site {
                kind: SiteKind::Call,
                flags: SiteFlags::default(),
                callee,
                name,
                args: List::EMPTY,
                at,
                span: span(node),
                name_span,
            },
            &args,
        );
        self.form(Form::Result(site))
    }

    /// Walks `T { a: 1, b, ..rest }`, which is a constructor call with named arguments.
    pub(crate) fn walk_struct_expr(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let Some(path) = child(node, f.name) else { return self.other() };
        let callee = self.type_form(path);
        let mut args = Vec::new();
        for part in child(node, f.body).into_iter().flat_map(named) {
            match kind(part) {
                K::FieldInit => {
                    let (Some(name), Some(value)) = (child(part, f.field), child(part, f.value)) else { continue };
                    let name = self.name_symbol(name);
                    args.push(Arg { name, value: self.walk_value(value), span: span(value) });
                }
                K::ShorthandInit => {
                    let Some(name) = named(part).find(|part| kind(*part) == K::Identifier) else { continue };
                    let sym = self.name_symbol(name);
                    args.push(Arg { name: sym, value: self.walk_value(name), span: span(name) });
                }
                K::BaseInit => {
                    let Some(base) = named(part).next() else { continue };
                    let value = self.walk_value(base);
                    let value = self.form(Form::StarStar(value));
                    args.push(Arg { name: NO_NAME, value, span: span(base) });
                }
                _ => {}
            }
        }
        let name_node = match kind(path) {
            K::GenericType | K::GenericTurbofish => child(path, f.type_name).unwrap_or(path),
            _ => path,
        };
        let name_node = last_segment(name_node);
        let name = self.name_symbol(name_node);
        let at = self.at();
        let site = self.facts.site(
            Site {
                kind: SiteKind::New,
                flags: SiteFlags::default(),
                callee,
                name,
                args: List::EMPTY,
                at,
                span: span(node),
                name_span: span(name_node),
            },
            &args,
        );
        self.form(Form::Result(site))
    }

    /// Returns the form of a literal; a character is a string.
    pub(crate) fn literal_form(&mut self, node: Node<'_>) -> FormId {
        let text = self.text(node);
        let form = match kind(node) {
            K::Bool => Form::Bool(text == "true"),
            K::Integer => parse_integer(&text),
            K::Float => parse_float(&text),
            K::NegativeLiteral => match named(node).next().map(|inner| (kind(inner), self.text(inner))) {
                Some((K::Integer, text)) => match parse_integer(&text) {
                    Form::Int(value) => Form::Int(value.wrapping_neg()),
                    other => other,
                },
                Some((_, text)) => match parse_float(&text) {
                    Form::Float(value) => Form::Float(-value),
                    other => other,
                },
                None => Form::Other,
            },
            K::Char => {
                let inner = text.trim_start_matches('b').trim_matches('\'');
                Form::Str(self.facts.intern_literal(inner))
            }
            K::String => {
                let (is_bytes, inner) = match text.strip_prefix('b') {
                    Some(rest) => (true, rest),
                    None => (false, text.strip_prefix('c').unwrap_or(&text)),
                };
                let inner = inner.strip_prefix('"').unwrap_or(inner);
                let inner = unescape(inner.strip_suffix('"').unwrap_or(inner));
                let sym = self.facts.intern_literal(&inner);
                if is_bytes { Form::Bytes(sym) } else { Form::Str(sym) }
            }
            K::RawString => {
                let inner = text.trim_start_matches(['b', 'c']).trim_start_matches('r').trim_matches('#');
                let inner = inner.strip_prefix('"').unwrap_or(inner);
                let sym = self.facts.intern_literal(inner.strip_suffix('"').unwrap_or(inner));
                if text.starts_with('b') { Form::Bytes(sym) } else { Form::Str(sym) }
            }
            _ => Form::Other,
        };
        self.form(form)
    }
}

/// Returns the node of the last name of a callee.
fn name_of_callee(function: Node<'_>) -> Option<Node<'_>> {
    let f = fields();
    let mut callee = function;
    loop {
        match kind(callee) {
            K::Identifier => return Some(callee),
            K::ScopedIdentifier => return child(callee, f.name),
            K::Field => return child(callee, f.field),
            K::GenericFunction => callee = child(callee, f.function)?,
            K::Paren => callee = named(callee).next()?,
            _ => return None,
        }
    }
}

fn parse_integer(text: &str) -> Form {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0o") => (&text[2..], 8),
        _ => (text.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    match i64::from_str_radix(&digits[..end], radix) {
        // The grammar parses `1f64` as an integer.
        Ok(value) if digits[end..].starts_with('f') => Form::Float(value as f64),
        Ok(value) => Form::Int(value),
        Err(_) => Form::Other,
    }
}

fn parse_float(text: &str) -> Form {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    let digits = text.strip_suffix("f64").or(text.strip_suffix("f32")).unwrap_or(&text);
    digits.parse().map_or(Form::Other, Form::Float)
}

/// Returns the text of a string literal with its simple escapes resolved.
fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('\n') => {
                let rest = chars.as_str().trim_start();
                chars = rest.chars();
            }
            Some(c @ ('x' | 'u')) => {
                out.push('\\');
                out.push(c);
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}
