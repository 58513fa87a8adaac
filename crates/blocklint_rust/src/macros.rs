//! Macro invocations: the text between the delimiters is parsed once more, as expressions.
//!
//! The text is parsed as a tuple, an array, a block or items. If that fails, and the macro is known to have arguments
//! (`info!`), each part between commas is parsed alone. An arm `pattern = future => value` of `select!` awaits the
//! future, binds its result to the pattern and returns the value. Of arms `pattern => { … }` of a macro of the file the
//! blocks are parsed. Text that parses in none of these ways stays unknown.
//! Offsets are those of the file.

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
enum MacroKind {
    /// Arguments between commas, some of them with a syntax of their own (`key = %value`, `"key": value`).
    Arguments,
    /// The body of an asynchronous generator.
    Stream,
    /// Text that is no code, or is code that runs elsewhere.
    NoCode,
    /// Unknown: it is walked if the whole text parses.
    Unknown,
}

/// The parts of a macro's text that are parsed alone, if the whole text is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MacroParts {
    /// Each part between commas.
    Arguments,
    /// The blocks of arms `pattern => { … }`.
    BlocksOfArms,
    /// None.
    None,
}

/// Returns the kind of a macro by its last name.
fn macro_kind(name: &str) -> MacroKind {
    match name {
        "stream" | "try_stream" => MacroKind::Stream,
        "quote" | "quote_spanned" | "parse_quote" | "html" | "asm" | "global_asm" | "stringify" | "concat"
        | "include" | "include_str" | "include_bytes" | "env" | "option_env" | "cfg" | "matches" | "line" | "file"
        | "column" | "module_path" | "macro_rules" => MacroKind::NoCode,
        "print" | "println" | "eprint" | "eprintln" | "format" | "format_args" | "write" | "writeln" | "panic"
        | "todo" | "unimplemented" | "unreachable" | "assert" | "assert_eq" | "assert_ne" | "debug_assert"
        | "debug_assert_eq" | "debug_assert_ne" | "dbg" | "vec" | "trace" | "debug" | "info" | "warn" | "error"
        | "log" | "event" | "span" | "trace_span" | "debug_span" | "info_span" | "warn_span" | "error_span"
        | "anyhow" | "bail" | "ensure" | "eyre" | "whatever" | "format_err" | "json" | "join" | "try_join" | "pin"
        | "pin_mut" | "ready" | "try_ready" | "hashmap" | "btreemap" | "hashset" | "smallvec" | "params"
        | "slog_info" | "slog_debug" | "slog_warn" | "slog_error" => MacroKind::Arguments,
        _ => MacroKind::Unknown,
    }
}

