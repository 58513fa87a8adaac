//! A call handed to a worker thread: `load(path)` → `await asyncio.to_thread(load, path)`.

use blocklint_core::{Applicability, Offload, Refusal, Span, WrittenEdit};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashSet;

use super::awaited::Awaited;
use super::once::{ONCE, gives_instance};
use super::own_files::lists_own_files;
use super::{File, STOPS, Site, callee};
use crate::walk::span;

/// The function that hands a call to a thread since [`WITH_TO_THREAD`].
const TO_THREAD: &str = "asyncio.to_thread";
const WITH_TO_THREAD: (u8, u8) = (3, 9);

/// Runs a callable with the arguments that the function which hands it over does not pass on.
const PARTIAL: &str = "functools.partial";

/// The spans that are replaced, with their new text.
type Edits = Vec<(Span, String)>;

impl<'a> File<'a, '_> {
    /// Hands the callee and its arguments to a function that runs them in a thread. The callee and the arguments are
    /// evaluated where and in the order in which they were; only the call itself moves.
    pub(super) fn offload(&self, site: &Site<'a>, to: &[Offload]) -> Result<WrittenEdit, Refusal> {
        if let Expr::Name(name) = &*site.call.func
            && name.id == "next"
        {
            return Err(Refusal::new(STOPS));
        }
        // By its name it makes what works with the loop, and costs time only once if it is made once.
        if callee::last_name(&site.call.func).is_some_and(|name| name.starts_with("Async")) {
            return Err(Refusal::new(
                "what it makes belongs to the running loop: make it once, when the program starts",
            ));
        }
        if is_line_of_log(site.call) {
            return Err(Refusal::new("it writes a line of a log: let the logger hand its lines to a thread"));
        }
        if callee::last_name(&site.call.func).is_some_and(reads_settings) {
            return Err(Refusal::new("by its name it reads settings: read them once, when the program starts"));
        }
        if lists_own_files(site.call) {
            return Err(Refusal::new("it lists files of the program itself, which takes a moment"));
        }
        if site.around.in_text {
            return Err(Refusal::new("it stands in a text: give what it gives a name before"));
        }
        if site.around.gives_method {
            return Err(Refusal::new("its method is handed over, and it can be made where that runs"));
        }
        if callee::last_name(&site.call.func).is_some_and(|name| ROWS.contains(&name)) {
            return Err(Refusal::new("one row goes into a buffer: put what writes all of them into a function"));
        }
        if self.is_left_on_purpose(site) {
            return Err(Refusal::new(
                "the same function is handed over elsewhere here, and this call was left on purpose",
            ));
        }
        if let Some(name) = site.around.opened_around.iter().find(|name| mentions(site.call, name)) {
            return Err(Refusal::new(format!(
                "`{name}` was opened by the `with` around it, which stays in this thread"
            )));
        }
        if callee::last_name(&site.call.func).is_some_and(gives_instance) {
            return Err(Refusal::new(ONCE));
        }
        // A result that is not used is no handle: `webbrowser.open(url)`, `port.open()`.
        if callee::last_name(&site.call.func) == Some("open") && !site.around.is_statement {
            return Err(Refusal::new(
                "what is opened is used and closed here: open it in a `with`, and the block can move",
            ));
        }
        if self.is_callers_file(site) {
            return Err(Refusal::new("the caller opens and closes the file: only half of the work would move"));
        }
        // `open(path).read()`
        let inner = match &*site.call.func {
            Expr::Attribute(attribute) => attribute.value.as_call_expr(),
            _ => None,
        };
        let given = site.call.arguments.args.iter().filter_map(Expr::as_call_expr);
        if inner.into_iter().chain(given).any(|call| callee::last_name(&call.func) == Some("open")) {
            return Err(Refusal::new("the file is opened here: open it in a `with`, and the block can move"));
        }
        if site.around.stops {
            return Err(Refusal::new(STOPS));
        }
        self.functions.can_move(site.call, site.around.handles, &self.locals)?;
        if site.around.is_awaited {
            return Err(Refusal::new("what it returns is awaited, and belongs to the running loop"));
        }
        if site.around.gives_awaited {
            return Err(Refusal::new("a method of what it returns is awaited, and belongs to the running loop"));
        }
        if let Some(function) = site.around.functions.first() {
            let awaited = self.awaited.get_or_init(|| Awaited::of(self.module));
            if site.around.values_assigned_to.iter().any(|target| awaited.waits_for(target, function.range())) {
                return Err(Refusal::new(
                    "what it returns is awaited later by its name, and belongs to the running loop",
                ));
            }
        }
        if site.around.is_asked_before {
            return Err(Refusal::new(
                "the loop around asks first whether there is something, so that it waits for nothing",
            ));
        }
        if gives_stream(site.call) && !site.around.is_statement {
            return Err(Refusal::new("it returns a stream, and reading it would still block the thread"));
        }
        if site.around.is_iterated {
            return Err(Refusal::new("what it returns is iterated by `async for`, and belongs to the running loop"));
        }
        if site.around.for_each {
            return Err(Refusal::new(
                "each element would take a thread of its own: put the comprehension into a function, which can move",
            ));
        }
        if site.around.taker.is_some_and(|taker| callee::last_name(&taker.func).is_some_and(makes_task)) {
            return Err(Refusal::new("what it returns is a coroutine, which the running loop is given"));
        }
        let (offload, written, mut edits) = self.choose(site, to)?;
        let Some(offload) = offload else {
            return self.in_executor(site, &written, edits);
        };
        if site.around.cleans_up && is_left_when_cancelled(&offload.path) {
            return Err(Refusal::new("a cancelled task cleans up here, and waits for nothing that is not shielded"));
        }
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
        Ok(WrittenEdit {
            title: format!("Run in a thread with `{written}`"),
            applicability: Applicability::Unsafe,
            edits,
        })
    }

    /// True if a call reads or writes what the function around was given: `file.write(data)`.
    fn is_callers_file(&self, site: &Site<'a>) -> bool {
        let (Expr::Attribute(method), Some(function)) = (&*site.call.func, site.around.functions.first()) else {
            return false;
        };
        let named = method.value.as_name_expr().map(|name| name.id.as_str());
        let is_file = |given: &ruff_python_ast::AnyParameterRef<'_>| given.annotation().is_none_or(names_a_file);
        matches!(method.attr.as_str(), "read" | "readline" | "readlines" | "write" | "writelines" | "flush")
            && named.is_some_and(|name| {
                function.parameters.iter().any(|given| given.name().as_str() == name && is_file(&given))
            })
    }

    /// True if a function that is defined here is both called and given to another function: as an `if` for small inputs has
    /// it, or one for where no thread is there.
    fn is_left_on_purpose(&self, site: &Site<'a>) -> bool {
        let (Expr::Name(name), Some(&function)) = (&*site.call.func, site.around.functions.first()) else {
            return false;
        };
        let mut known = self.given_away.borrow_mut();
        known.entry(function.range()).or_insert_with(|| given_away(function)).contains(name.id.as_str())
    }

    /// Returns the function that hands a call to a thread, how it is written, and the import that takes. None, and the
    /// loop, where the project runs on a Python without it.
    fn choose<'o>(&self, site: &Site<'a>, to: &'o [Offload]) -> Result<(Option<&'o Offload>, String, Edits), Refusal> {
        let lacks = |offload: &Offload| offload.path == TO_THREAD && self.is_older_than(WITH_TO_THREAD);
        let known = |offload: &'o Offload| Some((offload, self.known_as(site, &offload.path)?));
        if let Some((offload, written)) = to.iter().filter(|offload| !lacks(offload)).find_map(known) {
            return Ok((Some(offload), written, Vec::new()));
        }
        let Some(last) = to.last() else {
            return Err(Refusal::new("no function of this framework runs calls in a thread"));
        };
        let is_old = lacks(last);
        let (written, edits) = self.imported(site, if is_old { "asyncio.get_running_loop" } else { &last.path })?;
        Ok(((!is_old).then_some(last), written, edits))
    }

    /// Returns the name of the function that hands a function without arguments to a thread, for messages; the
    /// beginning of the call, up to the function's name; and the imports that it needs.
    pub(super) fn hand_over_function(
        &self,
        site: &Site<'a>,
        to: &[Offload],
    ) -> Result<(String, String, Edits), Refusal> {
        let (offload, written, edits) = self.choose(site, to)?;
        match offload {
            Some(offload) if site.around.cleans_up && is_left_when_cancelled(&offload.path) => {
                Err(Refusal::new("a cancelled task cleans up here, and waits for nothing that is not shielded"))
            }
            Some(_) => Ok((format!("`{written}`"), format!("{written}("), edits)),
            None => Ok(("`run_in_executor`".to_owned(), format!("{written}().run_in_executor(None, "), edits)),
        }
    }

    /// `load(path)` → `await asyncio.get_running_loop().run_in_executor(None, load, path)`.
    fn in_executor(
        &self,
        site: &Site<'a>,
        written: &str,
        mut edits: Vec<(Span, String)>,
    ) -> Result<WrittenEdit, Refusal> {
        let mut head = format!("{written}().run_in_executor(None, ");
        let mut closing = String::new();
        if !site.call.arguments.keywords.is_empty() {
            let (partial, more) = self.imported(site, PARTIAL)?;
            edits.extend(more);
            head = format!("{head}{partial}(");
            closing.push(')');
        }
        edits.extend(self.handed(site, &head, &closing, true));
        let (major, minor) = self.oldest.unwrap_or(WITH_TO_THREAD);
        let title = format!("Run in a thread with `run_in_executor`: the project runs on Python {major}.{minor} too");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    fn is_older_than(&self, version: (u8, u8)) -> bool {
        self.oldest.is_some_and(|oldest| oldest < version)
    }

    /// Edits that turn `f(a, b)` into `await HEADf, a, b)CLOSING`, or without `await`.
    pub(super) fn handed(&self, site: &Site<'a>, head: &str, closing: &str, awaits: bool) -> Vec<(Span, String)> {
        let call = site.call;
        let callee = self.callee(call);
        let opened = TextRange::new(callee.start(), callee.end() + TextSize::of('('));
        let written = self.text(callee).trim_end();
        let brackets = if site.around.needs_brackets { "(" } else { "" };
        let before = if awaits { format!("{brackets}await {head}") } else { head.to_owned() };
        let (content, below) = self.opening(call, head, written, &before);
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

    /// Returns the text in place of the callee and its bracket; where the arguments stand on lines of their own, the
    /// callee goes among them, behind whatever is said behind the bracket. `before` is all that the edit puts in front
    /// of the callee.
    fn opening(&self, call: &ExprCall, head: &str, callee: &str, before: &str) -> (String, Vec<(Span, String)>) {
        let arguments = &call.arguments;
        let start = arguments.range().start() + TextSize::of('(');
        let all: Vec<TextRange> = arguments.iter_source_order().map(|argument| argument.range()).collect();
        let Some(first) = all.first().map(|first| first.start()) else {
            return (format!("{head}{callee}"), Vec::new());
        };
        let gap = self.text(TextRange::new(start, first));
        if let Some(at) = gap.find(['\n', '\r']) {
            let newline = if gap[at..].starts_with("\r\n") { "\r\n" } else { &gap[at..=at] };
            let rest = &gap[at + newline.len()..];
            let indent = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
            if let Some(edits) = self.on_one_line(call, &all, callee, &format!("{newline}{indent}")) {
                return (head.trim_end().to_owned(), edits);
            }
            let line = TextRange::empty(start + TextSize::of(&gap[..at + newline.len()]));
            return (head.trim_end().to_owned(), vec![(span(line), format!("{indent}{callee},{newline}"))]);
        }
        // An argument in brackets begins behind them.
        let blank = &gap[..gap.len() - gap.trim_start().len()];
        let behind = if blank.is_empty() { " " } else { "" };
        if let Some(edits) = self.exploded(call, before, callee) {
            return (head.trim_end().to_owned(), edits);
        }
        let width = |text: &str| text.chars().count() as isize;
        let moved = match callee.contains(['\n', '\r']) || !blank.is_empty() {
            true => Vec::new(),
            // The new bracket stands before the callee, the old one behind it.
            false => self.moved_lines(call, width(before) - width(callee) - width("(")),
        };
        (format!("{head}{blank}{callee},{behind}"), moved)
    }

    /// Returns where all arguments share one line below the bracket, the callee joins them if there is room; else each
    /// has a line of its own, as formatters have it. `None` where they are written in another way.
    fn on_one_line(
        &self,
        call: &ExprCall,
        all: &[TextRange],
        callee: &str,
        line_break: &str,
    ) -> Option<Vec<(Span, String)>> {
        /// The width that formatters allow, unless the line was longer before.
        const WIDTH: usize = 88;
        let (first, last) = (all.first()?, all.last()?);
        let inside = call.arguments.range();
        let behind = self.text(TextRange::new(last.end(), inside.end() - TextSize::of(')')));
        let shared = TextRange::new(first.start(), last.end());
        let is_plain = !self.text(shared).contains(['\n', '\r'])
            && behind.contains(['\n', '\r'])
            && behind.trim().is_empty()
            && self.text(TextRange::new(inside.start() + TextSize::of('('), first.start())).ends_with(line_break)
            && all.windows(2).all(|pair| self.text(TextRange::new(pair[0].end(), pair[1].start())).trim() == ",")
            && !matches!(&*call.arguments.args, [Expr::Generator(_)]);
        if !is_plain || callee.contains(['\n', '\r']) {
            return None;
        }
        let width = |text: &str| text.trim_start_matches(['\n', '\r']).chars().count();
        if width(line_break) + width(callee) + ", ".len() + width(self.text(shared)) <= WIDTH {
            return Some(vec![(span(TextRange::empty(first.start())), format!("{callee}, "))]);
        }
        let mut edits = vec![(span(TextRange::empty(first.start())), format!("{callee},{line_break}"))];
        for pair in all.windows(2) {
            edits.push((span(TextRange::new(pair[0].end(), pair[1].start())), format!(",{line_break}")));
        }
        edits.push((span(TextRange::empty(last.end())), ",".to_owned()));
        Some(edits)
    }

    /// Returns a generator expression that is the only argument shares the brackets of the call; as one of several it
    /// needs its own.
    fn bracketed_generator(&self, call: &ExprCall) -> Vec<(Span, String)> {
        let [Expr::Generator(generator)] = &*call.arguments.args else { return Vec::new() };
        if generator.parenthesized {
            return Vec::new();
        }
        let range = generator.range();
        let inner = TextRange::new(generator.elt.range().start(), range.end());
        // The parser's range of the arguments may include the brackets of the call.
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

/// Methods that write one row of a table into an open file.
const ROWS: &[&str] = &["writerow", "writeheader"];

/// `get_settings`, `load_config`: what a program is told does not change with each request.
fn reads_settings(name: &str) -> bool {
    let mut words = name.trim_matches('_').split('_');
    let reads = matches!(words.next(), Some("get" | "load" | "read" | "parse"));
    reads && matches!(words.next_back(), Some("settings" | "config" | "configuration"))
}

/// True if a call writes to a log, by its names: `logger.warning(…)`.
fn is_line_of_log(call: &ExprCall) -> bool {
    const LEVELS: &[&str] = &["debug", "info", "warning", "warn", "error", "exception", "critical", "log"];
    let Expr::Attribute(attribute) = &*call.func else { return false };
    let receiver = callee::last_name(&attribute.value).map(str::to_lowercase).unwrap_or_default();
    let is_logger = receiver.ends_with("logger") || receiver.trim_start_matches('_') == "log";
    is_logger && LEVELS.contains(&attribute.attr.as_str())
}

/// Returns the names of the functions that are both defined in a function and given to another one there.
fn given_away(function: &StmtFunctionDef) -> FxHashSet<&str> {
    #[derive(Default)]
    struct Given<'a> {
        given: FxHashSet<&'a str>,
        defined: FxHashSet<&'a str>,
    }
    impl<'a> SourceOrderVisitor<'a> for Given<'a> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            self.defined.extend(statement.as_function_def_stmt().map(|of| of.name.as_str()));
            walk_stmt(self, statement);
        }

        fn visit_expr(&mut self, expression: &'a Expr) {
            if let Expr::Call(call) = expression {
                let given = call.arguments.args.iter().filter_map(Expr::as_name_expr);
                self.given.extend(given.map(|name| name.id.as_str()));
            }
            walk_expr(self, expression);
        }
    }
    let mut found = Given::default();
    found.visit_body(&function.body);
    found.given.retain(|name| found.defined.contains(name));
    found.given
}

