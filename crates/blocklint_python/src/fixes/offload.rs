//! Edits that move a call to a worker thread: `load(path)` → `await asyncio.to_thread(load, path)`.

use blocklint_core::{Applicability, Offload, Refusal, Span, WrittenEdit};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashSet;

use super::awaited::AwaitedNames;
use super::once::{ONCE, returns_single_instance};
use super::own_files::lists_own_files;
use super::{File, STOP_ITERATION, Site, callee};
use crate::walk::span;

/// The function of asyncio that runs a callable in a thread, since [`TO_THREAD_SINCE`].
const TO_THREAD: &str = "asyncio.to_thread";
const TO_THREAD_SINCE: (u8, u8) = (3, 9);

/// Binds arguments to a callable, where the thread function does not pass them on.
const PARTIAL: &str = "functools.partial";

/// The spans that are replaced, with their new text.
type Edits = Vec<(Span, String)>;

impl<'a> File<'a, '_> {
    /// Passes the callee and its arguments to a function that calls it in a thread. The callee and the arguments are
    /// still evaluated at the same place and in the same order; only the call moves.
    pub(super) fn offload(&self, site: &Site<'a>, to: &[Offload]) -> Result<WrittenEdit, Refusal> {
        if let Expr::Name(name) = &*site.call.func
            && name.id == "next"
        {
            return Err(Refusal::new(STOP_ITERATION));
        }
        // A class of this name creates an object for the event loop, which a program needs only once.
        if callee::last_name(&site.call.func).is_some_and(|name| name.starts_with("Async")) {
            return Err(Refusal::new(
                "its result belongs to the running loop: create it once, when the program starts",
            ));
        }
        if is_logger_call(site.call) {
            return Err(Refusal::new("it writes a log line: configure the logger to write from another thread"));
        }
        if callee::last_name(&site.call.func).is_some_and(is_settings_reader) {
            return Err(Refusal::new("its name says that it reads settings: read them once, when the program starts"));
        }
        if lists_own_files(site.call) {
            return Err(Refusal::new("it lists the program's own files, which is fast"));
        }
        if site.around.is_in_f_string {
            return Err(Refusal::new("the call is inside an f-string: assign its result to a variable first"));
        }
        if site.around.is_method_passed {
            return Err(Refusal::new(
                "a method of the result is passed on: create the object in the function that uses it",
            ));
        }
        if callee::last_name(&site.call.func).is_some_and(|name| ROW_WRITERS.contains(&name)) {
            return Err(Refusal::new("writing one row only fills a buffer: move the whole loop into a function"));
        }
        if self.is_passed_elsewhere(site) {
            return Err(Refusal::new(
                "this file passes the same function to a thread elsewhere, so this direct call may be intended",
            ));
        }
        if let Some(name) = site.around.opened_around.iter().find(|name| mentions(site.call, name)) {
            return Err(Refusal::new(format!(
                "`{name}` was opened by the `with` around it, which stays in this thread"
            )));
        }
        if callee::last_name(&site.call.func).is_some_and(returns_single_instance) {
            return Err(Refusal::new(ONCE));
        }
        // An unused result is no file: `webbrowser.open(url)`, `port.open()`.
        if callee::last_name(&site.call.func) == Some("open") && !site.around.is_statement {
            return Err(Refusal::new(
                "the file is used and closed here: open it in a `with`, so that the block can move",
            ));
        }
        if self.uses_file_of_caller(site) {
            return Err(Refusal::new("the caller opens and closes the file: only half of the work would move"));
        }
        // `open(path).read()`
        let receiver_call = match &*site.call.func {
            Expr::Attribute(attribute) => attribute.value.as_call_expr(),
            _ => None,
        };
        let argument_calls = site.call.arguments.args.iter().filter_map(Expr::as_call_expr);
        if receiver_call.into_iter().chain(argument_calls).any(|call| callee::last_name(&call.func) == Some("open")) {
            return Err(Refusal::new("the file is opened here: open it in a `with`, so that the block can move"));
        }
        if site.around.catches_stop {
            return Err(Refusal::new(STOP_ITERATION));
        }
        self.functions.can_move(site.call, site.around.is_in_handler, &self.locals)?;
        if site.around.is_awaited {
            return Err(Refusal::new("its result is awaited, so it belongs to the running loop"));
        }
        if site.around.is_method_awaited {
            return Err(Refusal::new("a method of its result is awaited, so the result belongs to the running loop"));
        }
        if let Some(function) = site.around.functions.first() {
            let awaited = self.awaited.get_or_init(|| AwaitedNames::collect(self.module));
            if site.around.values_assigned_to.iter().any(|target| awaited.contains_target(target, function.range())) {
                return Err(Refusal::new("its result is awaited later, so it belongs to the running loop"));
            }
        }
        if site.around.is_queue_checked {
            return Err(Refusal::new("the loop checks that the queue is not empty, so the call does not wait"));
        }
        if returns_stream(site.call) && !site.around.is_statement {
            return Err(Refusal::new("it returns a stream, and reading it would still block the thread"));
        }
        if site.around.is_iterated {
            return Err(Refusal::new("`async for` iterates over its result, so it belongs to the running loop"));
        }
        if site.around.runs_for_each_element {
            return Err(Refusal::new("each element would need its own thread: move the comprehension into a function"));
        }
        if site
            .around
            .outer_call
            .is_some_and(|outer_call| callee::last_name(&outer_call.func).is_some_and(is_task_function))
        {
            return Err(Refusal::new("the call returns a coroutine, which must start on the running loop"));
        }
        let (thread_function, written, mut edits) = self.choose_thread_function(site, to)?;
        let Some(thread_function) = thread_function else {
            return self.offload_to_executor(site, &written, edits);
        };
        if site.around.is_in_cleanup && is_cancelled_at_once(&thread_function.path) {
            return Err(Refusal::new(
                "this cleanup can run after a cancellation, and an unshielded `await` would fail",
            ));
        }
        let mut head = format!("{written}(");
        // The brackets that close after those of the call.
        let mut closing = String::new();
        // A keyword argument `func` would be bound to the thread function's own parameter of this name.
        let conflicts = |keyword: &ruff_python_ast::Keyword| keyword.arg.as_ref().is_some_and(|name| name == "func");
        let keywords = &site.call.arguments.keywords;
        if keywords.iter().any(conflicts) || !thread_function.keywords && !keywords.is_empty() {
            let (partial, import_edits) = self.spell_and_import(site, PARTIAL)?;
            edits.extend(import_edits);
            head = format!("{head}{partial}(");
            closing.push(')');
        }
        edits.extend(self.pass_to_function(site, &head, &closing, true));
        Ok(WrittenEdit {
            title: format!("Run in a thread with `{written}`"),
            applicability: Applicability::Unsafe,
            edits,
        })
    }

    /// True if a call reads or writes a file that is a parameter of the function around it: `file.write(data)`.
    fn uses_file_of_caller(&self, site: &Site<'a>) -> bool {
        let (Expr::Attribute(method), Some(function)) = (&*site.call.func, site.around.functions.first()) else {
            return false;
        };
        let receiver = method.value.as_name_expr().map(|name| name.id.as_str());
        let is_file =
            |parameter: &ruff_python_ast::AnyParameterRef<'_>| parameter.annotation().is_none_or(is_file_annotation);
        matches!(method.attr.as_str(), "read" | "readline" | "readlines" | "write" | "writelines" | "flush")
            && receiver.is_some_and(|name| {
                function.parameters.iter().any(|parameter| parameter.name().as_str() == name && is_file(&parameter))
            })
    }

    /// True if the called function is defined in the function around, and passed to another function there, so that the
    /// direct call is intended: `if small: work() else: await to_thread(work)`.
    fn is_passed_elsewhere(&self, site: &Site<'a>) -> bool {
        let (Expr::Name(name), Some(&function)) = (&*site.call.func, site.around.functions.first()) else {
            return false;
        };
        let mut cache = self.passed_functions.borrow_mut();
        cache.entry(function.range()).or_insert_with(|| collect_passed_functions(function)).contains(name.id.as_str())
    }

    /// Returns the function that runs a call in a thread, its spelling, and the edits that import it. If the project
    /// runs on a Python without `asyncio.to_thread`, the function is `None` and the spelling is that of
    /// `get_running_loop`.
    fn choose_thread_function<'o>(
        &self,
        site: &Site<'a>,
        to: &'o [Offload],
    ) -> Result<(Option<&'o Offload>, String, Edits), Refusal> {
        let lacks = |offload: &Offload| offload.path == TO_THREAD && self.supports_older_than(TO_THREAD_SINCE);
        let existing = |offload: &'o Offload| Some((offload, self.spelling_by_existing_import(site, &offload.path)?));
        if let Some((offload, written)) = to.iter().filter(|offload| !lacks(offload)).find_map(existing) {
            return Ok((Some(offload), written, Vec::new()));
        }
        let Some(last) = to.last() else {
            return Err(Refusal::new("the framework has no function that runs a call in a thread"));
        };
        let lacks_last = lacks(last);
        let (written, edits) =
            self.spell_and_import(site, if lacks_last { "asyncio.get_running_loop" } else { &last.path })?;
        Ok(((!lacks_last).then_some(last), written, edits))
    }

    /// Returns the pieces of a call that runs a function without arguments in a thread: the thread function's name for
    /// messages, the text of the call up to the argument (`asyncio.to_thread(`), and the edits that import it.
    pub(super) fn thread_call(&self, site: &Site<'a>, to: &[Offload]) -> Result<(String, String, Edits), Refusal> {
        let (thread_function, written, edits) = self.choose_thread_function(site, to)?;
        match thread_function {
            Some(thread_function) if site.around.is_in_cleanup && is_cancelled_at_once(&thread_function.path) => {
                Err(Refusal::new("this cleanup can run after a cancellation, and an unshielded `await` would fail"))
            }
            Some(_) => Ok((format!("`{written}`"), format!("{written}("), edits)),
            None => Ok(("`run_in_executor`".to_owned(), format!("{written}().run_in_executor(None, "), edits)),
        }
    }

    /// Writes `await asyncio.get_running_loop().run_in_executor(None, load, path)` for `load(path)`.
    fn offload_to_executor(
        &self,
        site: &Site<'a>,
        written: &str,
        mut edits: Vec<(Span, String)>,
    ) -> Result<WrittenEdit, Refusal> {
        let mut head = format!("{written}().run_in_executor(None, ");
        let mut closing = String::new();
        if !site.call.arguments.keywords.is_empty() {
            let (partial, more) = self.spell_and_import(site, PARTIAL)?;
            edits.extend(more);
            head = format!("{head}{partial}(");
            closing.push(')');
        }
        edits.extend(self.pass_to_function(site, &head, &closing, true));
        let (major, minor) = self.oldest.unwrap_or(TO_THREAD_SINCE);
        let title = format!("Run in a thread with `run_in_executor`: the project runs on Python {major}.{minor} too");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// True if the project runs on a Python older than this version.
    fn supports_older_than(&self, version: (u8, u8)) -> bool {
        self.oldest.is_some_and(|oldest| oldest < version)
    }

    /// Returns the edits that turn `f(a, b)` into `await HEADf, a, b)CLOSING`, or the same without `await`.
    pub(super) fn pass_to_function(
        &self,
        site: &Site<'a>,
        head: &str,
        closing: &str,
        awaits: bool,
    ) -> Vec<(Span, String)> {
        let call = site.call;
        let callee = self.callee_range(call);
        let opened = TextRange::new(callee.start(), callee.end() + TextSize::of('('));
        let written = self.text(callee).trim_end();
        let brackets = if site.around.needs_brackets { "(" } else { "" };
        let before = if awaits { format!("{brackets}await {head}") } else { head.to_owned() };
        let (content, below) = self.replace_opening(call, head, written, &before);
        let mut edits = if awaits { self.insert_await(site, opened, &content) } else { vec![(span(opened), content)] };
        edits.extend(below);
        if !closing.is_empty() {
            let end = TextRange::empty(call.range().end());
            match edits.iter_mut().find(|(at, _)| *at == span(end)) {
                Some((_, brackets)) => brackets.insert_str(0, closing),
                None => edits.push((span(end), closing.to_owned())),
            }
        }
        edits.extend(self.bracket_generator(call));
        edits
    }

    /// Returns the text that replaces the callee and its opening bracket, and further edits. If the arguments are on
    /// lines of their own, the callee becomes the first of these lines, below a comment after the bracket. `before` is
    /// the whole text that the edit adds in front of the callee.
    fn replace_opening(
        &self,
        call: &ExprCall,
        head: &str,
        callee: &str,
        before: &str,
    ) -> (String, Vec<(Span, String)>) {
        let arguments = &call.arguments;
        let start = arguments.range().start() + TextSize::of('(');
        let arguments: Vec<TextRange> = arguments.iter_source_order().map(|argument| argument.range()).collect();
        let Some(first) = arguments.first().map(|first| first.start()) else {
            return (format!("{head}{callee}"), Vec::new());
        };
        let gap = self.text(TextRange::new(start, first));
        if let Some(line_end) = gap.find(['\n', '\r']) {
            let newline = if gap[line_end..].starts_with("\r\n") { "\r\n" } else { &gap[line_end..=line_end] };
            let rest = &gap[line_end + newline.len()..];
            let indent = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
            if let Some(edits) = self.add_to_argument_lines(call, &arguments, callee, &format!("{newline}{indent}")) {
                return (head.trim_end().to_owned(), edits);
            }
            let line = TextRange::empty(start + TextSize::of(&gap[..line_end + newline.len()]));
            return (head.trim_end().to_owned(), vec![(span(line), format!("{indent}{callee},{newline}"))]);
        }
        // The range of an argument in brackets begins after the bracket.
        let blank = &gap[..gap.len() - gap.trim_start().len()];
        let behind = if blank.is_empty() { " " } else { "" };
        if let Some(edits) = self.break_arguments(call, before, callee) {
            return (head.trim_end().to_owned(), edits);
        }
        let width = |text: &str| text.chars().count() as isize;
        let moved = match callee.contains(['\n', '\r']) || !blank.is_empty() {
            true => Vec::new(),
            // The opening bracket is before the callee now, and was after it.
            false => self.reindent_arguments(call, width(before) - width(callee) - width("(")),
        };
        (format!("{head}{blank}{callee},{behind}"), moved)
    }

    /// Returns the edits for arguments that share one line below the bracket: the callee joins them if the line stays
    /// short enough, else each argument gets a line of its own, as formatters do. `None` for other layouts.
    fn add_to_argument_lines(
        &self,
        call: &ExprCall,
        arguments: &[TextRange],
        callee: &str,
        line_break: &str,
    ) -> Option<Vec<(Span, String)>> {
        /// The width of a line that formatters allow.
        const WIDTH: usize = 88;
        let (first, last) = (arguments.first()?, arguments.last()?);
        let brackets = call.arguments.range();
        let rest = self.text(TextRange::new(last.end(), brackets.end() - TextSize::of(')')));
        let shared = TextRange::new(first.start(), last.end());
        let is_plain = !self.text(shared).contains(['\n', '\r'])
            && rest.contains(['\n', '\r'])
            && rest.trim().is_empty()
            && self.text(TextRange::new(brackets.start() + TextSize::of('('), first.start())).ends_with(line_break)
            && arguments.windows(2).all(|pair| self.text(TextRange::new(pair[0].end(), pair[1].start())).trim() == ",")
            && !matches!(&*call.arguments.args, [Expr::Generator(_)]);
        if !is_plain || callee.contains(['\n', '\r']) {
            return None;
        }
        let width = |text: &str| text.trim_start_matches(['\n', '\r']).chars().count();
        if width(line_break) + width(callee) + ", ".len() + width(self.text(shared)) <= WIDTH {
            return Some(vec![(span(TextRange::empty(first.start())), format!("{callee}, "))]);
        }
        let mut edits = vec![(span(TextRange::empty(first.start())), format!("{callee},{line_break}"))];
        for pair in arguments.windows(2) {
            edits.push((span(TextRange::new(pair[0].end(), pair[1].start())), format!(",{line_break}")));
        }
        edits.push((span(TextRange::empty(last.end())), ",".to_owned()));
        Some(edits)
    }

    /// Returns the edits that put brackets around a generator expression. As the only argument it shares those of the
    /// call, as one of several it needs its own.
    fn bracket_generator(&self, call: &ExprCall) -> Vec<(Span, String)> {
        let [Expr::Generator(generator)] = &*call.arguments.args else { return Vec::new() };
        if generator.parenthesized {
            return Vec::new();
        }
        let range = generator.range();
        let inner = TextRange::new(generator.elt.range().start(), range.end());
        // The parser's range of the arguments may include the brackets of the call.
        let inner = if self.text(range).starts_with('(') && range == call.arguments.range() {
            TextRange::new(range.start() + TextSize::of('('), range.end() - TextSize::of(')'))
        } else {
            TextRange::new(range.start().min(inner.start()), range.end())
        };
        vec![
            (span(TextRange::empty(inner.start())), "(".to_owned()),
            (span(TextRange::empty(inner.end())), ")".to_owned()),
        ]
    }
}

