//! Branches: `if`, `switch`, and the patterns of `case` and `instanceof`.

use blocklint_facts::{AltKind, AssignKind, Comparison, Form, FormId, RegionKind};
use tree_sitter::Node;

use crate::kinds::{K, child, fields, kind, named};
use crate::walker::{FollowingArm, Walker, Walking, span};

impl Walker<'_> {
    /// Walks an `if` with all its `else if`. Returns true if every arm diverges. Adds the arms in which the rest of the
    /// block runs to `after`.
    pub(crate) fn walk_if(&mut self, node: Node<'_>, after: &mut Vec<FollowingArm>) -> bool {
        let f = fields();
        let outer = self.region;
        let mut diverges = Vec::new();
        let mut tests: Vec<(u32, FormId)> = Vec::new();
        let mut branch = node;
        while let (Some(condition), Some(consequence)) = (child(branch, f.condition), child(branch, f.consequence)) {
            let test = self.walk_value(condition);
            let group = self.facts.group();
            tests.push((group, test));
            let region = self.open_arm(RegionKind::Then, group, test, span(consequence));
            diverges.push(self.in_region(region, |walker| walker.walk_branch(consequence)));
            let Some(alternative) = child(branch, f.alternative) else {
                diverges.push(false);
                break;
            };
            let region = self.open_arm(RegionKind::Else, group, test, span(alternative));
            if kind(alternative) == K::If {
                self.region = region;
                branch = alternative;
                continue;
            }
            diverges.push(self.in_region(region, |walker| walker.walk_branch(alternative)));
            break;
        }
        self.region = outer;
        if !diverges.is_empty() && diverges.iter().all(|&diverges| diverges) {
            return true;
        }
        for (index, &(group, test)) in tests.iter().enumerate() {
            if diverges[index] {
                after.push(FollowingArm { kind: RegionKind::Else, group, test });
                continue;
            }
            if diverges[index + 1..].iter().all(|&diverges| diverges) {
                after.push(FollowingArm { kind: RegionKind::Then, group, test });
            }
            break;
        }
        false
    }

    /// Walks a `switch` (statement or expression). Returns the union of the values of its arms; `Form::None` if it has
    /// no value. A statement never counts as diverging, because only an exhaustive `switch` diverges if all its arms
    /// do.
    pub(crate) fn walk_switch(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let subject = match child(node, f.condition) {
            Some(condition) => self.walk_value(condition),
            None => self.other(),
        };
        let group = self.facts.group();
        self.yields.push(Vec::new());
        for part in child(node, f.body).into_iter().flat_map(named) {
            self.scopes.open();
            let labels: Vec<Node<'_>> = named(part).filter(|part| kind(*part) == K::SwitchLabel).collect();
            let mut tests: Vec<FormId> = labels.iter().map(|&label| self.label_test(label, subject)).collect();
            let open = tests.iter().any(|test| test.is_none());
            tests.retain(|test| test.is_some());
            let test = if open { FormId::NONE } else { self.alternatives(AltKind::Or, &tests) };
            let region = self.open_arm(RegionKind::Case, group, test, span(part));
            self.in_region(region, |walker| {
                for &label in &labels {
                    walker.bind_label(label, subject);
                }
                let body = named(part).filter(|part| kind(*part) != K::SwitchLabel);
                if kind(part) == K::SwitchRule {
                    walker.walk_rule_body(body);
                } else {
                    walker.walk_statements(body, part.end_byte());
                }
            });
            self.scopes.close();
        }
        let ends = self.yields.pop().unwrap_or_default();
        let value = self.ends(ends);
        if value.is_none() { self.form(Form::None) } else { value }
    }

    /// Walks the code behind an arrow. An expression is the value of the arm.
    fn walk_rule_body<'t>(&mut self, body: impl Iterator<Item = Node<'t>>) {
        for part in body {
            if kind(part) == K::ExprStatement {
                if let Some(inner) = named(part).next() {
                    let value = self.walk_value(inner);
                    if let Some(ends) = self.yields.last_mut() {
                        ends.push(value);
                    }
                }
            } else {
                self.walk_branch(part);
            }
        }
    }

    /// Returns the test of a label; [`FormId::NONE`] for `default`.
    fn label_test(&mut self, label: Node<'_>, subject: FormId) -> FormId {
        let mut tests = Vec::new();
        for part in named(label) {
            match kind(part) {
                K::Guard => {}
                K::Pattern => {
                    let Some(inner) = named(part).next() else { continue };
                    let Some(ty) = named(inner).next() else { continue };
                    let ty = self.type_form(ty);
                    tests.push(self.form(Form::Compare(Comparison::Is, subject, ty)));
                }
                _ => {
                    let value = self.walk_value(part);
                    tests.push(self.form(Form::Compare(Comparison::Eq, subject, value)));
                }
            }
        }
        self.alternatives(AltKind::Or, &tests)
    }

    /// Binds the names of a label's pattern, then walks its guard.
    fn bind_label(&mut self, label: Node<'_>, subject: FormId) {
        for part in named(label) {
            match kind(part) {
                K::Pattern => {
                    if let Some(inner) = named(part).next() {
                        self.bind_pattern(inner, subject);
                    }
                }
                K::Guard => {
                    for guard in named(part) {
                        self.walk_value(guard);
                    }
                }
                _ => {}
            }
        }
    }

    /// Binds the names of a pattern to the parts of a value: `Point(int x, var y)` to `Part(v as Point, 0)`, `1`.
    pub(crate) fn bind_pattern(&mut self, node: Node<'_>, value: FormId) {
        let _ = self.one_level_deeper(node, |walker| match kind(node) {
            K::TypePattern => {
                let mut parts = named(node);
                if let (Some(ty), Some(name)) = (parts.next(), parts.next()) {
                    walker.bind_typed_name(ty, name, value);
                }
            }
            K::RecordPattern => {
                let mut parts = named(node);
                let Some(ty) = parts.next() else { return };
                let ty = walker.type_form(ty);
                let value = walker.form(Form::Cast(value, ty));
                let Some(body) = parts.find(|part| kind(*part) == K::RecordPatternBody) else { return };
                for (index, component) in named(body).enumerate().collect::<Vec<_>>() {
                    let part = walker.form(Form::Part(value, index as u32));
                    if kind(component) == K::RecordPattern {
                        walker.bind_pattern(component, part);
                        continue;
                    }
                    let mut parts = named(component);
                    if let (Some(ty), Some(name)) = (parts.next(), parts.next()) {
                        let annotation = walker.declared_type(Some(ty), None);
                        if let Some(target) = walker.add_local(name) {
                            walker.bind(target, part, annotation, AssignKind::Plain, span(name));
                        }
                    }
                }
            }
            _ => {}
        });
    }

    /// Binds the name of `T x` to the value, cast to `T`.
    pub(crate) fn bind_typed_name(&mut self, ty: Node<'_>, name: Node<'_>, value: FormId) {
        let annotation = self.declared_type(Some(ty), None);
        let value = if annotation.is_none() { value } else { self.form(Form::Cast(value, annotation)) };
        if let Some(target) = self.add_local(name) {
            self.bind(target, value, annotation, AssignKind::Plain, span(name));
        }
    }
}
