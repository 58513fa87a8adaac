//! Plans the edit of a finding: the remedy of its rule, with the functions and blocks that move to a thread with the
//! call. `blocklint_mending` finds the code that moves.

use std::sync::Arc;

use blocklint_analysis::{FileId, Linker, RawFinding};
use blocklint_core::{BoundCall, EditKind, Effect, Language, Mistake, Refusal, Remedy, Span};
use blocklint_mending::{
    Chain, MovedCode, ResultKind, blocking_uses_of_result, blocks_that_can_move, blocks_with_moved_code,
    bound_call_in_method, calls_on_same_file, code_moved_with_body, code_moved_with_call, is_cheaper_than_thread,
    is_startup_coroutine, opener_of, reason_no_edit, result_blocks, result_kind,
};
use blocklint_rules::{WhyNotAlone, refusal_of_bound};
use camino::Utf8Path;

use crate::words::place_of;

/// The remedy of a finding, with the code that moves with it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedEdit {
    /// The kinds of edit, in order of preference.
    pub(crate) remedy: Remedy,
    /// The functions of the project that move to a thread with the call, or the reason why the call cannot move alone.
    pub(crate) moves: Result<Functions, Refusal>,
    /// True if the code of the call works only in its present thread.
    pub(crate) bound: bool,
    /// True if the call is faster than a handover to a thread, so that it moves only together with other calls.
    pub(crate) is_cheaper: bool,
    /// True if the call takes about as long as a handover to a thread: a call on a file.
    pub(crate) costs_like_handover: bool,
    /// The functions on the path from the call to the blocking call.
    pub(crate) on_path: Functions,
    /// The spans of the blocks around the call, each with the functions that move with the whole block, or the reason
    /// why it cannot move.
    pub(crate) blocks: Vec<(Span, Result<Functions, Refusal>)>,
    /// The spans of the `with` blocks around the call that can move only with all of their content.
    pub(crate) unsplittable_with_blocks: Vec<Span>,
    /// The oldest Python version that the project supports, if it is known.
    pub(crate) oldest: Option<(u8, u8)>,
    /// The blocking uses of the call's result. They would still block if the call moved alone.
    pub(crate) uses: Vec<Span>,
    /// The blocking call that opened the file on which this call works. It would still block if this call moved alone.
    pub(crate) opening_call: Option<Span>,
    /// The chain of helpers that can become `async` together (Rust).
    pub(crate) chain: Option<Arc<Chain>>,
}

impl PlannedEdit {
    /// Returns the plan of an edit that moves no code.
    fn plain(remedy: Remedy) -> Self {
        PlannedEdit {
            remedy,
            moves: Ok(Vec::new()),
            bound: false,
            is_cheaper: false,
            costs_like_handover: false,
            on_path: Vec::new(),
            blocks: Vec::new(),
            unsplittable_with_blocks: Vec::new(),
            oldest: None,
            uses: Vec::new(),
            opening_call: None,
            chain: None,
        }
    }

    /// Returns all functions that move with the call or with a block around it.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &(Arc<Utf8Path>, Span)> {
        let blocks = self.blocks.iter().filter_map(|(_, whole)| whole.as_ref().ok());
        self.moves.iter().chain(blocks).flatten()
    }
}

/// Functions, each by its file and its span.
pub(crate) type Functions = Vec<(Arc<Utf8Path>, Span)>;

