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

use blocklint_core::{Applicability, Mended, Offload, Refusal};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr, walk_stmt};
use ruff_python_ast::{AnyNodeRef, Expr, ExprContext, Stmt, StmtFunctionDef, StmtWith};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashSet;

use super::callee::last_name;
use super::{File, Site};
use crate::walk::span;

/// A block around a call that had better move as a whole.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    statement: &'a Stmt,
    /// Handing over the call alone would leave the work half done.
    pub(super) must: bool,
}

impl Block<'_> {
    pub(super) fn range(&self) -> TextRange {
        self.statement.range()
    }
}

impl<'a> File<'a> {
    /// The block that moves with a call, if one does. `around` are the nodes around it, the outermost first.
    pub(super) fn block_of(&self, site: &Site<'a>, around: &[AnyNodeRef<'a>]) -> Option<Block<'a>> {
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
                    (true, &with.body, item || of_handle(with))
                }
                AnyNodeRef::StmtFor(each) if !each.is_async => (false, &each.body, true),
                _ => continue,
            };
            let in_body = body.iter().any(|statement| statement.range().contains_range(site.call.range()));
            if is_with && !own || !is_with && !in_body {
                continue;
            }
            let statement = statement_of(self.function_body(around, from), node.range())?;
            let must = is_with || found.is_some_and(|found| found.must);
            // A loop that awaits goes on in the task.
            if !is_with && awaits(statement) {
                break;
            }
            found = Some(Block { statement, must });
        }
        found
    }

    fn function_body(&self, around: &[AnyNodeRef<'a>], at: usize) -> &'a [Stmt] {
        match around.get(at) {
            Some(AnyNodeRef::StmtFunctionDef(function)) => &function.body,
            _ => &[],
        }
    }

    /// Puts the block into a function of its own and hands that over.
    pub(super) fn whole(&self, site: &Site<'a>, block: Block<'a>, to: &[Offload]) -> Result<Mended, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(function) = site.around.functions.first() else { return refuse("it stands in no function") };
        let statement = block.statement;
        let range = statement.range();
        let mut inside = Inside::default();
        inside.visit_stmt(statement);
        if let Some(reason) = inside.refused {
            return refuse(reason);
        }
        if inside.asks_for_exception && site.around.handles {
            return refuse("it asks for the exception that is handled here, of which a thread knows nothing");
        }
        if site.around.stops {
            return refuse(super::STOPS);
        }
        if inside.leaves {
            return refuse("`break` or `continue` leaves the block, which must move to a thread as a whole");
        }
        if self.names_of_strings(&inside.strings) {
            return refuse("a text of several lines stands in the block, which would be indented");
        }
        if let Stmt::With(with) = statement
            && with
                .items
                .iter()
                .any(|item| matches!(&item.context_expr, Expr::Call(call) if last_name(&call.func) == Some("suppress")))
        {
            return refuse("the block may end early without a word, and what follows it goes on");
        }
        let start = self.line_start(range.start());
        let indent = self.text(TextRange::new(start, range.start()));
        if !indent.chars().all(char::is_whitespace) {
            return refuse("something else stands on the line of the block");
        }
        let result = self.result_of(function, statement, &inside)?;
        let name = self.name_for(site, statement, &result)?;
        let unit = self.unit(statement, indent);
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
        text.push_str(&format!("{newline}{newline}{indent}{written}"));
        edits.push((span(TextRange::new(start, end)), text));
        let what = if matches!(statement, Stmt::With(_)) { "`with` block" } else { "loop" };
        let title = format!("Hand the whole {what} to a thread with {named}, as `{name}`");
        Ok(Mended { title, applicability: Applicability::Unsafe, edits })
    }

    /// Which name a block leaves behind for what follows it.
    fn result_of(
        &self,
        function: &'a StmtFunctionDef,
        statement: &'a Stmt,
        inside: &Inside<'a>,
    ) -> Result<Gives<'a>, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let last = last_of(statement);
        let outside = Outside::of(function, statement);
        // Read before it is bound there, or bound by chance: it would be another name inside of a function.
        let mixed = |name: &&str| outside.stores.contains(*name) && inside.loads.contains(*name);
        if inside.returns > 0 {
            let is_last = matches!(last, Some(Stmt::Return(_)));
            let is_used = |name: &&str| outside.loads.contains(*name) || mixed(name);
            return match inside.returns == 1 && is_last && !inside.stores.iter().any(is_used) {
                true => Ok(Gives::Returned),
                false => refuse("the block returns from the function at several places"),
            };
        }
        let needed: Vec<&str> = inside.stores.iter().copied().filter(|name| outside.loads.contains(name)).collect();
        if inside.stores.iter().any(mixed) {
            return refuse("the block changes a name that it also reads, of the function around");
        }
        match needed[..] {
            [] => Ok(Gives::Nothing),
            [name] if inside.stored_times(name) == 1 => match last {
                Some(Stmt::Assign(assign)) => match &*assign.targets {
                    [Expr::Name(target)] if target.id == name => Ok(Gives::Name {
                        name,
                        target: TextRange::new(
                            assign.start(),
                            self.value_start(assign.targets[0].end(), assign.value.range()),
                        ),
                    }),
                    _ => refuse("the block binds a name that is used behind it, and not as its last step"),
                },
                _ => refuse("the block binds a name that is used behind it, and not as its last step"),
            },
            _ => refuse("the block binds several names that are used behind it"),
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

    /// Whether one of these texts spans lines.
    fn names_of_strings(&self, strings: &[TextRange]) -> bool {
        strings.iter().any(|range| self.text(*range).contains(['\n', '\r']))
    }

    /// One step of indentation, as the block itself has it.
    fn unit(&self, statement: &Stmt, indent: &str) -> &'a str {
        let first = match statement {
            Stmt::With(with) => with.body.first(),
            Stmt::For(each) => each.body.first(),
            Stmt::While(each) => each.body.first(),
            _ => None,
        };
        let own = first.map(|first| self.text(TextRange::new(self.line_start(first.start()), first.start())));
        let unit = own.and_then(|own| own.strip_prefix(indent)).filter(|unit| unit.chars().all(char::is_whitespace));
        unit.filter(|unit| !unit.is_empty()).unwrap_or(if indent.ends_with('\t') { "\t" } else { "    " })
    }

    fn line_end(&self, at: TextSize) -> TextSize {
        let rest = self.source.get(at.to_usize()..).unwrap_or_default();
        at + TextSize::of(&rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())])
    }

    fn next_line(&self, at: TextSize) -> Option<TextSize> {
        let end = self.line_end(at);
        let rest = self.source.get(end.to_usize()..)?;
        let width = if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        (width > 0).then(|| end + TextSize::of(&rest[..width]))
    }

    /// A name for the function that no other has.
    fn name_for(&self, site: &Site<'a>, statement: &Stmt, result: &Gives<'_>) -> Result<String, Refusal> {
        let called = last_name(&site.call.func).unwrap_or("work").trim_start_matches('_');
        let base = match (statement, result) {
            (_, Gives::Name { name, .. }) => format!("read_{}", name.trim_start_matches('_')),
            (Stmt::With(with), _) if opens_file(with) => match writes(statement) || opens_to_write(with) {
                true => "write_file".to_owned(),
                false => "read_file".to_owned(),
            },
            (Stmt::With(_), _) => format!("with_{}", snake(called)),
            _ => format!("{}_each", snake(called)),
        };
        let mut used = self.given.borrow_mut();
        let own = statement.range();
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

/// What a block leaves behind.
enum Gives<'a> {
    /// Nothing that is used behind it.
    Nothing,
    /// Its last step returns from the function around.
    Returned,
    /// Its last step binds this name; the range is that of `name = `.
    Name { name: &'a str, target: TextRange },
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

/// Whether a file is opened in a mode that writes.
fn opens_to_write(with: &StmtWith) -> bool {
    with.items.iter().filter_map(|item| item.context_expr.as_call_expr()).any(|call| {
        // A path's own method is given no path.
        let of_path = call.func.is_attribute_expr() && call.arguments.args.len() == 1;
        match call.arguments.find_argument_value("mode", if of_path { 0 } else { 1 }) {
            Some(Expr::StringLiteral(mode)) => {
                let mode = mode.value.to_str();
                mode.len() <= 3 && mode.starts_with(['w', 'a', 'x'])
            }
            _ => false,
        }
    })
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

/// The statement of this range.
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

/// Whether something in a statement is awaited.
fn awaits(statement: &Stmt) -> bool {
    let mut inside = Inside::default();
    inside.visit_stmt(statement);
    inside.awaits
}

/// The last step of the innermost `with` of nothing but `with`.
fn last_of(statement: &Stmt) -> Option<&Stmt> {
    match statement {
        Stmt::With(with) => match with.body.last()? {
            inner @ Stmt::With(_) if with.body.len() == 1 => last_of(inner),
            last => Some(last),
        },
        _ => None,
    }
}

/// What stands in a block.
#[derive(Default)]
struct Inside<'a> {
    loads: FxHashSet<&'a str>,
    stores: FxHashSet<&'a str>,
    stored: Vec<&'a str>,
    strings: Vec<TextRange>,
    returns: u32,
    loops: u32,
    leaves: bool,
    awaits: bool,
    refused: Option<&'static str>,
    /// Whether it speaks of the exception that is being handled.
    asks_for_exception: bool,
    /// Names of the comprehensions around.
    own: Vec<&'a str>,
}

impl Inside<'_> {
    fn stored_times(&self, name: &str) -> usize {
        self.stored.iter().filter(|of| **of == name).count()
    }
}

impl<'a> SourceOrderVisitor<'a> for Inside<'a> {
    fn enter_node(&mut self, _node: AnyNodeRef<'a>) -> TraversalSignal {
        TraversalSignal::Traverse
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                self.refused =
                    Some("a function or class is defined in the block, which must move to a thread as a whole");
                return;
            }
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.refused = Some("the block speaks of names of another function"),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.refused = Some("the block imports"),
            Stmt::Delete(_) => self.refused = Some("the block deletes something"),
            Stmt::AugAssign(assign) if assign.target.is_name_expr() => {
                if let Expr::Name(name) = &*assign.target {
                    self.loads.insert(name.id.as_str());
                }
            }
            Stmt::Return(_) => self.returns += 1,
            Stmt::Raise(raise) => self.asks_for_exception |= raise.exc.is_none(),
            Stmt::Break(_) | Stmt::Continue(_) => self.leaves |= self.loops == 0,
            Stmt::With(with) if with.is_async => self.awaits = true,
            Stmt::For(each) => {
                self.awaits |= each.is_async;
                self.loops += 1;
                walk_stmt(self, statement);
                self.loops -= 1;
                return;
            }
            Stmt::While(_) => {
                self.loops += 1;
                walk_stmt(self, statement);
                self.loops -= 1;
                return;
            }
            _ => {}
        }
        if self.awaits {
            self.refused = Some("something is awaited in the block, which must move to a thread as a whole");
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Await(_) => self.awaits = true,
            Expr::Call(call) => match last_name(&call.func) {
                Some("next") if call.arguments.args.len() == 1 => self.refused = Some(super::STOPS),
                Some("exception" | "exc_info" | "format_exc" | "print_exc") => self.asks_for_exception = true,
                _ => {}
            },
            Expr::Yield(_) | Expr::YieldFrom(_) => self.refused = Some("the block yields"),
            Expr::ListComp(of) if of.generators.iter().any(|each| each.is_async) => self.awaits = true,
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) => self.strings.push(expression.range()),
            Expr::Name(name) if self.own.contains(&name.id.as_str()) => {}
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => {
                    self.loads.insert(name.id.as_str());
                    if matches!(name.id.as_str(), "super" | "__class__" | "locals" | "vars" | "eval" | "exec") {
                        self.refused = Some("the block asks for the function around it");
                    }
                }
                _ => {
                    self.stores.insert(name.id.as_str());
                    self.stored.push(name.id.as_str());
                }
            },
            _ => {}
        }
        if self.awaits {
            self.refused = Some("something is awaited in the block, which must move to a thread as a whole");
        }
        let before = self.own.len();
        self.own.extend(own_names(expression));
        walk_expr(self, expression);
        self.own.truncate(before);
    }
}

