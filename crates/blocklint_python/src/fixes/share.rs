//! An executor that is made for each instance or call becomes one for all: a name of the module.
//!
//! A shared executor does not end, so the calls that shut it down are removed; no code waits any more for the work that
//! they waited for, which makes the edit unsafe. The edit is only shown where the executor is used for more than to
//! give it work.

use blocklint_core::{Applicability, Refusal, WrittenEdit};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};
use crate::walk::span;

/// Methods that give an executor work.
const GIVE_WORK: &[&str] = &["submit", "map"];
/// The method that ends it.
const END: &str = "shutdown";
/// Calls that take an executor to give it work.
const TAKE: &[&str] = &["run_in_executor"];

/// Where the executor goes.
enum Holder<'a> {
    /// An argument of a call that gives it work; no other code has it.
    Argument,
    /// A local of the function around.
    Local(&'a str),
    /// A field of the instance: `self.NAME`.
    Field(&'a str, &'a str),
}

impl<'a> File<'a, '_> {
    /// Returns the edits for a call that makes an executor. `around` are the nodes around it, the outermost first.
    pub(super) fn share(&self, site: &Site<'a>, around: &[AnyNodeRef<'a>]) -> Result<WrittenEdit, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let holder = match around {
            [.., AnyNodeRef::StmtAssign(assign)] => match &*assign.targets {
                [Expr::Name(name)] => Holder::Local(name.id.as_str()),
                [Expr::Attribute(field)] => match &*field.value {
                    Expr::Name(of) => Holder::Field(of.id.as_str(), field.attr.as_str()),
                    _ => return refuse("another object keeps it"),
                },
                _ => return refuse("it has several names"),
            },
            [.., AnyNodeRef::StmtAnnAssign(assign)] => match &*assign.target {
                Expr::Name(name) => Holder::Local(name.id.as_str()),
                _ => return refuse("the place that shuts it down must be chosen by hand"),
            },
            [.., AnyNodeRef::WithItem(_)] => {
                return refuse("the end of the `with` waits for its tasks, which a shared executor does not");
            }
            _ if site.around.taker.is_some() => Holder::Argument,
            _ => return refuse("the place that keeps it and shuts it down must be chosen by hand"),
        };
        let Some(outermost) = around.iter().find(|node| node.is_statement()) else {
            return refuse("it stands in no function");
        };
        let within = match holder {
            Holder::Field(..) => around.iter().rev().find(|node| matches!(node, AnyNodeRef::StmtClassDef(_))),
            _ => around.iter().rev().find(|node| matches!(node, AnyNodeRef::StmtFunctionDef(_))),
        };
        let Some(within) = within else { return refuse("it stands in no function") };
        self.made_of_the_module(site, outermost.start())?;
        let name = self.shared_name(site, around, &holder)?;

        let mut uses = Uses { holder: &holder, ends: Vec::new(), others: 0, is_alone: false, known: Vec::new() };
        match within {
            AnyNodeRef::StmtFunctionDef(function) => uses.visit_body(&function.body),
            AnyNodeRef::StmtClassDef(class) => uses.visit_body(&class.body),
            _ => {}
        }
        let call = site.call.range();
        let mut edits = vec![(span(call), name.clone())];
        for (statement, is_alone) in &uses.ends {
            self.without_comments(*statement)?;
            match is_alone {
                true => edits.push((span(*statement), "pass".to_owned())),
                false => edits.push((span(self.whole_lines(*statement)?), String::new())),
            }
        }
        let at = self.above_comments(self.line_start(outermost.start()));
        let newline = self.newline_at(at);
        let blank = newline.repeat(3);
        edits.push((span(TextRange::empty(at)), format!("{name} = {}{blank}", self.text(call))));
        let ends = if uses.ends.is_empty() { "" } else { "; its tasks are no longer awaited at shutdown" };
        Ok(WrittenEdit {
            title: format!("Share one executor, `{name}`: all use its threads{ends}"),
            applicability: if uses.others > 0 { Applicability::Display } else { Applicability::Unsafe },
            edits,
        })
    }

    /// Refuses a call of which something is known only inside of the function around it, or after this place.
    fn made_of_the_module(&self, site: &Site<'a>, before: TextSize) -> Result<(), Refusal> {
        let mut read = Read::default();
        read.visit_expr(&site.call.func);
        for argument in site.call.arguments.iter_source_order() {
            read.visit_expr(argument.value());
        }
        if read.other {
            return Err(Refusal::new("what it is made with is worked out where it stands"));
        }
        match read.names.iter().all(|name| self.names.is_of_module(self.module, name, &site.around.functions, before)) {
            true => Ok(()),
            false => Err(Refusal::new("what it is made with is known only where it stands")),
        }
    }

    /// Returns the name of the shared executor.
    fn shared_name(&self, site: &Site<'a>, around: &[AnyNodeRef<'a>], holder: &Holder<'a>) -> Result<String, Refusal> {
        let of = match holder {
            Holder::Argument => "executor",
            Holder::Local(name) | Holder::Field(_, name) => name.trim_matches('_'),
        };
        let mut name = format!("_{}", of.to_uppercase());
        // Others of the file may become shared too.
        let makers = self.source.matches(&format!("{}(", self.text(site.call.func.range()))).count();
        let owner = around.iter().rev().find_map(|node| match node {
            AnyNodeRef::StmtClassDef(class) => Some(class.name.as_str()),
            _ => None,
        });
        let owner = owner.or(site.around.functions.last().map(|function| function.name.as_str()));
        if makers > 1
            && let Some(owner) = owner
        {
            name = format!("_{}{name}", owner.trim_matches('_').to_uppercase());
        }
        let is_ascii = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        match is_ascii && !self.source.contains(&name) {
            true => Ok(name),
            false => Err(Refusal::new(format!("`{name}` means something else here"))),
        }
    }

    /// Returns the lines of a statement that has them for itself.
    fn whole_lines(&self, statement: TextRange) -> Result<TextRange, Refusal> {
        let start = self.line_start(statement.start());
        let rest = self.source.get(statement.end().to_usize()..).unwrap_or_default();
        let blank = self.text(TextRange::new(start, statement.start())).trim().is_empty();
        let newline = self.newline_at(statement.end());
        match blank && (rest.starts_with(newline) || rest.is_empty()) {
            true => {
                let end = if rest.is_empty() { 0 } else { newline.len() };
                Ok(TextRange::new(start, statement.end() + TextSize::new(end as u32)))
            }
            false => Err(Refusal::new("something stands on the line that ends it")),
        }
    }
}