/// True if a call, its receiver or an argument, mentions a name.
fn mentions(call: &ExprCall, name: &str) -> bool {
    struct Mentions<'n>(&'n str, bool);
    impl<'a> SourceOrderVisitor<'a> for Mentions<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            self.1 |= expression.as_name_expr().is_some_and(|of| of.id == self.0);
            walk_expr(self, expression);
        }
    }
    let mut mentions = Mentions(name, false);
    mentions.visit_expr(&call.func);
    call.arguments.iter_source_order().for_each(|argument| mentions.visit_expr(argument.value()));
    mentions.1
}

/// True if the result of a call is read bit by bit, as it says itself: `get(url, stream=True)`,
/// `invoke_with_response_stream(…)`.
fn gives_stream(call: &ExprCall) -> bool {
    let is_true = |value: &Expr| value.as_boolean_literal_expr().is_some_and(|of| of.value);
    let asks = call.arguments.keywords.iter().any(|keyword| {
        keyword.arg.as_ref().is_some_and(|name| matches!(name.as_str(), "stream" | "streaming"))
            && is_true(&keyword.value)
    });
    let named = callee::last_name(&call.func).is_some_and(|name| name.split('_').any(|word| word == "stream"));
    asks || named
}

/// True if awaiting it in a cancelled task ends at once, before the callable has begun: these runtimes cancel every
/// `await` of such a task, asyncio only the first.
fn is_left_when_cancelled(path: &str) -> bool {
    matches!(path.split('.').next(), Some("trio" | "anyio"))
}

/// True if a function of this name takes coroutines and runs them.
fn makes_task(name: &str) -> bool {
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

/// True if an annotation names a file by the usual names of `io`, `typing` and others: `BinaryIO`, `TextIOWrapper`, `UploadFile`.
fn names_a_file(annotation: &Expr) -> bool {
    let last = match annotation {
        // `Union[str, io.BufferedIOBase]`, `str | BinaryIO`
        Expr::Subscript(of) if matches!(callee::last_name(&of.value), Some("Union" | "Optional" | "Annotated")) => {
            return match &*of.slice {
                Expr::Tuple(several) => several.elts.iter().any(names_a_file),
                one => names_a_file(one),
            };
        }
        Expr::BinOp(of) => return names_a_file(&of.left) || names_a_file(&of.right),
        Expr::Subscript(of) => callee::last_name(&of.value),
        Expr::StringLiteral(text) => text.value.to_str().rsplit('.').next(),
        other => callee::last_name(other),
    };
    last.is_some_and(|name| {
        ["IO", "IOBase", "IOWrapper", "File"].iter().any(|end| name.ends_with(end)) || name.starts_with("Buffered")
    })
}
