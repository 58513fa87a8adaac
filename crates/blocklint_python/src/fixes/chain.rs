//! Calls of one expression that each hold the thread, the later ones by what the first gives, handed over in one hop.
//!
//! ```python
//! blob.download().readall()                await asyncio.to_thread(lambda: blob.download().readall())
//! ```
//!
//! Handing over the first alone would leave the reading to the loop.

use blocklint_core::{Applicability, EditKind, Offload, Refusal, WrittenEdit};
use ruff_python_ast::{AnyNodeRef, Expr, ExprCall};
use ruff_text_size::Ranged;

use super::steps::{arguments_are_plain, is_plain};
use super::surroundings::Surroundings;
use super::{Elsewhere, File, Site};
use crate::walk::span;

/// Two or more wanted calls of one chain.
pub(super) struct Chain {
    /// The places of all of them in the list of what is wanted, the outermost first.
    calls: Vec<usize>,
}

impl<'a> File<'a, '_> {
    /// Returns the chain that a call stands in, if another call of it is to be handed over as well. `around` are the
    /// nodes around it.
    pub(super) fn chain_of(&self, call: &'a ExprCall, around: &[AnyNodeRef<'a>]) -> Option<Chain> {
        let mut top = call;
        let mut inner = call.range();
        for node in around.iter().rev() {
            let begins_with = match node {
                AnyNodeRef::ExprAttribute(of) => &of.value,
                AnyNodeRef::ExprSubscript(of) => &of.value,
                AnyNodeRef::ExprCall(of) => &of.func,
                _ => break,
            };
            if begins_with.range() != inner {
                break;
            }
            inner = node.range();
            if let AnyNodeRef::ExprCall(outer) = node
                && self.place_of(outer).is_some()
            {
                top = *outer;
            }
        }
        let mut calls: Vec<usize> = self.place_of(top).into_iter().collect();
        let mut at = &*top.func;
        loop {
            at = match at {
                Expr::Attribute(of) => &*of.value,
                Expr::Subscript(of) => &*of.value,
                Expr::Call(of) => {
                    calls.extend(self.place_of(of));
                    &*of.func
                }
                _ => break,
            };
        }
        (calls.len() > 1).then_some(Chain { calls })
    }

    /// Returns the place of a call among those that are to be handed over.
    fn place_of(&self, call: &ExprCall) -> Option<usize> {
        let is_handed = |edit_kinds: &[EditKind]| matches!(edit_kinds, [EditKind::Offload { .. }]);
        let from = self.calls.partition_point(|of| of.call.start() < call.start());
        let here = self.calls.iter().skip(from).take_while(|of| of.call.start() == call.start());
        let found =
            here.enumerate().find(|(_, of)| of.call.range() == call.range() && is_handed(&of.remedy.edit_kinds));
        found.map(|(at, _)| from + at)
    }

    /// Hands over a chain as a `lambda`.
    pub(super) fn chain(
        &self,
        chain: &Chain,
        to: &[Offload],
        elsewhere: &Elsewhere<'_>,
    ) -> Result<WrittenEdit, Refusal> {
        let Some(top) = chain.calls.first().and_then(|&at| self.calls.get(at)) else {
            return Err(Refusal::new("no call stands there"));
        };
        let site = Site { call: top.call, around: Surroundings::of(top.call, &top.around, true)? };
        for of in chain.calls.iter().filter_map(|&at| self.calls.get(at)) {
            if let Some(refusal) = (elsewhere.refusal)(of.at, None, site.around.handles) {
                return Err(refusal);
            }
            self.functions.can_move(of.call, site.around.handles, &self.locals)?;
        }
        // A refusal of the last call refuses all of them.
        self.offload(&site, to)?;
        self.without_comments(top.call.range())?;
        if !is_chain_of_plain_calls(top.call) {
            return Err(Refusal::new("what it gives is read in the same expression: give the parts names first"));
        }
        let (named, head, mut edits) = self.hand_over_function(&site, to)?;
        let (open, close) = if site.around.needs_brackets { ("(", ")") } else { ("", "") };
        let gap = self.gap_before(top.call.start());
        let text = self.text(top.call.range());
        edits.push((span(top.call.range()), format!("{gap}{open}await {head}lambda: {text}){close}")));
        let title = format!("Run these calls in a thread with {named}");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }
}

/// True if nothing but the calls of the chain runs in an expression.
fn is_chain_of_plain_calls(call: &ExprCall) -> bool {
    let mut at = call;
    loop {
        if !arguments_are_plain(at) {
            return false;
        }
        let mut below = &*at.func;
        at = loop {
            below = match below {
                Expr::Attribute(of) => &*of.value,
                Expr::Subscript(of) if is_plain(&of.slice) => &*of.value,
                Expr::Call(of) => break of,
                other => return is_plain(other),
            };
        };
    }
}
