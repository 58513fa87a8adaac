//! `match` statements: each `case` is a region, whose test is the form that its pattern checks.

use blocklint_facts::{AltKind, AssignKind, Comparison, Form, FormId, RegionKind, VarKind};
use ruff_python_ast::{Identifier, Pattern, Singleton, StmtMatch};
use ruff_text_size::{Ranged, TextRange};

use crate::compound_statements::suite_range;
use crate::walk::{EXPRESSION_DEPTH, Walker, span};

impl Walker<'_> {
    pub(crate) fn walk_match_statement(&mut self, node: &StmtMatch) -> bool {
        let subject = self.walk_expr(&node.subject);
        let outer = self.region;
        let group = self.facts.group();
        let (mut diverges, mut exhaustive) = (true, false);
        for case in &node.cases {
            let whole = TextRange::new(case.pattern.start(), suite_range(&case.body).end().max(case.pattern.end()));
            self.open_arm(RegionKind::Case, group, FormId::NONE, span(whole));
            let region = self.region;
            let test = self.walk_pattern(&case.pattern, subject);
            self.facts.region_mut(region).test = test;
            if let Some(guard) = &case.guard {
                let test = self.walk_test(guard);
                self.open_region(RegionKind::Then, test, suite_range(&case.body));
            }
            diverges &= self.walk_suite(&case.body);
            exhaustive |= case.guard.is_none() && case.pattern.is_irrefutable();
            self.region = outer;
        }
        diverges && exhaustive
    }

    /// Binds the names that a pattern captures from the value. Returns the form that the pattern tests, or
    /// [`FormId::NONE`] where the pattern always matches (`case name:`).
    fn walk_pattern(&mut self, pattern: &Pattern, value: FormId) -> FormId {
        if self.expression_depth >= EXPRESSION_DEPTH {
            self.leave_out(pattern);
            return FormId::NONE;
        }
        self.expression_depth += 1;
        let test = self.walk_pattern_inside(pattern, value);
        self.expression_depth -= 1;
        test
    }

    fn walk_pattern_inside(&mut self, pattern: &Pattern, value: FormId) -> FormId {
        match pattern {
            Pattern::MatchValue(node) => {
                let literal = self.walk_expr(&node.value);
                self.facts.form(Form::Compare(Comparison::Eq, value, literal))
            }
            Pattern::MatchSingleton(node) => {
                let literal = self.facts.form(match node.value {
                    Singleton::None => Form::None,
                    Singleton::True => Form::Bool(true),
                    Singleton::False => Form::Bool(false),
                });
                self.facts.form(Form::Compare(Comparison::Is, value, literal))
            }
            Pattern::MatchSequence(node) => {
                let mut after_star = false;
                for (index, part) in node.patterns.iter().enumerate() {
                    if let Pattern::MatchStar(star) = part {
                        after_star = true;
                        let rest = self.facts.form(Form::Other);
                        self.bind_capture(star.name.as_ref(), rest);
                        continue;
                    }
                    let form = if after_star { Form::Element(value) } else { Form::Part(value, index as u32) };
                    let form = self.facts.form(form);
                    self.walk_pattern(part, form);
                }
                self.facts.form(Form::Other)
            }
            Pattern::MatchMapping(node) => {
                for (key, part) in node.keys.iter().zip(&node.patterns) {
                    let key = self.walk_expr(key);
                    let form = self.facts.form(Form::Subscript(value, key));
                    self.walk_pattern(part, form);
                }
                let rest = self.facts.form(Form::Other);
                self.bind_capture(node.rest.as_ref(), rest);
                self.facts.form(Form::Other)
            }
            Pattern::MatchClass(node) => {
                let class = self.walk_annotation(&node.cls);
                let matched = self.facts.form(Form::Cast(value, class));
                for (index, part) in node.arguments.patterns.iter().enumerate() {
                    let form = self.facts.form(Form::Part(matched, index as u32));
                    self.walk_pattern(part, form);
                }
                for keyword in &node.arguments.keywords {
                    let sym = self.facts.intern(&keyword.attr.id);
                    let form = self.facts.form(Form::Field(matched, sym));
                    self.walk_pattern(&keyword.pattern, form);
                }
                matched
            }
            Pattern::MatchStar(node) => {
                let rest = self.facts.form(Form::Other);
                self.bind_capture(node.name.as_ref(), rest);
                FormId::NONE
            }
            Pattern::MatchAs(node) => {
                let test = node.pattern.as_deref().map_or(FormId::NONE, |pattern| self.walk_pattern(pattern, value));
                let matched = match self.facts.facts().form(test) {
                    Form::Cast(..) => test,
                    _ => value,
                };
                self.bind_capture(node.name.as_ref(), matched);
                test
            }
            Pattern::MatchOr(node) => {
                let items = self.items.len();
                for part in &node.patterns {
                    let test = self.walk_pattern(part, value);
                    if test.is_some() {
                        self.items.push(test);
                    }
                }
                let list = self.finish_list(items);
                self.facts.form(Form::Alt(AltKind::Or, list))
            }
        }
    }

    fn bind_capture(&mut self, name: Option<&Identifier>, value: FormId) {
        if let Some(name) = name
            && let Some((target, _)) = self.bind_name(&name.id, VarKind::Named)
        {
            self.add_assignment(AssignKind::Plain, target, value, FormId::NONE, name.range);
        }
    }
}
