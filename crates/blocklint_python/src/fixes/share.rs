//! Edits that share an executor (`ThreadPoolExecutor`): one that is created for each instance or call becomes a global.
//!
//! A shared executor is not shut down, so the calls of `shutdown` are removed. They also waited for its tasks, which
//! makes the edit unsafe. If the executor has other uses than `submit`, `map` and `run_in_executor`, the edit is only
//! displayed.

use blocklint_core::{Applicability, Refusal, WrittenEdit};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};
use crate::walk::span;

/// Methods of an executor that give it tasks.
const TASK_METHODS: &[&str] = &["submit", "map"];
/// The method that shuts it down.
const SHUTDOWN_METHOD: &str = "shutdown";
/// Functions that give tasks to the executor among their arguments.
const TASK_FUNCTIONS: &[&str] = &["run_in_executor"];

/// The place that keeps the executor.
enum Holder<'a> {
    /// Only an argument of a call that submits tasks to it.
    Argument,
    /// A local variable of the function around.
    Local(&'a str),
    /// A field of the instance: `self.NAME`.
    Field(&'a str, &'a str),
}

impl<'a> File<'a, '_> {
    /// Returns the edits for a call that creates an executor. `around` are the nodes around it, the outermost first.
    pub(super) fn share_executor(&self, site: &Site<'a>, around: &[AnyNodeRef<'a>]) -> Result<WrittenEdit, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let holder = match around {
            [.., AnyNodeRef::StmtAssign(assign)] => match &*assign.targets {
                [Expr::Name(name)] => Holder::Local(name.id.as_str()),
                [Expr::Attribute(field)] => match &*field.value {
                    Expr::Name(name) => Holder::Field(name.id.as_str(), field.attr.as_str()),
                    _ => return refuse("the object is stored in a field of another object"),
                },
                _ => return refuse("the object is assigned to several names"),
            },
            [.., AnyNodeRef::StmtAnnAssign(assign)] => match &*assign.target {
                Expr::Name(name) => Holder::Local(name.id.as_str()),
                _ => return refuse("the place that shuts the executor down must be chosen by hand"),
            },
            [.., AnyNodeRef::WithItem(_)] => {
                return refuse("the end of the `with` waits for the tasks, and a shared executor would not");
            }
            _ if site.around.outer_call.is_some() => Holder::Argument,
            _ => return refuse("the places that store the executor and shut it down must be chosen by hand"),
        };
        let Some(outermost) = around.iter().find(|node| node.is_statement()) else {
            return refuse("the call is in no function");
        };
        let scope = match holder {
            Holder::Field(..) => around.iter().rev().find(|node| matches!(node, AnyNodeRef::StmtClassDef(_))),
            _ => around.iter().rev().find(|node| matches!(node, AnyNodeRef::StmtFunctionDef(_))),
        };
        let Some(scope) = scope else { return refuse("the call is in no function") };
        self.check_arguments_are_global(site, outermost.start())?;
        let name = self.shared_name(site, around, &holder)?;

        let mut uses =
            Uses { holder: &holder, shutdowns: Vec::new(), other_uses: 0, is_alone: false, counted: Vec::new() };
        match scope {
            AnyNodeRef::StmtFunctionDef(function) => uses.visit_body(&function.body),
            AnyNodeRef::StmtClassDef(class) => uses.visit_body(&class.body),
            _ => {}
        }
        let call = site.call.range();
        let mut edits = vec![(span(call), name.clone())];
        for (statement, is_alone) in &uses.shutdowns {
            self.check_has_no_comments(*statement)?;
            if *is_alone {
                edits.push((span(*statement), "pass".to_owned()))
            } else {
                edits.push((span(self.lines_of_statement(*statement)?), String::new()))
            }
        }
        let offset = self.above_comments(self.line_start(outermost.start()));
        let newline = self.newline_at(offset);
        let blank = newline.repeat(3);
        edits.push((span(TextRange::empty(offset)), format!("{name} = {}{blank}", self.text(call))));
        let ends = if uses.shutdowns.is_empty() { "" } else { "; its tasks are no longer awaited at shutdown" };
        Ok(WrittenEdit {
            title: format!("Share one executor, `{name}`: all use its threads{ends}"),
            applicability: if uses.other_uses > 0 { Applicability::Display } else { Applicability::Unsafe },
            edits,
        })
    }

    /// Refuses a call with arguments that cannot be evaluated at the top level of the module before this offset.
    fn check_arguments_are_global(&self, site: &Site<'a>, before: TextSize) -> Result<(), Refusal> {
        let mut reads = ReadNames::default();
        reads.visit_expr(&site.call.func);
        for argument in site.call.arguments.iter_source_order() {
            reads.visit_expr(argument.value());
        }
        if reads.is_computed {
            return Err(Refusal::new("its arguments are computed at the call"));
        }
        if reads
            .names
            .iter()
            .all(|name| self.names.is_bound_in_module_before(self.module, name, &site.around.functions, before))
        {
            Ok(())
        } else {
            Err(Refusal::new("its arguments use names that the top level of the module does not have"))
        }
    }

    /// Returns the name of the shared executor.
    fn shared_name(&self, site: &Site<'a>, around: &[AnyNodeRef<'a>], holder: &Holder<'a>) -> Result<String, Refusal> {
        let held_as = match holder {
            Holder::Argument => "executor",
            Holder::Local(name) | Holder::Field(_, name) => name.trim_matches('_'),
        };
        let mut name = format!("_{}", held_as.to_uppercase());
        // Other executors of the file may become shared too.
        let constructions = self.source.matches(&format!("{}(", self.text(site.call.func.range()))).count();
        let owner = around.iter().rev().find_map(|node| match node {
            AnyNodeRef::StmtClassDef(class) => Some(class.name.as_str()),
            _ => None,
        });
        let owner = owner.or(site.around.functions.last().map(|function| function.name.as_str()));
        if constructions > 1
            && let Some(owner) = owner
        {
            name = format!("_{}{name}", owner.trim_matches('_').to_uppercase());
        }
        let is_ascii = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if is_ascii && !self.source.contains(&name) {
            Ok(name)
        } else {
            Err(Refusal::new(format!("`{name}` has another meaning here")))
        }
    }

    /// Returns the lines of a statement, if no other code is on them.
    fn lines_of_statement(&self, statement: TextRange) -> Result<TextRange, Refusal> {
        let start = self.line_start(statement.start());
        let rest = self.source.get(statement.end().to_usize()..).unwrap_or_default();
        let blank = self.text(TextRange::new(start, statement.start())).trim().is_empty();
        let newline = self.newline_at(statement.end());
        if blank && (rest.starts_with(newline) || rest.is_empty()) {
            let end = if rest.is_empty() { 0 } else { newline.len() };
            Ok(TextRange::new(start, statement.end() + TextSize::new(end as u32)))
        } else {
            Err(Refusal::new("other code is on the line that shuts the executor down"))
        }
    }
}

