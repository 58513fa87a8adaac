//! Blocks that move to a thread as a new function: a `with` statement around a call, or a loop.
//!
//! ```python
//! with open(path) as file:                 def read_text():
//!     text = file.read()                       with open(path) as file:
//!                                                  return file.read()
//!
//!                                          text = await asyncio.to_thread(read_text)
//! ```

use blocklint_core::{Applicability, Offload, Refusal, Span, WrittenEdit};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{AnyNodeRef, Expr, Stmt, StmtFunctionDef, StmtWith};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::callee::last_name;
use super::outline::{BindingOrder, BlockNames, NamesAround};
use super::{File, Site};
use crate::walk::span;

/// A block around a call, or a run of steps, that moves to a thread as one function.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) statements: &'a [Stmt],
    /// True if the call cannot move alone: `file.read()` in `with open(path) as file`.
    pub(super) moves_only_whole: bool,
}

impl Block<'_> {
    pub(super) fn range(&self) -> TextRange {
        range_of(self.statements)
    }
}

impl<'a> File<'a, '_> {
    /// Returns the block that moves with a call, if there is one. `around` are the nodes around the call, the outermost
    /// first; `is_held_by` returns true for a `with` statement that the call cannot leave.
    pub(super) fn find_block(
        &self,
        site: &Site<'a>,
        around: &[AnyNodeRef<'a>],
        is_held_by: &dyn Fn(Span) -> bool,
    ) -> Option<Block<'a>> {
        let function_index = around.iter().rposition(|node| matches!(node, AnyNodeRef::StmtFunctionDef(_)))?;
        let inside = &around[function_index + 1..];
        if inside.iter().any(|node| {
            node.is_expr_lambda()
                || node.is_expr_generator()
                || node.is_expr_list_comp()
                || node.is_expr_set_comp()
                || node.is_expr_dict_comp()
        }) {
            return None;
        }
        let binds_used_name = |with: &StmtWith| {
            let receiver = match &*site.call.func {
                Expr::Attribute(attribute) => attribute.value.as_name_expr(),
                _ => None,
            };
            let arguments =
                site.call.arguments.iter_source_order().filter_map(|argument| argument.value().as_name_expr());
            let mut used = receiver.into_iter().chain(arguments);
            used.any(|used| {
                with.items.iter().any(|is_item| {
                    is_item.optional_vars.as_deref().and_then(Expr::as_name_expr).is_some_and(|name| name.id == used.id)
                })
            })
        };
        let is_entered = matches!(inside.last(), Some(AnyNodeRef::WithItem(_)));
        let mut block: Option<Block<'a>> = None;
        for (index, node) in inside.iter().enumerate().rev() {
            let (is_with, body, is_needed) = match node {
                AnyNodeRef::StmtWith(with) if !with.is_async => {
                    let is_item = is_entered && index + 2 == inside.len();
                    (true, &with.body, is_item || binds_used_name(with) || is_held_by(span(with.range())))
                }
                AnyNodeRef::StmtFor(each) if !each.is_async => (false, &each.body, true),
                _ => continue,
            };
            let is_in_body = contains_range(body, site.call.range());
            // The body of a loop over the call's result has blocking calls too: call and body move together, or
            // neither.
            let blocks_in_body = !is_with
                && !is_in_body
                && self.calls.iter().any(|wanted_call| contains_range(body, wanted_call.call.range()));
            if is_with && !is_needed || !is_with && !is_in_body && !blocks_in_body {
                continue;
            }
            let statement = find_statement(function_body(around, function_index), node.range())?;
            let moves_only_whole = is_with || blocks_in_body || block.is_some_and(|block| block.moves_only_whole);
            // A loop with an `await` cannot leave the task.
            if !is_with && contains_await(statement) {
                break;
            }
            block = Some(Block { statements: std::slice::from_ref(statement), moves_only_whole });
        }
        block
    }

    /// Returns the result of a block (the names that later code uses), or the reason why it cannot become a function.
    pub(super) fn check_block(&self, site: &Site<'a>, block: Block<'a>) -> Result<BlockResult<'a>, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(function) = site.around.functions.first() else { return refuse("the call is in no function") };
        let statements = block.statements;
        let range = block.range();
        let inside = BlockNames::collect(statements);
        if let Some(reason) = inside.refused {
            return refuse(reason);
        }
        if inside.reads_exception && site.around.is_in_handler {
            return refuse("it reads the exception that is handled here, which another thread cannot see");
        }
        if site.around.catches_stop {
            return refuse(super::STOP_ITERATION);
        }
        let opened = site.around.opened_around.iter().find(|name| inside.loads.contains(**name));
        if let Some(name) = opened.filter(|name| !inside.stores.contains(**name)) {
            return refuse(&format!("`{name}` was opened by the `with` around it, which stays in this thread"));
        }
        if inside.jumps_out {
            return refuse("`break` or `continue` leaves the block, which must move to a thread as a whole");
        }
        if self.has_multiline_string(&inside.strings) {
            return refuse("the block has a string of several lines, which the edit would indent");
        }
        if statements.iter().any(is_suppress) {
            return refuse("the block suppresses exceptions: it may end early, and the code behind it still runs");
        }
        let before = self.text(TextRange::new(self.line_start(range.start()), range.start()));
        let behind = self.text(TextRange::new(range.end(), self.line_end(range.end()))).trim_start();
        if !before.chars().all(char::is_whitespace) || !behind.is_empty() && !behind.starts_with('#') {
            return refuse("other code is on the line of the block");
        }
        self.result_of(function, statements, &inside)
    }

    /// Moves a block into a new function, and calls that in a thread.
    pub(super) fn offload_block(
        &self,
        site: &Site<'a>,
        block: Block<'a>,
        to: &[Offload],
    ) -> Result<WrittenEdit, Refusal> {
        let result = self.check_block(site, block)?;
        let statements = block.statements;
        let Some(function) = site.around.functions.first() else {
            return Err(Refusal::new("the call is in no function"));
        };
        let range = block.range();
        let start = self.line_start(range.start());
        let indent = self.text(TextRange::new(start, range.start()));
        let name = self.choose_function_name(site, statements, &result)?;
        let indent_step = self.indent_step(function, statements, indent);
        let newline = self.newline_at(range.start());

        let (thread_function, call_head, mut edits) = self.thread_call(site, to)?;
        let above = self.line_above(start).map_or("", |line| self.text(line)).trim();
        // A formatter puts a blank line before a function, but not at the start of a suite.
        let blank_line = if above.is_empty() || above.ends_with(':') { "" } else { newline };
        let annotation = if function.returns.is_some() && result.is_nothing() { " -> None" } else { "" };
        let call = format!("await {call_head}{name})");
        let (written, bound) = match &result {
            BlockResult::Nothing => (call, None),
            BlockResult::Returned => (format!("return {call}"), None),
            BlockResult::Name { name, target, .. } => (format!("{name} = {call}"), Some(*target)),
            BlockResult::Names(names) => (format!("{} = {call}", names.join(", ")), None),
        };
        // The whole block is one edit, so other edits in it wait for the next round of fixes.
        let mut text = format!("{blank_line}{indent}def {name}(){annotation}:{newline}");
        let end = self.line_end(range.end());
        let mut line = Some(start);
        while let Some(from) = line.filter(|from| *from < range.end()) {
            let next = self.next_line(from);
            let until = next.unwrap_or(end).min(end);
            if !self.text(TextRange::new(from, self.line_end(from))).trim().is_empty() {
                text.push_str(indent_step);
            }
            match bound.filter(|target| from <= target.start() && target.start() < until) {
                // A value that begins on a later line is in brackets.
                Some(target) => {
                    text.push_str(self.text(TextRange::new(from, target.start())));
                    text.push_str("return ");
                    text.push_str(self.text(TextRange::new(target.end(), until)));
                }
                None => text.push_str(self.text(TextRange::new(from, until))),
            }
            line = next;
        }
        if let BlockResult::Names(names) = &result {
            text.push_str(&format!("{newline}{indent}{indent_step}return {}", names.join(", ")));
        }
        text.push_str(&format!("{newline}{newline}{indent}{written}"));
        edits.push((span(TextRange::new(start, end)), text));
        let subject = match statements {
            [Stmt::With(_)] => "the whole `with` block",
            [Stmt::For(_)] => "the whole loop",
            [Stmt::If(_)] => "the whole `if`",
            [_] => "these calls",
            _ => "these steps",
        };
        let title = format!("Run {subject} in a thread with {thread_function}, as `{name}`");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// Returns the names that statements bind and later code of the function uses.
    pub(super) fn result_of(
        &self,
        function: &'a StmtFunctionDef,
        statements: &'a [Stmt],
        names: &BlockNames<'a>,
    ) -> Result<BlockResult<'a>, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let last = statements.last().and_then(last_step);
        let names_around = NamesAround::collect(function, range_of(statements));
        if names.stores.iter().any(|name| names_around.foreign.contains(name)) {
            return refuse("the block uses variables of another function");
        }
        let order = BindingOrder::collect(statements);
        // A name that is read before the block binds it would be a different variable inside a new function.
        let is_read_and_bound = |name: &&str| {
            names_around.stores.contains(*name) && names.loads.contains(*name) && order.reads_first.contains(*name)
        };
        if names.returns > 0 {
            let is_last = matches!(last, Some(Stmt::Return(_)));
            let is_used = |name: &&str| names_around.loads.contains(*name) || is_read_and_bound(name);
            return if names.returns == 1 && is_last && !names.stores.iter().any(is_used) {
                Ok(BlockResult::Returned)
            } else {
                refuse("the block returns from the function at several places")
            };
        }
        if names.stores.iter().any(is_read_and_bound) {
            return refuse("the block assigns a variable of the surrounding function that it also reads");
        }
        let mut needed: Vec<&str> = Vec::new();
        for name in &names.bindings {
            if names_around.loads.contains(name) && !needed.contains(name) {
                needed.push(name);
            }
        }
        if let [name] = needed[..]
            && names.count_bindings(name) == 1
            && let Some(Stmt::Assign(assign)) = last
            && let [Expr::Name(target)] = &*assign.targets
            && target.id == name
        {
            let value = self.value_start(assign.targets[0].end(), assign.value.range());
            return Ok(BlockResult::Name { name, target: TextRange::new(assign.start(), value) });
        }
        match needed.iter().all(|name| order.bound.contains(name)) {
            _ if needed.is_empty() => Ok(BlockResult::Nothing),
            true => Ok(BlockResult::Names(needed)),
            false => refuse("the block does not always assign a variable that later code uses"),
        }
    }

    /// Returns the start of the value of an assignment, with its brackets.
    fn value_start(&self, target: TextSize, value: TextRange) -> TextSize {
        let between = self.text(TextRange::new(target, value.start()));
        let equals = between.find('=').map_or(0, |at| at + 1);
        let rest = &between[equals..];
        let blank = rest.len() - rest.trim_start().len();
        target + TextSize::of(&between[..equals + blank])
    }

    /// True if one of these strings spans several lines.
    fn has_multiline_string(&self, strings: &[TextRange]) -> bool {
        strings.iter().any(|range| self.text(*range).contains(['\n', '\r']))
    }

    /// Returns one step of indentation, as the block or the function around has it.
    fn indent_step(&self, function: &StmtFunctionDef, statements: &[Stmt], indent: &str) -> &'a str {
        let indent_of = |offset: TextSize| self.text(TextRange::new(self.line_start(offset), offset));
        let is_blank = |indent_step: &&str| !indent_step.is_empty() && indent_step.chars().all(char::is_whitespace);
        let first_inner = statements.iter().find_map(|statement| match statement {
            Stmt::With(with) => with.body.first(),
            Stmt::For(each) => each.body.first(),
            Stmt::If(branch) => branch.body.first(),
            _ => None,
        });
        let of_block = first_inner.and_then(|first| indent_of(first.start()).strip_prefix(indent)).filter(is_blank);
        let of_function = || {
            let start = function.decorator_list.last().map_or(function.start(), Ranged::start);
            let outer = indent_of(start);
            function.body.first().and_then(|first| indent_of(first.start()).strip_prefix(outer)).filter(is_blank)
        };
        of_block.or_else(of_function).unwrap_or(if indent.ends_with('\t') { "\t" } else { "    " })
    }

    pub(super) fn line_end(&self, at: TextSize) -> TextSize {
        let rest = self.source.get(at.to_usize()..).unwrap_or_default();
        at + TextSize::of(&rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())])
    }

    fn next_line(&self, at: TextSize) -> Option<TextSize> {
        let end = self.line_end(at);
        let rest = self.source.get(end.to_usize()..)?;
        let width = if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        (width > 0).then(|| end + TextSize::of(&rest[..width]))
    }

    /// Returns a name for the new function that is not used in the functions around.
    fn choose_function_name(
        &self,
        site: &Site<'a>,
        statements: &[Stmt],
        result: &BlockResult<'_>,
    ) -> Result<String, Refusal> {
        let called = last_name(&site.call.func).unwrap_or("work").trim_start_matches('_');
        let base = match (statements, result) {
            ([_], BlockResult::Name { name, .. }) => format!("read_{}", name.trim_start_matches('_')),
            ([statement @ Stmt::With(with)], _) if opens_file(innermost(with)) => {
                file_function_name(innermost(with), statement).to_owned()
            }
            ([Stmt::With(_)], _) => format!("with_{}", snake_case(called)),
            ([Stmt::For(_)], _) => format!("{}_each", snake_case(called)),
            _ => steps_function_name(statements),
        };
        let mut used = self.new_functions.borrow_mut();
        let block_range = range_of(statements);
        if let Some(name) = used.iter().find(|(range, _)| *range == block_range).map(|(_, name)| name.clone()) {
            return Ok(name);
        }
        let functions = &site.around.functions;
        for number in 1..10 {
            let name = if number == 1 { base.clone() } else { format!("{base}_{number}") };
            let is_in_function =
                |range: &TextRange| functions.last().is_some_and(|outer| outer.range().contains_range(*range));
            let is_taken = used.iter().any(|(range, used_name)| *used_name == name && is_in_function(range));
            if !is_taken
                && self.names.is_free(&name, "", functions, block_range.start())
                && !functions.iter().any(|function| reads_name(function, &name))
            {
                used.push((block_range, name.clone()));
                return Ok(name);
            }
        }
        Err(Refusal::new("no free name was found for the new function"))
    }
}

