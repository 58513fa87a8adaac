//! From remedies to edits, on a fresh parse of the file that they stand in.
//!
//! One file for each way (`twin`, `rewrite`, `offload`, `hand_over`, `share`), for the conditions on the code around
//! the call (`surroundings`) and on the called function (`callee`), and for the imports that edits need (`imports`,
//! `names`). An edit leaves all but the call alone: formatting, comments, line endings. A call that cannot be written
//! so is refused with a reason.
//!
//! # Safe and unsafe
//!
//! - An async twin that does *the same* (a sleep) in a statement of its own is **safe**: its result is not
//!   used, and the author of an `async` function expects other tasks to run meanwhile. It is unsafe inside a
//!   `with` (what is held there would be held while other tasks run), in `finally` (which a cancellation interrupts),
//!   in a comprehension, and where its result is used.
//! - Every other twin or rewriting is **unsafe**: it is another function.
//! - Handing over to a thread is **unsafe**: what the call touches is then touched from another thread, and the
//!   statements around it no longer run in one piece.

mod arguments;
mod awaited;
mod callee;
mod chain;
mod hand_over;
mod imports;
mod layout;
mod names;
mod offload;
mod once;
mod outline;
mod own_files;
mod remarks;
mod rewrite;
mod share;
mod shared;
mod spelling;
mod steps;
mod surroundings;
mod twin;
mod whole;

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use blocklint_core::{Applicability, EditKind, Piece, Refusal, Remedy, Span, WrittenEdit};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, ExprCall, Mod, ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::depth;
use crate::walk::span;
use awaited::Awaited;
pub use callee::Binding;
use callee::{Functions, Locals};
use names::Names;
pub use spelling::{Import, Spelling, spelling, with_imports};
use steps::Call;
use surroundings::Surroundings;

/// Why a call that ends in `StopIteration` stays where it is: a future that is given one never ends.
const STOPS: &str = "`StopIteration` cannot leave a thread";

/// Facts about the wanted edits that stand in other files or in the called functions, by the edits' places in the list.
pub struct Elsewhere<'e> {
    /// Why something cannot move to a thread: the call alone or the block that has this span, where an exception is being
    /// handled or not.
    pub refusal: &'e dyn Fn(usize, Option<Span>, bool) -> Option<Refusal>,
    /// True if a call by itself takes no longer than a thread.
    pub is_moment: &'e dyn Fn(usize) -> bool,
    /// True if a call takes about as long as the thread that it would take.
    pub is_short: &'e dyn Fn(usize) -> bool,
    /// True if a `with` statement with this span around the call can move with it only, as a whole.
    pub holds: &'e dyn Fn(usize, Span) -> bool,
}

