//! Raw findings to findings with words.

use std::sync::Arc;

use blocklint_analysis::{
    Anew, Available, BodyRef, Chain, FileId, Given, Linker, Mending, MovedCode, RawCause, RawFinding, RawStep,
    RootKind, Serialisation, Solved, Starved, Unbounded, What, beside, blocks_with, body_with, bound_beside, given_by,
    gives_what_blocks, moved_with, moving_with, opener_of, runs_by_hand, starts_up, takes_a_moment, uses_of_given,
};
use blocklint_core::{
    Cause, Effect, Finding, Language, Piece, Place, Refusal, Remedy, Span, Step, Suppression, SuppressionSource, Way,
    fingerprint,
};
use blocklint_facts::{BodyKind, Flow};
use blocklint_models::{Bound, Creates, Part};
use blocklint_rules::{
    Advice, Along, BoundCall, BoundTo, BoundUse, FixKind, Helpers, Made, Owner, OwnerKind, Reach, SiteKind, Twin,
};
use camino::Utf8Path;

use crate::fixing::chains::refusal;

/// What is to be done about a finding.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The edit.
    pub(crate) remedy: Remedy,
    /// The functions of the project that would move to a thread with the call, or why the call alone cannot.
    pub(crate) moves: Result<Functions, Refusal>,
    /// What the call runs works in no other thread.
    pub(crate) bound: bool,
    /// The call by itself takes no longer than a thread: it goes along with others, or stays.
    pub(crate) moment: bool,
    /// Whether the call takes about as long as a thread: a file.
    pub(crate) short: bool,
    /// The functions through which the call leads to what holds the thread.
    pub(crate) way: Functions,
    /// The blocks around the call: their spans, and what would move with each as a whole, or why none can.
    pub(crate) blocks: Vec<(Span, Result<Functions, Refusal>)>,
    /// The `with` blocks around the call that move with all that stands in them or not at all: what each of them spans.
    pub(crate) held: Vec<Span>,
    /// The oldest Python that the project runs on, where it says so.
    pub(crate) oldest: Option<(u8, u8)>,
    /// The calls that hold the thread by what the call gives: handing over the call alone would be half of the work.
    pub(crate) uses: Vec<Span>,
    /// The call that opened the file which the call reads or writes: handing over the latter alone would be half of the work too.
    pub(crate) opened: Option<Span>,
    /// Rust: the functions that could become `async` together, with all that changes with them.
    pub(crate) chain: Option<Arc<Chain>>,
}

impl Wanted {
    /// All functions that would move, with the call or with a block around it.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &(Arc<Utf8Path>, Span)> {
        let blocks = self.blocks.iter().filter_map(|(_, whole)| whole.as_ref().ok());
        self.moves.iter().chain(blocks).flatten()
    }
}

/// Functions: the file, and where each is defined.
pub(crate) type Functions = Vec<(Arc<Utf8Path>, Span)>;

/// The findings that stand in reported files, in words; with `traces` also those whose trace or a cause lies in one.
/// Places are not located. With each, what is to be done about it.
pub(crate) fn worded(linker: &Linker<'_>, solved: &Solved, traces: bool) -> Vec<(Finding, Result<Wanted, Refusal>)> {
    let reported = |file: FileId| linker.program.files[file.index()].reported;
    let passes = |raw: &RawFinding| {
        let mut causes = raw.causes.iter().filter_map(|&at| solved.causes.get(at as usize));
        raw.trace.iter().any(|step| reported(step.file)) || causes.any(|cause| reported(cause.file))
    };
    solved
        .findings
        .iter()
        .filter(|raw| reported(raw.file) || traces && passes(raw))
        .filter_map(|raw| linker.attempt_site(raw.site, || finding_and_remedy(linker, solved, raw)).flatten())
        .collect()
}