/// Methods of `csv` that write one row into an open file.
const ROW_WRITERS: &[&str] = &["writerow", "writeheader"];

/// True for functions that read settings, which do not change between requests: `get_settings`, `load_config`.
fn is_settings_reader(name: &str) -> bool {
    let mut words = name.trim_matches('_').split('_');
    let reads = matches!(words.next(), Some("get" | "load" | "read" | "parse"));
    reads && matches!(words.next_back(), Some("settings" | "config" | "configuration"))
}

/// True if a call writes to a log: `logger.warning(…)`, `log.info(…)`.
fn is_logger_call(call: &ExprCall) -> bool {
    const LEVELS: &[&str] = &["debug", "info", "warning", "warn", "error", "exception", "critical", "log"];
    let Expr::Attribute(attribute) = &*call.func else { return false };
    let receiver = callee::last_name(&attribute.value).map(str::to_lowercase).unwrap_or_default();
    let is_logger = receiver.ends_with("logger") || receiver.trim_start_matches('_') == "log";
    is_logger && LEVELS.contains(&attribute.attr.as_str())
}

/// Returns the names of the functions that are both defined in a function and passed as arguments there.
fn collect_passed_functions(function: &StmtFunctionDef) -> FxHashSet<&str> {
    #[derive(Default)]
    struct PassedFunctions<'a> {
        arguments: FxHashSet<&'a str>,
        defined: FxHashSet<&'a str>,
    }
    impl<'a> SourceOrderVisitor<'a> for PassedFunctions<'a> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            self.defined.extend(statement.as_function_def_stmt().map(|of| of.name.as_str()));
            walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, expression: &'a Expr) {
            if let Expr::Call(call) = expression {
                let arguments = call.arguments.args.iter().filter_map(Expr::as_name_expr);
                self.arguments.extend(arguments.map(|name| name.id.as_str()));
            }
            walk_expr(self, expression);
        }
    }
    let mut collector = PassedFunctions::default();
    collector.visit_body(&function.body);
    collector.arguments.retain(|name| collector.defined.contains(name));
    collector.arguments
}

