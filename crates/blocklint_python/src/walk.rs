//! The state of the walk over a file, and the operations that all its parts share.

use blocklint_core::Span;
use blocklint_facts::{
    Arg, Assign, AssignKind, At, Body, BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, Expression, FactsBuilder,
    Flow, Form, FormId, List, RegionId, RegionKind, Site, SiteFlags, SiteId, SiteKind, Sym, VarId,
};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use crate::dunder::{Dunder, Dunders};
use crate::scope::{ScopeKind, Scopes};

/// Levels of expressions that are walked; deeper parts are left out.
pub(crate) const EXPRESSION_DEPTH: u32 = 1_500;
/// Levels of statements that are walked; deeper parts are left out.
pub(crate) const STATEMENT_DEPTH: u32 = 400;
/// How deep regions nest that come from conditions in a row (early returns, `elif`, operands of `and` and `or`):
/// what follows the last of these counts as unconditional, so that a file of a million conditions stays linear.
pub(crate) const CONDITIONS_IN_A_ROW: u32 = 64;

/// The walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) source: &'s str,
    pub(crate) facts: FactsBuilder,
    pub(crate) scopes: Scopes,
    pub(crate) dunders: Dunders,
    /// The body being walked.
    pub(crate) body: BodyId,
    /// The class whose body it is.
    pub(crate) class: ClassId,
    /// The innermost region.
    pub(crate) region: RegionId,
    /// True if the body yields, or awaits in a generator expression.
    pub(crate) yields: bool,
    pub(crate) awaits: bool,
    /// Arguments and forms of unfinished calls and displays.
    pub(crate) args: Vec<Arg>,
    pub(crate) items: Vec<FormId>,
    pub(crate) expressions: u32,
    pub(crate) suites: u32,
    /// The first part that was left out for its depth.
    pub(crate) too_deep: Option<Span>,
    /// How many places were given out so far.
    position: u32,
    /// All expressions with their places, if they were asked for.
    pub(crate) written: Option<Vec<Expression>>,
}

/// The state that [`Walker::leave`] restores.
pub(crate) struct Outer {
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
            expressions: 0,
            suites: 0,
            too_deep: None,
            position: 0,
            written: None,
        }
    }

    /// Starts a body inside the present one and opens its scope.
    pub(crate) fn enter(&mut self, kind: BodyKind, name: Sym, span: Span, name_span: Span) -> Outer {
        let outer = Outer {
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

    /// Ends the body that [`Self::enter`] started.
    pub(crate) fn leave(&mut self, outer: Outer) -> BodyId {
        self.scopes.close();
        let body = self.body;
        Outer { body: self.body, class: self.class, region: self.region, yields: self.yields, awaits: self.awaits } =
            outer;
        body
    }

    /// Opens a region inside the present one, and makes it the present one; gives the one to go back to.
    pub(crate) fn open(&mut self, kind: RegionKind, test: FormId, range: TextRange) -> RegionId {
        let region = self.facts.region(self.region, self.body, kind, test, span(range));
        std::mem::replace(&mut self.region, region)
    }

    /// As [`Self::open`], for an arm.
    pub(crate) fn open_arm(&mut self, kind: RegionKind, group: u32, test: FormId, span: Span) -> RegionId {
        let region = self.facts.arm(self.region, self.body, kind, group, test, span);
        std::mem::replace(&mut self.region, region)
    }

    pub(crate) fn at(&mut self) -> At {
        self.position += 1;
        self.facts.at(self.region)
    }

    /// Notes the place of an expression, if places were asked for.
    pub(crate) fn note(&mut self, expr: &Expr, form: FormId) {
        let name = match expr {
            Expr::Attribute(node) => node.attr.range,
            _ => expr.range(),
        };
        self.note_at(expr.range(), name, form, false);
    }

    /// Notes the place of a target, if places were asked for.
    pub(crate) fn note_target(&mut self, range: TextRange, name: TextRange, form: FormId) {
        self.note_at(range, name, form, true);
    }

    fn note_at(&mut self, range: TextRange, name: TextRange, form: FormId, is_target: bool) {
        let at = At { region: self.region, position: self.position + 1 };
        if let Some(written) = &mut self.written {
            written.push(Expression { span: span(range), name_span: span(name), form, at, is_target });
        }
    }

    pub(crate) fn dunder(&mut self, dunder: Dunder) -> Sym {
        self.dunders.get(dunder, &mut self.facts)
    }

    /// Adds a site with the arguments collected since `args` was that long.
    #[expect(clippy::too_many_arguments, reason = "a site has that many columns")]
    pub(crate) fn site(
        &mut self,
        kind: SiteKind,
        flags: SiteFlags,
        callee: FormId,
        name: Sym,
        whole: TextRange,
        name_range: TextRange,
        args: usize,
    ) -> SiteId {
        let at = self.at();
        let site =
            Site { kind, flags, callee, name, args: List::EMPTY, at, span: span(whole), name_span: span(name_range) };
        let id = self.facts.site(site, &self.args[args..]);
        self.args.truncate(args);
        id
    }

    /// Adds an implicit call of a method without arguments.
    pub(crate) fn implicit(
        &mut self,
        kind: SiteKind,
        flags: SiteFlags,
        operand: FormId,
        method: Dunder,
        range: TextRange,
    ) -> SiteId {
        let name = self.dunder(method);
        let args = self.args.len();
        self.site(kind, flags, operand, name, range, range, args)
    }

    /// Adds an implicit call of a method with one argument.
    pub(crate) fn implicit_with(
        &mut self,
        kind: SiteKind,
        operand: FormId,
        method: Dunder,
        (value, value_range): (FormId, TextRange),
        range: TextRange,
    ) -> SiteId {
        let name = self.dunder(method);
        let args = self.args.len();
        self.args.push(Arg { name: Sym::NONE, value, span: span(value_range) });
        self.site(kind, SiteFlags::default(), operand, name, range, range, args)
    }

    /// Sets flags on the site whose result the form is.
    pub(crate) fn flag(&mut self, form: FormId, flags: SiteFlags) {
        if let Form::Result(site) = self.facts.facts().form(form) {
            let site = self.facts.site_mut(site);
            site.flags = site.flags.with(flags);
        }
    }

    pub(crate) fn assign(
        &mut self,
        kind: AssignKind,
        target: FormId,
        value: FormId,
        annotation: FormId,
        range: TextRange,
    ) {
        let at = self.at();
        self.facts.assign(Assign { target, value, annotation, kind, at, span: span(range) });
    }

    pub(crate) fn exit(&mut self, kind: ExitKind, value: FormId, range: TextRange) {
        let at = self.at();
        self.facts.exit(Exit { kind, value, at, span: span(range) });
    }

    /// The list of the forms collected since `items` was that long.
    pub(crate) fn list(&mut self, items: usize) -> List {
        let list = self.facts.list(&self.items[items..]);
        self.items.truncate(items);
        list
    }

    /// Notes a part that is too deep to be walked.
    pub(crate) fn leave_out(&mut self, part: impl Ranged) {
        self.too_deep.get_or_insert(span(part.range()));
    }
}

/// Returns the facts' span of the parser's range.
pub(crate) fn span(range: TextRange) -> Span {
    Span { start: range.start().to_u32(), end: range.end().to_u32() }
}
