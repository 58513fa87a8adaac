//! Mentions of a function in a file, besides the calls that are known: a mention that hands it over, stands in a macro
//! or in an attribute would still expect the old function.

use blocklint_core::Span;
use tree_sitter::Node;

use super::{File, below, parsed, span};
use crate::kinds::{K, all, fields, kind};

/// A function whose mentions are sought.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'n> {
    /// Its name.
    pub name: &'n str,
    /// True if it is a method with a receiver.
    pub is_method: bool,
}

/// Returns the first place at which a file mentions one of these functions. `known` has the places where names of calls
/// and definitions begin that the caller has looked at. Needs a thread with a stack of 16 MiB.
pub fn mention(source: &str, sought: &[Sought<'_>], known: &[u32]) -> Option<Span> {
    let sought: Vec<Sought<'_>> = sought.iter().copied().filter(|of| source.contains(of.name)).collect();
    if sought.is_empty() {
        return None;
    }
    let tree = parsed(source)?;
    let file = File { source, root: tree.root_node() };
    let found = below(file.root, |_| true).into_iter().find(|node| {
        let text = file.text(*node);
        match kind(*node) {
            K::String | K::RawString => sought.iter().any(|of| file.is_named_by_attribute(*node, of.name)),
            K::Identifier | K::FieldIdentifier => {
                let of = sought.iter().find(|of| of.name == text);
                of.is_some_and(|of| !known.contains(&span(*node).start) && file.means(*node, *of))
            }
            _ => false,
        }
    });
    found.map(span)
}

impl<'a> File<'a> {
    /// `#[serde(default = "load")]`
    fn is_named_by_attribute(&self, text: Node<'a>, name: &str) -> bool {
        let written = self.text(text).trim_matches(['"', '#', 'r']);
        let is_name = written.rsplit("::").next() == Some(name);
        is_name && std::iter::successors(text.parent(), |node| node.parent()).any(|node| kind(node) == K::AttributeItem)
    }

    /// True if a name, as it stands, may be that of the function.
    fn means(&self, node: Node<'a>, of: Sought<'_>) -> bool {
        let Some(parent) = node.parent() else { return false };
        let is_name_of = |parent: Node<'a>| parent.child_by_field_id(fields().name) == Some(node);
        match kind(parent) {
            // A definition of that name is another function.
            K::FunctionItem | K::FunctionSignature | K::ModItem => false,
            K::FieldDeclaration | K::FieldPattern | K::FieldInit => {
                parent.child_by_field_id(fields().value) == Some(node) && self.is_free(node, of)
            }
            K::Field if kind(node) == K::FieldIdentifier => {
                let is_called = parent.parent().is_some_and(|call| {
                    kind(call) == K::Call && call.child_by_field_id(fields().function) == Some(parent)
                });
                of.is_method && is_called
            }
            K::UseAs => parent.child_by_field_id(fields().path) == Some(node),
            K::UseList | K::ScopedUseList | K::UseDeclaration => is_exported(self, node),
            K::ScopedIdentifier if is_name_of(parent) => match kind(parent.parent().unwrap_or(parent)) {
                K::UseAs => true,
                K::UseList | K::ScopedUseList | K::UseDeclaration => is_exported(self, parent),
                _ => true,
            },
            K::ScopedIdentifier => false,
            K::TokenTree => self.means_in_macro(node, of),
            _ => self.is_free(node, of),
        }
    }

    /// A name among the tokens of a macro.
    fn means_in_macro(&self, node: Node<'a>, of: Sought<'_>) -> bool {
        let is_called =
            node.next_sibling().is_some_and(|next| kind(next) == K::TokenTree && self.text(next).starts_with('('));
        let before = node.prev_sibling().map(|token| self.text(token));
        match before {
            Some(".") => of.is_method && is_called,
            Some("fn") => false,
            Some("::") => true,
            _ => is_called || self.is_free(node, of),
        }
    }

    /// True if no variable around has the name.
    fn is_free(&self, node: Node<'a>, of: Sought<'_>) -> bool {
        if kind(node) == K::FieldIdentifier {
            return false;
        }
        let functions = std::iter::successors(node.parent(), |node| node.parent())
            .filter(|node| matches!(kind(*node), K::FunctionItem | K::Closure));
        !functions
            .into_iter()
            .any(|function| below(function, |_| true).into_iter().any(|part| self.binds(part, of.name)))
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
            below(pattern, |_| true).into_iter().any(|part| {
                matches!(kind(part), K::Identifier | K::ShorthandFieldIdentifier) && self.text(part) == name
            })
        })
    }
}

/// True if an import gives the name on to other crates.
fn is_exported(file: &File<'_>, node: Node<'_>) -> bool {
    let declaration =
        std::iter::successors(Some(node), |node| node.parent()).find(|node| kind(*node) == K::UseDeclaration);
    declaration.is_some_and(|of| all(of).any(|part| part.kind() == "visibility_modifier" && file.text(part) == "pub"))
}
