//! The edit that a finding asks for, with the functions and blocks that move with it: `blocklint_mending` finds the
//! code that moves, the rule chooses the edit.

use std::sync::Arc;

use blocklint_analysis::{FileId, Linker, RawFinding};
use blocklint_core::{BoundCall, EditKind, Effect, Language, Mistake, Refusal, Remedy, Span};
use blocklint_mending::{
    Chain, MovedCode, ResultKind, blocking_uses_of_result, blocks_that_can_move, blocks_with_moved_code,
    bound_call_in_method, calls_on_same_file, code_moved_with_body, code_moved_with_call, is_cheaper_than_thread,
    is_startup_coroutine, opener_of, reason_no_edit, result_blocks, result_kind,
};
use blocklint_rules::{WhyNotAlone, refusal};
use camino::Utf8Path;

use crate::words::place_of;

/// The edit of a finding, with the code that moves with it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedEdit {
    /// The edit.
    pub(crate) remedy: Remedy,
    /// The functions of the project that would move to a thread with the call, or why the call alone cannot.
    pub(crate) moves: Result<Functions, Refusal>,
    /// True if the code of the call works in no other thread.
    pub(crate) bound: bool,
    /// The call by itself takes no longer than a thread: it goes along with others, or stays.
    pub(crate) is_cheaper: bool,
    /// True if the call takes about as long as a thread: a file.
    pub(crate) short: bool,
    /// The functions through which the call leads to the blocking call.
    pub(crate) on_path: Functions,
    /// The blocks around the call: their spans, and what would move with each as a whole, or why none can.
    pub(crate) blocks: Vec<(Span, Result<Functions, Refusal>)>,
    /// The `with` blocks around the call that move with all that stands in them or not at all: what each of them spans.
    pub(crate) held: Vec<Span>,
    /// The oldest Python that the project runs on, if it states one.
    pub(crate) oldest: Option<(u8, u8)>,
    /// The calls that hold the thread by the result of the call: handing over the call alone would be half of the work.
    pub(crate) uses: Vec<Span>,
    /// The call that opened the file which the call reads or writes: handing over the latter alone would be half of the work too.
    pub(crate) opened: Option<Span>,
    /// Rust: the functions that could become `async` together, with all that changes with them.
    pub(crate) chain: Option<Arc<Chain>>,
}

impl PlannedEdit {
    /// Returns a remedy with which nothing of the project moves.
    fn plain(remedy: Remedy) -> Self {
        PlannedEdit {
            remedy,
            moves: Ok(Vec::new()),
            bound: false,
            is_cheaper: false,
            short: false,
            on_path: Vec::new(),
            blocks: Vec::new(),
            held: Vec::new(),
            oldest: None,
            uses: Vec::new(),
            opened: None,
            chain: None,
        }
    }

    /// Returns all functions that would move, with the call or with a block around it.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &(Arc<Utf8Path>, Span)> {
        let blocks = self.blocks.iter().filter_map(|(_, whole)| whole.as_ref().ok());
        self.moves.iter().chain(blocks).flatten()
    }
}

/// Functions: the file, and where each is defined.
pub(crate) type Functions = Vec<(Arc<Utf8Path>, Span)>;