pub(crate) fn place(linker: &Linker<'_>, file: FileId, span: blocklint_core::Span) -> Place {
    Place::unlocated(Arc::clone(&linker.program.files[file.index()].path), span)
}

pub(crate) fn finding(linker: &Linker<'_>, solved: &Solved, raw: &RawFinding) -> Option<Finding> {
    finding_and_remedy(linker, solved, raw).map(|(finding, _)| finding)
}

fn finding_and_remedy(
    linker: &Linker<'_>,
    solved: &Solved,
    raw: &RawFinding,
) -> Option<(Finding, Result<Wanted, Refusal>)> {
    let rule = blocklint_rules::rule(raw.rule)?;
    let program = linker.program;
    let source = &program.files[raw.file.index()];
    // On greenlets the finding stands at the call itself, and the trace leads there.
    let on_greenlet = matches!(raw.what, What::HoldsHub { .. });
    let first = if on_greenlet { raw.trace.last() } else { raw.trace.first() }?;
    let owner_name = owner_name(linker, raw);
    let response = response(&raw.what);
    let repeated = repeated_name(linker, raw);
    let other = other_site(linker, raw);
    let also: Vec<(blocklint_core::RuleCode, &str)> =
        raw.also.iter().filter_map(|&(rule, at)| Some((rule, solved.causes.get(at as usize)?.call.as_str()))).collect();
    let operation = match raw.what {
        What::Holds if !raw.handed => linker.words_for_operation(raw.site, blocklint_core::last_name(&first.call)),
        _ => None,
    };
    let mut told = blocklint_rules::RawFinding {
        rule,
        what: match &raw.what {
            What::Holds => blocklint_rules::What::Holds,
            What::CalledInstead { taker } => blocklint_rules::What::CalledInstead { taker },
            What::HoldsHub { entries, adapter, pool } => blocklint_rules::What::HoldsHub {
                entries: *entries,
                adapter: adapter.as_deref(),
                pool: pool.as_deref(),
            },
            What::LargeResponse { .. } => match &response {
                Some(response) => blocklint_rules::What::LargeResponse(response),
                None => blocklint_rules::What::Holds,
            },
            What::LatePatch { taken, is_module, patch } => {
                blocklint_rules::What::LatePatch { taken, is_module: *is_module, patch }
            }
            What::LockOverAwait { awaited, reentrant } => {
                blocklint_rules::What::LockOverAwait { awaited, reentrant: *reentrant }
            }
            What::Starves(starved) => blocklint_rules::What::Starves(match starved {
                Starved::OverAwait { .. } => blocklint_rules::Starved::OverAwait(&other),
                Starved::Second { .. } => blocklint_rules::Starved::Second(&other),
                Starved::OwnJob { .. } => blocklint_rules::Starved::OwnJob(&other),
            }),
            What::Offloads { unbounded, takes } => blocklint_rules::What::Offloads {
                unbounded: match unbounded {
                    Unbounded::PerItem => blocklint_rules::Unbounded::PerItem,
                    Unbounded::PerEntry(_) => blocklint_rules::Unbounded::PerEntry(&repeated),
                    Unbounded::Endless => blocklint_rules::Unbounded::Endless,
                },
                takes: takes.as_deref(),
            },
            What::MadeAnew { creates, anew } => blocklint_rules::What::MadeAnew {
                made: match creates {
                    Creates::Threads => Made::Threads,
                    Creates::Connections | Creates::Pool => Made::Connections,
                },
                anew: match anew {
                    Anew::PerEntry(_) => blocklint_rules::Anew::PerEntry(&repeated),
                    Anew::PerItem(_) => blocklint_rules::Anew::PerItem(&repeated),
                    Anew::PerInstance { .. } => blocklint_rules::Anew::PerInstance(&repeated),
                    Anew::PerCall => blocklint_rules::Anew::PerCall(&repeated),
                },
            },
        },
        language: program.language(raw.file),
        runtime: raw.runtime,
        call: &raw.call,
        written: &first.written,
        direct: on_greenlet || raw.trace.len() == 1,
        site: site_kind(linker, raw),
        owner: Owner { kind: owner_kind(linker, raw), name: &owner_name },
        hold: raw.hold,
        fails: raw.fails,
        twin: raw.twins.first().map(|(path, local)| Twin { path, local: *local }),
        holds_gil: raw.holds_gil,
        repeats: raw.repeats,
        held_by: raw.held_by.as_ref().map(|held| blocklint_core::last_name(&held.function)),
        operation: operation.as_deref(),
        note: raw.note.as_deref(),
        more_causes: raw.causes.len().saturating_sub(1 + also.len()) as u32,
        also: &also,
        along: None,
        older_workers: matches!(raw.mending.pool, Available::Since { .. }),
    };
    let advice = Advice { taker: linker.taker_of(raw.root), ..advice(&raw.mending) };
    let remedy = moved(linker, raw, solved.with_aside, blocklint_rules::remedy(&told, &advice), |bound| {
        blocklint_rules::remedy(&told, &Advice { bound: Some(bound), ..advice.clone() })
    });
    told.along = along(linker, raw, &remedy);
    let words = told.words();
    let causes: Vec<Cause> =
        raw.causes.iter().filter_map(|&at| solved.causes.get(at as usize)).map(|c| cause(linker, c)).collect();
    let body = program.body_of_site(raw.site);
    let function = linker.qualified_name(body);
    let finding = Finding {
        rule: raw.rule,
        severity: raw.severity,
        confidence: raw.confidence,
        message: words.message,
        notes: words.notes.into_iter().chain(partly_silenced(raw)).collect(),
        help: words.help,
        place: place(linker, raw.file, raw.span),
        effect: raw.effect,
        context: raw.context,
        runtime: raw.runtime,
        fingerprint: fingerprint(raw.rule, &source.relative, &function, &raw.callee, raw.occurrence),
        function,
        hold: raw.hold,
        trace: raw.trace.iter().map(|raw| step(linker, raw)).collect(),
        held_by: raw.held_by.as_ref().map(|raw| step(linker, raw)),
        causes,
        fix: None,
        unfixed: None,
        aside: raw.aside,
        confirmed: None,
        reasons: raw.reasons.iter().map(|raw| reason(linker, raw)).collect(),
        suppression: raw.suppressed.clone().map(|reason| Suppression { reason, source: SuppressionSource::Comment }),
    };
    Some((finding, remedy))
}