/// The result of a block: the names that it binds and later code uses.
pub(super) enum BlockResult<'a> {
    /// Later code uses none of its names.
    Nothing,
    /// Its last step is a `return` of the function around.
    Returned,
    /// Its last step binds this name; the range is that of `name = `.
    Name { name: &'a str, target: TextRange },
    /// It binds these names, in this order.
    Names(Vec<&'a str>),
}

impl BlockResult<'_> {
    fn is_nothing(&self) -> bool {
        matches!(self, BlockResult::Nothing)
    }
}

fn opens_file(with: &StmtWith) -> bool {
    with.items.iter().any(|item| match &item.context_expr {
        Expr::Call(call) => last_name(&call.func) == Some("open"),
        _ => false,
    })
}

/// True if a `with` opens a file in a mode that writes.
fn opens_to_write(with: &StmtWith) -> bool {
    with.items.iter().filter_map(|item| item.context_expr.as_call_expr()).any(|call| {
        // `path.open(mode)` has no argument for the path.
        let of_path = call.func.is_attribute_expr() && call.arguments.args.len() == 1;
        match call.arguments.find_argument_value("mode", if of_path { 0 } else { 1 }) {
            Some(Expr::StringLiteral(mode)) => is_mode_of_writing(mode.value.to_str()),
            _ => false,
        }
    })
}

