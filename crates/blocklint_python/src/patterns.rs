//! `match`.

use blocklint_facts::{AltKind, AssignKind, Comparison, Form, FormId, RegionKind, VarKind};
use ruff_python_ast::{Identifier, Pattern, Singleton, StmtMatch};
use ruff_text_size::{Ranged, TextRange};

use crate::compound_statements::suite_range;
use crate::walk::{EXPRESSION_DEPTH, Walker, span};

impl Walker<'_> {
    pub(crate) fn match_statement(&mut self, node: &StmtMatch) -> bool {
        let subject = self.expr(&node.subject);
        let outer = self.region;
        let group = self.facts.group();
        let (mut diverges, mut exhaustive) = (true, false);
        for case in &node.cases {
            let whole = TextRange::new(case.pattern.start(), suite_range(&case.body).end().max(case.pattern.end()));
            self.open_arm(RegionKind::Case, group, FormId::NONE, span(whole));
            let region = self.region;
            let test = self.pattern(&case.pattern, subject);
            self.facts.region_mut(region).test = test;
            if let Some(guard) = &case.guard {
                let test = self.tested(guard);
                self.open(RegionKind::Then, test, suite_range(&case.body));
            }
            diverges &= self.suite(&case.body);
            exhaustive |= case.guard.is_none() && case.pattern.is_irrefutable();
            self.region = outer;
        }
        diverges && exhaustive
    }

    /// Binds what the pattern captures from the value, and gives what it tests; none where it always matches.
    fn pattern(&mut self, pattern: &Pattern, value: FormId) -> FormId {
        if self.expressions >= EXPRESSION_DEPTH {
            self.leave_out(pattern);
            return FormId::NONE;
        }
        self.expressions += 1;
        let test = self.pattern_inside(pattern, value);
        self.expressions -= 1;
        test
    }

    fn pattern_inside(&mut self, pattern: &Pattern, value: FormId) -> FormId {
        match pattern {
            Pattern::MatchValue(node) => {
                let literal = self.expr(&node.value);
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
                for (at, part) in node.patterns.iter().enumerate() {
                    if let Pattern::MatchStar(star) = part {
                        after_star = true;
                        let rest = self.facts.form(Form::Other);
                        self.capture(star.name.as_ref(), rest);
                        continue;
                    }
                    let form = if after_star { Form::Element(value) } else { Form::Part(value, at as u32) };
                    let form = self.facts.form(form);
                    self.pattern(part, form);
                }
                self.facts.form(Form::Other)
            }
            Pattern::MatchMapping(node) => {
                for (key, part) in node.keys.iter().zip(&node.patterns) {
                    let key = self.expr(key);
                    let form = self.facts.form(Form::Subscript(value, key));
                    self.pattern(part, form);
                }
                let rest = self.facts.form(Form::Other);
                self.capture(node.rest.as_ref(), rest);
                self.facts.form(Form::Other)
            }
            Pattern::MatchClass(node) => {
                let class = self.annotation(&node.cls);
                let matched = self.facts.form(Form::Cast(value, class));
                for (at, part) in node.arguments.patterns.iter().enumerate() {
                    let form = self.facts.form(Form::Part(matched, at as u32));
                    self.pattern(part, form);
                }
                for keyword in &node.arguments.keywords {
                    let sym = self.facts.intern(&keyword.attr.id);
                    let form = self.facts.form(Form::Field(matched, sym));
                    self.pattern(&keyword.pattern, form);
                }
                matched
            }
            Pattern::MatchStar(node) => {
                let rest = self.facts.form(Form::Other);
                self.capture(node.name.as_ref(), rest);
                FormId::NONE
            }
            Pattern::MatchAs(node) => {
                let test = node.pattern.as_deref().map_or(FormId::NONE, |pattern| self.pattern(pattern, value));
                let matched = match self.facts.facts().form(test) {
                    Form::Cast(..) => test,
                    _ => value,
                };
                self.capture(node.name.as_ref(), matched);
                test
            }
            Pattern::MatchOr(node) => {
                let items = self.items.len();
                for part in &node.patterns {
                    let test = self.pattern(part, value);
                    if test.is_some() {
                        self.items.push(test);
                    }
                }
                let list = self.list(items);
                self.facts.form(Form::Alt(AltKind::Or, list))
            }
        }
    }

    fn capture(&mut self, name: Option<&Identifier>, value: FormId) {
        if let Some(name) = name
            && let Some((target, _)) = self.bind(&name.id, VarKind::Named)
        {
            self.assign(AssignKind::Plain, target, value, FormId::NONE, name.range);
        }
    }
}
