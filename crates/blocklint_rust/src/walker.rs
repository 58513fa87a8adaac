//! The state of one walk over a file: what all languages have, and what Rust adds.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use blocklint_facts::{BodyId, ClassId, FormId, Sym, VarId};
use blocklint_treesitter::{Left, Walk};
pub(crate) use blocklint_treesitter::{Walking, span};
use rustc_hash::FxHashMap;
use tree_sitter::{Node, Parser};

use crate::drops::Owned;
use crate::scope::Scopes;

/// Macros inside arguments of macros that are read; each level parses its text once more.
pub(crate) const MAX_MACRO_DEPTH: u32 = 12;

/// One walk over one file.
pub(crate) struct Walker<'s> {
    pub(crate) walk: Walk<'s>,
    /// For the arguments of macros.
    pub(crate) parser: Parser,
    pub(crate) scopes: Scopes,
    /// True if this is code built only for tests.
    pub(crate) test: bool,
    pub(crate) macro_depth: u32,
    /// True if the file defines a macro.
    pub(crate) has_macros: bool,
    /// Of macros defined before, which of their arguments they put into closures and async blocks alone.
    pub(crate) deferring: FxHashMap<Sym, Vec<bool>>,
    /// The members of the class being walked.
    pub(crate) members: FxHashMap<Sym, VarId>,
    /// Variables from this number on belong to the pattern being bound.
    pub(crate) pattern_start: u32,
    /// Values of `break` in the loops and labelled blocks around, innermost last.
    pub(crate) breaks: Vec<Breaks>,
    /// Locals that end with their block, innermost last.
    pub(crate) owned: Owned,
    /// The time that the arguments of macros took to parse, where it is asked for.
    pub(crate) again: Option<Duration>,
}

/// The breaks out of one loop or labelled block.
#[derive(Default)]
pub(crate) struct Breaks {
    /// Its label, without the quote.
    pub(crate) label: Option<String>,
    /// True if a plain `break` means it.
    pub(crate) is_loop: bool,
    /// The values.
    pub(crate) values: Vec<FormId>,
    /// True if anything breaks out of it.
    pub(crate) any: bool,
}

/// Where a walk stands, to return to it.
pub(crate) struct Place {
    left: Left,
    test: bool,
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

    /// Starts a body's walk; give the result to [`Self::leave_body`].
    pub(crate) fn enter_body(&mut self, body: BodyId, class: ClassId) -> Place {
        let left = self.walk.enter(body, class);
        Place { left, test: self.test, breaks: std::mem::take(&mut self.breaks) }
    }

    /// Ends a body's walk.
    pub(crate) fn leave_body(&mut self, place: Place) {
        self.walk.leave(place.left);
        self.test = place.test;
        self.breaks = place.breaks;
    }
}