/// What stands outside of a block, in the same function.
struct Outside<'a> {
    range: TextRange,
    loads: FxHashSet<&'a str>,
    stores: FxHashSet<&'a str>,
    /// Names that the statements around bind for themselves.
    own: Vec<&'a str>,
}

impl<'a> Outside<'a> {
    /// What stands in a function outside of one of its statements.
    fn of(function: &'a StmtFunctionDef, statement: &Stmt) -> Self {
        let mut outside = Outside {
            range: statement.range(),
            loads: FxHashSet::default(),
            stores: FxHashSet::default(),
            own: Vec::new(),
        };
        outside.visit_parameters(&function.parameters);
        outside.visit_body(&function.body);
        outside
    }

    fn with_own(&mut self, bound: Vec<&'a str>, visit: impl FnOnce(&mut Self)) {
        let before = self.own.len();
        self.own.extend(bound);
        visit(self);
        self.own.truncate(before);
    }
}

impl<'a> SourceOrderVisitor<'a> for Outside<'a> {
    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        self.stores.insert(parameter.name.as_str());
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let range = self.range;
        if statement.range() == range {
            return;
        }
        match statement {
            Stmt::For(each) if !each.range().contains_range(range) => {
                self.with_own(bound_by(&each.target), |outside| walk_stmt(outside, statement));
            }
            Stmt::With(with) if !with.range().contains_range(range) => {
                let bound =
                    with.items.iter().filter_map(|item| item.optional_vars.as_deref()).flat_map(bound_by).collect();
                self.with_own(bound, |outside| walk_stmt(outside, statement));
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            let name_text = name.id.as_str();
            if !self.own.contains(&name_text) {
                match name.ctx {
                    ExprContext::Load => self.loads.insert(name_text),
                    _ => self.stores.insert(name_text),
                };
            }
        }
        self.with_own(own_names(expression), |outside| walk_expr(outside, expression));
    }
}

/// The names that a comprehension binds for itself.
fn own_names(expression: &Expr) -> Vec<&str> {
    let generators = match expression {
        Expr::ListComp(of) => &of.generators,
        Expr::SetComp(of) => &of.generators,
        Expr::DictComp(of) => &of.generators,
        Expr::Generator(of) => &of.generators,
        _ => return Vec::new(),
    };
    generators.iter().flat_map(|each| bound_by(&each.target)).collect()
}

/// The names in a target.
fn bound_by(target: &Expr) -> Vec<&str> {
    match target {
        Expr::Name(name) => vec![name.id.as_str()],
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(bound_by).collect(),
        _ => Vec::new(),
    }
}
