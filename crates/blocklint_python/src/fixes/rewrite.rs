//! Edits that replace a call by the template of a model row: `asyncio.run(work())` → `await work()`.

use blocklint_core::{Applicability, Piece, Refusal, WrittenEdit};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange};

use super::{File, Site};
use crate::walk::span;

impl<'a> File<'a, '_> {
    /// Replaces a call by a template. A call with an argument that the template does not use is refused.
    pub(super) fn fill_template(&self, site: &Site<'a>, template: &[Piece]) -> Result<WrittenEdit, Refusal> {
        let call = site.call;
        self.check_has_no_comments(call.range())?;
        let arguments = &call.arguments;
        let mut used = vec![false; arguments.args.len() + arguments.keywords.len()];
        let mut text = String::new();
        let mut edits = Vec::new();
        for piece in template {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Receiver => text.push_str(self.spell_receiver(call)?),
                Piece::Args => {
                    used.fill(true);
                    let inside = self.text(arguments.range());
                    text.push_str(inside.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(inside).trim());
                }
                Piece::Call => {
                    used.fill(true);
                    text.push_str(self.text(call.range()));
                }
                Piece::Callable => {
                    used.fill(true);
                    let (spell_callable, import_edits) = self.spell_callable(site)?;
                    text.push_str(&spell_callable);
                    edits.extend(import_edits);
                }
                Piece::Handed => {
                    used.fill(true);
                    let inside = self.text(arguments.range());
                    let inside = inside.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(inside).trim();
                    text.push_str(self.text(self.callee_range(call)).trim_end());
                    if !inside.is_empty() {
                        text.push_str(", ");
                        text.push_str(inside);
                    }
                }
                Piece::Applied => {
                    used.fill(true);
                    text.push_str(&self.spell_applied(call)?);
                }
                Piece::Position(index) => {
                    let index = *index as usize;
                    let before = arguments.args.get(..=index).unwrap_or_default();
                    if before.is_empty() || before.iter().any(Expr::is_starred_expr) {
                        return Err(Refusal::new("an argument that the edit needs is not passed by position"));
                    }
                    used[index] = true;
                    text.push_str(&self.argument_as_operand(&arguments.args[index]));
                }
                Piece::Named(name) => {
                    let has_name = |arg: &ruff_python_ast::Keyword| {
                        arg.arg.as_ref().is_some_and(|keyword| keyword.as_str() == name)
                    };
                    let Some(index) = arguments.keywords.iter().position(has_name) else {
                        return Err(Refusal::new("an argument that the edit needs is not passed by name"));
                    };
                    used[arguments.args.len() + index] = true;
                    text.push_str(&self.argument_as_operand(&arguments.keywords[index].value));
                }
                Piece::Import(path) => {
                    let (written, import_edits) = self.spell_and_import(site, path)?;
                    text.push_str(&written);
                    edits.extend(import_edits);
                }
            }
        }
        if used.contains(&false) {
            return Err(Refusal::new("the replacement has no place for an argument of the call"));
        }
        let title = format!("Replace with `{}`", crate::fixes::rewrite::shorten_for_title(&text));
        let range = call.range();
        match text.strip_prefix("await ") {
            Some(rest) => edits.extend(self.insert_await(site, range, rest)),
            None => edits.push((span(range), format!("{}{text}", self.gap_before(range.start())))),
        }
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// Returns the source of the receiver: the text before the last `.` of the callee, with its brackets.
    fn spell_receiver(&self, call: &ExprCall) -> Result<&str, Refusal> {
        let Expr::Attribute(attribute) = &*call.func else {
            return Err(Refusal::new("the call does not have the form `receiver.method(…)`"));
        };
        let before = self.text(TextRange::new(attribute.range().start(), attribute.attr.range().start()));
        Ok(before.trim_end().trim_end_matches('.').trim_end())
    }

    /// Returns the call as a callable without arguments: the callee, or a `functools.partial` of it.
    fn spell_callable(&self, site: &Site<'a>) -> Result<(String, Vec<(blocklint_core::Span, String)>), Refusal> {
        let arguments = &site.call.arguments;
        let callee = self.text(self.callee_range(site.call)).trim_end();
        if arguments.args.is_empty() && arguments.keywords.is_empty() {
            return Ok((callee.to_owned(), Vec::new()));
        }
        let (partial, edits) = self.spell_and_import(site, "functools.partial")?;
        let inside = self.text(arguments.range());
        let inside = inside.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(inside);
        Ok((format!("{partial}({callee}, {})", inside.trim()), edits))
    }

    /// Returns the callee, its positional arguments as a tuple and its keyword arguments as a dictionary.
    fn spell_applied(&self, call: &ExprCall) -> Result<String, Refusal> {
        let arguments = &call.arguments;
        let mut text = self.text(self.callee_range(call)).trim_end().to_owned();
        if arguments.args.is_empty() && arguments.keywords.is_empty() {
            return Ok(text);
        }
        let args: Vec<&str> = arguments.args.iter().map(|argument| self.text(argument.range())).collect();
        match args.as_slice() {
            [one] => text.push_str(&format!(", ({one},)")),
            more => text.push_str(&format!(", ({})", more.join(", "))),
        }
        let mut named = Vec::new();
        for keyword in &arguments.keywords {
            let value = self.text(keyword.value.range());
            named.push(match &keyword.arg {
                Some(name) => format!("\"{name}\": {value}"),
                None => format!("**{value}"),
            });
        }
        if !named.is_empty() {
            text.push_str(&format!(", {{{}}}", named.join(", ")));
        }
        if arguments.args.iter().any(|argument| matches!(argument, Expr::Generator(_))) {
            Err(Refusal::new("a generator expression is the call's only argument and has no brackets of its own"))
        } else {
            Ok(text)
        }
    }

    /// Returns the source of an argument, in brackets unless it is an atom or a postfix expression.
    fn argument_as_operand(&self, argument: &Expr) -> String {
        let text = self.text(argument.range());
        match argument {
            Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Call(_)
            | Expr::Subscript(_)
            | Expr::NumberLiteral(_)
            | Expr::StringLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::List(_)
            | Expr::Dict(_) => text.to_owned(),
            _ => format!("({text})"),
        }
    }
}

/// Returns a text on one line, cut to the length of a title.
fn shorten_for_title(text: &str) -> String {
    const LONGEST: usize = 50;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
