//! Branches and loops: their regions, tests and values.

use blocklint_core::Span;
use blocklint_facts::{AltKind, Form, FormId, List, RegionId, RegionKind, Site, SiteFlags, SiteKind};
use tree_sitter::Node;

use crate::blocks::After;
use crate::kinds::{K, child, fields, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{Breaks, Walker, Walking, span};

impl Walker<'_> {
    /// `if`, with all its `else if`s, which may be thousands. `after` gets the arms in which what follows runs.
    pub(crate) fn walk_if(&mut self, node: Node<'_>, after: &mut Vec<After>) -> FormId {
        let f = fields();
        let outer = self.region;
        let mut ends = Vec::new();
        let mut tests: Vec<(u32, FormId)> = Vec::new();
        let mut at = node;
        while let (Some(condition), Some(consequence)) = (child(at, f.condition), child(at, f.consequence)) {
            self.scopes.open(ScopeKind::Open);
            let subject = self.add_condition_region(at, condition);
            if let Some(subject) = subject {
                self.region = subject;
            }
            let test = self.walk_condition(condition);
            self.set_subject(subject, test);
            let group = self.facts.group();
            tests.push((group, test));
            let region = self.arm_here(RegionKind::Then, group, test, span(consequence));
            let value = self.within(region, |walker| walker.walk_block(consequence));
            ends.push(value.form);
            self.scopes.close();
            let alternative = child(at, f.alternative).and_then(|clause| named(clause).next());
            let Some(alternative) = alternative else {
                ends.push(self.form(Form::None));
                break;
            };
            let region = self.arm_here(RegionKind::Else, group, test, span(alternative));
            if kind(alternative) == K::If {
                self.region = region;
                at = alternative;
                continue;
            }
            let value = self.within(region, |walker| walker.walk_block(alternative));
            ends.push(value.form);
            break;
        }
        self.region = outer;
        for (at, &(group, test)) in tests.iter().enumerate() {
            if ends.get(at).is_some_and(|end| end.is_none()) {
                after.push(After { kind: RegionKind::Else, group, test });
                continue;
            }
            if ends[at + 1..].iter().all(|end| end.is_none()) {
                after.push(After { kind: RegionKind::Then, group, test });
            }
            break;
        }
        if ends.iter().all(|end| end.is_none()) {
            after.clear();
        }
        self.ends(ends)
    }

    /// Returns the region of a whole `if` or `while`, if a `let` of its condition makes what lives as long as that
    /// does.
    fn add_condition_region(&mut self, whole: Node<'_>, condition: Node<'_>) -> Option<RegionId> {
        let value = fields().value;
        chained(condition).into_iter().filter(|part| kind(*part) == K::LetCondition).find_map(|part| {
            let subject = child(part, value)?;
            self.add_subject_region(whole, subject)
        })
    }

    /// Returns a condition; its `let`s bind in the innermost scope.
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
                let tests: Vec<FormId> = chained(node).into_iter().map(|part| self.walk_condition(part)).collect();
                let list = self.facts.list(&tests);
                self.form(Form::Alt(AltKind::And, list))
            }
            _ => self.walk_value(node),
        }
    }

    /// `match`: an arm is a case with the test its pattern makes.
    pub(crate) fn walk_match(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let Some(subject) = child(node, f.value) else { return self.other() };
        let outer = self.region;
        let whole = self.add_subject_region(node, subject);
        self.region = whole.unwrap_or(outer);
        let subject = self.walk_value(subject);
        self.set_subject(whole, subject);
        let group = self.facts.group();
        let mut ends = Vec::new();
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
            let region = self.arm_here(RegionKind::Case, group, test, span(arm));
            self.scopes.open(ScopeKind::Open);
            let end = self.within(region, |walker| {
                if let Some(pattern) = pattern {
                    walker.bind_pattern(pattern, subject);
                }
                if let Some(guard) = guard {
                    walker.walk_condition(guard);
                }
                match child(arm, f.value) {
                    Some(value) => walker.walk_expr(value),
                    None => walker.other(),
                }
            });
            self.scopes.close();
            ends.push(end);
        }
        self.region = outer;
        self.ends(ends)
    }

    /// Says of a region what the subject is whose values live as long as it does.
    fn set_subject(&mut self, region: Option<RegionId>, subject: FormId) {
        if let Some(region) = region {
            self.facts.region_mut(region).test = subject;
        }
    }

    /// `loop`, `while` and `for`.
    pub(crate) fn walk_loop(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let label = named(node).find(|part| kind(*part) == K::Label).map(|label| self.label_name(label));
        self.breaks.push(Breaks { label, is_loop: true, ..Breaks::default() });
        self.scopes.open(ScopeKind::Open);
        let mut endless = None;
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
                let region = self.region_here(RegionKind::Loop, iterable, span(node));
                self.within(region, |walker| {
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
                // The test runs again each time round, so it belongs to the loop.
                let region = self.region_here(RegionKind::Loop, FormId::NONE, span(node));
                self.within(region, |walker| {
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
                let region = self.region_here(RegionKind::Loop, FormId::NONE, span(node));
                endless = Some(region);
                self.within(region, |walker| {
                    if let Some(body) = child(node, f.body) {
                        walker.walk_block(body);
                    }
                });
            }
        }
        self.scopes.close();
        self.region = outer;
        let breaks = self.breaks.pop().unwrap_or_default();
        match endless {
            // Without a `break` it never ends, as `while true`.
            Some(region) if !breaks.any => {
                let test = self.form(Form::Bool(true));
                self.facts.region_mut(region).test = test;
                FormId::NONE
            }
            Some(_) if !breaks.values.is_empty() => self.ends(breaks.values),
            _ => self.form(Form::None),
        }
    }

    /// `break`, with or without label and value.
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
            breaks.any = true;
            if value.is_some() {
                breaks.values.push(value);
            }
        }
        FormId::NONE
    }

    /// An implicit call on an operand.
    pub(crate) fn add_implicit_call(&mut self, kind: SiteKind, name: &str, operand: FormId, span: Span) {
        let name = self.facts.intern(name);
        let at = self.at();
        let flags = if kind == SiteKind::Await { SiteFlags::AWAITED } else { SiteFlags::default() };
        self.facts.site(Site { kind, flags, callee: operand, name, args: List::EMPTY, at, span, name_span: span }, &[]);
    }
}

/// Returns the parts of a condition that must all hold: those of `a && let Some(b) = c`, else itself.
fn chained(condition: Node<'_>) -> Vec<Node<'_>> {
    let mut parts = Vec::new();
    let mut open = vec![condition];
    while let Some(part) = open.pop() {
        if kind(part) == K::LetChain {
            // Nested to the left.
            let inner: Vec<Node<'_>> = named(part).collect();
            open.extend(inner.into_iter().rev());
        } else {
            parts.push(part);
        }
    }
    parts
}
