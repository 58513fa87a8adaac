//! Extraction of facts: decodes a Python file or notebook, parses it, and walks its tree.

use blocklint_core::{Language, Span};
use blocklint_facts::{BodyKind, Expression, FactsBuilder, FileFacts, Problem};
use ruff_python_ast::{Mod, PythonVersion};
use ruff_python_parser::{Mode, ParseError, ParseOptions, parse_unchecked};
use ruff_text_size::TextRange;

use crate::decode::Decoded;
use crate::walk::{Walker, span};
use crate::{comments, decode, decode_notebook, depth};

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that a file may have, at most 1 GiB; a longer file has no facts but one problem. A parsed tree takes about
    /// 35 times as much memory as its text.
    pub max_bytes: usize,
}

/// Offsets of spans have 32 bits, and a text can grow when it is decoded.
const ADDRESSABLE_BYTES: usize = u32::MAX as usize / 4;

impl Default for Limits {
    /// 8 MB.
    fn default() -> Self {
        Limits { max_bytes: 8_000_000 }
    }
}

/// Returns the facts of a Python file, within [`Limits::default`].
pub fn extract(bytes: &[u8]) -> FileFacts {
    extract_with(bytes, &Limits::default())
}

/// Returns the facts of a Python file. Parts that cannot be read are left out and listed in [`FileFacts::problems`],
/// once per cause. Spans are byte offsets into the text of [`decode`].
///
/// Run it on a thread with [`crate::STACK_SIZE`] of stack: ruff's parser grows its stack on demand, but dropping its
/// tree recurses.
pub fn extract_with(bytes: &[u8], limits: &Limits) -> FileFacts {
    extract_watched(bytes, limits, || {})
}

/// As [`extract_with`]. It calls `parsed` between parsing and the walk, so that a caller can measure the time of each.
pub fn extract_watched(bytes: &[u8], limits: &Limits, parsed: impl FnOnce()) -> FileFacts {
    let facts = FactsBuilder::new(Language::Python, bytes);
    let max_bytes = limits.max_bytes.min(ADDRESSABLE_BYTES);
    if bytes.len() > max_bytes {
        let message = format!("skipped: {} bytes, more than the {max_bytes} that are read", bytes.len());
        return facts_of_unread_file(facts, Problem { span: Span::default(), message });
    }
    build_facts(facts, decode(bytes), Mode::Module, parsed)
}

/// Returns the facts of a Jupyter notebook: those of its Python code cells, one below the other. Spans are byte offsets
/// into the text of [`crate::decode_notebook`]. Lines of IPython's own syntax (`%`, `!`, `?`) have no facts, and a
/// notebook in another language has none.
///
/// The top level of a cell runs when a person runs the cell, so it is no coroutine, even if it has an `await`.
pub fn extract_notebook(bytes: &[u8], limits: &Limits, parsed: impl FnOnce()) -> FileFacts {
    let facts = FactsBuilder::new(Language::Python, bytes);
    let max_bytes = limits.max_bytes.min(ADDRESSABLE_BYTES);
    if bytes.len() > max_bytes {
        let message = format!("skipped: {} bytes, more than the {max_bytes} that are read", bytes.len());
        return facts_of_unread_file(facts, Problem { span: Span::default(), message });
    }
    match decode_notebook(bytes) {
        Ok(notebook) => build_facts(facts, notebook.decoded(), Mode::Ipython, parsed),
        Err(message) => facts_of_unread_file(facts, Problem { span: Span::default(), message }),
    }
}

/// Returns the facts of a Python file, as [`extract`] does, and all expressions with their places.
pub fn extract_expressions(bytes: &[u8]) -> (FileFacts, Vec<Expression>) {
    let mut recorded_expressions = Some(Vec::new());
    let facts = FactsBuilder::new(Language::Python, bytes);
    let facts = build_facts_and_expressions(facts, decode(bytes), Mode::Module, || {}, &mut recorded_expressions);
    (facts, recorded_expressions.unwrap_or_default())
}

/// Returns the facts of a text.
fn build_facts(facts: FactsBuilder, decoded: Decoded<'_>, mode: Mode, parsed: impl FnOnce()) -> FileFacts {
    build_facts_and_expressions(facts, decoded, mode, parsed, &mut None)
}

