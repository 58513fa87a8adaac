//! [`Walker`]: the state of the walk over a syntax tree, and the operations that add rows to the facts.

use blocklint_core::Span;
use blocklint_facts::{
    Arg, Assign, AssignKind, At, Body, BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, Expression, FactsBuilder,
    Flow, Form, FormId, List, RegionId, RegionKind, Site, SiteFlags, SiteId, SiteKind, Sym, VarId,
};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::{Dunder, Dunders};
use crate::scope::{ScopeKind, Scopes};

/// Levels of nested expressions that are walked; deeper ones are left out.
pub(crate) const EXPRESSION_DEPTH: u32 = 1_500;
/// Levels of nested suites that are walked; deeper ones are left out.
pub(crate) const STATEMENT_DEPTH: u32 = 400;
/// Nesting limit for the regions of consecutive conditions (early returns, `elif`, operands of `and` and `or`). Code
/// behind the last of these counts as unconditional, so that a file of a million conditions takes linear time.
pub(crate) const CONDITIONS_IN_A_ROW: u32 = 64;

/// The walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) source: &'s str,
    pub(crate) facts: FactsBuilder,
    pub(crate) scopes: Scopes,
    pub(crate) dunders: Dunders,
    /// The body being walked.
    pub(crate) body: BodyId,
    /// The class, if the body is one of a class.
    pub(crate) class: ClassId,
    /// The innermost region.
    pub(crate) region: RegionId,
    /// True if the body has a `yield`.
    pub(crate) yields: bool,
    /// True if the body has an `await`, also one in a generator expression.
    pub(crate) awaits: bool,
    /// Arguments of calls that are not complete yet, as a stack.
    pub(crate) args: Vec<Arg>,
    /// Forms of lists (displays, operands) that are not complete yet, as a stack.
    pub(crate) items: Vec<FormId>,
    /// The nesting depth of the current expression.
    pub(crate) expression_depth: u32,
    /// The nesting depth of the current suite.
    pub(crate) suite_depth: u32,
    /// The first part that was left out because it is nested too deeply.
    pub(crate) too_deep: Option<Span>,
    /// Number of the last position that [`Self::next_place`] returned.
    position: u32,
    /// All expressions with their places, if the caller wants them.
    pub(crate) recorded_expressions: Option<Vec<Expression>>,
}

/// The state of the enclosing body, which [`Walker::leave_body`] restores.
pub(crate) struct OuterBody {
    body: BodyId,
    class: ClassId,
    region: RegionId,
    yields: bool,
    awaits: bool,
}

impl<'s> Walker<'s> {
    pub(crate) fn new(source: &'s str, facts: FactsBuilder) -> Self {
        Walker {
            source,
            facts,
            scopes: Scopes::default(),
            dunders: Dunders::default(),
            body: BodyId::NONE,
            class: ClassId::NONE,
            region: RegionId::NONE,
            yields: false,
            awaits: false,
            args: Vec::new(),
            items: Vec::new(),
            expression_depth: 0,
            suite_depth: 0,
            too_deep: None,
            position: 0,
            recorded_expressions: None,
        }
    }

    /// Starts a body inside the current one and opens its scope.
    pub(crate) fn enter_body(&mut self, kind: BodyKind, name: Sym, span: Span, name_span: Span) -> OuterBody {
        let outer = OuterBody {
            body: self.body,
            class: self.class,
            region: self.region,
            yields: std::mem::take(&mut self.yields),
            awaits: std::mem::take(&mut self.awaits),
        };
        self.body = self.facts.body(Body {
            kind,
            flow: Flow::Sync,
            flags: BodyFlags::default(),
            name,
            parent: self.body,
            class: self.class,
            params: List::EMPTY,
            decorators: List::EMPTY,
            returns: FormId::NONE,
            span,
            name_span,
            region: RegionId::NONE,
            var: VarId::NONE,
        });
        self.class = ClassId::NONE;
        self.region = self.facts.facts().body(self.body).region;
        let scope = match kind {
            BodyKind::Module => ScopeKind::Module,
            BodyKind::Class => ScopeKind::Class,
            BodyKind::GeneratorExpression => ScopeKind::Generator,
            _ => ScopeKind::Function,
        };
        self.scopes.open(scope, self.body);
        outer
    }

    /// Ends the body that [`Self::enter_body`] started, and returns its id.
    pub(crate) fn leave_body(&mut self, outer: OuterBody) -> BodyId {
        self.scopes.close();
        let body = self.body;
        OuterBody {
            body: self.body,
            class: self.class,
            region: self.region,
            yields: self.yields,
            awaits: self.awaits,
        } = outer;
        body
    }

    /// Opens a region inside the current one and makes it the current one. Returns the outer region.
    pub(crate) fn open_region(&mut self, kind: RegionKind, test: FormId, range: TextRange) -> RegionId {
        let region = self.facts.region(self.region, self.body, kind, test, span(range));
        std::mem::replace(&mut self.region, region)
    }

