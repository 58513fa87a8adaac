//! A body under construction: parameters, lines and arguments of one generated Python use.

use std::collections::BTreeSet;

use blocklint_models::{Argument, Literal};

use super::uses::{Expected, RowPath, Use};

/// The reason why a row, or a part of it, has no use.
pub(crate) type Reason = &'static str;

/// The arguments of a call, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    positional: Vec<Option<String>>,
    keyword: Vec<(String, String)>,
}

impl Arguments {
    /// Sets an argument, by its name if it has one, unless `by_position`.
    pub(crate) fn put(&mut self, argument: &Argument, text: &str, by_position: bool) {
        let position = match argument {
            Argument::Keyword(name) => return self.keyword.push((name.clone(), text.to_owned())),
            Argument::Either(name, _) if !by_position => return self.keyword.push((name.clone(), text.to_owned())),
            Argument::Either(_, position) => *position as usize,
            Argument::Position(position) => usize::try_from(*position).unwrap_or(self.positional.len()),
            Argument::AllPositional => 0,
            Argument::Receiver => return,
        };
        if self.positional.len() <= position {
            self.positional.resize(position + 1, None);
        }
        self.positional[position] = Some(text.to_owned());
    }

    /// Returns the value that was set for an argument.
    pub(crate) fn get(&self, argument: &Argument) -> Option<&str> {
        let at = |position: usize| self.positional.get(position).and_then(Option::as_deref);
        let named =
            |name: &str| self.keyword.iter().find(|(row_path, _)| row_path == name).map(|(_, text)| text.as_str());
        match argument {
            Argument::Keyword(name) => named(name),
            Argument::Either(name, position) => named(name).or_else(|| at(*position as usize)),
            Argument::Position(position) => at(usize::try_from(*position).ok()?),
            Argument::AllPositional => at(0),
            Argument::Receiver => None,
        }
    }
}

/// A use under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    imports: BTreeSet<String>,
    params: Vec<String>,
    lines: Vec<String>,
    depth: usize,
    next: usize,
}

impl Draft {
    /// Adds an import, or another line, at the head of the file.
    pub(crate) fn import(&mut self, line: impl Into<String>) {
        self.imports.insert(line.into());
    }

    /// Adds a parameter with this annotation and returns its name.
    pub(crate) fn param(&mut self, annotation: &str) -> String {
        let name = self.name();
        self.params.push(format!("{name}: {annotation}"));
        name
    }

    /// Returns a new name.
    pub(crate) fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// Adds a function that returns a `probe.Elem`, and returns its name.
    pub(crate) fn function(&mut self) -> String {
        self.import("import probe");
        self.import("# A function to hand over.\ndef make() -> probe.Elem:\n    return probe.Elem()");
        "make".to_owned()
    }

    /// Adds a line to the body.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth + 1), text.as_ref()));
    }

    /// Adds a line that opens a block.
    pub(crate) fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    /// Returns the arguments as source; a missing argument before a passed position is an unknown name.
    pub(crate) fn arguments(&mut self, arguments: &Arguments) -> String {
        if arguments.positional.iter().any(Option::is_none) {
            self.import("from elsewhere import unseen");
        }
        let positional = arguments.positional.iter().map(|text| text.clone().unwrap_or_else(|| "unseen".to_owned()));
        let keyword = arguments.keyword.iter().map(|(name, text)| format!("{name}={text}"));
        positional.chain(keyword).collect::<Vec<_>>().join(", ")
    }

    /// Returns the use; its expectation is about the last line.
    pub(crate) fn finish(self, row_path: &RowPath, number: usize, expected: Expected) -> Use {
        let mut lines = vec![format!("async def use_{number}({}):", self.params.join(", "))];
        lines.extend(self.lines);
        let at = lines.len() - 1;
        Use { row_path: row_path.clone(), imports: self.imports, lines, at, expected }
    }

    /// Returns a use with lines outside of a function; its expectation is about the line at index `at`.
    pub(crate) fn finish_as(self, row_path: &RowPath, lines: Vec<String>, at: usize, expected: Expected) -> Use {
        Use { row_path: row_path.clone(), imports: self.imports, lines, at, expected }
    }
}

/// Returns a literal in Python syntax.
pub(crate) fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Bool(true) => "True".to_owned(),
        Literal::Bool(false) => "False".to_owned(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Str(text) => format!("{text:?}"),
    }
}