/// The names that an expression reads.
#[derive(Default)]
struct ReadNames<'a> {
    names: Vec<&'a str>,
    /// True if it also awaits, yields, or binds names.
    is_computed: bool,
}

impl<'a> SourceOrderVisitor<'a> for ReadNames<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprName(name) => self.names.push(name.id.as_str()),
            AnyNodeRef::ExprAwait(_)
            | AnyNodeRef::ExprYield(_)
            | AnyNodeRef::ExprYieldFrom(_)
            | AnyNodeRef::ExprLambda(_)
            | AnyNodeRef::ExprNamed(_)
            | AnyNodeRef::ExprListComp(_)
            | AnyNodeRef::ExprSetComp(_)
            | AnyNodeRef::ExprDictComp(_)
            | AnyNodeRef::ExprGenerator(_) => self.is_computed = true,
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

/// The uses of an executor in a function or class.
struct Uses<'h, 'a> {
    holder: &'h Holder<'a>,
    /// The statements that shut it down, and whether each is the only statement of its block.
    shutdowns: Vec<(TextRange, bool)>,
    /// Number of uses that neither shut it down nor give it tasks.
    other_uses: u32,
    /// True if the statement being visited is the only one of its block.
    is_alone: bool,
    /// The ranges of mentions that are no other uses.
    counted: Vec<TextRange>,
}

impl Uses<'_, '_> {
    fn is_holder(&self, node: AnyNodeRef<'_>) -> bool {
        match (self.holder, node) {
            (Holder::Local(field_name), AnyNodeRef::ExprName(name)) => name.id.as_str() == *field_name,
            (Holder::Field(object_name, field_name), AnyNodeRef::ExprAttribute(field)) => {
                field.attr.as_str() == *field_name
                    && matches!(&*field.value, Expr::Name(name) if name.id.as_str() == *object_name)
            }
            _ => false,
        }
    }

    /// Returns the range of the receiver, if a call is that of a method of the executor with a name that `is_named`
    /// accepts.
    fn receiver_if_holder(&self, call: &Expr, is_named: impl Fn(&str) -> bool) -> Option<TextRange> {
        let Expr::Call(call) = call else { return None };
        let Expr::Attribute(method) = &*call.func else { return None };
        (is_named(method.attr.as_str()) && self.is_holder((&*method.value).into())).then(|| method.value.range())
    }
}

impl<'a> SourceOrderVisitor<'a> for Uses<'_, 'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        for statement in body {
            let outer = std::mem::replace(&mut self.is_alone, body.len() == 1);
            self.visit_stmt(statement);
            self.is_alone = outer;
        }
    }

    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::StmtExpr(statement) => {
                if let Some(at) = self.receiver_if_holder(&statement.value, |name| name == SHUTDOWN_METHOD) {
                    self.shutdowns.push((statement.range(), self.is_alone));
                    self.counted.push(at);
                }
            }
            AnyNodeRef::StmtAssign(assign) => {
                let targets = assign.targets.iter().filter(|target| self.is_holder((*target).into()));
                let targets: Vec<TextRange> = targets.map(Ranged::range).collect();
                self.counted.extend(targets);
            }
            AnyNodeRef::StmtAnnAssign(assign) if self.is_holder((&*assign.target).into()) => {
                self.counted.push(assign.target.range());
            }
            AnyNodeRef::ExprCall(call) => {
                if let Expr::Attribute(method) = &*call.func {
                    let name = method.attr.as_str();
                    if TASK_METHODS.contains(&name) && self.is_holder((&*method.value).into()) {
                        self.counted.push(method.value.range());
                    }
                    if TASK_FUNCTIONS.contains(&name) {
                        let holder_arguments: Vec<TextRange> = call
                            .arguments
                            .args
                            .iter()
                            .filter(|argument| self.is_holder((*argument).into()))
                            .map(Ranged::range)
                            .collect();
                        self.counted.extend(holder_arguments);
                    }
                }
            }
            _ if self.is_holder(node) && !self.counted.contains(&node.range()) => self.other_uses += 1,
            _ => {}
        }
        TraversalSignal::Traverse
    }
}