/// Returns the note about comments that silence other causes of a finding, with the comment that silences all.
fn partly_silenced(raw: &RawFinding) -> Option<String> {
    let (first, more) = raw.partly_silenced.split_first()?;
    let functions = match more.len() {
        0 => format!("`{first}`"),
        1 => format!("`{first}` and `{}`", more[0]),
        count => format!("`{first}` and {count} other functions"),
    };
    Some(format!(
        "a comment in {functions} silences another cause of it; `blocklint: ignore[{}]` on this line silences all of them",
        raw.rule
    ))
}

/// A remedy that hands a call to a thread, with what moves there; decided anew where something of it cannot.
fn moved(
    linker: &Linker<'_>,
    raw: &RawFinding,
    with_aside: bool,
    remedy: Result<Remedy, Refusal>,
    without: impl Fn(BoundCall) -> Result<Remedy, Refusal>,
) -> Result<Wanted, Refusal> {
    let mut remedy = remedy?;
    if let Some(reason) = runs_by_hand(linker, raw.site).filter(|_| !with_aside) {
        return Err(Refusal::new(reason));
    }
    if let Some(starts) = raw.mending.starts {
        remedy.ways.retain(|way| !matches!(way, Way::Offload { .. }));
        if remedy.ways.is_empty() {
            let span = linker.program.site(starts).span;
            let reason = "each item would take a thread of its own, and nothing bounds how many there are at once";
            return Err(Refusal::at(reason, place(linker, starts.file, span)));
        }
    }
    if starts_up(linker, raw.site) && !with_aside {
        remedy.ways.retain(|way| !matches!(way, Way::Offload { .. }));
        if remedy.ways.is_empty() {
            return Err(Refusal::new("by its name the function runs once, when something starts"));
        }
    }
    let hands_over = remedy.ways.iter().any(|way| matches!(way, Way::Offload { .. }));
    let language = linker.program.language(raw.file);
    let oldest = linker.oldest_python(raw.file);
    if language == Language::Java && raw.what == What::Holds {
        return on_worker(linker, raw, remedy);
    }
    let chain = raw.mending.chain.as_ref().and_then(|chain| chain.as_ref().ok()).cloned();
    if !hands_over || language == Language::Java {
        return Ok(Wanted {
            remedy,
            moves: Ok(Vec::new()),
            bound: false,
            moment: false,
            short: false,
            way: Vec::new(),
            blocks: Vec::new(),
            held: Vec::new(),
            oldest,
            uses: Vec::new(),
            opened: None,
            chain,
        });
    }
    if language == Language::Rust {
        if raw.trace.len() == 1 && gives_what_blocks(linker, raw.site) {
            return Err(Refusal::new("what it gives holds the thread as well where it is used, and must move with it"));
        }
        // What the call itself runs says by its signature whether what it gives can leave a closure.
        let mut called = moved_with(linker, raw.site);
        let way = functions_on_the_way(linker, raw, &called);
        called.functions.truncate(called.direct);
        return Ok(Wanted {
            remedy,
            moves: Ok(functions(linker, &called)),
            bound: false,
            moment: false,
            short: false,
            way,
            blocks: Vec::new(),
            held: Vec::new(),
            oldest,
            uses: Vec::new(),
            opened: None,
            chain,
        });
    }
    // What hands over to threads before 3.9 takes no context along.
    let loses_context = oldest.is_some_and(|oldest| oldest < (3, 9));
    let lost = |mut carried: MovedCode| {
        carried.bound = carried.bound.or_else(|| carried.asks_context.take().filter(|_| loses_context));
        carried
    };
    let blocks = blocks_with(linker, raw.site).into_iter().map(|(span, carried)| {
        let carried = lost(carried);
        let bound = carried.bound.as_ref().and_then(|bound| bound_call(linker, bound));
        let whole = bound.map_or(Ok(functions(linker, &carried)), |bound| Err(bound.refusal()));
        (span, whole)
    });
    let blocks: Vec<_> = blocks.collect();
    let held = moving_with(linker, raw.site);
    let mut uses = uses_of_given(linker, raw.site);
    if raw.trace.len() == 1 {
        uses.extend(beside(linker, raw.site));
    }
    let opened = if raw.trace.len() == 1 { opener_of(linker, raw.site) } else { None };
    let moment = raw.trace.len() == 1 && takes_a_moment(&raw.call);
    let short = raw.effect == Some(Effect::File);
    let carried = lost(moved_with(linker, raw.site));
    let way = functions_on_the_way(linker, raw, &carried);
    let Some(bound) = carried.bound.as_ref().and_then(|bound| bound_call(linker, bound)) else {
        let moves = match raw.mending.brief {
            true if raw.trace.len() > 1 => {
                Err(Refusal::new("what holds the thread is over in a moment, and a thread costs as much"))
            }
            true if raw.repeats => {
                Err(Refusal::new("each turn would take a thread for a moment: put the loop into a function"))
            }
            // A file takes about as long as the thread that it would take.
            _ if raw.effect == Some(Effect::File) && linker.multiplies_hold(raw.site) => Err(Refusal::new(
                "each turn would take a thread, and nothing is awaited between: put all turns into a function",
            )),
            _ => Ok(functions(linker, &carried)),
        };
        return Ok(Wanted {
            remedy,
            moves,
            bound: false,
            moment,
            short,
            way,
            blocks,
            held,
            oldest,
            uses,
            opened,
            chain: None,
        });
    };
    // What is used may be made in a block that moves as a whole.
    let moves = Err(bound.refusal());
    let is_whole = blocks.iter().any(|(_, whole)| whole.is_ok());
    let remedy = if is_whole { remedy } else { without(bound)? };
    Ok(Wanted { remedy, moves, bound: true, moment, short, way, blocks, held, oldest, uses, opened, chain: None })
}

