//! A whole block handed to a thread: a `with` that opens and closes what the call uses, or a loop around the call. It becomes a
//! function of its own, so that one thread does all of it.
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
use super::outline::{Inside, Order, Outside};
use super::{File, Site};
use crate::walk::span;

/// A block around a call that had better move as a whole, or steps that follow each other.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) statements: &'a [Stmt],
    /// Handing over the call alone would leave the work half done.
    pub(super) must: bool,
}

impl Block<'_> {
    pub(super) fn range(&self) -> TextRange {
        range_of(self.statements)
    }
}

impl<'a> File<'a, '_> {
    /// Returns the block that moves with a call, if one does. `around` are the nodes around it, the outermost first;
    /// `is_held_by` says of a `with` statement whether the call cannot leave it.
    pub(super) fn block_of(
        &self,
        site: &Site<'a>,
        around: &[AnyNodeRef<'a>],
        is_held_by: &dyn Fn(Span) -> bool,
    ) -> Option<Block<'a>> {
        let from = around.iter().rposition(|node| matches!(node, AnyNodeRef::StmtFunctionDef(_)))?;
        let inside = &around[from + 1..];
        if inside.iter().any(|node| {
            node.is_expr_lambda()
                || node.is_expr_generator()
                || node.is_expr_list_comp()
                || node.is_expr_set_comp()
                || node.is_expr_dict_comp()
        }) {
            return None;
        }
        let of_handle = |with: &StmtWith| {
            let receiver = match &*site.call.func {
                Expr::Attribute(attribute) => attribute.value.as_name_expr(),
                _ => None,
            };
            let given = site.call.arguments.iter_source_order().filter_map(|argument| argument.value().as_name_expr());
            let mut used = receiver.into_iter().chain(given);
            used.any(|used| {
                with.items.iter().any(|item| {
                    item.optional_vars.as_deref().and_then(Expr::as_name_expr).is_some_and(|name| name.id == used.id)
                })
            })
        };
        let entered = matches!(inside.last(), Some(AnyNodeRef::WithItem(_)));
        let mut found: Option<Block<'a>> = None;
        for (at, node) in inside.iter().enumerate().rev() {
            let (is_with, body, own) = match node {
                AnyNodeRef::StmtWith(with) if !with.is_async => {
                    let item = entered && at + 2 == inside.len();
                    (true, &with.body, item || of_handle(with) || is_held_by(span(with.range())))
                }
                AnyNodeRef::StmtFor(each) if !each.is_async => (false, &each.body, true),
                _ => continue,
            };
            let in_body = holds(body, site.call.range());
            // A loop over the call's result may hold the thread in its body too: both move, or neither does.
            let with_its_turns = !is_with && !in_body && self.calls.iter().any(|of| holds(body, of.call.range()));
            if is_with && !own || !is_with && !in_body && !with_its_turns {
                continue;
            }
            let statement = statement_of(self.function_body(around, from), node.range())?;
            let must = is_with || with_its_turns || found.is_some_and(|found| found.must);
            // A loop that awaits goes on in the task.
            if !is_with && awaits(statement) {
                break;
            }
            found = Some(Block { statements: std::slice::from_ref(statement), must });
        }
        found
    }

    fn function_body(&self, around: &[AnyNodeRef<'a>], at: usize) -> &'a [Stmt] {
        match around.get(at) {
            Some(AnyNodeRef::StmtFunctionDef(function)) => &function.body,
            _ => &[],
        }
    }

    /// Returns the names that a block leaves behind, if it can become a function of its own.
    pub(super) fn can_be_whole(&self, site: &Site<'a>, block: Block<'a>) -> Result<Gives<'a>, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(function) = site.around.functions.first() else { return refuse("it stands in no function") };
        let statements = block.statements;
        let range = block.range();
        let inside = Inside::of(statements);
        if let Some(reason) = inside.refused {
            return refuse(reason);
        }
        if inside.asks_for_exception && site.around.handles {
            return refuse("it asks for the exception that is handled here, of which a thread knows nothing");
        }
        if site.around.stops {
            return refuse(super::STOPS);
        }
        let opened = site.around.opened_around.iter().find(|name| inside.loads.contains(**name));
        if let Some(name) = opened.filter(|name| !inside.stores.contains(**name)) {
            return refuse(&format!("`{name}` was opened by the `with` around it, which stays in this thread"));
        }
        if inside.leaves {
            return refuse("`break` or `continue` leaves the block, which must move to a thread as a whole");
        }
        if self.names_of_strings(&inside.strings) {
            return refuse("a text of several lines stands in the block, which would be indented");
        }
        if statements.iter().any(may_end_early) {
            return refuse("the block may end early without a word, and what follows it goes on");
        }
        let before = self.text(TextRange::new(self.line_start(range.start()), range.start()));
        let behind = self.text(TextRange::new(range.end(), self.line_end(range.end()))).trim_start();
        if !before.chars().all(char::is_whitespace) || !behind.is_empty() && !behind.starts_with('#') {
            return refuse("something else stands on the line of the block");
        }
        self.result_of(function, statements, &inside)
    }

    /// Puts the block into a function of its own and hands that over.
    pub(super) fn whole(&self, site: &Site<'a>, block: Block<'a>, to: &[Offload]) -> Result<WrittenEdit, Refusal> {
        let result = self.can_be_whole(site, block)?;
        let statements = block.statements;
        let Some(function) = site.around.functions.first() else {
            return Err(Refusal::new("it stands in no function"));
        };
        let range = block.range();
        let start = self.line_start(range.start());
        let indent = self.text(TextRange::new(start, range.start()));
        let name = self.name_for(site, statements, &result)?;
        let unit = self.unit(function, statements, indent);
        let newline = self.newline_at(range.start());

        let (named, hand, mut edits) = self.hand_over_function(site, to)?;
        let above = self.line_above(start).map_or("", |line| self.text(line)).trim();
        // A formatter parts a function from what stands beside it, but not from what opens the suite.
        let gap = if above.is_empty() || above.ends_with(':') { "" } else { newline };
        let annotated = if function.returns.is_some() && result.is_nothing() { " -> None" } else { "" };
        let call = format!("await {hand}{name})");
        let (written, bound) = match &result {
            Gives::Nothing => (call, None),
            Gives::Returned => (format!("return {call}"), None),
            Gives::Name { name, target, .. } => (format!("{name} = {call}"), Some(*target)),
            Gives::Names(names) => (format!("{} = {call}", names.join(", ")), None),
        };
        // All of the block is one edit: what else would be mended in it waits for the next round.
        let mut text = format!("{gap}{indent}def {name}(){annotated}:{newline}");
        let end = self.line_end(range.end());
        let mut line = Some(start);
        while let Some(from) = line.filter(|from| *from < range.end()) {
            let next = self.next_line(from);
            let until = next.unwrap_or(end).min(end);
            if !self.text(TextRange::new(from, self.line_end(from))).trim().is_empty() {
                text.push_str(unit);
            }
            match bound.filter(|target| from <= target.start() && target.start() < until) {
                // The value may begin on a later line only within brackets, which belong to it.
                Some(target) => {
                    text.push_str(self.text(TextRange::new(from, target.start())));
                    text.push_str("return ");
                    text.push_str(self.text(TextRange::new(target.end(), until)));
                }
                None => text.push_str(self.text(TextRange::new(from, until))),
            }
            line = next;
        }
        if let Gives::Names(names) = &result {
            text.push_str(&format!("{newline}{indent}{unit}return {}", names.join(", ")));
        }
        text.push_str(&format!("{newline}{newline}{indent}{written}"));
        edits.push((span(TextRange::new(start, end)), text));
        let what = match statements {
            [Stmt::With(_)] => "the whole `with` block",
            [Stmt::For(_)] => "the whole loop",
            [Stmt::If(_)] => "the whole `if`",
            [_] => "these calls",
            _ => "these steps",
        };
        let title = format!("Run {what} in a thread with {named}, as `{name}`");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// Which names statements leave behind for what follows them.
    pub(super) fn result_of(
        &self,
        function: &'a StmtFunctionDef,
        statements: &'a [Stmt],
        inside: &Inside<'a>,
    ) -> Result<Gives<'a>, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let last = statements.last().and_then(last_of);
        let outside = Outside::of(function, range_of(statements));
        if inside.stores.iter().any(|name| outside.foreign.contains(name)) {
            return refuse("the block speaks of names of another function");
        }
        let order = Order::of(statements);
        // Read before it is bound there, or bound by chance: it would be another name inside of a function.
        let mixed = |name: &&str| {
            outside.stores.contains(*name) && inside.loads.contains(*name) && order.reads_first.contains(*name)
        };
        if inside.returns > 0 {
            let is_last = matches!(last, Some(Stmt::Return(_)));
            let is_used = |name: &&str| outside.loads.contains(*name) || mixed(name);
            return match inside.returns == 1 && is_last && !inside.stores.iter().any(is_used) {
                true => Ok(Gives::Returned),
                false => refuse("the block returns from the function at several places"),
            };
        }
        if inside.stores.iter().any(mixed) {
            return refuse("the block changes a name that it also reads, of the function around");
        }
        let mut needed: Vec<&str> = Vec::new();
        for name in &inside.stored {
            if outside.loads.contains(name) && !needed.contains(name) {
                needed.push(name);
            }
        }
        if let [name] = needed[..]
            && inside.stored_times(name) == 1
            && let Some(Stmt::Assign(assign)) = last
            && let [Expr::Name(target)] = &*assign.targets
            && target.id == name
        {
            let value = self.value_start(assign.targets[0].end(), assign.value.range());
            return Ok(Gives::Name { name, target: TextRange::new(assign.start(), value) });
        }
        match needed.iter().all(|name| order.bound.contains(name)) {
            _ if needed.is_empty() => Ok(Gives::Nothing),
            true => Ok(Gives::Names(needed)),
            false => refuse("the block binds a name that is used behind it, and not in every case"),
        }
    }

    /// Where the value of an assignment begins, with its brackets.
    fn value_start(&self, target: TextSize, value: TextRange) -> TextSize {
        let between = self.text(TextRange::new(target, value.start()));
        let equals = between.find('=').map_or(0, |at| at + 1);
        let rest = &between[equals..];
        let blank = rest.len() - rest.trim_start().len();
        target + TextSize::of(&between[..equals + blank])
    }

    /// True if one of these texts spans lines.
    fn names_of_strings(&self, strings: &[TextRange]) -> bool {
        strings.iter().any(|range| self.text(*range).contains(['\n', '\r']))
    }

    /// One step of indentation, as the block itself has it, or the function around.
    fn unit(&self, function: &StmtFunctionDef, statements: &[Stmt], indent: &str) -> &'a str {
        let indent_of = |at: TextSize| self.text(TextRange::new(self.line_start(at), at));
        let blank = |unit: &&str| !unit.is_empty() && unit.chars().all(char::is_whitespace);
        let inner = statements.iter().find_map(|statement| match statement {
            Stmt::With(with) => with.body.first(),
            Stmt::For(each) => each.body.first(),
            Stmt::If(branch) => branch.body.first(),
            _ => None,
        });
        let own = inner.and_then(|first| indent_of(first.start()).strip_prefix(indent)).filter(blank);
        let of_function = || {
            let start = function.decorator_list.last().map_or(function.start(), Ranged::start);
            let outer = indent_of(start);
            function.body.first().and_then(|first| indent_of(first.start()).strip_prefix(outer)).filter(blank)
        };
        own.or_else(of_function).unwrap_or(if indent.ends_with('\t') { "\t" } else { "    " })
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

    /// Returns a name for the function that no other has.
    fn name_for(&self, site: &Site<'a>, statements: &[Stmt], result: &Gives<'_>) -> Result<String, Refusal> {
        let called = last_name(&site.call.func).unwrap_or("work").trim_start_matches('_');
        let base = match (statements, result) {
            ([_], Gives::Name { name, .. }) => format!("read_{}", name.trim_start_matches('_')),
            ([statement @ Stmt::With(with)], _) if opens_file(innermost(with)) => {
                file_work(innermost(with), statement).to_owned()
            }
            ([Stmt::With(_)], _) => format!("with_{}", snake(called)),
            ([Stmt::For(_)], _) => format!("{}_each", snake(called)),
            _ => steps_name(statements),
        };
        let mut used = self.given.borrow_mut();
        let own = range_of(statements);
        if let Some(name) = used.iter().find(|(range, _)| *range == own).map(|(_, name)| name.clone()) {
            return Ok(name);
        }
        let functions = &site.around.functions;
        for number in 1..10 {
            let name = if number == 1 { base.clone() } else { format!("{base}_{number}") };
            let of_function =
                |range: &TextRange| functions.last().is_some_and(|outer| outer.range().contains_range(*range));
            let is_taken = used.iter().any(|(range, of)| *of == name && of_function(range));
            if !is_taken
                && self.names.is_free(&name, "", functions, own.start())
                && !functions.iter().any(|function| mentions(function, &name))
            {
                used.push((own, name.clone()));
                return Ok(name);
            }
        }
        Err(Refusal::new("no name is free for the function that would move"))
    }
}