impl Walker<'_> {
    /// Walks a macro invocation in an expression.
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
        let macro_kind = macro_kind(&text);
        if macro_kind == MacroKind::Stream
            && let Some(form) = self.walk_stream_macro(tokens)
        {
            return form;
        }
        let mut arm_values = Vec::new();
        let args = match self.walk_select_arms(tokens, &mut arm_values) {
            _ if macro_kind == MacroKind::NoCode => Vec::new(),
            Some(args) => args,
            None => {
                let is_deferred = self.deferred_arguments_of(path);
                let parts = match macro_kind {
                    MacroKind::Arguments => MacroParts::Arguments,
                    _ if self.is_macro_of_file(path) => MacroParts::BlocksOfArms,
                    _ => MacroParts::None,
                };
                self.walk_macro_parts(tokens, parts, &is_deferred)
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
        if !arm_values.is_empty() {
            return self.ends(arm_values);
        }
        self.form(Form::Result(site))
    }

    /// Walks `stream! { … }`, which is a body that runs when the stream is polled.
    fn walk_stream_macro(&mut self, tokens: Node<'_>) -> Option<FormId> {
        let tree = self.parse_range(tokens.byte_range(), 0)?;
        let block = single_expression(tree.root_node()).filter(|whole| kind(*whole) == K::Block)?;
        self.macro_depth += 1;
        let form = self.walk_stream_body(block, "<stream>");
        self.macro_depth -= 1;
        Some(form)
    }

    /// Adds the call `sink.write_fmt(…)` of `write!(sink, …)`.
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

    /// Walks a macro invocation among items, which can contain items (`thread_local!`, `lazy_static!`).
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

    /// Returns the form of a macro: the item `name!` of the file, else its path.
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

    /// Walks the items between the delimiters of a macro. Returns false if these are no items.
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

    /// Walks the arguments between the delimiters of a macro.
    pub(crate) fn walk_macro_arguments(&mut self, tokens: Node<'_>) -> Vec<Arg> {
        self.walk_macro_parts(tokens, MacroParts::Arguments, &[])
    }

    /// Returns, for each argument of a macro of the file, true if the macro uses it only in closures and async blocks.
    fn deferred_arguments_of(&mut self, path: Node<'_>) -> Vec<bool> {
        if self.deferred_arguments.is_empty() || kind(path) != K::Identifier {
            return Vec::new();
        }
        let name = format!("{}!", self.text(path));
        let name = self.facts.intern(&name);
        self.deferred_arguments.get(&name).cloned().unwrap_or_default()
    }

    /// Walks the arguments between the delimiters of a macro. If the whole text does not parse, its `parts` are parsed
    /// alone.
    fn walk_macro_parts(&mut self, tokens: Node<'_>, parts: MacroParts, is_deferred: &[bool]) -> Vec<Arg> {
        // Empty delimiters would parse as the unit value.
        if tokens.end_byte() - tokens.start_byte() <= 2 {
            return Vec::new();
        }
        if let Some(tree) = self.parse_range(tokens.byte_range(), 0)
            && let Some(whole) = single_expression(tree.root_node())
        {
            self.macro_depth += 1;
            let args = match kind(whole) {
                K::TupleExpr | K::ArrayExpr | K::Paren => {
                    let parts: Vec<Node<'_>> = named(whole).filter(|part| kind(*part) != K::AttributeItem).collect();
                    let parts = parts.into_iter().enumerate();
                    let is_deferred_at = |index: usize| is_deferred.get(index) == Some(&true);
                    parts
                        .map(|(index, part)| {
                            if is_deferred_at(index) {
                                self.walk_deferred_argument(part)
                            } else {
                                self.walk_macro_argument(part)
                            }
                        })
                        .collect()
                }
                _ if is_deferred.first() == Some(&true) => vec![self.walk_deferred_argument(whole)],
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
        match parts {
            MacroParts::Arguments => {}
            MacroParts::BlocksOfArms => {
                self.walk_block_arms(tokens, 2);
                return Vec::new();
            }
            MacroParts::None => return Vec::new(),
        }
        let mut args = Vec::new();
        for part in split_at_commas(tokens) {
            let (name, rest) = split_named_part(&part);
            let Some(part) = range_of_tokens(rest) else { continue };
            let group = rest.first().copied().filter(|only| rest.len() == 1 && kind(*only) == K::TokenTree);
            let span = span_of_range(&part);
            let mut arg = Arg { name: NO_NAME, value: self.other(), span };
            self.macro_depth += 1;
            let tree = self.parse_range(part, 0);
            if let Some(expression) = tree.as_ref().and_then(|tree| single_expression(tree.root_node())) {
                arg = self.walk_macro_argument(expression);
            } else if let Some(group) = group {
                // `json!({ "a": f() })` has a syntax of its own, which can contain calls.
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

    /// True if the file defines a macro of this name.
    fn is_macro_of_file(&mut self, path: Node<'_>) -> bool {
        let form = self.resolve_macro(path);
        matches!(self.facts.facts().form(form), Form::Var(_))
    }

    /// Walks the blocks of arms `pattern => { … }` in text that is no expression, down to `depth` braces:
    /// `by_kind!(kind { LOCAL => { issue().await }, })`.
    fn walk_block_arms(&mut self, tokens: Node<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let group = self.facts.group();
        let mut follows_arrow = false;
        for token in all(tokens) {
            let is_block = kind(token) == K::TokenTree && all(token).next().is_some_and(|sign| sign.kind() == "{");
            if is_block && follows_arrow {
                self.walk_block_arm(token, group);
            } else if is_block {
                self.walk_block_arms(token, depth);
            }
            follows_arrow = kind(token) == K::FatArrow;
        }
    }

    /// Walks the block of one arm, which runs in some cases.
    fn walk_block_arm(&mut self, block: Node<'_>, group: u32) {
        let Some(tree) = self.parse_range(block.byte_range(), 0) else { return };
        let Some(expression) = single_expression(tree.root_node()) else { return };
        let region = self.open_arm(RegionKind::Case, group, FormId::NONE, span(block));
        self.in_region(region, |walker| {
            walker.macro_depth += 1;
            walker.walk_expr(expression);
            walker.macro_depth -= 1;
        });
    }

    /// Walks one argument; `name = value` is a named argument.
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

    /// Walks an argument that the macro puts into a closure.
    fn walk_deferred_argument(&mut self, node: Node<'_>) -> Arg {
        let name = self.facts.intern("<closure>");
        let body = self.add_body(BodyKind::Lambda, Flow::Sync, name, span(node), span(node));
        let place = self.enter_body(body, ClassId::NONE);
        let value = self.walk_value(node);
        self.add_exit(ExitKind::Return, value, span(node));
        self.leave_body(place);
        Arg { name: NO_NAME, value: self.form(Form::Callable(body)), span: span(node) }
    }

    /// Walks `vec![…]`, which is a list display.
    fn walk_vec_macro(&mut self, tokens: Node<'_>) -> Option<FormId> {
        let tree = self.parse_range(tokens.byte_range(), 0)?;
        let whole = single_expression(tree.root_node())?;
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

    /// Walks arms `pattern = future => value` of `select!`. Returns the futures as arguments and adds the forms of the
    /// values to `arm_values`. Returns `None` if there are no such arms.
    fn walk_select_arms(&mut self, tokens: Node<'_>, arm_values: &mut Vec<FormId>) -> Option<Vec<Arg>> {
        let arms = select_arms(tokens)?;
        let group = self.facts.group();
        let mut args = Vec::new();
        let mut awaited_forms = Vec::new();
        // All futures are created before the first of them is awaited.
        for arm in &arms {
            let Some(future) = &arm.future else {
                awaited_forms.push(None);
                continue;
            };
            let form = match self.parse_range(future.clone(), 0) {
                Some(tree) => match single_expression(tree.root_node()) {
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
            args.push(Arg { name: NO_NAME, value: form, span: span_of_range(future) });
            awaited_forms.push(Some(self.form(Form::Await(form))));
        }
        for (arm, awaited) in arms.into_iter().zip(awaited_forms) {
            let arm_span = blocklint_core::Span::new(arm.start as u32, arm.value.end as u32);
            let region = self.open_arm(RegionKind::Case, group, FormId::NONE, arm_span);
            self.scopes.open(ScopeKind::Open);
            let end = self.in_region(region, |walker| {
                walker.macro_depth += 1;
                if let (Some(pattern), Some(awaited)) = (arm.pattern, awaited) {
                    walker.bind_select_pattern(pattern, awaited);
                }
                let end = match walker.parse_range(arm.value, 0) {
                    Some(tree) => match single_expression(tree.root_node()) {
                        Some(expression) => walker.walk_expr(expression),
                        None => walker.other(),
                    },
                    None => walker.other(),
                };
                walker.macro_depth -= 1;
                end
            });
            self.scopes.close();
            arm_values.push(end);
        }
        Some(args)
    }

    /// Binds the pattern of an arm. The grammar parses a pattern only in a `let`.
    fn bind_select_pattern(&mut self, pattern: std::ops::Range<usize>, waited: FormId) {
        let Some(tree) = self.parse_range(pattern, LET.len()) else { return };
        let Some(pattern) = named(tree.root_node()).next().and_then(|binding| child(binding, fields().pattern)) else {
            return;
        };
        self.bind_pattern(pattern, waited);
    }

    /// Parses a range of the file, with the last `lead` bytes of `let ` in place of the bytes before the range. Returns
    /// `None` if the range has a syntax error, or macros nest too deeply.
    fn parse_range(&mut self, range: std::ops::Range<usize>, lead: usize) -> Option<Tree> {
        self.parse_pieces(&[range], lead)
    }

    /// Parses the concatenation of several ranges, as [`Self::parse_range`] does for one.
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
        // A statement ends in `;`. The reader returns one for the offset at the end of the file.
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
                // In chunks: the parser calls the reader again for the rest.
                &source[offset..end.min(offset + 4096)]
            }
        };
        let started = self.macro_parse_time.map(|_| Instant::now());
        let tree = self.parser.parse_with_options(&mut read, None, None::<ParseOptions<'_>>);
        if let (Some(macro_parse_time), Some(started)) = (&mut self.macro_parse_time, started) {
            *macro_parse_time += started.elapsed();
        }
        let tree = tree?;
        if tree.root_node().has_error() { None } else { Some(tree) }
    }
}

const LET: &[u8] = b"let ";

/// Returns the only expression of a parsed range; `None` if there are several.
pub(crate) fn single_expression(root: Node<'_>) -> Option<Node<'_>> {
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

/// Returns the name and the value of `name = value`. A format sign (`%error`, `?state`) and a key (`"key": value`) are
/// left out.
fn split_named_part<'t, 'a>(tokens: &'a [Node<'t>]) -> (Option<Node<'t>>, &'a [Node<'t>]) {
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

/// Splits the tokens of a token tree at commas, semicolons and `=>`.
fn split_at_commas(tokens: Node<'_>) -> Vec<Vec<Node<'_>>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let count = tokens.child_count() as usize;
    for (index, token) in all(tokens).enumerate() {
        if index == 0 || index + 1 == count {
            continue;
        }
        if matches!(kind(token), K::Comma | K::Semicolon | K::FatArrow) {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            continue;
        }
        part.push(token);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// One arm of `select!`.
struct SelectArm {
    start: usize,
    pattern: Option<std::ops::Range<usize>>,
    future: Option<std::ops::Range<usize>>,
    value: std::ops::Range<usize>,
}

/// Returns the arms between the braces of `select!`, if at least one has a future.
fn select_arms(tokens: Node<'_>) -> Option<Vec<SelectArm>> {
    let tokens: Vec<Node<'_>> = all(tokens).collect();
    let tokens = tokens.get(1..tokens.len().checked_sub(1)?)?;
    if !tokens.iter().any(|token| kind(*token) == K::FatArrow) {
        return None;
    }
    let mut arms = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        // Commas behind blocks, and `biased;`.
        if matches!(kind(tokens[index]), K::Comma | K::Semicolon) {
            index += 1;
            continue;
        }
        if tokens.get(index + 1).is_some_and(|next| kind(*next) == K::Semicolon) {
            index += 2;
            continue;
        }
        let arrow = index + tokens[index..].iter().position(|token| kind(*token) == K::FatArrow)?;
        let left = &tokens[index..arrow];
        let equals = left.iter().position(|token| kind(*token) == K::Equals);
        let (pattern, future) = match equals {
            Some(equals) => {
                let guard = left.iter().skip(equals).position(|token| kind(*token) == K::Comma);
                let end = guard.map_or(left.len(), |guard| equals + guard);
                (range_of_tokens(&left[..equals]), range_of_tokens(&left[equals + 1..end]))
            }
            None => (None, None),
        };
        let first = arrow + 1;
        // A block ends the arm; any other value ends at the comma.
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
        let value = range_of_tokens(tokens.get(first..end)?)?;
        arms.push(SelectArm { start: tokens[index].start_byte(), pattern, future, value });
        index = end;
    }
    arms.iter().any(|arm| arm.future.is_some()).then_some(arms)
}

fn span_of_range(range: &std::ops::Range<usize>) -> blocklint_core::Span {
    blocklint_core::Span::new(range.start as u32, range.end as u32)
}

fn range_of_tokens(tokens: &[Node<'_>]) -> Option<std::ops::Range<usize>> {
    Some(tokens.first()?.start_byte()..tokens.last()?.end_byte())
}
