//! Edits that replace a call by the template of a model row: `handle.block_on(future)` → `future.await`.

use blocklint_core::{Applicability, Piece, Refusal, WrittenEdit};
use tree_sitter::Node;

use super::{File, Site, span};
use crate::kinds::{K, fields, kind};

impl<'a> File<'a> {
    /// Replaces a call by a template.
    pub(super) fn fill_template(&self, site: &Site<'a>, template: &[Piece]) -> Result<WrittenEdit, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let is_method = kind(site.callee) == K::Field;
        let is_called_by_type = kind(site.callee) == K::ScopedIdentifier
            && site.callee.child_by_field_id(fields().path).is_some_and(|path| {
                self.text(path).rsplit("::").next().is_some_and(|last| last.trim().starts_with(char::is_uppercase))
            });
        let arguments = self.arguments(site.call);
        let mut text = String::new();
        for (index, piece) in template.iter().enumerate() {
            // The receiver of a method needs brackets unless it is a postfix expression.
            let is_receiver = matches!(template.get(index + 1), Some(Piece::Text(next)) if next.starts_with('.'));
            let mut push_node = |node: Node<'_>| {
                if is_receiver && !is_postfix(node) {
                    text.push_str(&format!("({})", self.text(node)))
                } else {
                    text.push_str(self.text(node))
                }
            };
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Receiver if is_method => match site.callee.child_by_field_id(fields().value) {
                    Some(receiver) => push_node(receiver),
                    None => return refuse("the call has no receiver"),
                },
                Piece::Position(_) if is_called_by_type => {
                    return refuse("the method is called with its receiver as an argument (`Type::method(receiver)`)");
                }
                Piece::Position(index) => match arguments.get(*index as usize) {
                    Some(argument) => push_node(*argument),
                    None => return refuse("the call lacks an argument that the edit needs"),
                },
                Piece::Args => {
                    let written: Vec<&str> = arguments.iter().map(|argument| self.text(*argument)).collect();
                    text.push_str(&written.join(", "));
                }
                Piece::Call => text.push_str(self.text(site.call)),
                Piece::Import(path) => text.push_str(&self.spell_path(site.call, path)?),
                _ => return refuse("the call does not have the form that the edit needs"),
            }
        }
        let title = format!("Replace with `{}`", shorten_for_title(&text));
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits: vec![(span(site.call), text)] })
    }
}

/// True if `.await` can follow an expression without brackets.
fn is_postfix(node: Node<'_>) -> bool {
    matches!(
        kind(node),
        K::Identifier
            | K::ScopedIdentifier
            | K::SelfWord
            | K::Field
            | K::Call
            | K::Try
            | K::Await
            | K::Index
            | K::Paren
            | K::AsyncBlock
            | K::MacroInvocation
    )
}

/// Returns code on one line, cut to the length of a title.
fn shorten_for_title(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