/// True for modes that write: `wb`, `a+`, `w:gz`. A longer string is a file name.
fn is_mode_of_writing(mode: &str) -> bool {
    let (letters, _) = mode.split_once([':', '|']).unwrap_or((mode, ""));
    letters.len() <= 3 && letters.starts_with(['w', 'a', 'x'])
}

/// Returns the innermost of nested `with` statements that contain only the next one.
fn innermost(with: &StmtWith) -> &StmtWith {
    match &*with.body {
        [Stmt::With(inner)] if !opens_file(with) => innermost(inner),
        _ => with,
    }
}

/// Returns the function name for a `with` that opens a file.
fn file_function_name(with: &StmtWith, statement: &Stmt) -> &'static str {
    if writes_file(statement) || opens_to_write(with) { "write_file" } else { "read_file" }
}

/// Returns the function name for steps: `load_and_save` for two, `load_and_more` for several.
fn steps_function_name<'s>(statements: &'s [Stmt]) -> String {
    let mut names: Vec<String> = Vec::new();
    let inner_steps = |statement: &'s Stmt| match statement {
        Stmt::If(branch) => branch.body.iter().collect(),
        _ => vec![statement],
    };
    for statement in statements.iter().flat_map(inner_steps) {
        let call = match statement {
            Stmt::With(with) if opens_file(with) => {
                names.push(file_function_name(with, statement).to_owned());
                continue;
            }
            Stmt::With(with) => with.items.first().and_then(|item| item.context_expr.as_call_expr()),
            Stmt::Expr(expr_stmt) => expr_stmt.value.as_call_expr(),
            Stmt::Assign(assign) => assign.value.as_call_expr(),
            Stmt::Return(return_stmt) => return_stmt.value.as_deref().and_then(Expr::as_call_expr),
            _ => None,
        };
        let name = call.and_then(|call| last_name(&call.func)).unwrap_or("work");
        names.push(snake_case(name.trim_start_matches('_')));
    }
    names.dedup();
    match &names[..] {
        [one] if one.ends_with("_file") => format!("{one}s"),
        [one] if statements.len() > 1 => format!("{one}_all"),
        [one] if matches!(statements, [Stmt::If(_)]) => format!("{one}_if_needed"),
        [one] => format!("run_{one}"),
        [first, second] if first.len() + second.len() < 30 => format!("{first}_and_{second}"),
        [first, ..] => format!("{first}_and_more"),
        [] => "work".to_owned(),
    }
}

