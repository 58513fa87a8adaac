//! Comprehensions, which belong to the body they stand in, and generator expressions, which are bodies.

use blocklint_facts::{BodyKind, DisplayKind, ExitKind, Flow, Form, FormId, RegionKind, SiteFlags, SiteKind};
use ruff_python_ast::{Comprehension, Expr, ExprDictComp, ExprGenerator};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::scope::ScopeKind;
use crate::targets::Binding;
use crate::walk::{Walker, span};

impl Walker<'_> {
    /// Returns a list or set comprehension; its value is a display of its element.
    pub(crate) fn list_comprehension(
        &mut self,
        kind: DisplayKind,
        element: &Expr,
        generators: &[Comprehension],
        range: TextRange,
    ) -> FormId {
        let outer = self.region;
        let first = self.first_iterable(generators);
        self.scopes.open(ScopeKind::Comprehension, self.body);
        self.loops(first, generators, range);
        let form = self.expr(element);
        self.scopes.close();
        self.region = outer;
        let list = self.facts.list(&[form]);
        self.facts.form(Form::Display(kind, list))
    }

    pub(crate) fn dict_comprehension(&mut self, node: &ExprDictComp) -> FormId {
        let outer = self.region;
        let first = self.first_iterable(&node.generators);
        self.scopes.open(ScopeKind::Comprehension, self.body);
        self.loops(first, &node.generators, node.range);
        let key = node.key.as_deref().map_or(FormId::NONE, |key| self.expr(key));
        let value = self.expr(&node.value);
        self.scopes.close();
        self.region = outer;
        let list = self.facts.list(&[key, value]);
        self.facts.form(Form::Pairs(list))
    }

    pub(crate) fn generator(&mut self, node: &ExprGenerator) -> FormId {
        // The first iterable is evaluated where the expression stands, iterated where it is consumed.
        let first = self.first_iterable(&node.generators);
        let name = self.facts.intern("<genexpr>");
        let outer = self.enter(BodyKind::GeneratorExpression, name, span(node.range), span(node.range));
        self.loops(first, &node.generators, node.range);
        let element = self.expr(&node.elt);
        self.exit(ExitKind::Yield, element, node.elt.range());
        let asynchronous = self.awaits || node.generators.iter().any(|part| part.is_async);
        self.facts.body_mut(self.body).flow = if asynchronous { Flow::AsyncGenerator } else { Flow::Generator };
        let body = self.leave(outer);
        self.facts.form(Form::Run(body))
    }

    fn first_iterable(&mut self, generators: &[Comprehension]) -> FormId {
        generators.first().map_or(FormId::NONE, |part| self.expr(&part.iter))
    }

    /// Opens the regions of all `for` and `if` clauses; the caller closes them.
    fn loops(&mut self, first: FormId, generators: &[Comprehension], range: TextRange) {
        for (at, part) in generators.iter().enumerate() {
            let iterable = if at == 0 { first } else { self.expr(&part.iter) };
            let element = self.iterate(iterable, part.is_async, part.iter.range());
            self.open(RegionKind::Loop, iterable, range);
            self.target(&part.target, element, FormId::NONE, Binding::INNER);
            for condition in &part.ifs {
                let test = self.tested(condition);
                self.open(RegionKind::Then, test, range);
            }
        }
    }

    /// Returns the site of a loop over a value; gives its element.
    pub(crate) fn iterate(&mut self, iterable: FormId, asynchronous: bool, range: TextRange) -> FormId {
        let (flags, method) = match asynchronous {
            true => (SiteFlags::ASYNC, Dunder::AITER),
            false => (SiteFlags::default(), Dunder::ITER),
        };
        if asynchronous {
            self.awaits = true;
        }
        self.implicit(SiteKind::Iterate, flags, iterable, method, range);
        self.facts.form(Form::Element(iterable))
    }
}
