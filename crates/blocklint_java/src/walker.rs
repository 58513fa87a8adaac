//! [`Walker`]: the state of the walk over a Java file, in addition to the state that all languages share ([`Walk`]).

use std::ops::{Deref, DerefMut};

use blocklint_core::Span;
use blocklint_facts::{BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, FormId, RegionKind, Sym, VarId};
use blocklint_treesitter::{OuterState, Walk};
pub(crate) use blocklint_treesitter::{Walking, span};
use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::scope::Scopes;

/// The walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) walk: Walk<'s>,
    pub(crate) scopes: Scopes,
    /// The members of the class being walked.
    pub(crate) members: FxHashMap<Sym, VarId>,
    /// The values of `yield` in the `switch`es around, the innermost last.
    pub(crate) yields: Vec<Vec<FormId>>,
}

/// The state of the enclosing body, which [`Walker::leave_body`] restores.
pub(crate) struct OuterBody {
    walk_state: OuterState,
    yields: Vec<Vec<FormId>>,
}

/// The arm of an `if` that covers the statements after it, because its other branch always leaves the block:
/// `if (x) return;`.
#[derive(Clone, Copy)]
pub(crate) struct FollowingArm {
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

    /// Starts a body. The result is for [`Self::leave_body`].
    pub(crate) fn enter_body(&mut self, body: BodyId, class: ClassId) -> OuterBody {
        let walk_state = self.walk.enter(body, class);
        OuterBody { walk_state, yields: std::mem::take(&mut self.yields) }
    }

    /// Ends a body.
    pub(crate) fn leave_body(&mut self, outer: OuterBody) {
        self.walk.leave(outer.walk_state);
        self.yields = outer.yields;
    }

    /// Adds a `return` of the current body.
    pub(crate) fn add_exit(&mut self, value: FormId, span: Span) {
        let at = self.at();
        self.facts.exit(Exit { kind: ExitKind::Return, value, at, span });
    }

    /// Marks the lambdas around a `this` as capturing it.
    pub(crate) fn mark_this_captured(&mut self) {
        let mut lambda = self.body;
        while lambda.is_some() && self.facts.facts().body(lambda).kind == BodyKind::Lambda {
            let body = self.facts.body_mut(lambda);
            body.flags = body.flags.with(BodyFlags::CAPTURES);
            lambda = body.parent;
        }
    }
}
