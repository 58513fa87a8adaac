//! Literals: numbers, characters, strings and text blocks.

use std::borrow::Cow;

use blocklint_facts::{Form, FormId};
use tree_sitter::Node;

use crate::kinds::{K, kind, named};
use crate::walker::Walker;

impl Walker<'_> {
    /// Returns the form of a literal; a character is a string. `Other` for nodes that are no literals.
    pub(crate) fn literal_form(&mut self, node: Node<'_>) -> FormId {
        let text = self.text(node);
        let form = match kind(node) {
            K::True => Form::Bool(true),
            K::False => Form::Bool(false),
            K::Null => Form::None,
            K::DecimalInteger => parse_integer(&text, 10),
            K::HexInteger => parse_integer(text.get(2..).unwrap_or_default(), 16),
            K::BinaryInteger => parse_integer(text.get(2..).unwrap_or_default(), 2),
            K::OctalInteger => parse_integer(text.trim_start_matches(['0', 'o', 'O']), 8),
            K::DecimalFloat => {
                let digits: String = text.chars().filter(|&c| c != '_').collect();
                digits.trim_end_matches(['f', 'F', 'd', 'D']).parse().map_or(Form::Other, Form::Float)
            }
            K::Character => {
                let inner = unescape(text.trim_matches('\''));
                Form::Str(self.facts.intern_literal(&inner))
            }
            // A string template (`\{…}`) is no literal. Most strings have no backslash, so the children are rarely
            // checked.
            K::String if !text.contains('\\') || named(node).all(|part| kind(part) != K::StringInterpolation) => {
                let inner = match text.strip_prefix("\"\"\"") {
                    // The text of a text block begins on its second line.
                    Some(block) => block.strip_suffix("\"\"\"").unwrap_or(block).trim_start(),
                    None => text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text),
                };
                let inner = unescape(inner);
                Form::Str(self.facts.intern_literal(&inner))
            }
            _ => Form::Other,
        };
        self.form(form)
    }
}

fn parse_integer(text: &str, radix: u32) -> Form {
    let digits: String = text.chars().filter(|&c| c != '_' && c != 'l' && c != 'L').collect();
    if digits.is_empty() {
        return Form::Int(0);
    }
    match i64::from_str_radix(&digits, radix) {
        Ok(value) => Form::Int(value),
        // `0xFFFFFFFFFFFFFFFFL` is -1.
        Err(_) => u64::from_str_radix(&digits, radix).map_or(Form::Other, |value| Form::Int(value as i64)),
    }
}

/// Returns the text of a literal with its simple escapes resolved.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
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
            Some('s') => out.push(' '),
            Some('\n') | None => {}
            Some('u') => out.push_str("\\u"),
            Some(c) => out.push(c),
        }
    }
    Cow::Owned(out)
}