/// Returns the edit of a finding with the code that moves with it. `without` decides again where something of that code is bound to its
/// thread.
pub(crate) fn moved(
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
            let reason = "each item would take a thread, with no limit on how many run at once";
            return Err(Refusal::at(reason, place_of(linker, starts.file, span)));
        }
    }
    if is_startup_coroutine(linker, raw.site) && !with_aside {
        remedy.edit_kinds.retain(|edit_kind| !matches!(edit_kind, EditKind::Offload { .. }));
        if remedy.edit_kinds.is_empty() {
            return Err(Refusal::new("by its name the function runs once, when something starts"));
        }
    }
    let hands_over = remedy.edit_kinds.iter().any(|edit_kind| matches!(edit_kind, EditKind::Offload { .. }));
    let language = linker.program.language(raw.file);
    let oldest = linker.oldest_python(raw.file);
    if language == Language::Java && raw.mistake == Mistake::Holds {
        return on_worker(linker, raw, remedy);
    }
    let chain = raw.row_advice.chain.as_ref().and_then(|chain| chain.as_ref().ok()).cloned();
    if !hands_over || language == Language::Java {
        return Ok(PlannedEdit { oldest, chain, ..PlannedEdit::plain(remedy) });
    }
    if language == Language::Rust {
        if raw.trace.len() == 1 && result_blocks(linker, raw.site) {
            return Err(Refusal::new("its result also blocks where it is used, and must move with it"));
        }
        // The signatures of the functions that the call itself runs show if the result can leave a closure.
        let mut called = code_moved_with_call(linker, raw.site);
        let on_path = functions_on_path(linker, raw, &called);
        called.functions.truncate(called.direct);
        return Ok(PlannedEdit {
            moves: Ok(functions(linker, &called)),
            on_path,
            oldest,
            chain,
            ..PlannedEdit::plain(remedy)
        });
    }
    // Before Python 3.9 functions that run calls in threads take no context along.
    let loses_context = oldest.is_some_and(|oldest| oldest < (3, 9));
    let lost = |mut moved: MovedCode| {
        moved.bound = moved.bound.or_else(|| moved.asks_context.take().filter(|_| loses_context));
        moved
    };
    let blocks = blocks_with_moved_code(linker, raw.site).into_iter().map(|(span, moved)| {
        let moved = lost(moved);
        let whole = match &moved.bound {
            Some(bound) => Err(refusal(bound)),
            None => Ok(functions(linker, &moved)),
        };
        (span, whole)
    });
    let blocks: Vec<_> = blocks.collect();
    let held = blocks_that_can_move(linker, raw.site);
    let mut uses = blocking_uses_of_result(linker, raw.site);
    if raw.trace.len() == 1 {
        uses.extend(calls_on_same_file(linker, raw.site));
    }
    let opened = if raw.trace.len() == 1 { opener_of(linker, raw.site) } else { None };
    let is_cheaper = raw.trace.len() == 1 && is_cheaper_than_thread(&raw.call);
    let short = raw.effect == Some(Effect::File);
    let moved = lost(code_moved_with_call(linker, raw.site));
    let on_path = functions_on_path(linker, raw, &moved);
    let Some(bound) = moved.bound.clone() else {
        let moves = match raw.row_advice.brief {
            true if raw.trace.len() > 1 => Err(Refusal::new("the call is so short that a thread would cost as much")),
            true if raw.repeats => {
                Err(Refusal::new("each turn would take a thread for a moment: put the loop into a function"))
            }
            // A file takes about as long as the thread that it would take.
            _ if raw.effect == Some(Effect::File) && linker.multiplies_hold(raw.site) => Err(Refusal::new(
                "each turn would take a thread, and nothing is awaited between: put all turns into a function",
            )),
            _ => Ok(functions(linker, &moved)),
        };
        return Ok(PlannedEdit {
            moves,
            is_cheaper,
            short,
            on_path,
            blocks,
            held,
            oldest,
            uses,
            opened,
            ..PlannedEdit::plain(remedy)
        });
    };
    // A bound object that is used may be created in a block that moves as a whole.
    let moves = Err(refusal(&bound));
    let is_whole = blocks.iter().any(|(_, whole)| whole.is_ok());
    let remedy = if is_whole { remedy } else { without(bound)? };
    let moved = PlannedEdit {
        moves,
        is_cheaper,
        short,
        on_path,
        blocks,
        held,
        oldest,
        uses,
        opened,
        ..PlannedEdit::plain(remedy)
    };
    Ok(PlannedEdit { bound: true, ..moved })
}

/// Returns the edit that hands the lambda or method around a call to a worker as a whole. [Java]
fn on_worker(linker: &Linker<'_>, raw: &RawFinding, mut remedy: Remedy) -> Result<PlannedEdit, Refusal> {
    let mut moved = code_moved_with_body(linker, raw.site);
    // State that other operators of the method set or remove belongs to their thread.
    moved.bound = moved.bound.or_else(|| bound_call_in_method(linker, raw.site));
    if let Some(bound) = moved.bound {
        for edit_kind in &mut remedy.edit_kinds {
            match edit_kind {
                // The replacement of the call blocks no thread, so none has to be left.
                EditKind::Chain { template: Some(_), offload, .. } => *offload = false,
                EditKind::Chain { offload: true, .. } => return Err(refusal(&bound)),
                _ => {}
            }
        }
    }
    Ok(PlannedEdit::plain(remedy))
}

/// Returns the code that has to go where the call of a finding goes.
pub(crate) fn why_not_alone(
    linker: &Linker<'_>,
    raw: &RawFinding,
    remedy: &Result<PlannedEdit, Refusal>,
) -> Option<WhyNotAlone> {
    let language = linker.program.language(raw.file);
    if language != Language::Python || raw.mistake != Mistake::Holds {
        return None;
    }
    let is_bound = match remedy {
        Ok(wanted) => wanted.bound,
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

fn functions(linker: &Linker<'_>, moved: &MovedCode) -> Functions {
    moved.functions.iter().map(|&function| function_at(linker, function)).collect()
}

/// Returns those functions that a call runs in which a step of the finding's trace stands.
fn functions_on_path(linker: &Linker<'_>, raw: &RawFinding, moved: &MovedCode) -> Functions {
    let passed = |(file, span): &(FileId, Span)| {
        raw.trace.iter().skip(1).any(|step| step.file == *file && span.contains(step.span))
    };
    moved.functions.iter().filter(|of| passed(of)).map(|&function| function_at(linker, function)).collect()
}

fn function_at(linker: &Linker<'_>, (file, span): (FileId, Span)) -> (Arc<Utf8Path>, Span) {
    (Arc::clone(&linker.program.files[file.index()].path), span)
}