/// True if the receiver or an argument of a call reads a name.
fn mentions(call: &ExprCall, name: &str) -> bool {
    struct Mentions<'n>(&'n str, bool);
    impl<'a> SourceOrderVisitor<'a> for Mentions<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            self.1 |= expression.as_name_expr().is_some_and(|name| name.id == self.0);
            walk_expr(self, expression);
        }
    }
    let mut mentions = Mentions(name, false);
    mentions.visit_expr(&call.func);
    call.arguments.iter_source_order().for_each(|argument| mentions.visit_expr(argument.value()));
    mentions.1
}

/// True if the result of a call is a stream, by an argument or its name: `get(url, stream=True)`,
/// `invoke_with_response_stream(…)`.
fn returns_stream(call: &ExprCall) -> bool {
    let is_true = |value: &Expr| value.as_boolean_literal_expr().is_some_and(|literal| literal.value);
    let has_argument = call.arguments.keywords.iter().any(|keyword| {
        keyword.arg.as_ref().is_some_and(|name| matches!(name.as_str(), "stream" | "streaming"))
            && is_true(&keyword.value)
    });
    let has_name = callee::last_name(&call.func).is_some_and(|name| name.split('_').any(|word| word == "stream"));
    has_argument || has_name
}

/// True if an `await` of this thread function in a cancelled task ends before the callable has begun: trio and anyio
/// cancel every `await` of the task, asyncio only the first.
fn is_cancelled_at_once(path: &str) -> bool {
    matches!(path.split('.').next(), Some("trio" | "anyio"))
}