/// Returns the planned edit of a finding. If the moved code is bound to its thread, `without` returns the remedy that
/// moves no code to a thread.
pub(crate) fn plan_edit(
    linker: &Linker<'_>,
    raw: &RawFinding,
    with_aside: bool,
    remedy: Result<Remedy, Refusal>,
    without: impl Fn(BoundCall) -> Result<Remedy, Refusal>,
) -> Result<PlannedEdit, Refusal> {
    let mut remedy = remedy?;
    if let Some(reason) = reason_no_edit(linker, raw.site).filter(|_| !with_aside) {
        return Err(Refusal::new(reason));
    }
    if let Some(starts) = raw.row_advice.unbounded_spawn {
        remedy.edit_kinds.retain(|edit_kind| !matches!(edit_kind, EditKind::Offload { .. }));
        if remedy.edit_kinds.is_empty() {
            let span = linker.program.site(starts).span;
            let reason = "each item would need a thread, with no limit on how many run at once";
            return Err(Refusal::with_place(reason, place_of(linker, starts.file, span)));
        }
    }
    if is_startup_coroutine(linker, raw.site) && !with_aside {
        remedy.edit_kinds.retain(|edit_kind| !matches!(edit_kind, EditKind::Offload { .. }));
        if remedy.edit_kinds.is_empty() {
            return Err(Refusal::new("the function's name says that it runs once, at start-up"));
        }
    }
    let hands_over = remedy.edit_kinds.iter().any(|edit_kind| matches!(edit_kind, EditKind::Offload { .. }));
    let language = linker.program.language(raw.file);
    let oldest = linker.oldest_python(raw.file);
    if language == Language::Java && raw.mistake == Mistake::BlockingCall {
        return plan_worker_edit(linker, raw, remedy);
    }
    let chain = raw.row_advice.chain.as_ref().and_then(|chain| chain.as_ref().ok()).cloned();
    if !hands_over || language == Language::Java {
        return Ok(PlannedEdit { oldest, chain, ..PlannedEdit::plain(remedy) });
    }
    if language == Language::Rust {
        if raw.trace.len() == 1 && result_blocks(linker, raw.site) {
            return Err(Refusal::new("its result also blocks where it is used, so both must move together"));
        }
        // The signatures of the functions that the call runs directly show if the result can leave a closure.
        let mut called = code_moved_with_call(linker, raw.site);
        let on_path = functions_on_path(linker, raw, &called);
        called.functions.truncate(called.direct);
        return Ok(PlannedEdit {
            moves: Ok(functions_by_path(linker, &called)),
            on_path,
            oldest,
            chain,
            ..PlannedEdit::plain(remedy)
        });
    }
    // Before Python 3.9, the functions that run calls in threads do not copy the context.
    let loses_context = oldest.is_some_and(|oldest| oldest < (3, 9));
    let bind_by_context = |mut moved: MovedCode| {
        moved.bound = moved.bound.or_else(|| moved.asks_context.take().filter(|_| loses_context));
        moved
    };
    let blocks = blocks_with_moved_code(linker, raw.site).into_iter().map(|(span, moved)| {
        let moved = bind_by_context(moved);
        let whole = match &moved.bound {
            Some(bound) => Err(refusal_of_bound(bound)),
            None => Ok(functions_by_path(linker, &moved)),
        };
        (span, whole)
    });
    let blocks: Vec<_> = blocks.collect();
    let unsplittable_with_blocks = blocks_that_can_move(linker, raw.site);
    let mut uses = blocking_uses_of_result(linker, raw.site);
    if raw.trace.len() == 1 {
        uses.extend(calls_on_same_file(linker, raw.site));
    }
    let opening_call = if raw.trace.len() == 1 { opener_of(linker, raw.site) } else { None };
    let is_cheaper = raw.trace.len() == 1 && is_cheaper_than_thread(&raw.call);
    let costs_like_handover = raw.effect == Some(Effect::File);
    let moved = bind_by_context(code_moved_with_call(linker, raw.site));
    let on_path = functions_on_path(linker, raw, &moved);
    let Some(bound) = moved.bound.clone() else {
        let moves = match raw.row_advice.brief {
            true if raw.trace.len() > 1 => Err(Refusal::new("the call takes no longer than starting a thread")),
            true if raw.repeats => {
                Err(Refusal::new("each iteration would need a thread for a moment: move the loop into a function"))
            }
            // A call on a file takes about as long as the handover to a thread.
            _ if raw.effect == Some(Effect::File) && linker.multiplies_hold(raw.site) => Err(Refusal::new(
                "each iteration would need a thread, and the loop awaits nothing else: move the whole loop into a \
                 function",
            )),
            _ => Ok(functions_by_path(linker, &moved)),
        };
        return Ok(PlannedEdit {
            moves,
            is_cheaper,
            costs_like_handover,
            on_path,
            blocks,
            unsplittable_with_blocks,
            oldest,
            uses,
            opening_call,
            ..PlannedEdit::plain(remedy)
        });
    };
    // A bound object may be created in a block that can move as a whole.
    let moves = Err(refusal_of_bound(&bound));
    let is_whole = blocks.iter().any(|(_, whole)| whole.is_ok());
    let remedy = if is_whole { remedy } else { without(bound)? };
    let moved = PlannedEdit {
        moves,
        is_cheaper,
        costs_like_handover,
        on_path,
        blocks,
        unsplittable_with_blocks,
        oldest,
        uses,
        opening_call,
        ..PlannedEdit::plain(remedy)
    };
    Ok(PlannedEdit { bound: true, ..moved })
}

