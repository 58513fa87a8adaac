//! Suites and simple statements, and `if`; the other compound statements are in `compound_statements.rs` and
//! `patterns.rs`.

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
    /// Walks statements in order. Returns true if they diverge: control cannot fall through to the next statement.
    ///
    /// A statement can leave another region open: the statements after `if x: return` are in the region where `x` is
    /// false.
    pub(crate) fn walk_suite(&mut self, suite: &[Stmt]) -> bool {
        let Some(last) = suite.last() else { return false };
        if self.suite_depth >= STATEMENT_DEPTH {
            self.leave_out(suite_range(suite));
            return false;
        }
        self.suite_depth += 1;
        let start = self.region;
        let mut conditions = 0;
        let mut diverges = false;
        for statement in suite {
            let before = self.region;
            diverges |= self.walk_statement(statement);
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
        self.suite_depth -= 1;
        diverges
    }

    fn walk_statement(&mut self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Expr(node) => return self.walk_expression_statement(&node.value),
            Stmt::Assign(node) => self.walk_assign_statement(node),
            Stmt::AnnAssign(node) => self.walk_annotated_assign(node),
            Stmt::AugAssign(node) => self.walk_augmented_assign(node),
            Stmt::Return(node) => {
                let value = node.value.as_deref().map_or(FormId::NONE, |value| self.walk_expr(value));
                self.add_exit(ExitKind::Return, value, node.range);
                return true;
            }
            Stmt::If(node) => return self.walk_if_statement(node),
            Stmt::For(node) => self.walk_for_statement(node),
            Stmt::While(node) => self.walk_while_statement(node),
            Stmt::With(node) => return self.walk_with_statement(node),
            Stmt::Try(node) => return self.walk_try_statement(node),
            Stmt::Match(node) => return self.walk_match_statement(node),
            Stmt::FunctionDef(node) => self.walk_function(node),
            Stmt::ClassDef(node) => self.walk_class(node),
            Stmt::TypeAlias(node) => self.walk_type_alias(node),
            Stmt::Import(node) => self.walk_import(node),
            Stmt::ImportFrom(node) => self.walk_import_from(node),
            Stmt::Raise(node) => {
                for part in [&node.exc, &node.cause].into_iter().flatten() {
                    self.walk_expr(part);
                }
                return true;
            }
            Stmt::Assert(node) => {
                let test = self.walk_test(&node.test);
                if let Some(message) = &node.msg {
                    self.walk_expr(message);
                }
                // After `assert isinstance(value, C)` the value is a `C`.
                if has_isinstance(&node.test) {
                    let end = node.range.end().to_u32();
                    let group = self.facts.group();
                    self.open_arm(RegionKind::Then, group, test, blocklint_core::Span::new(end, end));
                }
            }
            Stmt::Delete(node) => {
                for target in &node.targets {
                    self.delete_target(target);
                }
            }
            Stmt::Global(node) => {
                for name in &node.names {
                    let sym = self.facts.intern(&name.id);
                    self.scopes.declare_global(sym, &mut self.facts);
                }
            }
            Stmt::Nonlocal(node) => {
                for name in &node.names {
                    let sym = self.facts.intern(&name.id);
                    self.scopes.declare_nonlocal(sym, &mut self.facts);
                }
            }
            Stmt::Break(_) | Stmt::Continue(_) => return true,
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {}
        }
        false
    }

    fn walk_expression_statement(&mut self, value: &Expr) -> bool {
        if matches!(value, Expr::StringLiteral(_)) {
            return false;
        }
        let form = self.walk_expr(value);
        let called = match value {
            Expr::Await(_) => match self.facts.facts().form(form) {
                Form::Await(inner) => inner,
                _ => form,
            },
            _ => form,
        };
        if matches!(value, Expr::Call(_) | Expr::Await(_)) {
            self.set_site_flags(called, SiteFlags::DISCARDED);
        }
        exits_process(value)
    }

    fn walk_assign_statement(&mut self, node: &StmtAssign) {
        let value = self.walk_expr(&node.value);
        for target in &node.targets {
            self.bind_target(target, value, FormId::NONE, Binding::STATEMENT);
        }
    }

    fn walk_annotated_assign(&mut self, node: &StmtAnnAssign) {
        // Python evaluates the annotation after the binding. It is walked before, so that the annotation of
        // `date: date = None` in a class resolves to the type and not to the field.
        let annotation = self.walk_annotation(&node.annotation);
        let alias = last_name(&node.annotation) == "TypeAlias";
        let value =
            node.value.as_deref().map(|value| if alias { self.walk_annotation(value) } else { self.walk_expr(value) });
        let Some(value) = value else {
            return self.walk_declaration(node, annotation);
        };
        self.bind_target(&node.target, value, annotation, Binding::STATEMENT);
    }

    fn walk_declaration(&mut self, node: &StmtAnnAssign, annotation: FormId) {
        match &*node.target {
            Expr::Name(name) if !name.id.is_empty() => {
                let sym = self.facts.intern(&name.id);
                let (target, _) = self.scopes.declare_name(sym, &mut self.facts);
                self.record_target(name.range, name.range, target);
                self.add_assignment(AssignKind::Declaration, target, FormId::NONE, annotation, name.range);
            }
            Expr::Attribute(attribute) => {
                let base = self.walk_expr(&attribute.value);
                self.store_attribute(AssignKind::Declaration, attribute, base, FormId::NONE, annotation);
            }
            other => {
                self.walk_expr(other);
            }
        }
    }

    fn walk_augmented_assign(&mut self, node: &StmtAugAssign) {
        let method = Dunder::from_augmented(node.op);
        match &*node.target {
            Expr::Name(name) if !name.id.is_empty() => {
                let Some((target, _)) = self.bind_name(&name.id, blocklint_facts::VarKind::Named) else { return };
                self.record_target(name.range, name.range, target);
                let value = self.walk_expr(&node.value);
                let site = self.add_implicit_call_with(
                    SiteKind::Operator,
                    target,
                    method,
                    (value, node.value.range()),
                    name.range,
                );
                let result = self.facts.form(Form::Result(site));
                self.add_assignment(AssignKind::Augmented, target, result, FormId::NONE, name.range);
            }
            Expr::Attribute(attribute) => {
                let base = self.walk_expr(&attribute.value);
                let sym = self.facts.intern(&attribute.attr.id);
                let args = self.args.len();
                let flags = SiteFlags::default();
                self.add_site(SiteKind::Read, flags, base, sym, attribute.range, attribute.attr.range, args);
                let old = self.facts.form(Form::Attr(base, sym));
                let value = self.walk_expr(&node.value);
                let site = self.add_implicit_call_with(
                    SiteKind::Operator,
                    old,
                    method,
                    (value, node.value.range()),
                    attribute.range,
                );
                let result = self.facts.form(Form::Result(site));
                self.store_attribute(AssignKind::Augmented, attribute, base, result, FormId::NONE);
            }
            Expr::Subscript(subscript) => {
                let base = self.walk_expr(&subscript.value);
                let index = self.walk_expr(&subscript.slice);
                self.add_implicit_call_with(
                    SiteKind::Subscript,
                    base,
                    Dunder::GETITEM,
                    (index, subscript.slice.range()),
                    subscript.range,
                );
                let old = self.facts.form(Form::Subscript(base, index));
                let value = self.walk_expr(&node.value);
                let site = self.add_implicit_call_with(
                    SiteKind::Operator,
                    old,
                    method,
                    (value, node.value.range()),
                    subscript.range,
                );
                let result = self.facts.form(Form::Result(site));
                self.store_subscript(AssignKind::Augmented, subscript, base, index, result);
            }
            other => {
                self.walk_expr(other);
                self.walk_expr(&node.value);
            }
        }
    }

    fn walk_if_statement(&mut self, node: &StmtIf) -> bool {
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
        // `Some(true)` if there is an `else` and it diverges.
        let mut last_diverges = None;
        let mut test = Some(&*node.test);
        let mut body = &node.body;
        let mut clauses = node.elif_else_clauses.iter();
        loop {
            match test {
                Some(test) => {
                    let test = self.walk_test(test);
                    let group = self.facts.group();
                    let around = self.open_arm(RegionKind::Then, group, test, span(suite_range(body)));
                    let then = self.region;
                    let diverges = self.walk_suite(body);
                    self.region = around;
                    levels.push(Level { then, diverges, otherwise: around, group, test });
                }
                None => last_diverges = Some(self.walk_suite(body)),
            }
            let Some(clause) = clauses.next() else { break };
            if let Some(level) = levels.last_mut() {
                let whole = blocklint_core::Span::new(clause.range.start().to_u32(), end);
                // The regions of a very long chain of `elif` stop nesting after some levels.
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
        // The region of the statements after the `if`: past each arm that diverges, and inside the only arm that does
        // not.
        self.region = outer;
        for index in 0..levels.len().min(CONDITIONS_IN_A_ROW as usize) {
            let (then, diverges, otherwise) = (levels[index].then, levels[index].diverges, levels[index].otherwise);
            if diverges {
                if index + 1 == levels.len() && last_diverges.is_none() {
                    let start = blocklint_core::Span::new(end, end);
                    self.open_arm(RegionKind::Else, levels[index].group, levels[index].test, start);
                } else {
                    self.region = otherwise;
                }
                continue;
            }
            if last_diverges == Some(true) && levels[index + 1..].iter().all(|level| level.diverges) {
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

/// True for `isinstance(…)`, alone or among the operands of `and` and `or`.
fn has_isinstance(test: &Expr) -> bool {
    match test {
        Expr::Call(call) => matches!(&*call.func, Expr::Name(name) if &*name.id == "isinstance"),
        Expr::BoolOp(operation) => operation.values.iter().any(has_isinstance),
        _ => false,
    }
}

/// True for calls that end the process: `sys.exit()`, `os.execv(…)`.
fn exits_process(value: &Expr) -> bool {
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
