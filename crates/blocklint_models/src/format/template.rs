//! Templates of edits (`rewrite`): source text with placeholders for the parts of a call.

use blocklint_core::Piece;
use serde::{Deserialize, Serialize};

use super::argument::is_identifier;

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Template(pub Vec<Piece>);

impl Template {
    /// Parses `await {asyncio.wait_for}({call}, {0})`; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// Returns a sentence about the part that does not parse.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(index) = rest.find(['{', '}']) {
            plain.push_str(&rest[..index]);
            let brace = if rest[index..].starts_with('{') { '{' } else { '}' };
            let after = &rest[index + 1..];
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
                parts.push(Piece::Text(std::mem::take(&mut plain)));
            }
            parts.push(parse_placeholder(name).ok_or_else(|| format!("`{{{name}}}` is no placeholder"))?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Piece::Text(plain));
        }
        Ok(Template(parts))
    }
}

fn parse_placeholder(name: &str) -> Option<Piece> {
    let separator = if name.contains("::") { "::" } else { "." };
    Some(match name {
        "receiver" => Piece::Receiver,
        "args" => Piece::Args,
        "call" => Piece::Call,
        "callable" => Piece::Callable,
        "handed" => Piece::Handed,
        "applied" => Piece::Applied,
        _ if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) => Piece::Position(name.parse().ok()?),
        _ if is_identifier(name) => Piece::Named(name.to_owned()),
        _ if name.split(separator).all(is_identifier) => Piece::Import(name.to_owned()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use blocklint_core::Piece;

    use super::Template;

    #[test]
    fn every_placeholder_is_parsed() {
        let template = Template::parse("{{{receiver}.{tokio::fs::read}({0}, {name}, {args})}} {call}{callable}");
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(
            template.map(|template| template.0),
            Ok(vec![
                text("{"),
                Piece::Receiver,
                text("."),
                Piece::Import("tokio::fs::read".to_owned()),
                text("("),
                Piece::Position(0),
                text(", "),
                Piece::Named("name".to_owned()),
                text(", "),
                Piece::Args,
                text(")} "),
                Piece::Call,
                Piece::Callable,
            ])
        );
    }

    #[test]
    fn a_template_that_does_not_parse_has_an_error() {
        assert_eq!(Template::parse("{recv er}"), Err("`{recv er}` is no placeholder".to_owned()));
        assert!(Template::parse("f({0}").is_ok_and(|template| template.0.len() == 2));
        assert!(Template::parse("f({0").is_err_and(|why| why.contains("never closed")));
        assert!(Template::parse("f(0})").is_err_and(|why| why.contains("closes nothing")));
    }
}
