//! Macros: their arguments are parsed once more, as expressions.
//!
//! The text between the delimiters is read as a tuple, an array, a block or items, whichever it is; where that does not
//! parse, and the macro is known to take parts, each part between commas is read by itself. Arms `pattern = future =>
//! value` (`select!`) are read as waiting for the future, binding its result and going on with the value. Text that
//! does not parse in any of these ways stays unknown. Offsets are those of the file.

use std::time::Instant;

use blocklint_facts::{
    Arg, BodyKind, ClassId, DisplayKind, ExitKind, Flow, Form, FormId, List, RegionKind, Site, SiteFlags, SiteKind,
};
use tree_sitter::{Node, ParseOptions, Point, Range, Tree};

use crate::NO_NAME;
use crate::attrs::last_segment;
use crate::kinds::{K, all, child, fields, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{MAX_MACRO_DEPTH, Walker, Walking, span};

/// The kind of text between the delimiters of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Parts between commas, some of them with a grammar of their own (`key = %value`, `"key": value`).
    Parts,
    /// The body of an asynchronous generator.
    Stream,
    /// Text that becomes code elsewhere, or no code at all.
    Quoted,
    /// Not known: read where it parses whole.
    Unknown,
}

/// Returns the shapes of macros by their last name.
fn shape(name: &str) -> Shape {
    match name {
        "stream" | "try_stream" => Shape::Stream,
        "quote" | "quote_spanned" | "parse_quote" | "html" | "asm" | "global_asm" | "stringify" | "concat"
        | "include" | "include_str" | "include_bytes" | "env" | "option_env" | "cfg" | "matches" | "line" | "file"
        | "column" | "module_path" | "macro_rules" => Shape::Quoted,
        "print" | "println" | "eprint" | "eprintln" | "format" | "format_args" | "write" | "writeln" | "panic"
        | "todo" | "unimplemented" | "unreachable" | "assert" | "assert_eq" | "assert_ne" | "debug_assert"
        | "debug_assert_eq" | "debug_assert_ne" | "dbg" | "vec" | "trace" | "debug" | "info" | "warn" | "error"
        | "log" | "event" | "span" | "trace_span" | "debug_span" | "info_span" | "warn_span" | "error_span"
        | "anyhow" | "bail" | "ensure" | "eyre" | "whatever" | "format_err" | "json" | "join" | "try_join" | "pin"
        | "pin_mut" | "ready" | "try_ready" | "hashmap" | "btreemap" | "hashset" | "smallvec" | "params"
        | "slog_info" | "slog_debug" | "slog_warn" | "slog_error" => Shape::Parts,
        _ => Shape::Unknown,
    }
}