/// Returns the range from the first statement to the last.
fn range_of(statements: &[Stmt]) -> TextRange {
    match (statements.first(), statements.last()) {
        (Some(first), Some(last)) => TextRange::new(first.start(), last.end()),
        _ => TextRange::default(),
    }
}

/// True for `with suppress(…)`, which ends the block early without an exception.
fn is_suppress(statement: &Stmt) -> bool {
    let Stmt::With(with) = statement else { return false };
    let ends = |item: &ruff_python_ast::WithItem| {
        item.context_expr.as_call_expr().is_some_and(|call| last_name(&call.func) == Some("suppress"))
    };
    with.items.iter().any(ends)
}

fn writes_file(statement: &Stmt) -> bool {
    struct Writes(bool);
    impl<'a> SourceOrderVisitor<'a> for Writes {
        fn visit_expr(&mut self, expression: &'a Expr) {
            if let Expr::Call(call) = expression {
                self.0 |= matches!(
                    last_name(&call.func),
                    Some("write" | "writelines" | "dump" | "save" | "writerow" | "writerows" | "safe_dump")
                );
            }
            walk_expr(self, expression);
        }
    }
    let mut writes_file = Writes(false);
    writes_file.visit_stmt(statement);
    writes_file.0
}

/// Returns a name in snake case: `ZipFile` → `zip_file`.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 && !text.ends_with('_') {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

