//! The state of one walk over a file: what all languages have, and what Java adds.

use std::ops::{Deref, DerefMut};

use blocklint_core::Span;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, FormId, RegionKind, Sym, VarId};
use blocklint_treesitter::{Left, Walk};
pub(crate) use blocklint_treesitter::{Walking, span};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::scope::Scopes;

/// One walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) walk: Walk<'s>,
    pub(crate) scopes: Scopes,
    /// The members of the class being walked.
    pub(crate) members: FxHashMap<Sym, VarId>,
    /// Values of `yield` in the `switch`es around, innermost last.
    pub(crate) yields: Vec<Vec<FormId>>,
}

/// Where a walk stands, to return to it.
pub(crate) struct Place {
    left: Left,
    yields: Vec<Vec<FormId>>,
}

/// The arm that the rest of a block runs in, after a branch one side of which always leaves.
#[derive(Clone, Copy)]
pub(crate) struct After {
    pub(crate) kind: RegionKind,
    pub(crate) group: u32,
    pub(crate) test: FormId,
}

impl<'s> Deref for Walker<'s> {
    type Target = Walk<'s>;

    fn deref(&self) -> &Walk<'s> {
        &self.walk
    }
}

impl<'s> DerefMut for Walker<'s> {
    fn deref_mut(&mut self) -> &mut Walk<'s> {
        &mut self.walk
    }
}

impl<'s> Walking<'s> for Walker<'s> {}

impl Walker<'_> {
    /// Returns the symbol of a name.
    pub(crate) fn name_symbol(&mut self, node: Node<'_>) -> Sym {
        self.symbol(node)
    }

    /// Starts a body's walk; give the result to [`Self::leave_body`].
    pub(crate) fn enter_body(&mut self, body: BodyId, class: ClassId) -> Place {
        let left = self.walk.enter(body, class);
        Place { left, yields: std::mem::take(&mut self.yields) }
    }

    /// Ends a body's walk.
    pub(crate) fn leave_body(&mut self, place: Place) {
        self.walk.leave(place.left);
        self.yields = place.yields;
    }

    /// Records a way out of the current body.
    pub(crate) fn add_exit(&mut self, value: FormId, span: Span) {
        let at = self.at();
        self.facts.exit(Exit { kind: ExitKind::Return, value, at, span });
    }

    /// Marks the lambdas around a `this` as capturing it.
    pub(crate) fn mark_this_captured(&mut self) {
        let mut at = self.body;
        while at.is_some() && self.facts.facts().body(at).kind == BodyKind::Lambda {
            let body = self.facts.body_mut(at);
            body.flags = body.flags.with(BodyFlags::CAPTURES);
            at = body.parent;
        }
    }
}