/// Java: the lambda or method around a call goes to a worker as a whole, or nothing of it does.
fn on_worker(linker: &Linker<'_>, raw: &RawFinding, mut remedy: Remedy) -> Result<Wanted, Refusal> {
    let mut carried = body_with(linker, raw.site);
    // What the other operators of the method set or remove belongs to the thread that was theirs.
    carried.bound = carried.bound.or_else(|| bound_beside(linker, raw.site));
    if let Some(bound) = carried.bound.as_ref().and_then(|bound| bound_call(linker, bound)) {
        for way in &mut remedy.ways {
            match way {
                // What takes the call's place holds no thread, so that none has to be left.
                Way::Chain { template: Some(_), offload, .. } => *offload = false,
                Way::Chain { offload: true, .. } => return Err(bound.refusal()),
                _ => {}
            }
        }
    }
    Ok(Wanted {
        remedy,
        moves: Ok(Vec::new()),
        bound: false,
        moment: false,
        short: false,
        way: Vec::new(),
        blocks: Vec::new(),
        held: Vec::new(),
        oldest: None,
        uses: Vec::new(),
        opened: None,
        chain: None,
    })
}

/// What else has to go where the call of a finding goes.
fn along(linker: &Linker<'_>, raw: &RawFinding, remedy: &Result<Wanted, Refusal>) -> Option<Along> {
    let language = linker.program.language(raw.file);
    if language != Language::Python || raw.what != What::Holds {
        return None;
    }
    let is_bound = match remedy {
        Ok(wanted) => wanted.bound,
        Err(_) => moved_with(linker, raw.site).bound.is_some(),
    };
    if is_bound {
        return Some(Along::Bound);
    }
    if raw.trace.len() > 1 {
        return None;
    }
    match given_by(linker, raw.site) {
        Given::Blocks => Some(Along::Given),
        Given::Object => Some(Along::Made),
        Given::Other => None,
    }
}

