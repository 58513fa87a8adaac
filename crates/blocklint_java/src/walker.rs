//! The state of one walk over a file, and small helpers that every part of it uses.

use std::borrow::Cow;

use blocklint_core::Span;
use blocklint_facts::{
    AltKind, Assign, AssignKind, At, BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, FactsBuilder, Form, FormId,
    RegionId, RegionKind, SiteFlags, SiteId, Sym, VarId, VarKind,
};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::scope::Scopes;

/// Nesting that is followed; what lies deeper is left out with one problem. A level costs a few kilobytes of stack.
pub(crate) const MAX_DEPTH: u32 = 1_500;

/// One walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) facts: FactsBuilder,
    pub(crate) source: &'s [u8],
    pub(crate) scopes: Scopes,
    /// The body and region being walked.
    pub(crate) body: BodyId,
    pub(crate) region: RegionId,
    /// The class whose body is being walked directly.
    pub(crate) class: ClassId,
    /// The members of that class.
    pub(crate) members: FxHashMap<Sym, VarId>,
    pub(crate) depth: u32,
    pub(crate) too_deep: bool,
    /// Values of `yield` in the `switch`es around, innermost last.
    pub(crate) yields: Vec<Vec<FormId>>,
}

/// Where a walk stands, to return to it.
pub(crate) struct Place {
    body: BodyId,
    region: RegionId,
    class: ClassId,
    yields: Vec<Vec<FormId>>,
}

/// The arm that the rest of a block runs in, after a branch one side of which always leaves.
#[derive(Clone, Copy)]
pub(crate) struct After {
    pub(crate) kind: RegionKind,
    pub(crate) group: u32,
    pub(crate) test: FormId,
}

impl<'s> Walker<'s> {
    /// The text of a node.
    pub(crate) fn text(&self, node: Node<'_>) -> Cow<'s, str> {
        String::from_utf8_lossy(self.source.get(node.byte_range()).unwrap_or_default())
    }

    /// The symbol of a name.
    pub(crate) fn name(&mut self, node: Node<'_>) -> Sym {
        let text = self.text(node);
        self.facts.intern(&text)
    }

    /// Starts a body's walk; give the result to [`Self::leave`].
    pub(crate) fn enter(&mut self, body: BodyId, class: ClassId) -> Place {
        let region = self.facts.facts().body(body).region;
        Place {
            body: std::mem::replace(&mut self.body, body),
            region: std::mem::replace(&mut self.region, region),
            class: std::mem::replace(&mut self.class, class),
            yields: std::mem::take(&mut self.yields),
        }
    }

    /// Ends a body's walk.
    pub(crate) fn leave(&mut self, place: Place) {
        self.body = place.body;
        self.region = place.region;
        self.class = place.class;
        self.yields = place.yields;
    }

    /// Walks in a region below the current one.
    pub(crate) fn within<T>(&mut self, region: RegionId, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.region, region);
        let result = walk(self);
        self.region = before;
        result
    }

    /// A region below the current one, with a group of its own.
    pub(crate) fn region_here(&mut self, kind: RegionKind, test: FormId, span: Span) -> RegionId {
        self.facts.region(self.region, self.body, kind, test, span)
    }

    /// A region below the current one that is an arm of a branch.
    pub(crate) fn arm_here(&mut self, kind: RegionKind, group: u32, test: FormId, span: Span) -> RegionId {
        self.facts.arm(self.region, self.body, kind, group, test, span)
    }

    /// One level deeper; `None`, with one problem for the file, where that is too deep.
    pub(crate) fn deeper<T>(&mut self, node: Node<'_>, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            if !self.too_deep {
                self.too_deep = true;
                let message = format!("nested more than {MAX_DEPTH} levels deep; what lies deeper was not read");
                self.facts.problem(span(node), message);
            }
            return None;
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        Some(result)
    }

    /// The next place in the order of evaluation.
    pub(crate) fn at(&mut self) -> At {
        let region = self.region;
        self.facts.at(region)
    }

    /// Adds a form.
    pub(crate) fn form(&mut self, form: Form) -> FormId {
        self.facts.form(form)
    }

    /// The form of a value that is not known.
    pub(crate) fn other(&mut self) -> FormId {
        self.facts.form(Form::Other)
    }

    /// The form of a variable.
    pub(crate) fn var_form(&mut self, var: VarId) -> FormId {
        self.facts.form(Form::Var(var))
    }

    /// A variable of the current body.
    pub(crate) fn new_var(&mut self, name: Sym, kind: VarKind) -> VarId {
        let body = self.body;
        self.facts.var(name, body, kind)
    }

    /// Records that a value is bound.
    pub(crate) fn bind(&mut self, target: FormId, value: FormId, annotation: FormId, kind: AssignKind, span: Span) {
        let at = self.at();
        self.facts.assign(Assign { target, value, annotation, kind, at, span });
    }

    /// Records a way out of the current body.
    pub(crate) fn exit(&mut self, value: FormId, span: Span) {
        let at = self.at();
        self.facts.exit(Exit { kind: ExitKind::Return, value, at, span });
    }

    /// The site whose result a form is.
    pub(crate) fn site_of(&self, form: FormId) -> Option<SiteId> {
        match self.facts.facts().form(form) {
            Form::Result(site) => Some(site),
            _ => None,
        }
    }

    /// Marks how a site's result is used.
    pub(crate) fn flag(&mut self, site: SiteId, flag: SiteFlags) {
        let site = self.facts.site_mut(site);
        site.flags = site.flags.with(flag);
    }

    /// Marks the bodies between this one and the one that owns a local as capturing it.
    pub(crate) fn capture(&mut self, var: VarId) {
        let owner = self.facts.facts().var(var).body;
        let mut at = self.body;
        while at != owner && at.is_some() {
            let body = self.facts.body_mut(at);
            body.flags = body.flags.with(BodyFlags::CAPTURES);
            at = body.parent;
        }
    }

    /// Marks the lambdas around a `this` as capturing it.
    pub(crate) fn capture_this(&mut self) {
        let mut at = self.body;
        while at.is_some() && self.facts.facts().body(at).kind == BodyKind::Lambda {
            let body = self.facts.body_mut(at);
            body.flags = body.flags.with(BodyFlags::CAPTURES);
            at = body.parent;
        }
    }

    /// The ends of a branch as one value: none if every end leaves.
    pub(crate) fn ends(&mut self, mut ends: Vec<FormId>) -> FormId {
        ends.retain(|end| end.is_some());
        ends.dedup();
        self.alternatives(AltKind::Ends, &ends)
    }

    /// One form for several; none for none.
    pub(crate) fn alternatives(&mut self, kind: AltKind, forms: &[FormId]) -> FormId {
        match forms {
            [] => FormId::NONE,
            [one] => *one,
            many => {
                let list = self.facts.list(many);
                self.form(Form::Alt(kind, list))
            }
        }
    }
}

/// The span of a node.
pub(crate) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}
