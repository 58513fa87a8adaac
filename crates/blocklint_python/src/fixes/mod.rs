//! Fixes for Python: turns the remedies of calls into text edits of a file.
//!
//! Each kind of edit has a file (`twin`, `rewrite`, `offload`, `hand_over`, `share`, `arguments`). A call may move to a
//! thread alone, in a `chain`, with its `with` block or loop (`whole`), or with its neighbours (`steps`). Conditions on
//! the code around the call are in `surroundings`, those on the called function in `callee`. The imports that edits
//! need are in `imports` and `names`. An edit keeps formatting, comments and line ends of all other code. A call that
//! cannot be edited is refused with a reason.
//!
//! # Safe and unsafe
//!
//! - An async twin that does *the same* (a sleep) in a statement of its own is **safe**: its result is not
//!   used, and the author of an `async` function expects other tasks to run meanwhile. It is unsafe inside a
//!   `with` (other tasks would run while its lock or connection is held), in `finally` (which a cancellation interrupts),
//!   in a comprehension, and where its result is used.
//! - Every other twin or rewriting is **unsafe**, because it calls another function.
//! - A move to a thread is **unsafe**, because the call then accesses its objects from another thread, and other tasks
//!   run between the statements around it.

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
use awaited::AwaitedNames;
pub use callee::Binding;
use callee::{Functions, ThreadLocals};
use names::Names;
pub use spelling::{Import, Spelling, add_imports, spell_path};
use steps::WantedCall;
use surroundings::Surroundings;

/// The reason against moving a call that raises `StopIteration`: a future with that exception never completes.
const STOP_ITERATION: &str = "`StopIteration` cannot leave a thread";

/// Answers about other files and called functions, for each edit by its index in the list `wanted` of [`fix`].
pub struct Elsewhere<'e> {
    /// Returns the reason why the call, or the block with this span, cannot move to a thread. The last argument is true
    /// if the call is in an exception handler.
    pub refusal: &'e dyn Fn(usize, Option<Span>, bool) -> Option<Refusal>,
    /// True if a call takes no longer than the hop to a thread.
    pub is_moment: &'e dyn Fn(usize) -> bool,
    /// True if a call takes about as long as the hop to a thread.
    pub is_short: &'e dyn Fn(usize) -> bool,
    /// True if the call can only move together with the `with` statement around it that has this span.
    pub holds: &'e dyn Fn(usize, Span) -> bool,
}

