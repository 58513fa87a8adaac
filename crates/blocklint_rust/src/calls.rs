//! Calls, struct literals and literals.

use blocklint_facts::{Arg, Form, FormId, List, Site, SiteFlags, SiteKind};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::attrs::last_segment;
use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{Walker, span};

impl Walker<'_> {
    /// Returns a call, its callee being known.
    pub(crate) fn walk_call(&mut self, node: Node<'_>, callee: FormId) -> FormId {
        let f = fields();
        let mut args = Vec::new();
        for part in child(node, f.arguments).into_iter().flat_map(named) {
            if kind(part) != K::AttributeItem {
                args.push(Arg { name: NO_NAME, value: self.walk_value(part), span: span(part) });
            }
        }
        let (name, name_span) = match child(node, f.function).and_then(called_name) {
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

    /// `T { a: 1, b, ..rest }`: a constructor call with named arguments.
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

    /// Returns a literal; characters count as strings.
    pub(crate) fn literal_form(&mut self, node: Node<'_>) -> FormId {
        let text = self.text(node);
        let form = match kind(node) {
            K::Bool => Form::Bool(text == "true"),
            K::Integer => integer(&text),
            K::Float => float(&text),
            K::NegativeLiteral => match named(node).next().map(|inner| (kind(inner), self.text(inner))) {
                Some((K::Integer, text)) => match integer(&text) {
                    Form::Int(value) => Form::Int(value.wrapping_neg()),
                    other => other,
                },
                Some((_, text)) => match float(&text) {
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
                let (bytes, inner) = match text.strip_prefix('b') {
                    Some(rest) => (true, rest),
                    None => (false, text.strip_prefix('c').unwrap_or(&text)),
                };
                let inner = inner.strip_prefix('"').unwrap_or(inner);
                let inner = unescape(inner.strip_suffix('"').unwrap_or(inner));
                let sym = self.facts.intern_literal(&inner);
                if bytes { Form::Bytes(sym) } else { Form::Str(sym) }
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

/// Returns the node of the name that a callee ends with.
fn called_name(function: Node<'_>) -> Option<Node<'_>> {
    let f = fields();
    let mut at = function;
    loop {
        match kind(at) {
            K::Identifier => return Some(at),
            K::ScopedIdentifier => return child(at, f.name),
            K::Field => return child(at, f.field),
            K::GenericFunction => at = child(at, f.function)?,
            K::Paren => at = named(at).next()?,
            _ => return None,
        }
    }
}

fn integer(text: &str) -> Form {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0o") => (&text[2..], 8),
        _ => (text.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    match i64::from_str_radix(&digits[..end], radix) {
        // `1f64` is written like an integer.
        Ok(value) if digits[end..].starts_with('f') => Form::Float(value as f64),
        Ok(value) => Form::Int(value),
        Err(_) => Form::Other,
    }
}

fn float(text: &str) -> Form {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    let digits = text.strip_suffix("f64").or(text.strip_suffix("f32")).unwrap_or(&text);
    digits.parse().map_or(Form::Other, Form::Float)
}

/// Returns the text of a string literal, of which only the start is kept, with the plain escapes undone.
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
