//! Type expressions of rows (`returns`, `bases`, `fields`), in each language's own syntax: `a.B[T]`, `a::B<T>`.

use blocklint_core::Language;
use serde::{Deserialize, Serialize};

use super::argument::{Argument, is_identifier};

/// A type in a row; parts of it can depend on the call (`result($0)`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TypeExpr {
    /// A type by its path, with its arguments.
    Path {
        /// The path, as written.
        path: String,
        /// The type arguments, in order; empty if the row writes none.
        arguments: Vec<TypeExpr>,
    },
    /// `Self`: the type of the receiver, or the class that is called, with these type arguments if there are any.
    SelfType(Vec<TypeExpr>),
    /// A parameter of the type that the row describes.
    Parameter(String),
    /// A literal, as in `BaseClient["s3"]`.
    Literal(String),
    /// The type of an argument of the call; for a string literal that literal.
    Argument(Argument),
    /// The awaited result of calling a value of the inner type.
    Result(Box<TypeExpr>),
    /// The awaited result of calling a value of the inner type, or the elements if it is a generator function.
    Yield(Box<TypeExpr>),
    /// The type of an element of the inner type by iteration or index.
    Element(Box<TypeExpr>),
    /// The instances of the inner class object.
    Instance(Box<TypeExpr>),
    /// One of several types.
    Union(Vec<TypeExpr>),
    /// A tuple.
    Tuple(Vec<TypeExpr>),
    /// A Java array.
    Array(Box<TypeExpr>),
    /// Python's `None`.
    None,
}

impl TypeExpr {
    /// Parses a type expression of the language; `None` if the text is none.
    pub fn parse(text: &str, language: Language) -> Option<Self> {
        let mut parser = Parser { text, offset: 0, language, depth: 0 };
        let parsed = parser.parse_union()?;
        parser.skip_space();
        (parser.offset == text.len()).then_some(parsed)
    }

    /// Calls `visitor` for this expression and every expression inside of it.
    pub fn visit<'t>(&'t self, visitor: &mut impl FnMut(&'t TypeExpr)) {
        visitor(self);
        match self {
            TypeExpr::Path { arguments: parts, .. }
            | TypeExpr::SelfType(parts)
            | TypeExpr::Union(parts)
            | TypeExpr::Tuple(parts) => parts.iter().for_each(|part| part.visit(visitor)),
            TypeExpr::Result(part)
            | TypeExpr::Yield(part)
            | TypeExpr::Element(part)
            | TypeExpr::Instance(part)
            | TypeExpr::Array(part) => part.visit(visitor),
            TypeExpr::Parameter(_) | TypeExpr::Literal(_) | TypeExpr::Argument(_) | TypeExpr::None => {}
        }
    }

    /// Returns the path of a type without its arguments; `None` for other expressions.
    pub fn path(&self) -> Option<&str> {
        match self {
            TypeExpr::Path { path, .. } => Some(path),
            _ => None,
        }
    }
}

/// The maximal nesting depth of a type expression, because the parser recurses and the text is the user's. No real type
/// is this deep.
const MAX_DEPTH: u32 = 64;

