//! The compound statements `for`, `while`, `with` and `try`. The others: `if` stands in `statements.rs`, `match` in `patterns.rs`.

use blocklint_facts::{AssignKind, Form, FormId, RegionId, RegionKind, SiteFlags, SiteKind, VarKind};
use ruff_python_ast::{ExceptHandler, Stmt, StmtFor, StmtTry, StmtWhile, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::targets::Binding;
use crate::walk::{Walker, span};

impl Walker<'_> {
    pub(crate) fn for_statement(&mut self, node: &StmtFor) {
        let iterable = self.expr(&node.iter);
        let element = self.iterate(iterable, node.is_async, node.iter.range());
        let outer = self.open(RegionKind::Loop, iterable, suite_range(&node.body));
        self.target(&node.target, element, FormId::NONE, Binding::PART);
        self.suite(&node.body);
        self.region = outer;
        self.suite(&node.orelse);
    }

    pub(crate) fn while_statement(&mut self, node: &StmtWhile) {
        let whole = TextRange::new(node.test.start(), suite_range(&node.body).end().max(node.test.end()));
        // The test runs in each turn.
        let outer = self.open(RegionKind::Loop, FormId::NONE, whole);
        let test = self.tested(&node.test);
        self.facts.region_mut(self.region).test = test;
        self.suite(&node.body);
        self.region = outer;
        self.suite(&node.orelse);
    }

    /// Walks a `with`; true if control cannot fall through.
    pub(crate) fn with_statement(&mut self, node: &StmtWith) -> bool {
        let (flags, enter, exit) = match node.is_async {
            true => (SiteFlags::ASYNC, Dunder::AENTER, Dunder::AEXIT),
            false => (SiteFlags::default(), Dunder::ENTER, Dunder::EXIT),
        };
        let outer = self.region;
        let items = self.items.len();
        for item in &node.items {
            let operand = self.expr(&item.context_expr);
            let site = self.implicit(SiteKind::Enter, flags, operand, enter, item.context_expr.range());
            self.items.push(operand);
            self.open(RegionKind::With, operand, TextRange::new(item.end(), node.range.end()));
            if let Some(target) = &item.optional_vars {
                let value = self.facts.form(Form::Result(site));
                self.target(target, value, FormId::NONE, Binding::STATEMENT);
            }
        }
        let diverges = self.suite(&node.body);
        for (at, item) in node.items.iter().enumerate().rev() {
            self.region = self.facts.facts().region(self.region).parent;
            let operand = self.items[items + at];
            self.implicit(SiteKind::Leave, flags, operand, exit, item.context_expr.range());
        }
        self.items.truncate(items);
        self.region = outer;
        diverges
    }

    /// Walks a `try`; true if control cannot fall through. The statements after it lie in the region of the only handler
    /// that control falls through, if the `try` body diverges (see [`Walker::suite`]).
    pub(crate) fn try_statement(&mut self, node: &StmtTry) -> bool {
        let outer = self.region;
        let group = self.facts.group();
        self.open_arm(RegionKind::Try, group, FormId::NONE, span(suite_range(&node.body)));
        let mut normal_diverges = self.suite(&node.body);
        self.region = outer;
        let mut fallthrough: Option<RegionId> = None;
        let mut fallthrough_count = 0;
        for handler in &node.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            let test = handler.type_.as_deref().map_or(FormId::NONE, |types| self.expr(types));
            self.open_arm(RegionKind::Handler, group, test, span(suite_range(&handler.body)));
            if let Some(name) = &handler.name
                && let Some((target, _)) = self.bind(&name.id, VarKind::Named)
            {
                let unknown = self.facts.form(Form::Other);
                let value = self.facts.form(Form::Cast(unknown, test));
                self.assign(AssignKind::Plain, target, value, FormId::NONE, name.range);
            }
            if !self.suite(&handler.body) {
                fallthrough_count += 1;
                fallthrough = Some(self.region);
            }
            self.region = outer;
        }
        if !node.orelse.is_empty() {
            self.open_arm(RegionKind::Else, group, FormId::NONE, span(suite_range(&node.orelse)));
            normal_diverges |= self.suite(&node.orelse);
            self.region = outer;
        }
        let mut diverges = normal_diverges && fallthrough_count == 0;
        if !node.finalbody.is_empty() {
            self.open_arm(RegionKind::Finally, group, FormId::NONE, span(suite_range(&node.finalbody)));
            diverges |= self.suite(&node.finalbody);
            self.region = outer;
        }
        // Control falls through one handler only, so the statements after the `try` run only after that handler.
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