/// The names that a block leaves behind.
pub(super) enum Gives<'a> {
    /// Nothing that is used behind it.
    Nothing,
    /// Its last step returns from the function around.
    Returned,
    /// Its last step binds this name; the range is that of `name = `.
    Name { name: &'a str, target: TextRange },
    /// These names, in the order in which they are bound.
    Names(Vec<&'a str>),
}

impl Gives<'_> {
    fn is_nothing(&self) -> bool {
        matches!(self, Gives::Nothing)
    }
}

fn opens_file(with: &StmtWith) -> bool {
    with.items.iter().any(|item| match &item.context_expr {
        Expr::Call(call) => last_name(&call.func) == Some("open"),
        _ => false,
    })
}

/// True if a file is opened in a mode that writes.
fn opens_to_write(with: &StmtWith) -> bool {
    with.items.iter().filter_map(|item| item.context_expr.as_call_expr()).any(|call| {
        // A path's own method is given no path.
        let of_path = call.func.is_attribute_expr() && call.arguments.args.len() == 1;
        match call.arguments.find_argument_value("mode", if of_path { 0 } else { 1 }) {
            Some(Expr::StringLiteral(mode)) => is_mode_of_writing(mode.value.to_str()),
            _ => false,
        }
    })
}

/// `wb`, `a+`, `w:gz`: a name of a file is longer.
fn is_mode_of_writing(mode: &str) -> bool {
    let (how, _) = mode.split_once([':', '|']).unwrap_or((mode, ""));
    how.len() <= 3 && how.starts_with(['w', 'a', 'x'])
}

