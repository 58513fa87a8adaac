//! A body under construction: parameters, lines and arguments of one generated Python use.

use std::collections::BTreeSet;

use blocklint_models::{Argument, Literal};

use super::uses::{Expected, Of, Use};

/// Why a row, or a part of it, cannot be used in a line.
pub(crate) type Reason = &'static str;

/// The arguments of a call, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    positional: Vec<Option<String>>,
    keyword: Vec<(String, String)>,
}

impl Arguments {
    /// Sets one argument; by its name where it has one, unless `by_position`.
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

    /// The value that was set for an argument.
    pub(crate) fn get(&self, argument: &Argument) -> Option<&str> {
        let at = |position: usize| self.positional.get(position).and_then(Option::as_deref);
        let named = |name: &str| self.keyword.iter().find(|(of, _)| of == name).map(|(_, text)| text.as_str());
        match argument {
            Argument::Keyword(name) => named(name),
            Argument::Either(name, position) => named(name).or_else(|| at(*position as usize)),
            Argument::Position(position) => at(usize::try_from(*position).ok()?),
            Argument::AllPositional => at(0),
            Argument::Receiver => None,
        }
    }
}

/// One use while it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    imports: BTreeSet<String>,
    params: Vec<String>,
    lines: Vec<String>,
    depth: usize,
    next: usize,
}

impl Draft {
    /// Imports a module, or writes any other line at the head of the file.
    pub(crate) fn import(&mut self, line: impl Into<String>) {
        self.imports.insert(line.into());
    }

    /// A new parameter with this annotation.
    pub(crate) fn param(&mut self, annotation: &str) -> String {
        let name = self.name();
        self.params.push(format!("{name}: {annotation}"));
        name
    }

    /// A new name.
    pub(crate) fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// The name of a function that gives a `probe.Elem`.
    pub(crate) fn function(&mut self) -> String {
        self.import("import probe");
        self.import("# A function to hand over.\ndef make() -> probe.Elem:\n    return probe.Elem()");
        "make".to_owned()
    }

    /// A line of the body.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth + 1), text.as_ref()));
    }

    /// A line that opens a block.
    pub(crate) fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    /// The arguments as source; an argument that is missing before a given position is an unknown name.
    pub(crate) fn arguments(&mut self, arguments: &Arguments) -> String {
        if arguments.positional.iter().any(Option::is_none) {
            self.import("from elsewhere import unseen");
        }
        let positional = arguments.positional.iter().map(|text| text.clone().unwrap_or_else(|| "unseen".to_owned()));
        let keyword = arguments.keyword.iter().map(|(name, text)| format!("{name}={text}"));
        positional.chain(keyword).collect::<Vec<_>>().join(", ")
    }

    /// The use whose last line is looked at.
    pub(crate) fn finish(self, of: &Of, number: usize, expected: Expected) -> Use {
        let mut lines = vec![format!("async def use_{number}({}):", self.params.join(", "))];
        lines.extend(self.lines);
        let at = lines.len() - 1;
        Use { of: of.clone(), imports: self.imports, lines, at, expected }
    }

    /// The use of lines that stand outside a function, of which one is looked at.
    pub(crate) fn finish_as(self, of: &Of, lines: Vec<String>, at: usize, expected: Expected) -> Use {
        Use { of: of.clone(), imports: self.imports, lines, at, expected }
    }
}

/// A literal as Python writes it.
pub(crate) fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Bool(true) => "True".to_owned(),
        Literal::Bool(false) => "False".to_owned(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Str(text) => format!("{text:?}"),
    }
}
