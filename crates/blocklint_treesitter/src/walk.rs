//! The state of the walk over the tree of a file, with helpers to add facts.

use std::borrow::Cow;
use std::ops::DerefMut;

use blocklint_core::Span;
use blocklint_facts::{
    AltKind, Assign, AssignKind, At, BodyFlags, BodyId, ClassId, FactsBuilder, Form, FormId, RegionId, RegionKind,
    SiteFlags, SiteId, Sym, VarId, VarKind,
};
use tree_sitter::Node;

/// The deepest nesting that is read. Deeper code is left out, with one problem. A level needs a few kilobytes of stack.
const MAX_DEPTH: u32 = 1_500;

/// The state of a walk, for each language.
pub struct Walk<'s> {
    /// The facts so far.
    pub facts: FactsBuilder,
    /// The file's bytes.
    pub source: &'s [u8],
    /// The bytes of the file as text, if all are valid UTF-8.
    pub(crate) valid: Option<&'s str>,
    /// The current body.
    pub body: BodyId,
    /// The current region.
    pub region: RegionId,
    /// The class whose body is the current body, if it is one.
    pub class: ClassId,
    /// The current depth of nesting.
    pub depth: u32,
    /// True if the problem of too deep nesting has been added.
    pub too_deep: bool,
}

/// The state of a walk before [`Walk::enter`], for [`Walk::leave`].
pub struct OuterState {
    body: BodyId,
    region: RegionId,
    class: ClassId,
}

impl<'s> Walk<'s> {
    /// Returns the text of a node.
    pub fn text(&self, node: Node<'_>) -> Cow<'s, str> {
        // UTF-8 is checked once for the whole file, because a walk reads thousands of names.
        if let Some(text) = self.valid.and_then(|text| text.get(node.byte_range())) {
            return Cow::Borrowed(text);
        }
        String::from_utf8_lossy(self.bytes(node))
    }

    /// Returns the bytes of a node.
    pub fn bytes(&self, node: Node<'_>) -> &'s [u8] {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the symbol of a node's text.
    pub fn symbol(&mut self, node: Node<'_>) -> Sym {
        match self.valid.and_then(|text| text.get(node.byte_range())) {
            Some(text) => self.facts.intern(text),
            None => self.facts.intern(&String::from_utf8_lossy(self.bytes(node))),
        }
    }

    /// Begins the walk of a body. Pass the result to [`Self::leave`].
    pub fn enter(&mut self, body: BodyId, class: ClassId) -> OuterState {
        let region = self.facts.facts().body(body).region;
        OuterState {
            body: std::mem::replace(&mut self.body, body),
            region: std::mem::replace(&mut self.region, region),
            class: std::mem::replace(&mut self.class, class),
        }
    }

    /// Ends a body's walk.
    pub fn leave(&mut self, outer: OuterState) {
        self.body = outer.body;
        self.region = outer.region;
        self.class = outer.class;
    }

    /// Adds a region in the current one, with a group of its own.
    pub fn open_region(&mut self, kind: RegionKind, test: FormId, span: Span) -> RegionId {
        self.facts.region(self.region, self.body, kind, test, span)
    }

    /// Adds a region in the current one that is an arm of a branch.
    pub fn open_arm(&mut self, kind: RegionKind, group: u32, test: FormId, span: Span) -> RegionId {
        self.facts.arm(self.region, self.body, kind, group, test, span)
    }

    /// Returns the next place in the order of evaluation.
    pub fn at(&mut self) -> At {
        self.facts.at(self.region)
    }

    /// Adds a form.
    pub fn form(&mut self, form: Form) -> FormId {
        self.facts.form(form)
    }

    /// Adds the form of an unknown value.
    pub fn other(&mut self) -> FormId {
        self.facts.form(Form::Other)
    }

    /// Adds the form of a variable.
    pub fn var_form(&mut self, var: VarId) -> FormId {
        self.facts.form(Form::Var(var))
    }

    /// Adds a variable of the current body.
    pub fn new_var(&mut self, name: Sym, kind: VarKind) -> VarId {
        self.facts.var(name, self.body, kind)
    }

    /// Adds the assignment of a value to a target.
    pub fn bind(&mut self, target: FormId, value: FormId, annotation: FormId, kind: AssignKind, span: Span) {
        let at = self.at();
        self.facts.assign(Assign { target, value, annotation, kind, at, span });
    }

    /// Returns the site whose result a form is, also behind an `await`.
    pub fn site_of(&self, form: FormId) -> Option<SiteId> {
        match self.facts.facts().form(form) {
            Form::Result(site) => Some(site),
            Form::Await(inner) => match self.facts.facts().form(inner) {
                Form::Result(site) => Some(site),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds a flag to a site: how its result is used.
    pub fn flag(&mut self, site: SiteId, flag: SiteFlags) {
        let site = self.facts.site_mut(site);
        site.flags = site.flags.with(flag);
    }

    /// Flags the bodies from the current one up to the owner of a variable as closures that capture.
    pub fn capture(&mut self, var: VarId) {
        let owner = self.facts.facts().var(var).body;
        let mut current = self.body;
        while current != owner && current.is_some() {
            let body = self.facts.body_mut(current);
            body.flags = body.flags.with(BodyFlags::CAPTURES);
            current = body.parent;
        }
    }

    /// Adds the value of a branch: one form for the values of all its arms. `NONE` if no arm has a value.
    pub fn ends(&mut self, mut ends: Vec<FormId>) -> FormId {
        ends.retain(|end| end.is_some());
        ends.dedup();
        self.alternatives(AltKind::Ends, &ends)
    }

    /// Adds one form for several alternatives. `NONE` if there are none.
    pub fn alternatives(&mut self, kind: AltKind, forms: &[FormId]) -> FormId {
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

/// The walk of one language: [`Walk`] with the language's own state.
pub trait Walking<'s>: DerefMut<Target = Walk<'s>> + Sized {
    /// Runs `walk` with another current region.
    fn in_region<T>(&mut self, region: RegionId, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.region, region);
        let result = walk(self);
        self.region = before;
        result
    }

    /// Runs `walk` one level deeper. `None` if that is too deep, with one problem for the file.
    fn one_level_deeper<T>(&mut self, node: Node<'_>, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
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
}

/// Returns the span of a node.
pub fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}
