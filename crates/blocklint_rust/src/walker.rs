//! [`Walker`]: the state of the walk over a Rust file, in addition to the state that all languages share ([`Walk`]).

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use blocklint_facts::{BodyId, ClassId, FormId, Sym, VarId};
use blocklint_treesitter::{OuterState, Walk};
pub(crate) use blocklint_treesitter::{Walking, span};
use rustc_hash::FxHashMap;
use tree_sitter::{Node, Parser};

use crate::drops::Owned;
use crate::scope::Scopes;

/// Levels of macros in arguments of macros that are walked; each level parses its text once more.
pub(crate) const MAX_MACRO_DEPTH: u32 = 12;

/// The walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) walk: Walk<'s>,
    /// The parser for the arguments of macros.
    pub(crate) parser: Parser,
    pub(crate) scopes: Scopes,
    /// True if the code being walked is compiled only for tests.
    pub(crate) is_test: bool,
    pub(crate) macro_depth: u32,
    /// True if the file defines a macro.
    pub(crate) has_macros: bool,
    /// For each macro defined before, which of its arguments it uses only in closures and async blocks.
    pub(crate) deferred_arguments: FxHashMap<Sym, Vec<bool>>,
    /// The members of the class being walked.
    pub(crate) members: FxHashMap<Sym, VarId>,
    /// The index of the first variable of the pattern being bound.
    pub(crate) pattern_start: u32,
    /// The loops and labelled blocks around, the innermost last, with the values of their `break`s.
    pub(crate) breaks: Vec<Breaks>,
    /// Locals that are dropped at the end of their block, the innermost last.
    pub(crate) owned: Owned,
    /// The time that parsing the arguments of macros took, if it is measured.
    pub(crate) macro_parse_time: Option<Duration>,
}

/// The `break`s out of one loop or labelled block.
#[derive(Default)]
pub(crate) struct Breaks {
    /// The label, without the quote.
    pub(crate) label: Option<String>,
    /// True if it is a loop, which a `break` without label leaves.
    pub(crate) is_loop: bool,
    /// The values of its `break`s.
    pub(crate) values: Vec<FormId>,
    /// True if a `break` leaves it.
    pub(crate) is_left: bool,
}

/// The state of the enclosing body, which [`Walker::leave_body`] restores.
pub(crate) struct OuterBody {
    walk_state: OuterState,
    is_test: bool,
    breaks: Vec<Breaks>,
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
    /// Returns the symbol of a name, without `r#`.
    pub(crate) fn name_symbol(&mut self, node: Node<'_>) -> Sym {
        let text = self.text(node);
        self.facts.intern(text.strip_prefix("r#").unwrap_or(&text))
    }

    /// Starts a body. The result is for [`Self::leave_body`].
    pub(crate) fn enter_body(&mut self, body: BodyId, class: ClassId) -> OuterBody {
        let walk_state = self.walk.enter(body, class);
        OuterBody { walk_state, is_test: self.is_test, breaks: std::mem::take(&mut self.breaks) }
    }

    /// Ends a body.
    pub(crate) fn leave_body(&mut self, outer: OuterBody) {
        self.walk.leave(outer.walk_state);
        self.is_test = outer.is_test;
        self.breaks = outer.breaks;
    }
}
