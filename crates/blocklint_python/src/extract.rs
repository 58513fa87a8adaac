//! The entry: bytes in, facts out.

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
    /// Bytes a file may have, at most 1 GiB; a longer one gives no facts but one problem. A parsed tree takes about
    /// 35 times its text.
    pub max_bytes: usize,
}

/// Spans count in 32 bits, and a text can grow when it is decoded.
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

/// Returns the facts of a Python file. Parts that cannot be read are left out and named in [`FileFacts::problems`],
/// once per cause; spans count the bytes of [`decode`]'s text.
///
/// Run it on a thread with [`crate::STACK_SIZE`] of stack: ruff's parser grows its stack where it needs to, but
/// dropping its tree recurses.
pub fn extract_with(bytes: &[u8], limits: &Limits) -> FileFacts {
    extract_watched(bytes, limits, || {})
}

/// As [`extract_with`]; `parsed` is called once the tree stands, before it is walked, so that a caller can measure the
/// time of each part.
pub fn extract_watched(bytes: &[u8], limits: &Limits, parsed: impl FnOnce()) -> FileFacts {
    let facts = FactsBuilder::new(Language::Python, bytes);
    let most = limits.max_bytes.min(ADDRESSABLE_BYTES);
    if bytes.len() > most {
        let message = format!("skipped: {} bytes, more than the {most} that are read", bytes.len());
        return nothing(facts, Problem { span: Span::default(), message });
    }
    facts_of(facts, decode(bytes), Mode::Module, parsed)
}

/// Returns the facts of a Jupyter notebook, within the same limits: those of its Python code cells, one below the
/// other; spans count the bytes of [`crate::decode_notebook`]'s text. Lines that only IPython knows (`%`, `!`, `?`) run
/// nothing that blocklint knows, and a notebook in another language shows nothing.
///
/// The top level of a cell runs when a person runs the cell, so it is no coroutine, also where it awaits.
pub fn extract_notebook(bytes: &[u8], limits: &Limits, parsed: impl FnOnce()) -> FileFacts {
    let facts = FactsBuilder::new(Language::Python, bytes);
    let most = limits.max_bytes.min(ADDRESSABLE_BYTES);
    if bytes.len() > most {
        let message = format!("skipped: {} bytes, more than the {most} that are read", bytes.len());
        return nothing(facts, Problem { span: Span::default(), message });
    }
    match decode_notebook(bytes) {
        Ok(notebook) => facts_of(facts, notebook.decoded(), Mode::Ipython, parsed),
        Err(message) => nothing(facts, Problem { span: Span::default(), message }),
    }
}

/// Returns the facts of a Python file, as [`extract`] does, and all its expressions with their places.
pub fn expressions(bytes: &[u8]) -> (FileFacts, Vec<Expression>) {
    let mut written = Some(Vec::new());
    let facts = FactsBuilder::new(Language::Python, bytes);
    let facts = facts_and_places(facts, decode(bytes), Mode::Module, || {}, &mut written);
    (facts, written.unwrap_or_default())
}

/// Returns the facts of a text.
fn facts_of(facts: FactsBuilder, decoded: Decoded<'_>, mode: Mode, parsed: impl FnOnce()) -> FileFacts {
    facts_and_places(facts, decoded, mode, parsed, &mut None)
}

/// Returns the facts of a text; `written` gets the places of its expressions, if it has room for them.
fn facts_and_places(
    mut facts: FactsBuilder,
    decoded: Decoded<'_>,
    mode: Mode,
    parsed: impl FnOnce(),
    written: &mut Option<Vec<Expression>>,
) -> FileFacts {
    let tree_stands = parsed;
    let source = &*decoded.text;
    if let Some(problem) = depth::refuse(source) {
        return nothing(facts, problem);
    }
    if let Some(problem) = decoded.problem {
        facts.problem(problem.span, problem.message);
    }
    // The version changes only which syntax the parser calls too new, which is no concern here.
    let options = ParseOptions::from(mode).with_target_version(PythonVersion::latest());
    // The parser is another project's; a mistake in it must not end the run over all other files.
    let Ok(parsed) = std::panic::catch_unwind(|| parse_unchecked(source, options)) else {
        return nothing(facts, Problem { span: Span::default(), message: "skipped: the parser failed".to_owned() });
    };
    tree_stands();
    if let Some(problem) = syntax_problem(source, parsed.errors()) {
        facts.problem(problem.span, problem.message);
    }
    let mut walker = Walker::new(source, facts);
    walker.written = written.take();
    if let Mod::Module(module) = parsed.syntax() {
        walker.module(module);
    }
    *written = walker.written.take();
    let mut facts = walker.facts;
    comments::collect(source, parsed.tokens(), &mut facts);
    facts.finish()
}

/// Facts of a file that is not read: its top level alone.
fn nothing(mut facts: FactsBuilder, problem: Problem) -> FileFacts {
    facts.problem(problem.span, problem.message);
    let mut walker = Walker::new("", facts);
    let outer = walker.enter(BodyKind::Module, blocklint_facts::Sym::NONE, Span::default(), Span::default());
    walker.leave(outer);
    walker.facts.finish()
}

/// One line for all syntax errors.
fn syntax_problem(source: &str, errors: &[ParseError]) -> Option<Problem> {
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
    fn module(&mut self, module: &ruff_python_ast::ModModule) {
        let whole = TextRange::up_to(ruff_text_size::TextSize::of(self.source));
        let outer = self.enter(BodyKind::Module, blocklint_facts::Sym::NONE, span(whole), span(TextRange::default()));
        self.suite(&module.body);
        self.leave(outer);
        std::mem::take(&mut self.scopes).settle(&mut self.facts);
        if let Some(part) = self.too_deep {
            self.facts.problem(part, "nested too deep: what is inside was left out".to_owned());
        }
    }
}
