//! Fixes for Java: turns the remedies of calls into text edits of a file.
//!
//! A blocking call is in a lambda of a reactive chain, in an argument that creates a chain (`Mono.just(call())`), or in
//! a method that builds one. [`Shape`] lists the edits for each. `chain` writes those of lambdas and arguments,
//! `method` those of methods; `share` replaces the schedulers of many instances by one. `imports` adds the imports of
//! an edit; `place` and `uses` read the code around a call. An edit that would not compile is refused with a reason: a
//! captured local is assigned twice, a `catch` would have nothing to catch, or a lambda would not hold a lock.
//!
//! All edits are **unsafe**, because another thread runs the call, and a chain has no value for `null`.

mod chain;
mod imports;
mod method;
mod place;
mod shapes;
mod share;
mod uses;

use blocklint_core::{Applicability, EditKind, Language, Piece, Publishers, Refusal, Remedy, Span, WrittenEdit};
use blocklint_treesitter::{StartedWalk, start_walk};
use tree_sitter::Node;

use crate::kinds::{K, grammar, kind};
use crate::walker::span;
use imports::Imports;
pub use shapes::Shape;

/// Returns the edits for the remedies of calls of one file, or the reason why a call has none. Edits of different calls
/// may overlap. Each span is that of a call, from its name to its end.
pub fn fix<'s>(source: &'s str, wanted: &[(Span, &'s Remedy)]) -> Vec<Result<WrittenEdit, Refusal>> {
    let refuse_all = |reason: &str| wanted.iter().map(|_| Err(Refusal::new(reason))).collect();
    let Ok(StartedWalk { tree, .. }) = start_walk(Language::Java, &grammar(), source.as_bytes(), None, || {}) else {
        return refuse_all("the file could not be parsed");
    };
    let root = tree.root_node();
    if root.has_error() {
        return refuse_all("the file has syntax errors");
    }
    let mut file = File { source, root, imports: Imports::new(source, root), wanted: Vec::new() };
    file.wanted = wanted.iter().filter_map(|(span, remedy)| Some((file.call_at(*span)?, *remedy))).collect();
    wanted
        .iter()
        .map(|(span, remedy)| match file.call_at(*span) {
            None => Err(Refusal::new("no call is at this place")),
            Some(call) => file.write_edit(call, remedy),
        })
        .collect()
}

/// A file in which calls are edited.
struct File<'s, 't> {
    source: &'s str,
    root: Node<'t>,
    imports: Imports<'s>,
    /// All calls for which an edit is wanted, with their remedies.
    wanted: Vec<(Node<'t>, &'s Remedy)>,
}

/// The edit that is wanted for one call.
#[derive(Clone, Copy)]
struct Wish<'r> {
    of: Publishers,
    taker: Option<&'r str>,
    template: Option<&'r [Piece]>,
    offload: bool,
}

impl<'r> Wish<'r> {
    /// Returns the wanted edit of a chain; `None` for other kinds of edits.
    fn of(edit_kind: &'r EditKind) -> Option<Self> {
        let EditKind::Chain { publishers, taker, template, offload } = edit_kind else { return None };
        Some(Wish { of: *publishers, taker: taker.as_deref(), template: template.as_deref(), offload: *offload })
    }
}

/// The spans that are replaced, with their new text.
type Edits = Vec<(Span, String)>;

impl<'s, 't> File<'s, 't> {
    fn write_edit(&self, call: Node<'t>, remedy: &Remedy) -> Result<WrittenEdit, Refusal> {
        remedy.write_first(|edit_kind| match edit_kind {
            EditKind::Share { publishers } => {
                let (shape, applicability, edits) = self.share_scheduler(call, *publishers)?;
                Ok(WrittenEdit { title: shape.title().to_owned(), applicability, edits })
            }
            edit_kind => {
                let Some(wish) = Wish::of(edit_kind) else {
                    return Err(Refusal::new("there is no edit for this call"));
                };
                let (shape, edits) = self.edit_chain(call, wish)?;
                let title = shape.title().to_owned();
                Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
            }
        })
    }

    /// Returns the method call with this span (from its name to its end), or the `new` expression with this span.
    fn call_at(&self, wanted: Span) -> Option<Node<'t>> {
        let mut node = self.root.descendant_for_byte_range(wanted.start as usize, wanted.end as usize)?;
        loop {
            let start = match kind(node) {
                K::Invocation => node.child_by_field_name("name").map(|name| name.start_byte()),
                K::Creation => Some(node.start_byte()),
                _ => None,
            };
            if start == Some(wanted.start as usize) && node.end_byte() == wanted.end as usize {
                return Some(node);
            }
            if node.end_byte() > wanted.end as usize {
                return None;
            }
            node = node.parent()?;
        }
    }

    fn text(&self, node: Node<'t>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    /// Fills in a template. Returns the text, and the edits that add its imports.
    fn fill_template(&self, call: Node<'t>, template: &[Piece]) -> Result<(String, Edits), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let arguments: Vec<Node<'t>> =
            call.child_by_field_name("arguments").map(|list| crate::kinds::named(list).collect()).unwrap_or_default();
        let (mut text, mut paths) = (String::new(), Vec::new());
        for piece in template {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Receiver => match call.child_by_field_name("object") {
                    Some(object) => text.push_str(self.text(object)),
                    None => return refuse("the call does not have the form `receiver.method(…)`"),
                },
                Piece::Args => {
                    let all: Vec<&str> = arguments.iter().map(|&argument| self.text(argument)).collect();
                    text.push_str(&all.join(", "));
                }
                Piece::Position(at) => match arguments.get(*at as usize) {
                    Some(&argument) => text.push_str(self.text(argument)),
                    None => return refuse("the call lacks an argument that the edit needs"),
                },
                Piece::Call => text.push_str(self.text(call)),
                Piece::Import(path) => {
                    text.push_str(self.imports.name_of(path));
                    paths.push(path.as_str());
                }
                Piece::Named(_) | Piece::Callable | Piece::Handed | Piece::Applied => {
                    return refuse("edits of this form do not exist for Java");
                }
            }
        }
        Ok((text, self.imports.edits(&paths)))
    }
}

/// Returns the insertion of a text at an offset.
fn insert(offset: usize, text: impl Into<String>) -> (Span, String) {
    (Span::new(offset as u32, offset as u32), text.into())
}

/// Returns the replacement of a node by a text.
fn replace(node: Node<'_>, text: impl Into<String>) -> (Span, String) {
    (span(node), text.into())
}
