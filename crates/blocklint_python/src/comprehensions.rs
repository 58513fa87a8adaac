//! Comprehensions, which are part of the enclosing body, and generator expressions, which are bodies of their own.

use blocklint_facts::{BodyKind, DisplayKind, ExitKind, Flow, Form, FormId, RegionKind, SiteFlags, SiteKind};
use ruff_python_ast::{Comprehension, Expr, ExprDictComp, ExprGenerator};
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::Dunder;
use crate::scope::ScopeKind;
use crate::targets::Binding;
use crate::walk::{Walker, span};

impl Walker<'_> {
    /// Walks a list or set comprehension. Returns a display with the form of its element.
    pub(crate) fn walk_list_comprehension(
        &mut self,
        kind: DisplayKind,
        element: &Expr,
        generators: &[Comprehension],
        range: TextRange,
    ) -> FormId {
        let outer = self.region;
        let first = self.walk_first_iterable(generators);
        self.scopes.open(ScopeKind::Comprehension, self.body);
        self.open_comprehension_regions(first, generators, range);
        let form = self.walk_expr(element);
        self.scopes.close();
        self.region = outer;
        let list = self.facts.list(&[form]);
        self.facts.form(Form::Display(kind, list))
    }

    pub(crate) fn walk_dict_comprehension(&mut self, node: &ExprDictComp) -> FormId {
        let outer = self.region;
        let first = self.walk_first_iterable(&node.generators);
        self.scopes.open(ScopeKind::Comprehension, self.body);
        self.open_comprehension_regions(first, &node.generators, node.range);
        let key = node.key.as_deref().map_or(FormId::NONE, |key| self.walk_expr(key));
        let value = self.walk_expr(&node.value);
        self.scopes.close();
        self.region = outer;
        let list = self.facts.list(&[key, value]);
        self.facts.form(Form::Pairs(list))
    }

    pub(crate) fn walk_generator(&mut self, node: &ExprGenerator) -> FormId {
        // The first iterable is evaluated in the enclosing body, and iterated by the code that consumes the generator.
        let first = self.walk_first_iterable(&node.generators);
        let name = self.facts.intern("<genexpr>");
        let outer = self.enter_body(BodyKind::GeneratorExpression, name, span(node.range), span(node.range));
        self.open_comprehension_regions(first, &node.generators, node.range);
        let element = self.walk_expr(&node.elt);
        self.add_exit(ExitKind::Yield, element, node.elt.range());
        let is_async = self.awaits || node.generators.iter().any(|part| part.is_async);
        self.facts.body_mut(self.body).flow = if is_async { Flow::AsyncGenerator } else { Flow::Generator };
        let body = self.leave_body(outer);
        self.facts.form(Form::Run(body))
    }

    fn walk_first_iterable(&mut self, generators: &[Comprehension]) -> FormId {
        generators.first().map_or(FormId::NONE, |part| self.walk_expr(&part.iter))
    }

    /// Opens the regions of all `for` and `if` clauses; the caller closes them.
    fn open_comprehension_regions(&mut self, first: FormId, generators: &[Comprehension], range: TextRange) {
        for (index, part) in generators.iter().enumerate() {
            let iterable = if index == 0 { first } else { self.walk_expr(&part.iter) };
            let element = self.add_iteration(iterable, part.is_async, part.iter.range());
            self.open_region(RegionKind::Loop, iterable, range);
            self.bind_target(&part.target, element, FormId::NONE, Binding::COMPREHENSION);
            for condition in &part.ifs {
                let test = self.walk_test(condition);
                self.open_region(RegionKind::Then, test, range);
            }
        }
    }

    /// Adds the call of `__iter__` or `__aiter__` of a loop. Returns the form of the loop's element.
    pub(crate) fn add_iteration(&mut self, iterable: FormId, is_async: bool, range: TextRange) -> FormId {
        let (flags, method) =
            if is_async { (SiteFlags::ASYNC, Dunder::AITER) } else { (SiteFlags::default(), Dunder::ITER) };
        if is_async {
            self.awaits = true;
        }
        self.add_implicit_call(SiteKind::Iterate, flags, iterable, method, range);
        self.facts.form(Form::Element(iterable))
    }
}