fn functions(linker: &Linker<'_>, carried: &MovedCode) -> Functions {
    carried.functions.iter().map(|&function| function_at(linker, function)).collect()
}

/// Of the functions that a call runs, those in which a step of the finding's trace stands.
fn functions_on_the_way(linker: &Linker<'_>, raw: &RawFinding, carried: &MovedCode) -> Functions {
    let passed = |(file, span): &(FileId, Span)| {
        raw.trace.iter().skip(1).any(|step| step.file == *file && span.contains(step.span))
    };
    carried.functions.iter().filter(|of| passed(of)).map(|&function| function_at(linker, function)).collect()
}

fn function_at(linker: &Linker<'_>, (file, span): (FileId, Span)) -> (Arc<Utf8Path>, Span) {
    (Arc::clone(&linker.program.files[file.index()].path), span)
}

fn bound_call(linker: &Linker<'_>, bound: &blocklint_analysis::BoundCall) -> Option<BoundCall> {
    let to = match bound.to {
        Bound::Thread => BoundTo::Thread,
        Bound::Loop => BoundTo::Loop,
        Bound::Context => BoundTo::Context,
        Bound::ContextRead => BoundTo::Asked,
        Bound::Loaded => BoundTo::Loaded,
        Bound::Block => BoundTo::Block,
        Bound::Nothing => return None,
    };
    let how = match bound.how {
        blocklint_analysis::BoundUse::Called => BoundUse::Called,
        blocklint_analysis::BoundUse::Used => BoundUse::Used,
        blocklint_analysis::BoundUse::Made => BoundUse::Made,
        blocklint_analysis::BoundUse::Given => BoundUse::Given,
        blocklint_analysis::BoundUse::Entered => BoundUse::Entered,
        blocklint_analysis::BoundUse::EnteredUnknown => BoundUse::EnteredUnknown,
    };
    let place = place(linker, bound.file, bound.span);
    Some(BoundCall { to, how, call: bound.call.clone(), place })
}