/// The names that an expression reads; whether it does more than that.
#[derive(Default)]
struct Read<'a> {
    names: Vec<&'a str>,
    other: bool,
}

impl<'a> SourceOrderVisitor<'a> for Read<'a> {
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
            | AnyNodeRef::ExprGenerator(_) => self.other = true,
            _ => {}
        }
        TraversalSignal::Traverse
    }
}

/// The uses of an executor by its name.
struct Uses<'h, 'a> {
    holder: &'h Holder<'a>,
    /// The statements that end it, and whether their block has no other.
    ends: Vec<(TextRange, bool)>,
    /// Other uses: they neither end it nor give it work.
    others: u32,
    /// True if the statement that is looked at is the only one of its block.
    is_alone: bool,
    /// Mentions that were explained by what stands around them.
    known: Vec<TextRange>,
}

impl Uses<'_, '_> {
    fn is_it(&self, node: AnyNodeRef<'_>) -> bool {
        match (self.holder, node) {
            (Holder::Local(wanted), AnyNodeRef::ExprName(name)) => name.id.as_str() == *wanted,
            (Holder::Field(of, wanted), AnyNodeRef::ExprAttribute(field)) => {
                field.attr.as_str() == *wanted && matches!(&*field.value, Expr::Name(name) if name.id.as_str() == *of)
            }
            _ => false,
        }
    }

    /// Returns the range of it where a method of this name is called on it.
    fn on_it(&self, call: &Expr, is_named: impl Fn(&str) -> bool) -> Option<TextRange> {
        let Expr::Call(call) = call else { return None };
        let Expr::Attribute(method) = &*call.func else { return None };
        (is_named(method.attr.as_str()) && self.is_it((&*method.value).into())).then(|| method.value.range())
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
                if let Some(at) = self.on_it(&statement.value, |name| name == END) {
                    self.ends.push((statement.range(), self.is_alone));
                    self.known.push(at);
                }
            }
            AnyNodeRef::StmtAssign(assign) => {
                let targets = assign.targets.iter().filter(|target| self.is_it((*target).into()));
                let targets: Vec<TextRange> = targets.map(Ranged::range).collect();
                self.known.extend(targets);
            }
            AnyNodeRef::StmtAnnAssign(assign) if self.is_it((&*assign.target).into()) => {
                self.known.push(assign.target.range());
            }
            AnyNodeRef::ExprCall(call) => {
                if let Expr::Attribute(method) = &*call.func {
                    let name = method.attr.as_str();
                    if GIVE_WORK.contains(&name) && self.is_it((&*method.value).into()) {
                        self.known.push(method.value.range());
                    }
                    if TAKE.contains(&name) {
                        let given: Vec<TextRange> = call
                            .arguments
                            .args
                            .iter()
                            .filter(|of| self.is_it((*of).into()))
                            .map(Ranged::range)
                            .collect();
                        self.known.extend(given);
                    }
                }
            }
            _ if self.is_it(node) && !self.known.contains(&node.range()) => self.others += 1,
            _ => {}
        }
        TraversalSignal::Traverse
    }
}