struct Parser<'t> {
    text: &'t str,
    offset: usize,
    language: Language,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    fn skip_space(&mut self) {
        self.offset = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.offset += token.len_utf8();
        }
        is_next
    }

    fn parse_union(&mut self) -> Option<TypeExpr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut members = vec![self.parse_array()?];
        while self.take('|') {
            members.push(self.parse_array()?);
        }
        self.depth -= 1;
        if members.len() == 1 { members.pop() } else { Some(TypeExpr::Union(members)) }
    }

    fn parse_list(&mut self, close: char) -> Option<Vec<TypeExpr>> {
        let mut items = Vec::new();
        while !self.take(close) {
            if !items.is_empty() && !self.take(',') {
                return None;
            }
            // A trailing comma, as in Python's one-tuple.
            if !items.is_empty() && self.take(close) {
                break;
            }
            items.push(self.parse_union()?);
        }
        Some(items)
    }

    fn parse_array(&mut self) -> Option<TypeExpr> {
        let mut parsed = self.parse_primary()?;
        while self.language == Language::Java && self.rest().trim_start().starts_with("[]") {
            self.skip_space();
            self.offset += 2;
            parsed = TypeExpr::Array(Box::new(parsed));
        }
        Some(parsed)
    }

    fn parse_primary(&mut self) -> Option<TypeExpr> {
        self.skip_space();
        let first = self.rest().chars().next()?;
        match first {
            '(' => {
                self.offset += 1;
                let start = self.offset;
                let mut items = self.parse_list(')')?;
                let comma = self.text[start..self.offset].trim_end_matches(')').trim_end().ends_with(',');
                // Parentheses around one type only group.
                if items.len() == 1 && !comma { items.pop() } else { Some(TypeExpr::Tuple(items)) }
            }
            '$' => {
                self.offset += 1;
                let word = self.take_word(|c| c.is_alphanumeric() || matches!(c, '_' | '@'));
                let argument = match word.parse::<i32>() {
                    Ok(position) => Argument::Position(position),
                    Err(_) => Argument::parse(word)?,
                };
                Some(TypeExpr::Argument(argument))
            }
            '"' => {
                let (literal, _) = self.rest()[1..].split_once('"')?;
                self.offset += literal.len() + 2;
                Some(TypeExpr::Literal(literal.to_owned()))
            }
            _ => self.parse_name(),
        }
    }

    fn take_word(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    fn parse_name(&mut self) -> Option<TypeExpr> {
        let start = self.offset;
        let separator = super::separator(self.language);
        let mut segments = 0;
        loop {
            let rest = self.rest();
            // `.<name>` is a synthetic type, `<` after a name opens arguments.
            let synthetic = segments > 0 && self.language != Language::Rust && rest.starts_with('<');
            let name = if synthetic {
                let (name, _) = rest[1..].split_once('>')?;
                self.offset += name.len() + 2;
                name
            } else {
                self.take_word(|c| c.is_alphanumeric() || c == '_')
            };
            if !is_identifier(name) {
                return None;
            }
            segments += 1;
            if !self.rest().starts_with(separator) {
                break;
            }
            self.offset += separator.len();
        }
        let path = &self.text[start..self.offset];
        if segments == 1 && self.rest().starts_with('(') {
            let wrap = match path {
                "result" => TypeExpr::Result,
                "yield" => TypeExpr::Yield,
                "element" => TypeExpr::Element,
                "instance" => TypeExpr::Instance,
                _ => return None,
            };
            self.offset += 1;
            let inner = self.parse_union()?;
            return self.take(')').then(|| wrap(Box::new(inner)));
        }
        let (open, close) = if self.language == Language::Python { ('[', ']') } else { ('<', '>') };
        let arguments = if self.take(open) { self.parse_list(close)? } else { Vec::new() };
        match path {
            "Self" => Some(TypeExpr::SelfType(arguments)),
            "None" if self.language == Language::Python && arguments.is_empty() => Some(TypeExpr::None),
            // A single segment with arguments is no parameter; a later check reports that it is no path either.
            _ if segments > 1 || !arguments.is_empty() => Some(TypeExpr::Path { path: path.to_owned(), arguments }),
            _ => Some(TypeExpr::Parameter(path.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use blocklint_core::Language::{Java, Python, Rust};

    use super::*;

    fn path(path: &str, arguments: Vec<TypeExpr>) -> TypeExpr {
        TypeExpr::Path { path: path.to_owned(), arguments }
    }

    fn parameter(name: &str) -> TypeExpr {
        TypeExpr::Parameter(name.to_owned())
    }

    #[test]
    fn each_language_has_its_syntax_of_types() {
        assert_eq!(
            TypeExpr::parse("core::result::Result<result($0), r2d2::Error>", Rust),
            Some(path(
                "core::result::Result",
                vec![
                    TypeExpr::Result(Box::new(TypeExpr::Argument(Argument::Position(0)))),
                    path("r2d2::Error", vec![])
                ]
            ))
        );
        assert_eq!(
            TypeExpr::parse("c.BaseClient[$service_name@0]", Python),
            Some(path("c.BaseClient", vec![TypeExpr::Argument(Argument::Either("service_name".to_owned(), 0))]))
        );
        assert_eq!(
            TypeExpr::parse("a.Flux<element(result($0))>", Java),
            Some(path(
                "a.Flux",
                vec![TypeExpr::Element(Box::new(TypeExpr::Result(Box::new(TypeExpr::Argument(Argument::Position(
                    0
                ))))))]
            ))
        );
        assert_eq!(TypeExpr::parse("a.B[]", Java), Some(TypeExpr::Array(Box::new(path("a.B", vec![])))));
    }

    #[test]
    fn unions_tuples_literals_and_synthetic_types_are_parsed() {
        assert_eq!(
            TypeExpr::parse("a.B | None", Python),
            Some(TypeExpr::Union(vec![path("a.B", vec![]), TypeExpr::None]))
        );
        assert_eq!(TypeExpr::parse("(T, U)", Python), Some(TypeExpr::Tuple(vec![parameter("T"), parameter("U")])));
        assert_eq!(TypeExpr::parse("(T)", Rust), Some(parameter("T")));
        assert_eq!(TypeExpr::parse("(T,)", Rust), Some(TypeExpr::Tuple(vec![parameter("T")])));
        assert_eq!(
            TypeExpr::parse("Self<$0>", Rust),
            Some(TypeExpr::SelfType(vec![TypeExpr::Argument(Argument::Position(0))]))
        );
        assert_eq!(
            TypeExpr::parse(r#"a.C["s3"]"#, Python),
            Some(path("a.C", vec![TypeExpr::Literal("s3".to_owned())]))
        );
        assert_eq!(
            TypeExpr::parse("h.Client.<stream>[T]", Python),
            Some(path("h.Client.<stream>", vec![parameter("T")]))
        );
    }

    #[test]
    fn junk_is_no_type() {
        for junk in
            ["", "a.", ".a", "a.B[", "a.B]", "a b", "a.B[T U]", "res($0)", "$", "$a-b", "a..b", "|", "a.B |", "1"]
        {
            assert_eq!(TypeExpr::parse(junk, Python), None, "{junk}");
        }
        assert_eq!(TypeExpr::parse("std::vec::Vec[T]", Rust), None);
        assert_eq!(TypeExpr::parse(&"(".repeat(5000), Rust), None, "bounded");
    }
}