/// Returns the facts of a text, and fills `recorded_expressions` if it is `Some`.
fn build_facts_and_expressions(
    mut facts: FactsBuilder,
    decoded: Decoded<'_>,
    mode: Mode,
    parsed: impl FnOnce(),
    recorded_expressions: &mut Option<Vec<Expression>>,
) -> FileFacts {
    let call_parsed = parsed;
    let source = &*decoded.text;
    if let Some(problem) = depth::check_nesting(source) {
        return facts_of_unread_file(facts, problem);
    }
    if let Some(problem) = decoded.problem {
        facts.problem(problem.span, problem.message);
    }
    // The version only decides which syntax the parser reports as too new, so the latest one is right for every file.
    let options = ParseOptions::from(mode).with_target_version(PythonVersion::latest());
    // A panic in ruff's parser must not end the run over all other files.
    let Ok(parsed) = std::panic::catch_unwind(|| parse_unchecked(source, options)) else {
        return facts_of_unread_file(
            facts,
            Problem { span: Span::default(), message: "skipped: the parser failed".to_owned() },
        );
    };
    call_parsed();
    if let Some(problem) = describe_syntax_errors(source, parsed.errors()) {
        facts.problem(problem.span, problem.message);
    }
    let mut walker = Walker::new(source, facts);
    walker.recorded_expressions = recorded_expressions.take();
    if let Mod::Module(module) = parsed.syntax() {
        walker.walk_module(module);
    }
    *recorded_expressions = walker.recorded_expressions.take();
    let mut facts = walker.facts;
    comments::collect_suppressions(source, parsed.tokens(), &mut facts);
    facts.finish()
}

/// Returns the facts of a file that is not read: an empty module body.
fn facts_of_unread_file(mut facts: FactsBuilder, problem: Problem) -> FileFacts {
    facts.problem(problem.span, problem.message);
    let mut walker = Walker::new("", facts);
    let outer = walker.enter_body(BodyKind::Module, blocklint_facts::Sym::NONE, Span::default(), Span::default());
    walker.leave_body(outer);
    walker.facts.finish()
}

/// Returns one problem for all syntax errors.
fn describe_syntax_errors(source: &str, errors: &[ParseError]) -> Option<Problem> {
    let first = errors.first()?;
    let mut message = format!("syntax error: {}", first.error);
    if errors.len() > 1 {
        message.push_str(&format!(" (and {} more)", errors.len() - 1));
    }
    if errors.iter().take(20).any(|error| is_python_2(source, error.location.start().to_usize())) {
        message.push_str("; this looks like Python 2");
    }
    Some(Problem { span: span(first.location), message })
}

/// True if the line of a syntax error is a statement of Python 2.
fn is_python_2(source: &str, offset: usize) -> bool {
    let bytes = source.as_bytes();
    let offset = offset.min(bytes.len());
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..offset]).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[offset..]).map_or(bytes.len(), |at| offset + at);
    let line = bytes[start..end].trim_ascii();
    let follows = |word: &[u8], next: fn(&u8) -> bool| {
        line.strip_prefix(word).is_some_and(|rest| rest.trim_ascii_start().first().is_some_and(next))
    };
    follows(b"print ", |&byte| !b"(=,.:)[".contains(&byte))
        || follows(b"exec ", |&byte| !b"(=,.:)[".contains(&byte))
        || (line.starts_with(b"except ") && line.contains(&b',') && !line.contains(&b'('))
        || (line.starts_with(b"raise ") && line.contains(&b','))
}

impl Walker<'_> {
    fn walk_module(&mut self, module: &ruff_python_ast::ModModule) {
        let whole = TextRange::up_to(ruff_text_size::TextSize::of(self.source));
        let outer =
            self.enter_body(BodyKind::Module, blocklint_facts::Sym::NONE, span(whole), span(TextRange::default()));
        self.walk_suite(&module.body);
        self.leave_body(outer);
        std::mem::take(&mut self.scopes).settle_names(&mut self.facts);
        if let Some(part) = self.too_deep {
            self.facts.problem(part, "nested too deep: the inner code was left out".to_owned());
        }
    }
}