/// True if a function of this name runs the coroutines that are its arguments.
fn is_task_function(name: &str) -> bool {
    matches!(
        name,
        "create_task"
            | "ensure_future"
            | "gather"
            | "shield"
            | "wait_for"
            | "as_completed"
            | "run_coroutine_threadsafe"
    )
}

/// True if an annotation is a file type, by the usual names of `io`, `typing` and others: `BinaryIO`, `UploadFile`.
fn is_file_annotation(annotation: &Expr) -> bool {
    let last = match annotation {
        // `Union[str, io.BufferedIOBase]`, `str | BinaryIO`
        Expr::Subscript(subscript)
            if matches!(callee::last_name(&subscript.value), Some("Union" | "Optional" | "Annotated")) =>
        {
            return match &*subscript.slice {
                Expr::Tuple(several) => several.elts.iter().any(is_file_annotation),
                single => is_file_annotation(single),
            };
        }
        Expr::BinOp(bin_op) => return is_file_annotation(&bin_op.left) || is_file_annotation(&bin_op.right),
        Expr::Subscript(subscript) => callee::last_name(&subscript.value),
        Expr::StringLiteral(text) => text.value.to_str().rsplit('.').next(),
        other => callee::last_name(other),
    };
    last.is_some_and(|name| {
        ["IO", "IOBase", "IOWrapper", "File"].iter().any(|end| name.ends_with(end)) || name.starts_with("Buffered")
    })
}
