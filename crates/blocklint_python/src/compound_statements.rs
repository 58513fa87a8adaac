//! The compound statements `for`, `while`, `with` and `try`; `if` is in `statements.rs`, `match` in `patterns.rs`.

use blocklint_facts::{AssignKind, Form, FormId, RegionId, RegionKind, SiteFlags, SiteKind, VarKind};
use ruff_python_ast::{ExceptHandler, Stmt, StmtFor, StmtTry, StmtWhile, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::targets::Binding;
use crate::walk::{Walker, span};

impl Walker<'_> {
    pub(crate) fn walk_for_statement(&mut self, node: &StmtFor) {
        let iterable = self.walk_expr(&node.iter);
        let element = self.add_iteration(iterable, node.is_async, node.iter.range());
        let outer = self.open_region(RegionKind::Loop, iterable, suite_range(&node.body));
        self.bind_target(&node.target, element, FormId::NONE, Binding::LOOP);
        self.walk_suite(&node.body);
        self.region = outer;
        self.walk_suite(&node.orelse);
    }

    pub(crate) fn walk_while_statement(&mut self, node: &StmtWhile) {
        let whole = TextRange::new(node.test.start(), suite_range(&node.body).end().max(node.test.end()));
        // The test runs in each iteration.
        let outer = self.open_region(RegionKind::Loop, FormId::NONE, whole);
        let test = self.walk_test(&node.test);
        self.facts.region_mut(self.region).test = test;
        self.walk_suite(&node.body);
        self.region = outer;
        self.walk_suite(&node.orelse);
    }

    /// Walks a `with`. Returns true if it diverges.
    pub(crate) fn walk_with_statement(&mut self, node: &StmtWith) -> bool {
        let (flags, enter, exit) = if node.is_async {
            (SiteFlags::ASYNC, Dunder::AENTER, Dunder::AEXIT)
        } else {
            (SiteFlags::default(), Dunder::ENTER, Dunder::EXIT)
        };
        let outer = self.region;
        let items = self.items.len();
        for item in &node.items {
            let operand = self.walk_expr(&item.context_expr);
            let site = self.add_implicit_call(SiteKind::Enter, flags, operand, enter, item.context_expr.range());
            self.items.push(operand);
            self.open_region(RegionKind::With, operand, TextRange::new(item.end(), node.range.end()));
            if let Some(target) = &item.optional_vars {
                let value = self.facts.form(Form::Result(site));
                self.bind_target(target, value, FormId::NONE, Binding::STATEMENT);
            }
        }
        let diverges = self.walk_suite(&node.body);
        for (index, item) in node.items.iter().enumerate().rev() {
            self.region = self.facts.facts().region(self.region).parent;
            let operand = self.items[items + index];
            self.add_implicit_call(SiteKind::Leave, flags, operand, exit, item.context_expr.range());
        }
        self.items.truncate(items);
        self.region = outer;
        diverges
    }

    /// Walks a `try`. Returns true if it diverges. If its body diverges and only one handler does not, the statements
    /// after the `try` are in the region of that handler (see [`Walker::walk_suite`]).
    pub(crate) fn walk_try_statement(&mut self, node: &StmtTry) -> bool {
        let outer = self.region;
        let group = self.facts.group();
        self.open_arm(RegionKind::Try, group, FormId::NONE, span(suite_range(&node.body)));
        let mut normal_diverges = self.walk_suite(&node.body);
        self.region = outer;
        let mut fallthrough: Option<RegionId> = None;
        let mut fallthrough_count = 0;
        for handler in &node.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            let test = handler.type_.as_deref().map_or(FormId::NONE, |types| self.walk_expr(types));
            self.open_arm(RegionKind::Handler, group, test, span(suite_range(&handler.body)));
            if let Some(name) = &handler.name
                && let Some((target, _)) = self.bind_name(&name.id, VarKind::Named)
            {
                let unknown = self.facts.form(Form::Other);
                let value = self.facts.form(Form::Cast(unknown, test));
                self.add_assignment(AssignKind::Plain, target, value, FormId::NONE, name.range);
            }
            if !self.walk_suite(&handler.body) {
                fallthrough_count += 1;
                fallthrough = Some(self.region);
            }
            self.region = outer;
        }
        if !node.orelse.is_empty() {
            self.open_arm(RegionKind::Else, group, FormId::NONE, span(suite_range(&node.orelse)));
            normal_diverges |= self.walk_suite(&node.orelse);
            self.region = outer;
        }
        let mut diverges = normal_diverges && fallthrough_count == 0;
        if !node.finalbody.is_empty() {
            self.open_arm(RegionKind::Finally, group, FormId::NONE, span(suite_range(&node.finalbody)));
            diverges |= self.walk_suite(&node.finalbody);
            self.region = outer;
        }
        // Only one handler falls through, so the statements after the `try` run only after that handler.
        if normal_diverges && fallthrough_count == 1 && !diverges {
            self.region = fallthrough.unwrap_or(outer);
        }
        diverges
    }
}

/// Returns the range of a suite.
pub(crate) fn suite_range(suite: &[Stmt]) -> TextRange {
    match suite {
        [] => TextRange::default(),
        [first, .., last] => TextRange::new(first.start(), last.end()),
        [only] => only.range(),
    }
}