fn reason(linker: &Linker<'_>, raw: &blocklint_analysis::Reason) -> blocklint_core::Reason {
    let place = raw.place.map(|(file, span)| place(linker, file, span));
    blocklint_core::Reason { name: raw.name, says: raw.says, makes: raw.makes, place }
}

/// A response that may be large, in the words of the rules.
fn response(what: &What) -> Option<blocklint_rules::Response<'_>> {
    let What::LargeResponse { way, endpoint, source, is_unseen, bound, fields, levels, versions, class, model } = what
    else {
        return None;
    };
    Some(blocklint_rules::Response {
        path: match way {
            Serialisation::Direct => blocklint_rules::Path::Direct,
            Serialisation::Rendered => blocklint_rules::Path::Rendered,
            Serialisation::ByClass => blocklint_rules::Path::ByClass,
            Serialisation::ByHand => blocklint_rules::Path::ByHand,
            Serialisation::Encoded => blocklint_rules::Path::Encoded,
            Serialisation::Old => blocklint_rules::Path::Old,
        },
        endpoint,
        source: source.as_deref(),
        is_unseen: *is_unseen,
        bound: *bound,
        fields: *fields,
        levels: *levels,
        versions: versions.as_deref(),
        class: class.as_deref(),
        model: model.as_deref(),
    })
}

/// What a row says about mending a call, in the words of the rules.
fn advice(mending: &Mending) -> Advice {
    let piece = |part: &Part| match part {
        Part::Text(text) => Piece::Text(text.clone()),
        Part::Receiver => Piece::Receiver,
        Part::Args => Piece::Args,
        Part::Position(at) => Piece::Position(*at),
        Part::Named(name) => Piece::Named(name.clone()),
        Part::Call => Piece::Call,
        Part::Callable => Piece::Callable,
        Part::Handed => Piece::Handed,
        Part::Applied => Piece::Applied,
        Part::Import(path) => Piece::Import(path.clone()),
    };
    Advice {
        rewrite: mending.rewrite.as_ref().map(|template| template.0.iter().map(piece).collect()),
        kind: mending.kind.map(|kind| match kind {
            blocklint_models::FixKind::Twin => FixKind::Twin,
            blocklint_models::FixKind::Offload => FixKind::Offload,
            blocklint_models::FixKind::None => FixKind::None,
        }),
        lazy: mending.lazy,
        passes: mending.passes,
        gives_coroutine: mending.gives_coroutine,
        bound: None,
        taker: None,
        same: mending.same,
        twin: reach(&mending.twin),
        pool: reach(&mending.pool),
        chain: mending.chain.as_ref().map(|chain| match chain {
            Ok(chain) => Ok(Helpers { hops: chain.hops }),
            Err(unchained) => Err(refusal(unchained)),
        }),
    }
}

fn reach(available: &Available) -> Reach {
    match available {
        Available::Unknown => Reach::Unknown,
        Available::Yes => Reach::Yes,
        Available::WithFeature { package, feature } => Reach::Needs(format!("feature `{feature}` of `{package}`")),
        Available::Since { library, since, has } => {
            Reach::Newer(format!("`{library}` {since}, and {has} is what the build has"))
        }
        Available::Beside(other) => Reach::Beside(other.clone()),
        Available::No => Reach::No,
    }
}