/// Returns the edit that passes the whole lambda or method around a call to a worker (Java).
fn plan_worker_edit(linker: &Linker<'_>, raw: &RawFinding, mut remedy: Remedy) -> Result<PlannedEdit, Refusal> {
    let mut moved = code_moved_with_body(linker, raw.site);
    // State that other operators of the method set or remove is bound to their thread.
    moved.bound = moved.bound.or_else(|| bound_call_in_method(linker, raw.site));
    if let Some(bound) = moved.bound {
        for edit_kind in &mut remedy.edit_kinds {
            match edit_kind {
                // The replacement of the call does not block, so the code need not move.
                EditKind::Chain { template: Some(_), offload, .. } => *offload = false,
                EditKind::Chain { offload: true, .. } => return Err(refusal_of_bound(&bound)),
                _ => {}
            }
        }
    }
    Ok(PlannedEdit::plain(remedy))
}

/// Returns the reason why the call of a finding cannot move to a thread alone (Python).
pub(crate) fn reason_not_alone(
    linker: &Linker<'_>,
    raw: &RawFinding,
    remedy: &Result<PlannedEdit, Refusal>,
) -> Option<WhyNotAlone> {
    let language = linker.program.language(raw.file);
    if language != Language::Python || raw.mistake != Mistake::BlockingCall {
        return None;
    }
    let is_bound = match remedy {
        Ok(planned_edit) => planned_edit.bound,
        Err(_) => code_moved_with_call(linker, raw.site).bound.is_some(),
    };
    if is_bound {
        return Some(WhyNotAlone::ThreadBound);
    }
    if raw.trace.len() > 1 {
        return None;
    }
    match result_kind(linker, raw.site) {
        ResultKind::Blocks => Some(WhyNotAlone::ResultBlocks),
        ResultKind::Object => Some(WhyNotAlone::CreatesObject),
        ResultKind::Other => None,
    }
}

fn functions_by_path(linker: &Linker<'_>, moved: &MovedCode) -> Functions {
    moved.functions.iter().map(|&function| function_at(linker, function)).collect()
}

/// Returns the functions that a call runs and that contain a step of the finding's trace.
fn functions_on_path(linker: &Linker<'_>, raw: &RawFinding, moved: &MovedCode) -> Functions {
    let passed = |(file, span): &(FileId, Span)| {
        raw.trace.iter().skip(1).any(|step| step.file == *file && span.contains(step.span))
    };
    moved.functions.iter().filter(|function| passed(function)).map(|&function| function_at(linker, function)).collect()
}

fn function_at(linker: &Linker<'_>, (file, span): (FileId, Span)) -> (Arc<Utf8Path>, Span) {
    (Arc::clone(&linker.program.files[file.index()].path), span)
}
