//! A call handed to a worker thread: `load(path)` → `await asyncio.to_thread(load, path)`.

use blocklint_core::{Applicability, Mended, Offload, Refusal, Span};
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};
use crate::walk::span;

/// Runs a callable with the arguments that the function which hands it over does not pass on.
const PARTIAL: &str = "functools.partial";

impl File<'_> {
    /// Hands the callee and its arguments to a function that runs them in a thread. The callee and the arguments are
    /// evaluated where and in the order in which they were; only the call itself moves.
    pub(super) fn offload(&self, site: &Site<'_>, to: &[Offload]) -> Result<Mended, Refusal> {
        if let Expr::Name(name) = &*site.call.func
            && name.id == "next"
        {
            return Err(Refusal::new("`StopIteration` cannot leave a thread"));
        }
        if site.around.is_awaited {
            return Err(Refusal::new("what it returns is awaited, and belongs to the running loop"));
        }
        let known = to.iter().find_map(|offload| Some((offload, self.known_as(site, &offload.path)?)));
        let (offload, written, mut edits) = match (known, to.last()) {
            (Some((offload, written)), _) => (offload, written, Vec::new()),
            (None, Some(offload)) => {
                let (written, edits) = self.imported(site, &offload.path)?;
                (offload, written, edits)
            }
            (None, None) => return Err(Refusal::new("no function of this framework hands calls to a thread")),
        };
        let mut head = format!("{written}(");
        // Brackets beyond those of the call itself.
        let mut closing = String::new();
        // One that is called as the taker's own parameter would be taken for it.
        let taken = |keyword: &ruff_python_ast::Keyword| keyword.arg.as_ref().is_some_and(|name| name == "func");
        let keywords = &site.call.arguments.keywords;
        if keywords.iter().any(taken) || !offload.keywords && !keywords.is_empty() {
            let (partial, more) = self.imported(site, PARTIAL)?;
            edits.extend(more);
            head = format!("{head}{partial}(");
            closing.push(')');
        }
        edits.extend(self.handed(site, &head, &closing, true));
        Ok(Mended { title: format!("Hand to a thread with `{written}`"), applicability: Applicability::Unsafe, edits })
    }

    /// Edits that turn `f(a, b)` into `await HEADf, a, b)CLOSING`, or without `await`.
    pub(super) fn handed(&self, site: &Site<'_>, head: &str, closing: &str, awaits: bool) -> Vec<(Span, String)> {
        let call = site.call;
        let callee = self.callee(call);
        let opened = TextRange::new(callee.start(), callee.end() + TextSize::of('('));
        let written = self.text(callee).trim_end();
        let (content, below) = self.opening(call, head, written);
        let mut edits = match awaits {
            true => self.awaited(site, opened, &content),
            false => vec![(span(opened), content)],
        };
        edits.extend(below);
        if !closing.is_empty() {
            let end = TextRange::empty(call.range().end());
            match edits.iter_mut().find(|(at, _)| *at == span(end)) {
                Some((_, brackets)) => brackets.insert_str(0, closing),
                None => edits.push((span(end), closing.to_owned())),
            }
        }
        edits.extend(self.bracketed_generator(call));
        edits
    }

    /// The text in place of the callee and its bracket; where the arguments stand on lines of their own, the callee goes
    /// to a line above them, behind whatever is said behind the bracket.
    fn opening(&self, call: &ExprCall, head: &str, callee: &str) -> (String, Option<(Span, String)>) {
        let arguments = &call.arguments;
        let start = arguments.range().start() + TextSize::of('(');
        let first = arguments.iter_source_order().next().map(|argument| argument.range().start());
        let Some(first) = first else { return (format!("{head}{callee}"), None) };
        let gap = self.text(TextRange::new(start, first));
        if let Some(at) = gap.find(['\n', '\r']) {
            let newline = if gap[at..].starts_with("\r\n") { "\r\n" } else { &gap[at..=at] };
            let rest = &gap[at + newline.len()..];
            let indent = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
            let line = TextRange::empty(start + TextSize::of(&gap[..at + newline.len()]));
            return (head.to_owned(), Some((span(line), format!("{indent}{callee},{newline}"))));
        }
        // An argument in brackets begins behind them.
        let blank = &gap[..gap.len() - gap.trim_start().len()];
        let behind = if blank.is_empty() { " " } else { "" };
        (format!("{head}{blank}{callee},{behind}"), None)
    }

    /// A generator expression that is the only argument shares the brackets of the call; as one of several it needs
    /// its own.
    fn bracketed_generator(&self, call: &ExprCall) -> Vec<(Span, String)> {
        let [Expr::Generator(generator)] = &*call.arguments.args else { return Vec::new() };
        if generator.parenthesized {
            return Vec::new();
        }
        let range = generator.range();
        let inner = TextRange::new(generator.elt.range().start(), range.end());
        // What the parser calls its range may include the brackets of the call.
        let inner = match self.text(range).starts_with('(') && range == call.arguments.range() {
            true => TextRange::new(range.start() + TextSize::of('('), range.end() - TextSize::of(')')),
            false => TextRange::new(range.start().min(inner.start()), range.end()),
        };
        vec![
            (span(TextRange::empty(inner.start())), "(".to_owned()),
            (span(TextRange::empty(inner.end())), ")".to_owned()),
        ]
    }
}
