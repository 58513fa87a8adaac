//! Type expressions, in each language's own syntax.

use blocklint_core::Language;
use serde::{Deserialize, Serialize};

use super::argument::{Argument, is_identifier};

/// A type in a row, with the parts that a call decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TypeExpr {
    /// A type by its path, with its arguments.
    Path {
        /// The path, as written.
        path: String,
        /// The arguments, in order; empty if none are written.
        arguments: Vec<TypeExpr>,
    },
    /// `Self`: the receiver's type, or the class it was called on, with its arguments replaced if any
    /// are written.
    SelfType(Vec<TypeExpr>),
    /// One of the type's own parameters.
    Parameter(String),
    /// A literal, as in `BaseClient["s3"]`.
    Literal(String),
    /// The type of an argument; for a string literal that literal.
    Argument(Argument),
    /// The awaited result of calling this.
    Result(Box<TypeExpr>),
    /// The awaited result of calling this; for a generator function its elements.
    Yield(Box<TypeExpr>),
    /// An element of this by iteration or index.
    Element(Box<TypeExpr>),
    /// An instance of this class object.
    Instance(Box<TypeExpr>),
    /// One of several.
    Union(Vec<TypeExpr>),
    /// A tuple.
    Tuple(Vec<TypeExpr>),
    /// A Java array.
    Array(Box<TypeExpr>),
    /// Python's `None`.
    None,
}

impl TypeExpr {
    /// Parses a type expression of the language; `None` if it is none.
    pub fn parse(text: &str, language: Language) -> Option<Self> {
        let mut parser = Parser { text, at: 0, language, depth: 0 };
        let parsed = parser.union()?;
        parser.skip_space();
        (parser.at == text.len()).then_some(parsed)
    }

    /// Calls `see` with this expression and every one inside it.
    pub fn visit<'t>(&'t self, see: &mut impl FnMut(&'t TypeExpr)) {
        see(self);
        match self {
            TypeExpr::Path { arguments: parts, .. }
            | TypeExpr::SelfType(parts)
            | TypeExpr::Union(parts)
            | TypeExpr::Tuple(parts) => parts.iter().for_each(|part| part.visit(see)),
            TypeExpr::Result(part)
            | TypeExpr::Yield(part)
            | TypeExpr::Element(part)
            | TypeExpr::Instance(part)
            | TypeExpr::Array(part) => part.visit(see),
            TypeExpr::Parameter(_) | TypeExpr::Literal(_) | TypeExpr::Argument(_) | TypeExpr::None => {}
        }
    }

    /// Returns the path of the type itself, if it is one.
    pub fn path(&self) -> Option<&str> {
        match self {
            TypeExpr::Path { path, .. } => Some(path),
            _ => None,
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    language: Language,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn union(&mut self) -> Option<TypeExpr> {
        // Far deeper than any type; a bound, because the text is the user's and this recurses.
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let mut members = vec![self.one()?];
        while self.take('|') {
            members.push(self.one()?);
        }
        self.depth -= 1;
        if members.len() == 1 { members.pop() } else { Some(TypeExpr::Union(members)) }
    }

    fn list(&mut self, close: char) -> Option<Vec<TypeExpr>> {
        let mut items = Vec::new();
        while !self.take(close) {
            if !items.is_empty() && !self.take(',') {
                return None;
            }
            // A trailing comma, as in Python's one-tuple.
            if !items.is_empty() && self.take(close) {
                break;
            }
            items.push(self.union()?);
        }
        Some(items)
    }

    fn one(&mut self) -> Option<TypeExpr> {
        let mut parsed = self.primary()?;
        while self.language == Language::Java && self.rest().trim_start().starts_with("[]") {
            self.skip_space();
            self.at += 2;
            parsed = TypeExpr::Array(Box::new(parsed));
        }
        Some(parsed)
    }

    fn primary(&mut self) -> Option<TypeExpr> {
        self.skip_space();
        let first = self.rest().chars().next()?;
        match first {
            '(' => {
                self.at += 1;
                let start = self.at;
                let mut items = self.list(')')?;
                let comma = self.text[start..self.at].trim_end_matches(')').trim_end().ends_with(',');
                // Parentheses around one type only group.
                if items.len() == 1 && !comma { items.pop() } else { Some(TypeExpr::Tuple(items)) }
            }
            '$' => {
                self.at += 1;
                let word = self.word(|c| c.is_alphanumeric() || matches!(c, '_' | '@'));
                let argument = match word.parse::<i32>() {
                    Ok(position) => Argument::Position(position),
                    Err(_) => Argument::parse(word)?,
                };
                Some(TypeExpr::Argument(argument))
            }
            '"' => {
                let (literal, _) = self.rest()[1..].split_once('"')?;
                self.at += literal.len() + 2;
                Some(TypeExpr::Literal(literal.to_owned()))
            }
            _ => self.name(),
        }
    }

    fn word(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn name(&mut self) -> Option<TypeExpr> {
        let start = self.at;
        let separator = super::separator(self.language);
        let mut segments = 0;
        loop {
            let rest = self.rest();
            // `.<name>` is a synthetic type, `<` after a name opens arguments.
            let synthetic = segments > 0 && self.language != Language::Rust && rest.starts_with('<');
            let name = if synthetic {
                let (name, _) = rest[1..].split_once('>')?;
                self.at += name.len() + 2;
                name
            } else {
                self.word(|c| c.is_alphanumeric() || c == '_')
            };
            if !is_identifier(name) {
                return None;
            }
            segments += 1;
            if !self.rest().starts_with(separator) {
                break;
            }
            self.at += separator.len();
        }
        let path = &self.text[start..self.at];
        if segments == 1 && self.rest().starts_with('(') {
            let wrap = match path {
                "result" => TypeExpr::Result,
                "yield" => TypeExpr::Yield,
                "element" => TypeExpr::Element,
                "instance" => TypeExpr::Instance,
                _ => return None,
            };
            self.at += 1;
            let inner = self.union()?;
            return self.take(')').then(|| wrap(Box::new(inner)));
        }
        let (open, close) = if self.language == Language::Python { ('[', ']') } else { ('<', '>') };
        let arguments = if self.take(open) { self.list(close)? } else { Vec::new() };
        match path {
            "Self" => Some(TypeExpr::SelfType(arguments)),
            "None" if self.language == Language::Python && arguments.is_empty() => Some(TypeExpr::None),
            // A bare name with arguments can be no parameter; the check reports that it is no path either.
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
    fn each_language_writes_types_its_own_way() {
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
    fn unions_tuples_literals_and_synthetic_types() {
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
    fn what_is_no_type_does_not_parse() {
        for junk in
            ["", "a.", ".a", "a.B[", "a.B]", "a b", "a.B[T U]", "res($0)", "$", "$a-b", "a..b", "|", "a.B |", "1"]
        {
            assert_eq!(TypeExpr::parse(junk, Python), None, "{junk}");
        }
        assert_eq!(TypeExpr::parse("std::vec::Vec[T]", Rust), None);
        assert_eq!(TypeExpr::parse(&"(".repeat(5000), Rust), None, "bounded");
    }
}