    /// As [`Self::open_region`], for one arm of a group (`if` and `else`, the handlers of a `try`).
    pub(crate) fn open_arm(&mut self, kind: RegionKind, group: u32, test: FormId, span: Span) -> RegionId {
        let region = self.facts.arm(self.region, self.body, kind, group, test, span);
        std::mem::replace(&mut self.region, region)
    }

    /// Returns the place of the next row: the current region, and a position after all rows before.
    pub(crate) fn next_place(&mut self) -> At {
        self.position += 1;
        self.facts.at(self.region)
    }

    /// Records an expression with its place, if the caller wants expressions.
    pub(crate) fn record_expression(&mut self, expr: &Expr, form: FormId) {
        let name = match expr {
            Expr::Attribute(node) => node.attr.range,
            _ => expr.range(),
        };
        self.record_place(expr.range(), name, form, false);
    }

    /// Records a target with its place, if the caller wants expressions.
    pub(crate) fn record_target(&mut self, range: TextRange, name: TextRange, form: FormId) {
        self.record_place(range, name, form, true);
    }

    fn record_place(&mut self, range: TextRange, name: TextRange, form: FormId, is_target: bool) {
        let at = At { region: self.region, position: self.position + 1 };
        if let Some(recorded_expressions) = &mut self.recorded_expressions {
            recorded_expressions.push(Expression { span: span(range), name_span: span(name), form, at, is_target });
        }
    }

    /// Returns the symbol of a dunder method's name.
    pub(crate) fn dunder_symbol(&mut self, dunder: Dunder) -> Sym {
        self.dunders.intern(dunder, &mut self.facts)
    }

    /// Adds a call site. Its arguments are those on the stack [`Self::args`] from index `args` on.
    #[expect(clippy::too_many_arguments, reason = "a site has that many columns")]
    pub(crate) fn add_site(
        &mut self,
        kind: SiteKind,
        flags: SiteFlags,
        callee: FormId,
        name: Sym,
        range: TextRange,
        name_range: TextRange,
        args: usize,
    ) -> SiteId {
        let at = self.next_place();
        let site =
            Site { kind, flags, callee, name, args: List::EMPTY, at, span: span(range), name_span: span(name_range) };
        let id = self.facts.site(site, &self.args[args..]);
        self.args.truncate(args);
        id
    }

    /// Adds an implicit call of a dunder method without arguments.
    pub(crate) fn add_implicit_call(
        &mut self,
        kind: SiteKind,
        flags: SiteFlags,
        operand: FormId,
        method: Dunder,
        range: TextRange,
    ) -> SiteId {
        let name = self.dunder_symbol(method);
        let args = self.args.len();
        self.add_site(kind, flags, operand, name, range, range, args)
    }

    /// Adds an implicit call of a dunder method with one argument.
    pub(crate) fn add_implicit_call_with(
        &mut self,
        kind: SiteKind,
        operand: FormId,
        method: Dunder,
        (value, value_range): (FormId, TextRange),
        range: TextRange,
    ) -> SiteId {
        let name = self.dunder_symbol(method);
        let args = self.args.len();
        self.args.push(Arg { name: Sym::NONE, value, span: span(value_range) });
        self.add_site(kind, SiteFlags::default(), operand, name, range, range, args)
    }

    /// Sets flags on the site whose result this form is; other forms are ignored.
    pub(crate) fn set_site_flags(&mut self, form: FormId, flags: SiteFlags) {
        if let Form::Result(site) = self.facts.facts().form(form) {
            let site = self.facts.site_mut(site);
            site.flags = site.flags.with(flags);
        }
    }

    pub(crate) fn add_assignment(
        &mut self,
        kind: AssignKind,
        target: FormId,
        value: FormId,
        annotation: FormId,
        range: TextRange,
    ) {
        let at = self.next_place();
        self.facts.assign(Assign { target, value, annotation, kind, at, span: span(range) });
    }

    pub(crate) fn add_exit(&mut self, kind: ExitKind, value: FormId, range: TextRange) {
        let at = self.next_place();
        self.facts.exit(Exit { kind, value, at, span: span(range) });
    }

    /// Returns the list of the forms on the stack [`Self::items`] from index `items` on, and removes them from it.
    pub(crate) fn finish_list(&mut self, items: usize) -> List {
        let list = self.facts.list(&self.items[items..]);
        self.items.truncate(items);
        list
    }

    /// Records a part that is not walked, because it is nested too deeply.
    pub(crate) fn leave_out(&mut self, part: impl Ranged) {
        self.too_deep.get_or_insert(span(part.range()));
    }
}

/// Converts a range of the parser to a span of the facts.
pub(crate) fn span(range: TextRange) -> Span {
    Span { start: range.start().to_u32(), end: range.end().to_u32() }
}
