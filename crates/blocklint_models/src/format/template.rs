//! Templates of edits: source text with the parts of a call put in.

use serde::{Deserialize, Serialize};

use super::argument::is_identifier;

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    /// Source text as it is.
    Text(String),
    /// Source of the receiver.
    Receiver,
    /// Source of all arguments.
    Args,
    /// Source of the argument at this position, from 0.
    Position(u32),
    /// Source of the argument of this name.
    Named(String),
    /// The whole call.
    Call,
    /// The call as something to hand over.
    Callable,
    /// The callee and its arguments behind each other, as most pools take them: `load, path`.
    Handed,
    /// The callee, a tuple of its positional arguments and a dictionary of its keyword arguments, as far as there are any:
    /// `load, (path,)`.
    Applied,
    /// A path that is imported and then written by its local name.
    Import(String),
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Template(pub Vec<Part>);

impl Template {
    /// Parses `await {asyncio.wait_for}({call}, {0})`; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A sentence that says what does not parse.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = if rest[at..].starts_with('{') { '{' } else { '}' };
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                plain.push(brace);
                rest = after;
                continue;
            }
            if brace == '}' {
                return Err("a `}` that closes nothing; a brace is written `}}`".to_owned());
            }
            let Some((name, after)) = after.split_once('}') else {
                return Err("`{` is never closed; a brace is written `{{`".to_owned());
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(placeholder(name).ok_or_else(|| format!("`{{{name}}}` is no placeholder"))?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Template(parts))
    }
}

fn placeholder(name: &str) -> Option<Part> {
    let separator = if name.contains("::") { "::" } else { "." };
    Some(match name {
        "receiver" => Part::Receiver,
        "args" => Part::Args,
        "call" => Part::Call,
        "callable" => Part::Callable,
        "handed" => Part::Handed,
        "applied" => Part::Applied,
        _ if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) => Part::Position(name.parse().ok()?),
        _ if is_identifier(name) => Part::Named(name.to_owned()),
        _ if name.split(separator).all(is_identifier) => Part::Import(name.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Part, Template};

    #[test]
    fn every_placeholder_is_read() {
        let template = Template::parse("{{{receiver}.{tokio::fs::read}({0}, {name}, {args})}} {call}{callable}");
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(
            template.map(|template| template.0),
            Ok(vec![
                text("{"),
                Part::Receiver,
                text("."),
                Part::Import("tokio::fs::read".to_owned()),
                text("("),
                Part::Position(0),
                text(", "),
                Part::Named("name".to_owned()),
                text(", "),
                Part::Args,
                text(")} "),
                Part::Call,
                Part::Callable,
            ])
        );
    }

    #[test]
    fn what_does_not_parse_says_why() {
        assert_eq!(Template::parse("{recv er}"), Err("`{recv er}` is no placeholder".to_owned()));
        assert!(Template::parse("f({0}").is_ok_and(|template| template.0.len() == 2));
        assert!(Template::parse("f({0").is_err_and(|why| why.contains("never closed")));
        assert!(Template::parse("f(0})").is_err_and(|why| why.contains("closes nothing")));
    }
}
