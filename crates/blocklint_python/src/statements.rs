//! Statements and suites.

use blocklint_facts::{AssignKind, ExitKind, Form, FormId, RegionKind, SiteFlags, SiteKind};
use ruff_python_ast::{Expr, Stmt, StmtAnnAssign, StmtAssign, StmtAugAssign, StmtIf};
use ruff_text_size::Ranged;
use smallvec::SmallVec;

use crate::annotations::last_name;
use crate::compound_statements::suite_range;
use crate::dunder::Dunder;
use crate::targets::Binding;
use crate::walk::{CONDITIONS_IN_A_ROW, STATEMENT_DEPTH, Walker, span};

impl Walker<'_> {
    /// Walks statements in order; true if they diverge: control cannot fall through to the statement after them.
    ///
    /// A statement may leave another region behind: after `if x: return` the rest lies in the region where `x` does
    /// not hold.
    pub(crate) fn suite(&mut self, suite: &[Stmt]) -> bool {
        let Some(last) = suite.last() else { return false };
        if self.suites >= STATEMENT_DEPTH {
            self.leave_out(suite_range(suite));
            return false;
        }
        self.suites += 1;
        let start = self.region;
        let mut conditions = 0;
        let mut diverges = false;
        for statement in suite {
            let before = self.region;
            diverges |= self.statement(statement);
            if self.region != before {
                conditions += 1;
                if conditions > CONDITIONS_IN_A_ROW {
                    self.region = before;
                }
            }
        }
        while self.region != start {
            let region = self.facts.region_mut(self.region);
            region.span.end = region.span.end.max(last.end().to_u32());
            self.region = region.parent;
        }
        self.suites -= 1;
        diverges
    }

    fn statement(&mut self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Expr(node) => return self.expression_statement(&node.value),
            Stmt::Assign(node) => self.assign_statement(node),
            Stmt::AnnAssign(node) => self.annotated_assign(node),
            Stmt::AugAssign(node) => self.augmented_assign(node),
            Stmt::Return(node) => {
                let value = node.value.as_deref().map_or(FormId::NONE, |value| self.expr(value));
                self.exit(ExitKind::Return, value, node.range);
                return true;
            }
            Stmt::If(node) => return self.if_statement(node),
            Stmt::For(node) => self.for_statement(node),
            Stmt::While(node) => self.while_statement(node),
            Stmt::With(node) => return self.with_statement(node),
            Stmt::Try(node) => return self.try_statement(node),
            Stmt::Match(node) => return self.match_statement(node),
            Stmt::FunctionDef(node) => self.function(node),
            Stmt::ClassDef(node) => self.class(node),
            Stmt::TypeAlias(node) => self.type_alias(node),
            Stmt::Import(node) => self.import(node),
            Stmt::ImportFrom(node) => self.import_from(node),
            Stmt::Raise(node) => {
                for part in [&node.exc, &node.cause].into_iter().flatten() {
                    self.expr(part);
                }
                return true;
            }
            Stmt::Assert(node) => {
                let test = self.tested(&node.test);
                if let Some(message) = &node.msg {
                    self.expr(message);
                }
                // The code behind such an `assert` runs only if the value is of the class.
                if asks_for_class(&node.test) {
                    let end = node.range.end().to_u32();
                    let group = self.facts.group();
                    self.open_arm(RegionKind::Then, group, test, blocklint_core::Span::new(end, end));
                }
            }
            Stmt::Delete(node) => {
                for target in &node.targets {
                    self.delete(target);
                }
            }
            Stmt::Global(node) => {
                for name in &node.names {
                    let sym = self.facts.intern(&name.id);
                    self.scopes.global(sym, &mut self.facts);
                }
            }
            Stmt::Nonlocal(node) => {
                for name in &node.names {
                    let sym = self.facts.intern(&name.id);
                    self.scopes.nonlocal(sym, &mut self.facts);
                }
            }
            Stmt::Break(_) | Stmt::Continue(_) => return true,
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {}
        }
        false
    }

    fn expression_statement(&mut self, value: &Expr) -> bool {
        if matches!(value, Expr::StringLiteral(_)) {
            return false;
        }
        let form = self.expr(value);
        let called = match value {
            Expr::Await(_) => match self.facts.facts().form(form) {
                Form::Await(inner) => inner,
                _ => form,
            },
            _ => form,
        };
        if matches!(value, Expr::Call(_) | Expr::Await(_)) {
            self.flag(called, SiteFlags::DISCARDED);
        }
        ends_the_process(value)
    }

    fn assign_statement(&mut self, node: &StmtAssign) {
        let value = self.expr(&node.value);
        for target in &node.targets {
            self.target(target, value, FormId::NONE, Binding::STATEMENT);
        }
    }

    fn annotated_assign(&mut self, node: &StmtAnnAssign) {
        // Python evaluates the annotation after binding; read before, `date: date = None` in a class names the type
        // that is meant.
        let annotation = self.annotation(&node.annotation);
        let alias = last_name(&node.annotation) == "TypeAlias";
        let value = node.value.as_deref().map(|value| if alias { self.annotation(value) } else { self.expr(value) });
        let Some(value) = value else {
            return self.declaration(node, annotation);
        };
        self.target(&node.target, value, annotation, Binding::STATEMENT);
    }

    fn declaration(&mut self, node: &StmtAnnAssign, annotation: FormId) {
        match &*node.target {
            Expr::Name(name) if !name.id.is_empty() => {
                let sym = self.facts.intern(&name.id);
                let (target, _) = self.scopes.declare(sym, &mut self.facts);
                self.note_target(name.range, name.range, target);
                self.assign(AssignKind::Declaration, target, FormId::NONE, annotation, name.range);
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                self.store_attribute(AssignKind::Declaration, attribute, base, FormId::NONE, annotation);
            }
            other => {
                self.expr(other);
            }
        }
    }

    fn augmented_assign(&mut self, node: &StmtAugAssign) {
        let method = Dunder::in_place(node.op);
        match &*node.target {
            Expr::Name(name) if !name.id.is_empty() => {
                let Some((target, _)) = self.bind(&name.id, blocklint_facts::VarKind::Named) else { return };
                self.note_target(name.range, name.range, target);
                let value = self.expr(&node.value);
                let site =
                    self.implicit_with(SiteKind::Operator, target, method, (value, node.value.range()), name.range);
                let result = self.facts.form(Form::Result(site));
                self.assign(AssignKind::Augmented, target, result, FormId::NONE, name.range);
            }
            Expr::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                let sym = self.facts.intern(&attribute.attr.id);
                let args = self.args.len();
                let flags = SiteFlags::default();
                self.site(SiteKind::Read, flags, base, sym, attribute.range, attribute.attr.range, args);
                let old = self.facts.form(Form::Attr(base, sym));
                let value = self.expr(&node.value);
                let site =
                    self.implicit_with(SiteKind::Operator, old, method, (value, node.value.range()), attribute.range);
                let result = self.facts.form(Form::Result(site));
                self.store_attribute(AssignKind::Augmented, attribute, base, result, FormId::NONE);
            }
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value);
                let index = self.expr(&subscript.slice);
                self.implicit_with(
                    SiteKind::Subscript,
                    base,
                    Dunder::GETITEM,
                    (index, subscript.slice.range()),
                    subscript.range,
                );
                let old = self.facts.form(Form::Subscript(base, index));
                let value = self.expr(&node.value);
                let site =
                    self.implicit_with(SiteKind::Operator, old, method, (value, node.value.range()), subscript.range);
                let result = self.facts.form(Form::Result(site));
                self.store_subscript(AssignKind::Augmented, subscript, base, index, result);
            }
            other => {
                self.expr(other);
                self.expr(&node.value);
            }
        }
    }

    fn if_statement(&mut self, node: &StmtIf) -> bool {
        struct Level {
            then: blocklint_facts::RegionId,
            diverges: bool,
            otherwise: blocklint_facts::RegionId,
            group: u32,
            test: FormId,
        }
        let outer = self.region;
        let end = node.range.end().to_u32();
        let mut levels: SmallVec<[Level; 4]> = SmallVec::new();
        // The last `else`, if it is reached at all, and whether it leaves.
        let mut last_diverges = None;
        let mut test = Some(&*node.test);
        let mut body = &node.body;
        let mut clauses = node.elif_else_clauses.iter();
        loop {
            match test {
                Some(test) => {
                    let test = self.tested(test);
                    let group = self.facts.group();
                    let around = self.open_arm(RegionKind::Then, group, test, span(suite_range(body)));
                    let then = self.region;
                    let diverges = self.suite(body);
                    self.region = around;
                    levels.push(Level { then, diverges, otherwise: around, group, test });
                }
                None => last_diverges = Some(self.suite(body)),
            }
            let Some(clause) = clauses.next() else { break };
            if let Some(level) = levels.last_mut() {
                let whole = blocklint_core::Span::new(clause.range.start().to_u32(), end);
                // A chain of `elif`s as long as a file stays flat after some levels.
                if level.otherwise == self.region && last_diverges.is_none() {
                    let (group, test) = (level.group, level.test);
                    if levels.len() <= CONDITIONS_IN_A_ROW as usize {
                        self.open_arm(RegionKind::Else, group, test, whole);
                        let opened = self.region;
                        if let Some(level) = levels.last_mut() {
                            level.otherwise = opened;
                        }
                    }
                }
            }
            test = clause.test.as_ref();
            body = &clause.body;
        }
        let all_diverge = last_diverges == Some(true) && levels.iter().all(|level| level.diverges);
        // Where what follows runs: past each arm that leaves, and inside an arm beside which all others leave.
        self.region = outer;
        for at in 0..levels.len().min(CONDITIONS_IN_A_ROW as usize) {
            let (then, diverges, otherwise) = (levels[at].then, levels[at].diverges, levels[at].otherwise);
            if diverges {
                if at + 1 == levels.len() && last_diverges.is_none() {
                    let start = blocklint_core::Span::new(end, end);
                    self.open_arm(RegionKind::Else, levels[at].group, levels[at].test, start);
                } else {
                    self.region = otherwise;
                }
                continue;
            }
            if last_diverges == Some(true) && levels[at + 1..].iter().all(|level| level.diverges) {
                self.region = then;
            }
            break;
        }
        if all_diverge {
            self.region = outer;
        }
        all_diverge
    }
}

/// `isinstance(…)`, alone or with other tests.
fn asks_for_class(test: &Expr) -> bool {
    match test {
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if &*name.id == "isinstance"),
        Expr::BoolOp(operation) => operation.values.iter().any(asks_for_class),
        _ => false,
    }
}

/// `sys.exit()` and its like.
fn ends_the_process(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    match &*call.func {
        Expr::Name(name) => matches!(&*name.id, "exit" | "quit"),
        Expr::Attribute(attribute) => {
            matches!(
                (last_name(&attribute.value), &*attribute.attr.id),
                ("sys", "exit") | ("os", "_exit" | "abort" | "execv" | "execve" | "execvp" | "execl")
            )
        }
        _ => false,
    }
}
