//! Branches and loops: `if`, `match`, `loop`, `while`, `for`, `break`, with their regions, tests and values.

use blocklint_core::Span;
use blocklint_facts::{AltKind, Form, FormId, List, RegionId, RegionKind, Site, SiteFlags, SiteKind};
use tree_sitter::Node;

use crate::blocks::FollowingArm;
use crate::kinds::{K, child, fields, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{Breaks, Walker, Walking, span};

impl Walker<'_> {
    /// Walks an `if` with all its `else if`. Adds the arms in which the rest of the block runs to `after`.
    pub(crate) fn walk_if(&mut self, node: Node<'_>, after: &mut Vec<FollowingArm>) -> FormId {
        let f = fields();
        let outer = self.region;
        let mut values = Vec::new();
        let mut tests: Vec<(u32, FormId)> = Vec::new();
        let mut branch = node;
        while let (Some(condition), Some(consequence)) = (child(branch, f.condition), child(branch, f.consequence)) {
            self.scopes.open(ScopeKind::Open);
            let subject = self.add_condition_region(branch, condition);
            if let Some(subject) = subject {
                self.region = subject;
            }
            let test = self.walk_condition(condition);
            self.set_subject(subject, test);
            let group = self.facts.group();
            tests.push((group, test));
            let region = self.open_arm(RegionKind::Then, group, test, span(consequence));
            let value = self.in_region(region, |walker| walker.walk_block(consequence));
            values.push(value.form);
            self.scopes.close();
            let alternative = child(branch, f.alternative).and_then(|clause| named(clause).next());
            let Some(alternative) = alternative else {
                values.push(self.form(Form::None));
                break;
            };
            let region = self.open_arm(RegionKind::Else, group, test, span(alternative));
            if kind(alternative) == K::If {
                self.region = region;
                branch = alternative;
                continue;
            }
            let value = self.in_region(region, |walker| walker.walk_block(alternative));
            values.push(value.form);
            break;
        }
        self.region = outer;
        for (index, &(group, test)) in tests.iter().enumerate() {
            if values.get(index).is_some_and(|value| value.is_none()) {
                after.push(FollowingArm { kind: RegionKind::Else, group, test });
                continue;
            }
            if values[index + 1..].iter().all(|value| value.is_none()) {
                after.push(FollowingArm { kind: RegionKind::Then, group, test });
            }
            break;
        }
        if values.iter().all(|value| value.is_none()) {
            after.clear();
        }
        self.ends(values)
    }

    /// Adds a region for a whole `if` or `while`, if the subject of a `let` in its condition creates temporary values.
    fn add_condition_region(&mut self, whole: Node<'_>, condition: Node<'_>) -> Option<RegionId> {
        let value = fields().value;
        chain_operands(condition).into_iter().filter(|part| kind(*part) == K::LetCondition).find_map(|part| {
            let subject = child(part, value)?;
            self.add_subject_region(whole, subject)
        })
    }

    /// Walks a condition and returns its test. A `let` in it binds names in the innermost scope.
    pub(crate) fn walk_condition(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        match kind(node) {
            K::LetCondition => {
                let (Some(pattern), Some(value)) = (child(node, f.pattern), child(node, f.value)) else {
                    return self.other();
                };
                let value = self.walk_value(value);
                let test = self.pattern_test(pattern, value);
                self.bind_pattern(pattern, value);
                if test.is_none() { self.other() } else { test }
            }
            K::LetChain => {
                let tests: Vec<FormId> =
                    chain_operands(node).into_iter().map(|part| self.walk_condition(part)).collect();
                let list = self.facts.list(&tests);
                self.form(Form::Alt(AltKind::And, list))
            }
            _ => self.walk_value(node),
        }
    }

    /// Walks a `match`: each arm is a `Case` region, whose test is the one of its pattern. If all arms but one leave the
    /// block, adds the arm in which the rest of the block runs to `after`.
    pub(crate) fn walk_match(&mut self, node: Node<'_>, after: &mut Vec<FollowingArm>) -> FormId {
        let f = fields();
        let Some(subject) = child(node, f.value) else { return self.other() };
        let outer = self.region;
        let whole = self.add_subject_region(node, subject);
        self.region = whole.unwrap_or(outer);
        let subject = self.walk_value(subject);
        self.set_subject(whole, subject);
        let group = self.facts.group();
        let mut values = Vec::new();
        let mut falling: Vec<FormId> = Vec::new();
        for arm in child(node, f.body).into_iter().flat_map(named) {
            if kind(arm) != K::MatchArm {
                continue;
            }
            let Some(pattern) = child(arm, f.pattern) else { continue };
            let (pattern, guard) = self.split_arm_pattern(pattern);
            let test = match pattern {
                Some(pattern) => self.pattern_test(pattern, subject),
                None => FormId::NONE,
            };
            // Behind a guard the test of the pattern is not the whole condition of the arm.
            let test = if guard.is_some() { self.and_something_else(test) } else { test };
            let region = self.open_arm(RegionKind::Case, group, test, span(arm));
            self.scopes.open(ScopeKind::Open);
            let value = self.in_region(region, |walker| {
                if let Some(pattern) = pattern {
                    walker.bind_pattern(pattern, subject);
                }
                if let Some(guard) = guard {
                    let test = walker.walk_condition(guard);
                    walker.region = walker.open_region(RegionKind::Then, test, span(arm));
                }
                match child(arm, f.value) {
                    Some(value) => walker.walk_expr(value),
                    None => walker.other(),
                }
            });
            self.scopes.close();
            if value.is_some() {
                falling.push(test);
            }
            values.push(value);
        }
        self.region = outer;
        if let [test] = falling[..]
            && values.len() > 1
            && test.is_some()
        {
            after.push(FollowingArm { kind: RegionKind::Then, group: self.facts.group(), test });
        }
        self.ends(values)
    }

    /// Sets the test of a region from [`Self::add_subject_region`] to the subject.
    fn set_subject(&mut self, region: Option<RegionId>, subject: FormId) {
        if let Some(region) = region {
            self.facts.region_mut(region).test = subject;
        }
    }

    /// Walks `loop`, `while` or `for`.
    pub(crate) fn walk_loop(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let label = named(node).find(|part| kind(*part) == K::Label).map(|label| self.label_name(label));
        self.breaks.push(Breaks { label, is_loop: true, ..Breaks::default() });
        self.scopes.open(ScopeKind::Open);
        let mut loop_region = None;
        let outer = self.region;
        match kind(node) {
            K::For => {
                let iterable = match child(node, f.value) {
                    Some(value) => {
                        let whole = self.add_subject_region(node, value);
                        self.region = whole.unwrap_or(outer);
                        let form = self.walk_value(value);
                        self.set_subject(whole, form);
                        self.add_implicit_call(SiteKind::Iterate, "next", form, span(value));
                        form
                    }
                    None => self.other(),
                };
                let region = self.open_region(RegionKind::Loop, iterable, span(node));
                self.in_region(region, |walker| {
                    let element = walker.form(Form::Element(iterable));
                    if let Some(pattern) = child(node, f.pattern) {
                        walker.bind_pattern(pattern, element);
                    }
                    if let Some(body) = child(node, f.body) {
                        walker.walk_block(body);
                    }
                });
            }
            K::While => {
                // The test runs in each iteration, so it is inside the loop's region.
                let region = self.open_region(RegionKind::Loop, FormId::NONE, span(node));
                self.in_region(region, |walker| {
                    let condition = child(node, f.condition);
                    let whole = condition.and_then(|condition| walker.add_condition_region(node, condition));
                    walker.region = whole.unwrap_or(region);
                    let test = match condition {
                        Some(condition) => walker.walk_condition(condition),
                        None => walker.other(),
                    };
                    walker.set_subject(whole, test);
                    walker.facts.region_mut(region).test = test;
                    if let Some(body) = child(node, f.body) {
                        walker.walk_block(body);
                    }
                });
            }
            _ => {
                let region = self.open_region(RegionKind::Loop, FormId::NONE, span(node));
                loop_region = Some(region);
                self.in_region(region, |walker| {
                    if let Some(body) = child(node, f.body) {
                        walker.walk_block(body);
                    }
                });
            }
        }
        self.scopes.close();
        self.region = outer;
        let breaks = self.breaks.pop().unwrap_or_default();
        match loop_region {
            // A `loop` without `break` never ends; its test is `true`.
            Some(region) if !breaks.is_left => {
                let test = self.form(Form::Bool(true));
                self.facts.region_mut(region).test = test;
                FormId::NONE
            }
            Some(_) if !breaks.values.is_empty() => self.ends(breaks.values),
            _ => self.form(Form::None),
        }
    }

    /// Walks a `break`, with or without label and value.
    pub(crate) fn walk_break(&mut self, node: Node<'_>) -> FormId {
        let mut label = None;
        let mut value = FormId::NONE;
        for part in named(node) {
            match kind(part) {
                K::Label => label = Some(self.label_name(part)),
                _ => value = self.walk_value(part),
            }
        }
        let target = self.breaks.iter_mut().rev().find(|breaks| match &label {
            Some(label) => breaks.label.as_ref() == Some(label),
            None => breaks.is_loop,
        });
        if let Some(breaks) = target {
            breaks.is_left = true;
            if value.is_some() {
                breaks.values.push(value);
            }
        }
        FormId::NONE
    }

    /// Adds an implicit call on an operand.
    pub(crate) fn add_implicit_call(&mut self, kind: SiteKind, name: &str, operand: FormId, span: Span) {
        let name = self.facts.intern(name);
        let at = self.at();
        let flags = if kind == SiteKind::Await { SiteFlags::AWAITED } else { SiteFlags::default() };
        self.facts.site(Site { kind, flags, callee: operand, name, args: List::EMPTY, at, span, name_span: span }, &[]);
    }
}

/// Returns the operands of a `let` chain (`a && let Some(b) = c`), else the condition itself.
fn chain_operands(condition: Node<'_>) -> Vec<Node<'_>> {
    let mut parts = Vec::new();
    let mut open = vec![condition];
    while let Some(part) = open.pop() {
        if kind(part) == K::LetChain {
            // A chain nests to the left.
            let inner: Vec<Node<'_>> = named(part).collect();
            open.extend(inner.into_iter().rev());
        } else {
            parts.push(part);
        }
    }
    parts
}