/// Returns the last of `with` blocks that hold nothing but the next.
fn innermost(with: &StmtWith) -> &StmtWith {
    match &*with.body {
        [Stmt::With(inner)] if !opens_file(with) => innermost(inner),
        _ => with,
    }
}

/// Returns the name for the work of a `with` that opens a file.
fn file_work(with: &StmtWith, statement: &Stmt) -> &'static str {
    if writes(statement) || opens_to_write(with) { "write_file" } else { "read_file" }
}

/// Returns a name for steps that follow each other: of two what each does, of more the first.
fn steps_name<'s>(statements: &'s [Stmt]) -> String {
    let mut names: Vec<String> = Vec::new();
    let under = |statement: &'s Stmt| match statement {
        Stmt::If(branch) => branch.body.iter().collect(),
        _ => vec![statement],
    };
    for statement in statements.iter().flat_map(under) {
        let call = match statement {
            Stmt::With(with) if opens_file(with) => {
                names.push(file_work(with, statement).to_owned());
                continue;
            }
            Stmt::With(with) => with.items.first().and_then(|item| item.context_expr.as_call_expr()),
            Stmt::Expr(of) => of.value.as_call_expr(),
            Stmt::Assign(of) => of.value.as_call_expr(),
            Stmt::Return(of) => of.value.as_deref().and_then(Expr::as_call_expr),
            _ => None,
        };
        let name = call.and_then(|call| last_name(&call.func)).unwrap_or("work");
        names.push(snake(name.trim_start_matches('_')));
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

/// From the first statement to the last.
fn range_of(statements: &[Stmt]) -> TextRange {
    match (statements.first(), statements.last()) {
        (Some(first), Some(last)) => TextRange::new(first.start(), last.end()),
        _ => TextRange::default(),
    }
}

/// True if what is raised in a `with` ends there, as `suppress` has it.
fn may_end_early(statement: &Stmt) -> bool {
    let Stmt::With(with) = statement else { return false };
    let ends = |item: &ruff_python_ast::WithItem| {
        item.context_expr.as_call_expr().is_some_and(|call| last_name(&call.func) == Some("suppress"))
    };
    with.items.iter().any(ends)
}

fn writes(statement: &Stmt) -> bool {
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
    let mut writes = Writes(false);
    writes.visit_stmt(statement);
    writes.0
}

/// `ZipFile` → `zip_file`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 && !text.ends_with('_') {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

fn mentions(function: &StmtFunctionDef, name: &str) -> bool {
    struct Mentions<'n>(&'n str, bool);
    impl<'a> SourceOrderVisitor<'a> for Mentions<'_> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            self.1 |= matches!(expression, Expr::Name(name) if name.id == self.0);
            walk_expr(self, expression);
        }
    }
    let mut mentions = Mentions(name, false);
    mentions.visit_body(&function.body);
    mentions.1
}

/// Returns the statement of this range.
fn statement_of(body: &[Stmt], range: TextRange) -> Option<&Stmt> {
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

/// True if something in a statement is awaited.
fn awaits(statement: &Stmt) -> bool {
    Inside::of(std::slice::from_ref(statement)).awaits
}

/// Returns the last step of the innermost `with` of nothing but `with`; a step by itself is the last.
fn last_of(statement: &Stmt) -> Option<&Stmt> {
    match statement {
        Stmt::Assign(_) | Stmt::Return(_) => Some(statement),
        Stmt::With(with) => match with.body.last()? {
            inner @ Stmt::With(_) if with.body.len() == 1 => last_of(inner),
            last => Some(last),
        },
        _ => None,
    }
}

/// True if something stands in a suite.
fn holds(suite: &[Stmt], range: TextRange) -> bool {
    suite.iter().any(|statement| statement.range().contains_range(range))
}