impl Walker<'_> {
    /// Returns a macro in an expression's place.
    pub(crate) fn walk_macro_expr(&mut self, node: Node<'_>) -> FormId {
        let Some(path) = child(node, fields().macro_name) else { return self.other() };
        let Some(tokens) = all(node).find(|part| kind(*part) == K::TokenTree) else { return self.other() };
        let name_node = last_segment(path);
        let text = self.text(name_node);
        if text == "vec"
            && let Some(form) = self.walk_vec_macro(tokens)
        {
            return form;
        }
        let shape = shape(&text);
        if shape == Shape::Stream
            && let Some(form) = self.walk_stream_macro(tokens)
        {
            return form;
        }
        let mut ends = Vec::new();
        let args = match self.walk_select_arms(tokens, &mut ends) {
            _ if shape == Shape::Quoted => Vec::new(),
            Some(args) => args,
            None => {
                let later = self.deferred_arguments_of(path);
                self.walk_macro_parts(tokens, shape == Shape::Parts, &later)
            }
        };
        if matches!(&*text, "write" | "writeln")
            && let Some((sink, rest)) = args.split_first()
        {
            return self.add_write_fmt_call(node, name_node, sink.value, rest);
        }
        let site = self.add_macro_site(node, path, &args);
        if matches!(&*text, "panic" | "unreachable" | "todo" | "unimplemented") {
            return FormId::NONE;
        }
        if !ends.is_empty() {
            return self.ends(ends);
        }
        self.form(Form::Result(site))
    }

    /// `stream! { … }`: a body that runs where the stream is polled.
    fn walk_stream_macro(&mut self, tokens: Node<'_>) -> Option<FormId> {
        let tree = self.parse_range(tokens.byte_range(), 0)?;
        let block = only_expression(tree.root_node()).filter(|whole| kind(*whole) == K::Block)?;
        self.macro_depth += 1;
        let form = self.walk_stream_body(block, "<stream>");
        self.macro_depth -= 1;
        Some(form)
    }

    /// `write!(sink, …)` calls `sink.write_fmt(…)`.
    fn add_write_fmt_call(&mut self, node: Node<'_>, name_node: Node<'_>, sink: FormId, args: &[Arg]) -> FormId {
        let name = self.facts.intern("write_fmt");
        let callee = self.form(Form::Attr(sink, name));
        let at = self.at();
        let site = self.facts.site(
            Site {
                kind: SiteKind::Call,
                flags: SiteFlags::default(),
                callee,
                name,
                args: List::EMPTY,
                at,
                span: span(node),
                name_span: span(name_node),
            },
            args,
        );
        self.form(Form::Result(site))
    }

    /// A macro in an item's place: its content may be items (`thread_local!`, `lazy_static!`).
    pub(crate) fn walk_item_macro(&mut self, node: Node<'_>) {
        let Some(path) = child(node, fields().macro_name) else { return };
        let Some(tokens) = all(node).find(|part| kind(*part) == K::TokenTree) else { return };
        let mut args = Vec::new();
        if !self.walk_macro_items(tokens) {
            args = self.walk_macro_arguments(tokens);
        }
        self.add_macro_site(node, path, &args);
    }

    fn add_macro_site(&mut self, node: Node<'_>, path: Node<'_>, args: &[Arg]) -> blocklint_facts::SiteId {
        let callee = self.resolve_macro(path);
        let name_node = last_segment(path);
        let name = self.name_symbol(name_node);
        let at = self.at();
        self.facts.site(
            Site {
                kind: SiteKind::Macro,
                flags: SiteFlags::default(),
                callee,
                name,
                args: List::EMPTY,
                at,
                span: span(node),
                name_span: span(name_node),
            },
            args,
        )
    }

    /// Returns a macro by its name: one of the file, else its path.
    fn resolve_macro(&mut self, path: Node<'_>) -> FormId {
        if self.has_macros && kind(path) == K::Identifier {
            let text = self.text(path).into_owned();
            let name = self.facts.intern(&format!("{text}!"));
            if let Some(var) = self.scopes.resolve_item(name) {
                return self.var_form(var);
            }
        }
        self.path_form(path)
    }

    /// Reads the items between a macro's delimiters; true if there are any.
    fn walk_macro_items(&mut self, tokens: Node<'_>) -> bool {
        let range = (tokens.start_byte() + 1)..tokens.end_byte().saturating_sub(1);
        let first = all(tokens).nth(1).map(|token| token.kind());
        if !matches!(
            first,
            Some("static" | "const" | "fn" | "struct" | "enum" | "pub" | "impl" | "trait" | "use" | "mod" | "#")
        ) {
            return false;
        }
        let Some(tree) = self.parse_range(range, 0) else { return false };
        self.macro_depth += 1;
        self.walk_items(tree.root_node());
        self.macro_depth -= 1;
        true
    }

    /// Returns the arguments between a macro's delimiters.
    pub(crate) fn walk_macro_arguments(&mut self, tokens: Node<'_>) -> Vec<Arg> {
        self.walk_macro_parts(tokens, true, &[])
    }

    /// Which arguments a macro of the file runs later than where it is called.
    fn deferred_arguments_of(&mut self, path: Node<'_>) -> Vec<bool> {
        if self.deferring.is_empty() || kind(path) != K::Identifier {
            return Vec::new();
        }
        let name = format!("{}!", self.text(path));
        let name = self.facts.intern(&name);
        self.deferring.get(&name).cloned().unwrap_or_default()
    }

    /// Returns the arguments between a macro's delimiters; where they do not parse together, `apart`.
    fn walk_macro_parts(&mut self, tokens: Node<'_>, apart: bool, later: &[bool]) -> Vec<Arg> {
        // An empty pair parses as the unit value.
        if tokens.end_byte() - tokens.start_byte() <= 2 {
            return Vec::new();
        }
        if let Some(tree) = self.parse_range(tokens.byte_range(), 0)
            && let Some(whole) = only_expression(tree.root_node())
        {
            self.macro_depth += 1;
            let args = match kind(whole) {
                K::TupleExpr | K::ArrayExpr | K::Paren => {
                    let parts: Vec<Node<'_>> = named(whole).filter(|part| kind(*part) != K::AttributeItem).collect();
                    let parts = parts.into_iter().enumerate();
                    let is_later = |at: usize| later.get(at) == Some(&true);
                    parts
                        .map(|(at, part)| {
                            if is_later(at) {
                                self.walk_deferred_argument(part)
                            } else {
                                self.walk_macro_argument(part)
                            }
                        })
                        .collect()
                }
                _ if later.first() == Some(&true) => vec![self.walk_deferred_argument(whole)],
                K::Block => {
                    let value = self.walk_block(whole);
                    if value.form.is_some() {
                        vec![Arg { name: NO_NAME, value: value.form, span: value.span }]
                    } else {
                        Vec::new()
                    }
                }
                _ => vec![Arg { name: NO_NAME, value: self.walk_value(whole), span: span(whole) }],
            };
            self.macro_depth -= 1;
            return args;
        }
        if !apart {
            return Vec::new();
        }
        let mut args = Vec::new();
        for part in split(tokens) {
            let (name, rest) = named_part(&part);
            let Some(part) = range_of(rest) else { continue };
            let group = rest.first().copied().filter(|only| rest.len() == 1 && kind(*only) == K::TokenTree);
            let span = range_span(&part);
            let mut arg = Arg { name: NO_NAME, value: self.other(), span };
            self.macro_depth += 1;
            let tree = self.parse_range(part, 0);
            if let Some(expression) = tree.as_ref().and_then(|tree| only_expression(tree.root_node())) {
                arg = self.walk_macro_argument(expression);
            } else if let Some(group) = group {
                // `json!({ "a": f() })`: a value of its own grammar, in which calls may stand.
                self.walk_macro_arguments(group);
            }
            self.macro_depth -= 1;
            if let Some(name) = name {
                arg.name = self.name_symbol(name);
            }
            args.push(arg);
        }
        args
    }

    /// One argument; `name = value` is named.
    fn walk_macro_argument(&mut self, node: Node<'_>) -> Arg {
        let f = fields();
        if kind(node) == K::Assignment
            && let (Some(left), Some(right)) = (child(node, f.left), child(node, f.right))
            && kind(left) == K::Identifier
        {
            let name = self.name_symbol(left);
            return Arg { name, value: self.walk_value(right), span: span(right) };
        }
        Arg { name: NO_NAME, value: self.walk_value(node), span: span(node) }
    }

    /// Returns an argument that a macro puts into a closure.
    fn walk_deferred_argument(&mut self, node: Node<'_>) -> Arg {
        let name = self.facts.intern("<closure>");
        let body = self.add_body(BodyKind::Lambda, Flow::Sync, name, span(node), span(node));
        let place = self.enter_body(body, ClassId::NONE);
        let value = self.walk_value(node);
        self.add_exit(ExitKind::Return, value, span(node));
        self.leave_body(place);
        Arg { name: NO_NAME, value: self.form(Form::Callable(body)), span: span(node) }
    }

    /// `vec![…]` is a list display.
    fn walk_vec_macro(&mut self, tokens: Node<'_>) -> Option<FormId> {
        let tree = self.parse_range(tokens.byte_range(), 0)?;
        let whole = only_expression(tree.root_node())?;
        self.macro_depth += 1;
        let form = match kind(whole) {
            K::ArrayExpr => Some(self.walk_value(whole)),
            K::TupleExpr | K::Paren => {
                let parts: Vec<Node<'_>> = named(whole).collect();
                let parts: Vec<FormId> = parts.into_iter().map(|part| self.walk_value(part)).collect();
                Some(self.display_form(DisplayKind::List, &parts))
            }
            _ => None,
        };
        self.macro_depth -= 1;
        form
    }

    /// Arms `pattern = future => value`: gives the futures, adds the values. `None` if there are none.
    fn walk_select_arms(&mut self, tokens: Node<'_>, ends: &mut Vec<FormId>) -> Option<Vec<Arg>> {
        let arms = race_arms(tokens)?;
        let group = self.facts.group();
        let mut args = Vec::new();
        let mut waits = Vec::new();
        // All futures are made before one of them is waited for.
        for arm in &arms {
            let Some(future) = &arm.future else {
                waits.push(None);
                continue;
            };
            let form = match self.parse_range(future.clone(), 0) {
                Some(tree) => match only_expression(tree.root_node()) {
                    Some(expression) => {
                        self.macro_depth += 1;
                        let form = self.walk_value(expression);
                        self.macro_depth -= 1;
                        form
                    }
                    None => self.other(),
                },
                None => self.other(),
            };
            if let Form::Result(site) = self.facts.facts().form(form) {
                self.flag(site, SiteFlags::AWAITED);
            }
            args.push(Arg { name: NO_NAME, value: form, span: range_span(future) });
            waits.push(Some(self.form(Form::Await(form))));
        }
        for (arm, waited) in arms.into_iter().zip(waits) {
            let whole = blocklint_core::Span::new(arm.start as u32, arm.value.end as u32);
            let region = self.arm_here(RegionKind::Case, group, FormId::NONE, whole);
            self.scopes.open(ScopeKind::Open);
            let end = self.within(region, |walker| {
                walker.macro_depth += 1;
                if let (Some(pattern), Some(waited)) = (arm.pattern, waited) {
                    walker.bind_select_pattern(pattern, waited);
                }
                let end = match walker.parse_range(arm.value, 0) {
                    Some(tree) => match only_expression(tree.root_node()) {
                        Some(expression) => walker.walk_expr(expression),
                        None => walker.other(),
                    },
                    None => walker.other(),
                };
                walker.macro_depth -= 1;
                end
            });
            self.scopes.close();
            ends.push(end);
        }
        Some(args)
    }

    /// Binds the pattern of an arm, which only a `let` can be read as.
    fn bind_select_pattern(&mut self, pattern: std::ops::Range<usize>, waited: FormId) {
        let Some(tree) = self.parse_range(pattern, LET.len()) else { return };
        let Some(pattern) = named(tree.root_node()).next().and_then(|binding| child(binding, fields().pattern)) else {
            return;
        };
        self.bind_pattern(pattern, waited);
    }

    /// Parses a range of the file by itself. With `lead` bytes of `let ` laid over what stands before it. `None` if
    /// it does not parse whole, or macros nest too deep.
    fn parse_range(&mut self, range: std::ops::Range<usize>, lead: usize) -> Option<Tree> {
        self.parse_pieces(&[range], lead)
    }

    /// Parses pieces that follow each other with something left out between them; otherwise as [`Self::parse_range`].
    pub(crate) fn parse_pieces(&mut self, pieces: &[std::ops::Range<usize>], lead: usize) -> Option<Tree> {
        let (first, last) = (pieces.first()?.start, pieces.last()?.end);
        if self.macro_depth >= MAX_MACRO_DEPTH || first >= last || first < lead {
            return None;
        }
        let source = self.source;
        let end = source.len();
        let point = Point::new(0, 0);
        let part =
            |start: usize, end: usize| Range { start_byte: start, end_byte: end, start_point: point, end_point: point };
        let mut ranges: Vec<Range> = pieces.iter().map(|piece| part(piece.start, piece.end)).collect();
        ranges[0].start_byte -= lead;
        // A statement ends in `;`, which is read from behind the end of the file.
        if last < end {
            ranges.push(part(end, end + 1));
        }
        self.parser.set_included_ranges(&ranges).ok()?;
        let mut read = |offset: usize, _: Point| -> &[u8] {
            if offset < first && offset >= first - lead {
                &LET[offset - (first - lead)..]
            } else if offset >= end {
                &b";"[(offset - end).min(1)..]
            } else {
                // In pieces: the reader asks again for what it has not got.
                &source[offset..end.min(offset + 4096)]
            }
        };
        let started = self.again.map(|_| Instant::now());
        let tree = self.parser.parse_with_options(&mut read, None, None::<ParseOptions<'_>>);
        if let (Some(again), Some(started)) = (&mut self.again, started) {
            *again += started.elapsed();
        }
        let tree = tree?;
        if tree.root_node().has_error() { None } else { Some(tree) }
    }
}