/// Returns the edits for the remedies of calls of one file, or the reason why a call has none. Edits of different calls
/// may overlap. `source` is the text of [`crate::decode`]; each span is that of a call. Needs a thread with
/// [`crate::STACK_SIZE`] of stack.
///
/// `elsewhere` answers about code outside of this file. `oldest` is the oldest Python version on which the code must
/// run.
pub fn fix<'r>(
    source: &str,
    remedies: &[(Span, &'r Remedy)],
    elsewhere: &Elsewhere<'_>,
    oldest: Option<(u8, u8)>,
) -> Vec<Result<WrittenEdit, Refusal>> {
    let refuse_all = |reason: &str| remedies.iter().map(|_| Err(Refusal::new(reason))).collect();
    if depth::check_nesting(source).is_some() {
        return refuse_all("the file nests too deeply");
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    if parsed.has_invalid_syntax() {
        return refuse_all("the file has syntax errors");
    }
    let Mod::Module(module) = parsed.syntax() else { return refuse_all("the file is not a module") };
    let mut finder = CallFinder {
        wanted: FxHashSet::default(),
        around: Vec::new(),
        found: FxHashMap::default(),
        functions: Functions::default(),
    };
    for (span, _) in remedies {
        finder.wanted.insert(*span);
    }
    finder.visit_body(&module.body);
    let comments =
        parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment).map(Ranged::range).collect();
    let CallFinder { found, functions, .. } = finder;
    let wanted_call = |(index, (span, remedy)): (usize, &(Span, &'r Remedy))| {
        let (call, around) = found.get(span)?;
        Some(WantedCall { index, call, around: around.clone(), remedy })
    };
    let mut calls: Vec<WantedCall<'_, 'r>> = remedies.iter().enumerate().filter_map(wanted_call).collect();
    calls.sort_by_key(|planned| (planned.call.start(), planned.index));
    let file = File { comments, oldest, calls, functions, ..File::without_edits(source, module) };
    remedies
        .iter()
        .enumerate()
        .map(|(index, (span, remedy))| match found.get(span) {
            None => Err(Refusal::new("no call is at this place")),
            Some((call, around)) => file.write_edit(index, call, around, remedy, elsewhere),
        })
        .collect()
}

/// Returns, for each of these functions, the actions that bind it to the thread that calls it. A function is given by
/// its span, decorators included. `source` is the text of [`crate::decode`]. Needs a thread with [`crate::STACK_SIZE`]
/// of stack.
pub fn find_bindings(source: &str, functions: &[Span]) -> Vec<Vec<Binding>> {
    let none = || functions.iter().map(|_| Vec::new()).collect();
    if depth::check_nesting(source).is_some() {
        return none();
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let Mod::Module(module) = parsed.syntax() else { return none() };
    callee::find_bindings(module, functions)
}

/// True if the text that replaces a call begins with `await`, which is not allowed everywhere.
fn begins_with_await(template: &[Piece]) -> bool {
    matches!(template.first(), Some(Piece::Text(text)) if text.starts_with("await "))
}

/// A file in which calls are edited.
struct File<'a, 'r> {
    source: &'a str,
    module: &'a ModModule,
    comments: Vec<TextRange>,
    oldest: Option<(u8, u8)>,
    /// All calls for which an edit is wanted, in the order of the text.
    calls: Vec<WantedCall<'a, 'r>>,
    /// Names of the new functions into which blocks move, by the range of the block.
    new_functions: RefCell<Vec<(TextRange, String)>>,
    /// The width that lines may have.
    width: OnceCell<usize>,
    /// The runs of steps in a suite (ranges of its statements), by the start of the suite.
    steps: RefCell<FxHashMap<TextSize, Rc<[Range<usize>]>>>,
    /// The local functions of a function that are passed to other functions there, by the range of the function.
    passed_functions: RefCell<FxHashMap<TextRange, FxHashSet<&'a str>>>,
    /// The names whose values are awaited.
    awaited: OnceCell<AwaitedNames<'a>>,
    names: Names<'a>,
    functions: Functions<'a>,
    locals: ThreadLocals<'a>,
}

/// A call that is edited, and the code around it.
struct Site<'a> {
    call: &'a ExprCall,
    around: Surroundings<'a>,
}

impl<'a> File<'a, '_> {
    /// Returns a file in which no call is edited.
    fn without_edits(source: &'a str, module: &'a ModModule) -> Self {
        File {
            source,
            module,
            comments: Vec::new(),
            oldest: None,
            calls: Vec::new(),
            new_functions: RefCell::default(),
            width: OnceCell::new(),
            steps: RefCell::default(),
            passed_functions: RefCell::default(),
            awaited: OnceCell::new(),
            names: Names::collect(module),
            functions: Functions::default(),
            locals: ThreadLocals::collect(&module.body),
        }
    }

    /// Returns the edit of the first kind of the remedy that is possible. `index` is that of the call in the list of
    /// [`fix`]; `nodes` are the nodes around the call, the outermost first.
    fn write_edit(
        &self,
        index: usize,
        call: &'a ExprCall,
        nodes: &[AnyNodeRef<'a>],
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
        let around = Surroundings::collect(call, nodes, awaits)?;
        let site = Site { call, around };
        self.check_comments_above(&site)?;
        let entered = |edit_kind: &EditKind| {
            site.around.entered.clone().filter(|_| !matches!(edit_kind, EditKind::Offload { .. }))
        };
        remedy.write_first(|edit_kind| match edit_kind {
            edit_kind if entered(edit_kind).is_some() => {
                Err(entered(edit_kind).unwrap_or_else(|| Refusal::new("it is the context manager of a `with`")))
            }
            EditKind::TwinType { .. } => Err(Refusal::new("the object is created in another place")),
            EditKind::Twin { path, is_method, same_effect, .. } => {
                self.write_twin(&site, path, *is_method, *same_effect)
            }
            EditKind::Rewrite { template } => self.fill_template(&site, template),
            EditKind::Offload { functions } => {
                let is_in_handler = site.around.is_in_handler;
                if let Some(steps) = self.find_steps(index, &site, nodes, elsewhere)
                    && let Ok(written) = self.offload_block(&site, steps, functions)
                {
                    return Ok(written);
                }
                if let Some(block) = self.find_block(&site, nodes, &|with| (elsewhere.holds)(index, with)) {
                    let moved_block = match (elsewhere.refusal)(index, Some(span(block.range())), is_in_handler) {
                        Some(refusal) => Err(refusal),
                        None => self.offload_block(&site, block, functions),
                    };
                    if moved_block.is_ok() || block.moves_only_whole {
                        return moved_block;
                    }
                }
                if let Some(refusal) = site.around.entered.clone() {
                    return Err(refusal);
                }
                if let Some(chain) = self.find_chain(call, nodes) {
                    return self.offload_chain(&chain, functions, elsewhere);
                }
                match (elsewhere.refusal)(index, None, is_in_handler) {
                    Some(refusal) => Err(refusal),
                    None if (elsewhere.is_moment)(index) => Err(Refusal::new(
                        "it only changes a name in a folder, which takes no longer than starting a thread",
                    )),
                    None => self
                        .check_moves_alone(call, nodes, elsewhere)
                        .and_then(|()| self.check_comment_behind(&site))
                        .and_then(|()| self.offload(&site, functions)),
                }
            }
            EditKind::ShareInModule => self.share_executor(&site, nodes),
            EditKind::Chain { .. } | EditKind::Share { .. } | EditKind::Asyncify => {
                Err(Refusal::new("this edit exists only for Java and Rust"))
            }
            EditKind::HandOver { forwards_arguments } => self.pass_callable(&site, *forwards_arguments),
            EditKind::DropArgument { name, changes } => self.drop_argument(&site, name, changes.as_deref()),
            EditKind::AddArgument { name, value, changes } => self.add_argument(&site, name, value, changes),
        })
    }

    fn text(&self, range: TextRange) -> &'a str {
        self.source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// Refuses to replace or remove text that contains a comment.
    fn check_has_no_comments(&self, range: TextRange) -> Result<(), Refusal> {
        if self.comments.iter().any(|comment| range.contains_range(*comment)) {
            Err(Refusal::new("the edit would remove a comment"))
        } else {
            Ok(())
        }
    }

    /// Returns the edits that replace the beginning of a call by `await` and `content`, and add brackets around the
    /// `await` expression where they are needed.
    fn insert_await(&self, site: &Site<'a>, replaced: TextRange, content: &str) -> Vec<(Span, String)> {
        let open = if site.around.needs_brackets { "(" } else { "" };
        let mut edits = vec![(span(replaced), format!("{}{open}await {content}", self.gap_before(replaced.start())))];
        if site.around.needs_brackets {
            let end = site.call.range().end();
            if replaced.end() == end {
                edits[0].1.push(')')
            } else {
                edits.push((span(TextRange::empty(end)), ")".to_owned()))
            }
        }
        edits
    }

    /// Returns a blank if a word ends right before an offset: at the `(` of `return(f)()`.
    fn gap_before(&self, at: TextSize) -> &'static str {
        let before = self.source.get(..at.to_usize()).and_then(|text| text.chars().next_back());
        if before.is_some_and(|c| c == '_' || c.is_alphanumeric()) { " " } else { "" }
    }

    /// Returns the range of the callee: from the start of a call to its opening bracket.
    fn callee_range(&self, call: &ExprCall) -> TextRange {
        TextRange::new(call.range().start(), call.arguments.range().start())
    }
}

impl Site<'_> {
    /// Returns the applicability of a replacement that does the same as the call.
    fn applicability_of_same(&self) -> Applicability {
        if self.around.is_statement && self.around.disturbed.is_none() {
            Applicability::Safe
        } else {
            Applicability::Unsafe
        }
    }
}

/// A visitor that finds calls by their spans, with the nodes around each, and collects all functions.
struct CallFinder<'a> {
    wanted: FxHashSet<Span>,
    around: Vec<AnyNodeRef<'a>>,
    found: FxHashMap<Span, (&'a ExprCall, Vec<AnyNodeRef<'a>>)>,
    functions: Functions<'a>,
}

impl<'a> SourceOrderVisitor<'a> for CallFinder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::ExprCall(call) = node {
            let span = span(call.range());
            if self.wanted.contains(&span) {
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
