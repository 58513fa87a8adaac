//! From remedies to edits, on a fresh parse of the file that they stand in.
//!
//! `.await` is a postfix, so the edits need no brackets, and the code behind the call (`?`, `.unwrap()`) stays. Paths
//! are written in full unless the file imports them: an import is not added where the path alone does. A call that
//! cannot be written so is refused with a reason.

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
pub use mentions::{Sought, mention};
use surroundings::Surroundings;

/// Turns the remedies of calls of one file into edits, each by itself: edits of two of them may overlap. Each span goes
/// from the name that is called to the end of the call. `called` gives the definitions of the project's functions that the call
/// at this place of `wanted` runs. Needs a thread with a stack of 16 MiB.
pub fn fix(
    source: &str,
    wanted: &[(Span, &Remedy)],
    called: &dyn Fn(usize) -> Called,
) -> Vec<Result<WrittenEdit, Refusal>> {
    let Some(tree) = parsed(source) else {
        return wanted.iter().map(|_| Err(Refusal::new("the file could not be parsed"))).collect();
    };
    let file = File { source, root: tree.root_node() };
    let mut moved: Vec<Span> = Vec::new();
    let write = |(at, (span, remedy)): (usize, &(Span, &Remedy))| {
        let (written, is_moved) = file.write_edit(*span, remedy, &|| called(at));
        moved.extend(Some(*span).filter(|_| is_moved && written.is_ok()));
        written
    };
    let mut written: Vec<_> = wanted.iter().enumerate().map(write).collect();
    // A call that moves into the closure of another call is not awaited there.
    for (made, (span, _)) in written.iter_mut().zip(wanted) {
        if moved.iter().any(|outer| outer != span && outer.contains(*span)) {
            *made = Err(Refusal::new("it moves to the blocking pool with the call that it is an argument of"));
        }
    }
    written
}

fn parsed(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar()).ok().and_then(|()| parser.parse(source, None))
}

/// The definitions of functions of the project that a call runs.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// Those that the call itself runs.
    pub itself: Vec<String>,
    /// Those through which it leads to the blocking call.
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
    /// Returns the edit at a call, and whether that moves the call into a closure.
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
        let callee = call.child_by_field_id(fields().function).ok_or_else(|| Refusal::new("no call stands there"))?;
        Ok(Site { call, callee, around: Surroundings::of(call)? })
    }

    fn write_edit_of_kind(
        &self,
        edit_kind: &EditKind,
        site: &Site<'a>,
        called: &dyn Fn() -> Called,
    ) -> Result<WrittenEdit, Refusal> {
        match edit_kind {
            EditKind::Twin { path, is_method, same_effect, requirement } => {
                self.twin(site, path, *is_method, *same_effect, requirement.as_deref())
            }
            EditKind::TwinType { from, to, requirement } => self.twin_type(site, from, to, requirement.as_deref()),
            EditKind::Rewrite { template } => self.rewrite(site, template),
            EditKind::Offload { .. }
                if called().itself.iter().any(|definition| captures::gives_borrowed(definition)) =>
            {
                Err(Refusal::new(
                    "what it gives may be borrowed or bound to its thread, and cannot come back from another",
                ))
            }
            EditKind::Offload { .. }
                if called().on_the_way.iter().any(|definition| captures::works_once(definition)) =>
            {
                Err(Refusal::new("it does its work the first time only: let the program do that when it starts"))
            }
            EditKind::Offload { .. } if called().itself.iter().any(|definition| captures::is_rewritten(definition)) => {
                Err(Refusal::new("an attribute makes something else of the function that is called"))
            }
            EditKind::Offload { functions } => self.offload(site, functions),
            EditKind::Asyncify => Err(Refusal::new("its edits stand in several functions")),
            EditKind::HandOver { .. } => Err(Refusal::new("what is handed over is for the program to say")),
            EditKind::DropArgument { .. }
            | EditKind::AddArgument { .. }
            | EditKind::Chain { .. }
            | EditKind::Share { .. }
            | EditKind::ShareInModule => Err(Refusal::new("the edit is one of another language")),
        }
    }

    /// Returns the call whose name begins, and that ends, there.
    fn call_at(&self, span: Span) -> Result<Node<'a>, Refusal> {
        let (start, end) = (span.start as usize, span.end as usize);
        let mut at = self.root.descendant_for_byte_range(start, (start + 1).min(end));
        while let Some(node) = at {
            match kind(node) {
                K::Call if node.end_byte() == end => return Ok(node),
                K::TokenTree => return Err(Refusal::new("it stands in the arguments of a macro")),
                _ if node.end_byte() > end => break,
                _ => at = node.parent(),
            }
        }
        Err(Refusal::new("no call stands there"))
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
fn at(offset: usize) -> Span {
    Span::new(offset as u32, offset as u32)
}

/// Returns all nodes below one, itself first, in the order of the text; below those that `enters` says no to none.
fn below<'a>(top: Node<'a>, enters: impl Fn(Node<'a>) -> bool) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    let mut cursor = top.walk();
    loop {
        let node = cursor.node();
        found.push(node);
        if enters(node) && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.node() == top {
                return found;
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Returns a clause of a title on what the manifest must ask for.
fn needing(needs: Option<&str>) -> String {
    needs.map_or_else(String::new, |needs| format!(", with {needs} in Cargo.toml"))
}