fn step(linker: &Linker<'_>, raw: &RawStep) -> Step {
    Step {
        place: place(linker, raw.file, raw.span),
        function: raw.function.clone(),
        call: raw.call.clone(),
        written: raw.written.clone(),
    }
}

fn cause(linker: &Linker<'_>, raw: &RawCause) -> Cause {
    Cause {
        place: place(linker, raw.file, raw.span),
        function: raw.function.clone(),
        call: raw.call.clone(),
        reach: raw.reach,
    }
}

fn site_kind(linker: &Linker<'_>, raw: &RawFinding) -> SiteKind {
    use blocklint_facts::SiteKind as Facts;
    if raw.handed {
        return SiteKind::HandOver;
    }
    match linker.program.site(raw.site).kind {
        Facts::Call | Facts::New | Facts::Macro => SiteKind::Call,
        _ => SiteKind::Implicit,
    }
}

fn owner_kind(linker: &Linker<'_>, raw: &RawFinding) -> OwnerKind {
    // A named function that runs on the loop; the body that hands it over is another matter.
    if raw.handed {
        return OwnerKind::Callback;
    }
    let row = linker.program.body(raw.root);
    match (raw.root_kind, row.kind, row.flow) {
        (_, BodyKind::AsyncBlock, _) => OwnerKind::AsyncBlock,
        (_, BodyKind::Lambda, Flow::Coroutine) => OwnerKind::AsyncClosure,
        (_, BodyKind::Lambda, _) => OwnerKind::CallbackLiteral,
        (_, _, Flow::Coroutine) => OwnerKind::AsyncFunction,
        (_, _, Flow::AsyncGenerator) => OwnerKind::AsyncGenerator,
        (Some(RootKind::Promised), _, _) => OwnerKind::Marked,
        (None, _, _) => OwnerKind::Plain,
        _ => OwnerKind::Callback,
    }
}

/// The other call that a finding speaks of, as written.
fn other_site(linker: &Linker<'_>, raw: &RawFinding) -> String {
    match raw.what {
        What::Starves(Starved::OverAwait { awaited }) => linker.written_site(awaited),
        What::Starves(Starved::Second { first }) => linker.written_site(first),
        What::Starves(Starved::OwnJob { handed }) => linker.written_site(handed),
        _ => String::new(),
    }
}

/// What is run or made again and again, as people say it.
fn repeated_name(linker: &Linker<'_>, raw: &RawFinding) -> String {
    let anew = match raw.what {
        What::MadeAnew { anew, .. } => anew,
        What::Offloads { unbounded: Unbounded::PerEntry(body), .. } => return inside_name(linker, body),
        _ => return String::new(),
    };
    match anew {
        Anew::PerEntry(body) | Anew::PerItem(body) => inside_name(linker, body),
        Anew::PerInstance { class, .. } => blocklint_core::last_name(&linker.qualified_class(class)).to_owned(),
        Anew::PerCall => inside_name(linker, raw.root),
    }
}

/// The name of the root as people say it; of a function handed over, its own.
fn owner_name(linker: &Linker<'_>, raw: &RawFinding) -> String {
    if raw.handed
        && let Some(first) = raw.trace.first()
    {
        return blocklint_core::body_name(&first.call).to_owned();
    }
    inside_name(linker, raw.root)
}

/// The name of a body inside its file.
fn inside_name(linker: &Linker<'_>, of: BodyRef) -> String {
    let (facts, mut body) = linker.program.facts_and_id(of);
    // A body without a name goes by that of the body around it.
    while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression) {
        match facts.body(body).parent.get() {
            Some(parent) => body = parent,
            None => break,
        }
    }
    let name = linker.qualified_name(of.file.body_ref(body));
    let separator = if facts.language == Language::Rust { "::" } else { "." };
    let module = linker.module_name(of.file);
    name.strip_prefix(&module).and_then(|inside| inside.strip_prefix(separator)).map_or(name.clone(), str::to_owned)
}