fn reads_name(function: &StmtFunctionDef, name: &str) -> bool {
    struct Mentions<'n>(&'n str, bool);
    impl<'a> SourceOrderVisitor<'a> for Mentions<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            self.1 |= matches!(expression, Expr::Name(name) if name.id == self.0);
            walk_expr(self, expression);
        }
    }
    let mut reads_name = Mentions(name, false);
    reads_name.visit_body(&function.body);
    reads_name.1
}

/// Returns the statement with this range.
fn find_statement(body: &[Stmt], range: TextRange) -> Option<&Stmt> {
    struct Find<'a>(TextRange, Option<&'a Stmt>);
    impl<'a> SourceOrderVisitor<'a> for Find<'a> {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            if statement.range() == self.0 {
                self.1 = Some(statement);
            } else if statement.range().contains_range(self.0) {
                walk_stmt(self, statement);
            }
        }
    }
    let mut find = Find(range, None);
    find.visit_body(body);
    find.1
}

/// True if a statement contains an `await`.
fn contains_await(statement: &Stmt) -> bool {
    BlockNames::collect(std::slice::from_ref(statement)).awaits
}

/// Returns the last statement of the innermost of nested `with` statements; a step without `with` is the last itself.
fn last_step(statement: &Stmt) -> Option<&Stmt> {
    match statement {
        Stmt::Assign(_) | Stmt::Return(_) => Some(statement),
        Stmt::With(with) => match with.body.last()? {
            inner @ Stmt::With(_) if with.body.len() == 1 => last_step(inner),
            last => Some(last),
        },
        _ => None,
    }
}

/// True if a suite contains a range.
fn contains_range(suite: &[Stmt], range: TextRange) -> bool {
    suite.iter().any(|statement| statement.range().contains_range(range))
}

/// Returns the body of the function at an index of the nodes around a call.
fn function_body<'a>(around: &[AnyNodeRef<'a>], index: usize) -> &'a [Stmt] {
    match around.get(index) {
        Some(AnyNodeRef::StmtFunctionDef(function)) => &function.body,
        _ => &[],
    }
}