/// Turns the remedies of calls of one file into edits, each by itself: edits of two of them may overlap. `source` is
/// the text of [`crate::decode`]; each span is that of a call. Needs a thread with [`crate::STACK_SIZE`] of stack.
///
/// `elsewhere` says what the text of this file does not tell. `oldest` is the oldest Python that the code must run on.
pub fn fix<'r>(
    source: &str,
    wanted: &[(Span, &'r Remedy)],
    elsewhere: &Elsewhere<'_>,
    oldest: Option<(u8, u8)>,
) -> Vec<Result<WrittenEdit, Refusal>> {
    let refuse_all = |reason: &str| wanted.iter().map(|_| Err(Refusal::new(reason))).collect();
    if depth::check_nesting(source).is_some() {
        return refuse_all("the file nests too deeply");
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    if parsed.has_invalid_syntax() {
        return refuse_all("the file has syntax errors");
    }
    let Mod::Module(module) = parsed.syntax() else { return refuse_all("the file is no module") };
    let mut finder = Finder {
        wanted: FxHashMap::default(),
        around: Vec::new(),
        found: FxHashMap::default(),
        functions: Functions::default(),
    };
    for (span, _) in wanted {
        finder.wanted.insert(*span, ());
    }
    finder.visit_body(&module.body);
    let comments =
        parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment).map(Ranged::range).collect();
    let Finder { found, functions, .. } = finder;
    let place = |(at, (span, remedy)): (usize, &(Span, &'r Remedy))| {
        let (call, around) = found.get(span)?;
        Some(Call { at, call, around: around.clone(), remedy })
    };
    let mut calls: Vec<Call<'_, 'r>> = wanted.iter().enumerate().filter_map(place).collect();
    calls.sort_by_key(|of| (of.call.start(), of.at));
    let file = File { comments, oldest, calls, functions, ..File::of_text(source, module) };
    wanted
        .iter()
        .enumerate()
        .map(|(at, (span, remedy))| match found.get(span) {
            None => Err(Refusal::new("no call stands there")),
            Some(found) => file.write_edit(at, found, remedy, elsewhere),
        })
        .collect()
}

/// For each of these functions, by what they span with their decorators: what keeps it in the thread that calls it. `source` is
/// the text of [`crate::decode`]. Needs a thread with [`crate::STACK_SIZE`] of stack.
pub fn bindings(source: &str, functions: &[Span]) -> Vec<Vec<Binding>> {
    let none = || functions.iter().map(|_| Vec::new()).collect();
    if depth::check_nesting(source).is_some() {
        return none();
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let Mod::Module(module) = parsed.syntax() else { return none() };
    callee::bindings(module, functions)
}

/// True if a text in place of a call awaits something; else it can stand wherever the call stands.
fn begins_with_await(template: &[Piece]) -> bool {
    matches!(template.first(), Some(Piece::Text(text)) if text.starts_with("await "))
}

/// A file in which calls are edited.
struct File<'a, 'r> {
    source: &'a str,
    module: &'a ModModule,
    comments: Vec<TextRange>,
    oldest: Option<(u8, u8)>,
    /// All calls that something is wanted for, in the order of the text.
    calls: Vec<Call<'a, 'r>>,
    /// Names given to functions that move, by the statement that they hold.
    given: RefCell<Vec<(TextRange, String)>>,
    /// How long lines may become.
    longest: OnceCell<usize>,
    /// Where steps follow each other, by where the first statement of a level begins.
    steps: RefCell<FxHashMap<TextSize, Rc<[Range<usize>]>>>,
    /// The functions that are defined in a function and given away there, by where it stands.
    given_away: RefCell<FxHashMap<TextRange, FxHashSet<&'a str>>>,
    /// The names whose values are awaited somewhere.
    awaited: OnceCell<Awaited<'a>>,
    names: Names<'a>,
    functions: Functions<'a>,
    locals: Locals<'a>,
}

/// A call that is edited, and the code around it.
struct Site<'a> {
    call: &'a ExprCall,
    around: Surroundings<'a>,
}

impl<'a> File<'a, '_> {
    /// A file in which nothing is mended.
    fn of_text(source: &'a str, module: &'a ModModule) -> Self {
        File {
            source,
            module,
            comments: Vec::new(),
            oldest: None,
            calls: Vec::new(),
            given: RefCell::default(),
            longest: OnceCell::new(),
            steps: RefCell::default(),
            given_away: RefCell::default(),
            awaited: OnceCell::new(),
            names: Names::new(module),
            functions: Functions::default(),
            locals: Locals::of(&module.body),
        }
    }

    fn write_edit(
        &self,
        at: usize,
        found: &(&'a ExprCall, Vec<AnyNodeRef<'a>>),
        remedy: &Remedy,
        elsewhere: &Elsewhere<'_>,
    ) -> Result<WrittenEdit, Refusal> {
        let awaits = remedy.edit_kinds.iter().any(|edit_kind| match edit_kind {
            EditKind::HandOver { .. }
            | EditKind::DropArgument { .. }
            | EditKind::AddArgument { .. }
            | EditKind::Chain { .. }
            | EditKind::Share { .. }
            | EditKind::Asyncify
            | EditKind::ShareInModule => false,
            EditKind::Rewrite { template } => begins_with_await(template),
            EditKind::Twin { .. } | EditKind::TwinType { .. } | EditKind::Offload { .. } => true,
        });
        let around = Surroundings::of(found.0, &found.1, awaits)?;
        let site = Site { call: found.0, around };
        self.is_meant(&site)?;
        let entered = |edit_kind: &EditKind| {
            site.around.entered.clone().filter(|_| !matches!(edit_kind, EditKind::Offload { .. }))
        };
        remedy.first(|edit_kind| match edit_kind {
            edit_kind if entered(edit_kind).is_some() => {
                Err(entered(edit_kind).unwrap_or_else(|| Refusal::new("it is entered")))
            }
            EditKind::TwinType { .. } => Err(Refusal::new("it is made elsewhere")),
            EditKind::Twin { path, method, same, .. } => self.twin(&site, path, *method, *same),
            EditKind::Rewrite { template } => self.rewrite(&site, template),
            EditKind::Offload { to } => {
                let handles = site.around.handles;
                if let Some(steps) = self.steps_of(at, &site, &found.1, elsewhere)
                    && let Ok(written) = self.whole(&site, steps, to)
                {
                    return Ok(written);
                }
                if let Some(block) = self.block_of(&site, &found.1, &|with| (elsewhere.holds)(at, with)) {
                    let whole = match (elsewhere.refusal)(at, Some(span(block.range())), handles) {
                        Some(refusal) => Err(refusal),
                        None => self.whole(&site, block, to),
                    };
                    if whole.is_ok() || block.must {
                        return whole;
                    }
                }
                if let Some(refusal) = site.around.entered.clone() {
                    return Err(refusal);
                }
                if let Some(chain) = self.chain_of(found.0, &found.1) {
                    return self.chain(&chain, to, elsewhere);
                }
                match (elsewhere.refusal)(at, None, handles) {
                    Some(refusal) => Err(refusal),
                    None if (elsewhere.is_moment)(at) => {
                        Err(Refusal::new("it only changes a name in a folder, and a thread costs as much"))
                    }
                    None => self
                        .has_thread_alone(found.0, &found.1, elsewhere)
                        .and_then(|()| self.keeps_remark(&site))
                        .and_then(|()| self.offload(&site, to)),
                }
            }
            EditKind::ShareInModule => self.share(&site, &found.1),
            EditKind::Chain { .. } | EditKind::Share { .. } | EditKind::Asyncify => {
                Err(Refusal::new("nothing here is a chain"))
            }
            EditKind::HandOver { passes } => self.hand_over(&site, *passes),
            EditKind::DropArgument { name, changes } => self.drop_argument(&site, name, changes.as_deref()),
            EditKind::AddArgument { name, value, changes } => self.add_argument(&site, name, value, changes),
        })
    }

    fn text(&self, range: TextRange) -> &'a str {
        self.source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// Refuses where text that goes away holds a comment.
    fn without_comments(&self, range: TextRange) -> Result<(), Refusal> {
        match self.comments.iter().any(|comment| range.contains_range(*comment)) {
            true => Err(Refusal::new("a comment stands in what would be replaced")),
            false => Ok(()),
        }
    }

    /// Edits that put `content` in place of `replaced`, where the call begins, and an `await` before it, with the
    /// brackets that this place asks for.
    fn awaited(&self, site: &Site<'a>, replaced: TextRange, content: &str) -> Vec<(Span, String)> {
        let open = if site.around.needs_brackets { "(" } else { "" };
        let mut edits = vec![(span(replaced), format!("{}{open}await {content}", self.gap_before(replaced.start())))];
        if site.around.needs_brackets {
            let end = site.call.range().end();
            match replaced.end() == end {
                true => edits[0].1.push(')'),
                false => edits.push((span(TextRange::empty(end)), ")".to_owned())),
            }
        }
        edits
    }

    /// Returns a blank where a word ends at this place: `return(f)()`.
    fn gap_before(&self, at: TextSize) -> &'static str {
        let before = self.source.get(..at.to_usize()).and_then(|text| text.chars().next_back());
        if before.is_some_and(|c| c == '_' || c.is_alphanumeric()) { " " } else { "" }
    }

    /// Returns the range from the call's first character to its opening bracket, the latter left out.
    fn callee(&self, call: &ExprCall) -> TextRange {
        TextRange::new(call.range().start(), call.arguments.range().start())
    }
}

impl Site<'_> {
    /// Returns the most that replacing the call by something that does the same may be.
    fn same(&self) -> Applicability {
        match self.around.is_statement && self.around.disturbed.is_none() {
            true => Applicability::Safe,
            false => Applicability::Unsafe,
        }
    }
}

/// Finds calls by their spans, with the nodes around them.
struct Finder<'a> {
    wanted: FxHashMap<Span, ()>,
    around: Vec<AnyNodeRef<'a>>,
    found: FxHashMap<Span, (&'a ExprCall, Vec<AnyNodeRef<'a>>)>,
    functions: Functions<'a>,
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::ExprCall(call) = node {
            let span = span(call.range());
            if self.wanted.contains_key(&span) {
                self.found.insert(span, (call, self.around.clone()));
            }
        }
        if let AnyNodeRef::StmtFunctionDef(function) = node {
            self.functions.add(function, matches!(self.around.last(), Some(AnyNodeRef::StmtClassDef(_))));
        }
        self.around.push(node);
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.around.pop();
    }
}