const LET: &[u8] = b"let ";

/// Returns the one expression that a parsed range is.
pub(crate) fn only_expression(root: Node<'_>) -> Option<Node<'_>> {
    let mut parts = named(root).filter(|part| kind(*part) != K::EmptyStatement);
    let first = parts.next()?;
    if parts.next().is_some() {
        return None;
    }
    match kind(first) {
        K::ExprStatement => named(first).next(),
        K::MacroInvocation => Some(first),
        _ => None,
    }
}

/// Returns the name and value of `name = value`; a sign that tells how to show it (`%error`, `?state`) and a key in
/// front (`"key": value`) are left out.
fn named_part<'t, 'a>(tokens: &'a [Node<'t>]) -> (Option<Node<'t>>, &'a [Node<'t>]) {
    let (name, rest) = match tokens {
        [name, equals, rest @ ..] if kind(*name) == K::Identifier && kind(*equals) == K::Equals => (Some(*name), rest),
        [_, colon, rest @ ..] if colon.kind() == ":" => (None, rest),
        _ => (None, tokens),
    };
    let rest = match rest {
        [sign, rest @ ..] if matches!(sign.kind(), "%" | "?") => rest,
        _ => rest,
    };
    (name, rest)
}

/// Returns the tokens between the commas (and semicolons) of a token tree.
fn split(tokens: Node<'_>) -> Vec<Vec<Node<'_>>> {
    let mut parts = Vec::new();
    let mut open = Vec::new();
    let count = tokens.child_count() as usize;
    for (at, token) in all(tokens).enumerate() {
        if at == 0 || at + 1 == count {
            continue;
        }
        if matches!(kind(token), K::Comma | K::Semicolon | K::FatArrow) {
            if !open.is_empty() {
                parts.push(std::mem::take(&mut open));
            }
            continue;
        }
        open.push(token);
    }
    if !open.is_empty() {
        parts.push(open);
    }
    parts
}

/// One arm of `select!`.
struct Arm {
    start: usize,
    pattern: Option<std::ops::Range<usize>>,
    future: Option<std::ops::Range<usize>>,
    value: std::ops::Range<usize>,
}

/// Returns the arms between a macro's braces, if at least one waits for something.
fn race_arms(tokens: Node<'_>) -> Option<Vec<Arm>> {
    let tokens: Vec<Node<'_>> = all(tokens).collect();
    let tokens = tokens.get(1..tokens.len().checked_sub(1)?)?;
    if !tokens.iter().any(|token| kind(*token) == K::FatArrow) {
        return None;
    }
    let mut arms = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // `biased;` and commas behind blocks.
        if matches!(kind(tokens[at]), K::Comma | K::Semicolon) {
            at += 1;
            continue;
        }
        if tokens.get(at + 1).is_some_and(|next| kind(*next) == K::Semicolon) {
            at += 2;
            continue;
        }
        let arrow = at + tokens[at..].iter().position(|token| kind(*token) == K::FatArrow)?;
        let left = &tokens[at..arrow];
        let equals = left.iter().position(|token| kind(*token) == K::Equals);
        let (pattern, future) = match equals {
            Some(equals) => {
                let guard = left.iter().skip(equals).position(|token| kind(*token) == K::Comma);
                let end = guard.map_or(left.len(), |guard| equals + guard);
                (range_of(&left[..equals]), range_of(&left[equals + 1..end]))
            }
            None => (None, None),
        };
        let first = arrow + 1;
        // A block ends the arm; anything else runs to the comma.
        let is_block = tokens.get(first).is_some_and(|token| {
            kind(*token) == K::TokenTree && all(*token).next().is_some_and(|sign| sign.kind() == "{")
        });
        let end = if is_block {
            first + 1
        } else {
            tokens[first.min(tokens.len())..]
                .iter()
                .position(|token| kind(*token) == K::Comma)
                .map_or(tokens.len(), |comma| first + comma)
        };
        let value = range_of(tokens.get(first..end)?)?;
        arms.push(Arm { start: tokens[at].start_byte(), pattern, future, value });
        at = end;
    }
    arms.iter().any(|arm| arm.future.is_some()).then_some(arms)
}

fn range_span(range: &std::ops::Range<usize>) -> blocklint_core::Span {
    blocklint_core::Span::new(range.start as u32, range.end as u32)
}

fn range_of(tokens: &[Node<'_>]) -> Option<std::ops::Range<usize>> {
    Some(tokens.first()?.start_byte()..tokens.last()?.end_byte())
}
