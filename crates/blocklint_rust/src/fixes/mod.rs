//! Fixes for Rust: turns the remedies of calls into text edits of a file.
//!
//! `.await` is a postfix operator, so the edits need no brackets, and the code after the call (`?`, `.unwrap()`) stays.
//! A path is written in full unless the file imports it, so no import is added. A call that cannot be edited is refused
//! with a reason.

mod asyncify;
mod captures;
mod held;
mod leftover;
mod mentions;
mod offload;
mod paths;
mod rewrite;
mod surroundings;
mod twin;

use blocklint_core::{EditKind, Refusal, Remedy, Span, WrittenEdit};
use tree_sitter::{Node, Parser, Tree};

use crate::kinds::{K, fields, grammar, kind};
pub use asyncify::{ChainPart, Chained, Unchanged, asyncify};
pub use leftover::without_unused_imports;
pub use mentions::{Sought, find_mention};
use surroundings::Surroundings;

/// Returns the edits for the remedies of calls of one file, or the reason why a call has none. Edits of different calls
/// may overlap. Each span goes from the name that is called to the end of the call. `called` returns the definitions of
/// the project's functions that the call at an index of `wanted` runs. Needs a thread with a stack of 16 MiB.
pub fn fix(
    source: &str,
    wanted: &[(Span, &Remedy)],
    called: &dyn Fn(usize) -> Called,
) -> Vec<Result<WrittenEdit, Refusal>> {
    let Some(tree) = parse(source) else {
        return wanted.iter().map(|_| Err(Refusal::new("the file could not be parsed"))).collect();
    };
    let file = File { source, root: tree.root_node() };
    let mut moved: Vec<Span> = Vec::new();
    let write_edit = |(index, (span, remedy)): (usize, &(Span, &Remedy))| {
        let (written, is_moved) = file.write_edit(*span, remedy, &|| called(index));
        moved.extend(Some(*span).filter(|_| is_moved && written.is_ok()));
        written
    };
    let mut written: Vec<_> = wanted.iter().enumerate().map(write_edit).collect();
    // A call that moves into the closure of another call is not awaited there.
    for (result, (span, _)) in written.iter_mut().zip(wanted) {
        if moved.iter().any(|outer| outer != span && outer.contains(*span)) {
            *result =
                Err(Refusal::new("it is an argument of a call that moves to the blocking pool, and moves with it"));
        }
    }
    written
}

fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar()).ok().and_then(|()| parser.parse(source, None))
}

/// The definitions of functions of the project that a call runs.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// The functions that the call itself runs.
    pub itself: Vec<String>,
    /// The functions on the path from the call to the blocking call.
    pub on_the_way: Vec<String>,
}

/// A file in which calls are edited.
struct File<'a> {
    source: &'a str,
    root: Node<'a>,
}

/// A call that is edited, and the code around it.
struct Site<'a> {
    call: Node<'a>,
    /// The callee: a path or a field.
    callee: Node<'a>,
    around: Surroundings<'a>,
}

/// The span that is replaced, with its new text.
type TextEdit = (Span, String);

impl<'a> File<'a> {
    /// Returns the edit of a call, and true if it moves the call into a closure.
    fn write_edit(
        &self,
        span: Span,
        remedy: &Remedy,
        called: &dyn Fn() -> Called,
    ) -> (Result<WrittenEdit, Refusal>, bool) {
        let mut is_moved = false;
        let written = self.site_at(span).and_then(|site| {
            remedy.write_first(|edit_kind| {
                is_moved = matches!(edit_kind, EditKind::Offload { .. });
                self.write_edit_of_kind(edit_kind, &site, called)
            })
        });
        (written, is_moved)
    }

    fn site_at(&self, span: Span) -> Result<Site<'a>, Refusal> {
        let call = self.call_at(span)?;
        let callee =
            call.child_by_field_id(fields().function).ok_or_else(|| Refusal::new("no call is at this place"))?;
        Ok(Site { call, callee, around: Surroundings::collect(call)? })
    }

    fn write_edit_of_kind(
        &self,
        edit_kind: &EditKind,
        site: &Site<'a>,
        called: &dyn Fn() -> Called,
    ) -> Result<WrittenEdit, Refusal> {
        match edit_kind {
            EditKind::Twin { path, is_method, same_effect, requirement } => {
                self.write_twin(site, path, *is_method, *same_effect, requirement.as_deref())
            }
            EditKind::TwinType { from, to, requirement } => {
                self.write_twin_type(site, from, to, requirement.as_deref())
            }
            EditKind::Rewrite { template } => self.fill_template(site, template),
            EditKind::Offload { .. }
                if called().itself.iter().any(|definition| captures::returns_borrow(definition)) =>
            {
                Err(Refusal::new("its result may be borrowed or not `Send`, so another thread cannot return it"))
            }
            EditKind::Offload { .. }
                if called().on_the_way.iter().any(|definition| captures::initialises_once(definition)) =>
            {
                Err(Refusal::new("it works at the first call only: call it once when the program starts"))
            }
            EditKind::Offload { .. }
                if called().itself.iter().any(|definition| captures::has_rewriting_attribute(definition)) =>
            {
                Err(Refusal::new("an attribute may rewrite the called function"))
            }
            EditKind::Offload { functions } => self.offload(site, functions),
            EditKind::Asyncify => Err(Refusal::new("the edit spans several functions")),
            EditKind::HandOver { .. } => Err(Refusal::new("the callable to pass must be chosen by hand")),
            EditKind::DropArgument { .. }
            | EditKind::AddArgument { .. }
            | EditKind::Chain { .. }
            | EditKind::Share { .. }
            | EditKind::ShareInModule => Err(Refusal::new("this edit does not exist for Rust")),
        }
    }

    /// Returns the call with this span, which goes from the called name to the end of the call.
    fn call_at(&self, span: Span) -> Result<Node<'a>, Refusal> {
        let (start, end) = (span.start as usize, span.end as usize);
        let mut ancestor = self.root.descendant_for_byte_range(start, (start + 1).min(end));
        while let Some(node) = ancestor {
            match kind(node) {
                K::Call if node.end_byte() == end => return Ok(node),
                K::TokenTree => return Err(Refusal::new("the call is in the arguments of a macro")),
                _ if node.end_byte() > end => break,
                _ => ancestor = node.parent(),
            }
        }
        Err(Refusal::new("no call is at this place"))
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Returns the arguments of a call.
    fn arguments(&self, call: Node<'a>) -> Vec<Node<'a>> {
        let list = call.child_by_field_id(fields().arguments);
        list.into_iter().flat_map(crate::kinds::named).filter(|part| !is_comment(*part)).collect()
    }
}

fn is_comment(node: Node<'_>) -> bool {
    matches!(kind(node), K::LineComment | K::BlockComment | K::AttributeItem)
}

fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}

/// Returns the empty span at an offset.
fn span_at(offset: usize) -> Span {
    Span::new(offset as u32, offset as u32)
}

/// Returns a node and all its descendants in the order of the text, without the descendants of nodes that `enters`
/// refuses.
fn descendants<'a>(root: Node<'a>, enters: impl Fn(Node<'a>) -> bool) -> Vec<Node<'a>> {
    let mut nodes = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        nodes.push(node);
        if enters(node) && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.node() == root {
                return nodes;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

/// Returns the clause of a title that says which feature `Cargo.toml` needs.
fn manifest_clause(needs: Option<&str>) -> String {
    needs.map_or_else(String::new, |needs| format!(", with {needs} in Cargo.toml"))
}
