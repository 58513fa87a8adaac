//! Chains of blocking calls in one expression, moved to a thread together as a `lambda`.
//!
//! ```python
//! blob.download().readall()                await asyncio.to_thread(lambda: blob.download().readall())
//! ```
//!
//! If only `download()` moved, `readall()` would still block the event loop.

use blocklint_core::{Applicability, EditKind, Offload, Refusal, WrittenEdit};
use ruff_python_ast::{AnyNodeRef, Expr, ExprCall};
use ruff_text_size::Ranged;

use super::steps::{has_plain_arguments, is_plain};
use super::surroundings::Surroundings;
use super::{Elsewhere, File, Site};
use crate::walk::span;

/// Two or more calls of one chain that are to move to a thread.
pub(super) struct Chain {
    /// Their indexes in [`File::calls`], the outermost first.
    calls: Vec<usize>,
}

impl<'a> File<'a, '_> {
    /// Returns the chain that a call is part of, if another call of it is to move to a thread as well. `around` are the
    /// nodes around the call, the outermost first.
    pub(super) fn find_chain(&self, call: &'a ExprCall, around: &[AnyNodeRef<'a>]) -> Option<Chain> {
        let mut outermost = call;
        let mut inner = call.range();
        for node in around.iter().rev() {
            let first_child = match node {
                AnyNodeRef::ExprAttribute(attribute) => &attribute.value,
                AnyNodeRef::ExprSubscript(subscript) => &subscript.value,
                AnyNodeRef::ExprCall(call) => &call.func,
                _ => break,
            };
            if first_child.range() != inner {
                break;
            }
            inner = node.range();
            if let AnyNodeRef::ExprCall(outer) = node
                && self.find_wanted_call(outer).is_some()
            {
                outermost = *outer;
            }
        }
        let mut calls: Vec<usize> = self.find_wanted_call(outermost).into_iter().collect();
        let mut below = &*outermost.func;
        loop {
            below = match below {
                Expr::Attribute(attribute) => &*attribute.value,
                Expr::Subscript(subscript) => &*subscript.value,
                Expr::Call(call) => {
                    calls.extend(self.find_wanted_call(call));
                    &*call.func
                }
                _ => break,
            };
        }
        (calls.len() > 1).then_some(Chain { calls })
    }

    /// Returns the index in [`File::calls`] of a call that is to move to a thread.
    fn find_wanted_call(&self, call: &ExprCall) -> Option<usize> {
        let is_offload = |edit_kinds: &[EditKind]| matches!(edit_kinds, [EditKind::Offload { .. }]);
        let from = self.calls.partition_point(|wanted_call| wanted_call.call.start() < call.start());
        let same_start =
            self.calls.iter().skip(from).take_while(|wanted_call| wanted_call.call.start() == call.start());
        let wanted_index = same_start.enumerate().find(|(_, wanted_call)| {
            wanted_call.call.range() == call.range() && is_offload(&wanted_call.remedy.edit_kinds)
        });
        wanted_index.map(|(distance, _)| from + distance)
    }

    /// Moves a chain to a thread as a `lambda`.
    pub(super) fn offload_chain(
        &self,
        chain: &Chain,
        to: &[Offload],
        elsewhere: &Elsewhere<'_>,
    ) -> Result<WrittenEdit, Refusal> {
        let Some(outermost) = chain.calls.first().and_then(|&index| self.calls.get(index)) else {
            return Err(Refusal::new("no call is at this place"));
        };
        let site =
            Site { call: outermost.call, around: Surroundings::collect(outermost.call, &outermost.around, true)? };
        for wanted_call in chain.calls.iter().filter_map(|&index| self.calls.get(index)) {
            if let Some(refusal) = (elsewhere.refusal)(wanted_call.index, None, site.around.is_in_handler) {
                return Err(refusal);
            }
            self.functions.can_move(wanted_call.call, site.around.is_in_handler, &self.locals)?;
        }
        // A reason against the move of the outermost call is one against the move of all.
        self.offload(&site, to)?;
        self.check_has_no_comments(outermost.call.range())?;
        if !is_chain_of_plain_calls(outermost.call) {
            return Err(Refusal::new("its result is used in the same expression: assign the parts to variables first"));
        }
        let (named, head, mut edits) = self.thread_call(&site, to)?;
        let (open, close) = if site.around.needs_brackets { ("(", ")") } else { ("", "") };
        let gap = self.gap_before(outermost.call.start());
        let text = self.text(outermost.call.range());
        edits.push((span(outermost.call.range()), format!("{gap}{open}await {head}lambda: {text}){close}")));
        let title = format!("Run these calls in a thread with {named}");
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }
}

/// True if no other calls than those of the chain run in an expression.
fn is_chain_of_plain_calls(call: &ExprCall) -> bool {
    let mut link = call;
    loop {
        if !has_plain_arguments(link) {
            return false;
        }
        let mut below = &*link.func;
        link = loop {
            below = match below {
                Expr::Attribute(attribute) => &*attribute.value,
                Expr::Subscript(subscript) if is_plain(&subscript.slice) => &*subscript.value,
                Expr::Call(call) => break call,
                other => return is_plain(other),
            };
        };
    }
}
