//! Mentions of a function other than the known calls: as an argument, in a macro or in an attribute. They would break
//! if the function became `async`.

use blocklint_core::Span;
use tree_sitter::Node;

use super::{File, descendants, parse, span};
use crate::kinds::{K, all, fields, kind};

/// A function whose mentions are searched for.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'n> {
    /// The name of the function.
    pub name: &'n str,
    /// True if it is a method with a receiver.
    pub is_method: bool,
}

/// Returns the span of the first mention of one of these functions in a file. `known` are the offsets of the names in
/// known calls and definitions, which are skipped. Needs a thread with a stack of 16 MiB.
pub fn find_mention(source: &str, sought: &[Sought<'_>], known: &[u32]) -> Option<Span> {
    let sought: Vec<Sought<'_>> = sought.iter().copied().filter(|function| source.contains(function.name)).collect();
    if sought.is_empty() {
        return None;
    }
    let tree = parse(source)?;
    let file = File { source, root: tree.root_node() };
    let mention = descendants(file.root, |_| true).into_iter().find(|node| {
        let text = file.text(*node);
        match kind(*node) {
            K::String | K::RawString => sought.iter().any(|function| file.is_name_in_attribute(*node, function.name)),
            K::Identifier | K::FieldIdentifier => {
                let function = sought.iter().find(|function| function.name == text);
                function
                    .is_some_and(|function| !known.contains(&span(*node).start) && file.may_refer_to(*node, *function))
            }
            _ => false,
        }
    });
    mention.map(span)
}

impl<'a> File<'a> {
    /// True if a string is the name of a function in an attribute: `#[serde(default = "load")]`.
    fn is_name_in_attribute(&self, text: Node<'a>, name: &str) -> bool {
        let written = self.text(text).trim_matches(['"', '#', 'r']);
        let is_name = written.rsplit("::").next() == Some(name);
        is_name && std::iter::successors(text.parent(), |node| node.parent()).any(|node| kind(node) == K::AttributeItem)
    }

    /// True if a name possibly refers to the function.
    fn may_refer_to(&self, node: Node<'a>, function: Sought<'_>) -> bool {
        let Some(parent) = node.parent() else { return false };
        let is_name_of = |parent: Node<'a>| parent.child_by_field_id(fields().name) == Some(node);
        match kind(parent) {
            // A definition of the same name is another function.
            K::FunctionItem | K::FunctionSignature | K::ModItem => false,
            K::FieldDeclaration | K::FieldPattern | K::FieldInit => {
                parent.child_by_field_id(fields().value) == Some(node) && self.is_no_variable(node, function)
            }
            K::Field if kind(node) == K::FieldIdentifier => {
                let is_called = parent.parent().is_some_and(|call| {
                    kind(call) == K::Call && call.child_by_field_id(fields().function) == Some(parent)
                });
                function.is_method && is_called
            }
            K::UseAs => parent.child_by_field_id(fields().path) == Some(node),
            K::UseList | K::ScopedUseList | K::UseDeclaration => is_reexported(self, node),
            K::ScopedIdentifier if is_name_of(parent) => match kind(parent.parent().unwrap_or(parent)) {
                K::UseAs => true,
                K::UseList | K::ScopedUseList | K::UseDeclaration => is_reexported(self, parent),
                _ => true,
            },
            K::ScopedIdentifier => false,
            K::TokenTree => self.may_refer_to_in_macro(node, function),
            _ => self.is_no_variable(node, function),
        }
    }

    /// True if a name among the tokens of a macro possibly refers to the function.
    fn may_refer_to_in_macro(&self, node: Node<'a>, function: Sought<'_>) -> bool {
        let is_called =
            node.next_sibling().is_some_and(|next| kind(next) == K::TokenTree && self.text(next).starts_with('('));
        let before = node.prev_sibling().map(|token| self.text(token));
        match before {
            Some(".") => function.is_method && is_called,
            Some("fn") => false,
            Some("::") => true,
            _ => is_called || self.is_no_variable(node, function),
        }
    }

    /// True if no variable of the functions around has the name.
    fn is_no_variable(&self, node: Node<'a>, sought: Sought<'_>) -> bool {
        if kind(node) == K::FieldIdentifier {
            return false;
        }
        let functions = std::iter::successors(node.parent(), |node| node.parent())
            .filter(|node| matches!(kind(*node), K::FunctionItem | K::Closure));
        !functions
            .into_iter()
            .any(|function| descendants(function, |_| true).into_iter().any(|part| self.binds(part, sought.name)))
    }

    /// True if a declaration binds a variable of this name.
    fn binds(&self, node: Node<'a>, name: &str) -> bool {
        let pattern = match kind(node) {
            K::Parameter | K::LetDeclaration | K::LetCondition | K::For => node.child_by_field_id(fields().pattern),
            K::MatchArm => node.child_by_field_id(fields().pattern),
            K::Closure => node.child_by_field_id(fields().parameters),
            _ => None,
        };
        pattern.is_some_and(|pattern| {
            descendants(pattern, |_| true).into_iter().any(|part| {
                matches!(kind(part), K::Identifier | K::ShorthandFieldIdentifier) && self.text(part) == name
            })
        })
    }
}

/// True if a `pub use` exports the name to other crates.
fn is_reexported(file: &File<'_>, node: Node<'_>) -> bool {
    let declaration =
        std::iter::successors(Some(node), |node| node.parent()).find(|node| kind(*node) == K::UseDeclaration);
    declaration.is_some_and(|use_item| {
        all(use_item).any(|part| part.kind() == "visibility_modifier" && file.text(part) == "pub")
    })
}
