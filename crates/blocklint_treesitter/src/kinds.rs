//! Node kinds and fields of a grammar as numbers, because comparisons of their names would take most of the time of a
//! walk. Also the iterators over the children of a node.

use tree_sitter::{Language, Node, TreeCursor};

/// Makes a grammar's tables: the enum `K` of node kinds, the struct `Fields` of field numbers, and the functions
/// `grammar()`, `kind(node)` and `fields()`.
#[macro_export]
macro_rules! grammar {
    (
        $grammar:expr;
        kinds { $($kind:ident = $kind_text:literal,)* }
        fields { $($field:ident = $field_text:literal,)* }
    ) => {
        /// Returns the grammar.
        pub(crate) fn grammar() -> $crate::tree_sitter::Language {
            $grammar.into()
        }

        /// The kind of a node. Kinds that extraction does not use are `Unknown`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum K { Unknown, $(#[doc = $kind_text] $kind,)* }

        /// Field numbers of the grammar.
        #[allow(non_snake_case)]
        pub(crate) struct Fields { $(pub(crate) $field: u16,)* }

        struct Tables {
            kinds: Box<[K]>,
            fields: Fields,
        }

        fn kind_named(text: &str) -> K {
            match text { $($kind_text => K::$kind,)* _ => K::Unknown }
        }

        fn tables() -> &'static Tables {
            static TABLES: std::sync::OnceLock<Tables> = std::sync::OnceLock::new();
            TABLES.get_or_init(|| {
                let language = grammar();
                let kinds = (0..language.node_kind_count())
                    .map(|id| kind_named(language.node_kind_for_id(id as u16).unwrap_or_default()))
                    .collect();
                // Zero is no field: a node has no child for it.
                let fields = Fields { $($field: language.field_id_for_name($field_text).map_or(0, |id| id.get()),)* };
                Tables { kinds, fields }
            })
        }

        /// Returns the kind of a node; `Unknown` for an error, too.
        pub(crate) fn kind(node: $crate::tree_sitter::Node<'_>) -> K {
            tables().kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Unknown)
        }

        /// Returns the field numbers.
        pub(crate) fn fields() -> &'static Fields {
            &tables().fields
        }

        #[cfg(test)]
        #[test]
        fn every_kind_and_field_is_of_the_grammar() {
            $crate::test_tables(&grammar(), &[$($kind_text,)*], &[$($field_text,)*]);
        }
    };
}

/// Panics with the names that the grammar does not have. For tests only.
pub fn test_tables(language: &Language, kinds: &[&str], fields: &[&str]) {
    let unknown =
        |name: &&&str| language.id_for_node_kind(name, true) == 0 && language.id_for_node_kind(name, false) == 0;
    assert_eq!(kinds.iter().filter(unknown).collect::<Vec<_>>(), Vec::<&&str>::new());
    let missing: Vec<_> = fields.iter().filter(|name| language.field_id_for_name(name).is_none()).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

/// Returns the child of a node in a field.
pub fn child<'t>(node: Node<'t>, field: u16) -> Option<Node<'t>> {
    node.child_by_field_id(field)
}

/// The children of a node in order, without comments. ([`Node::next_sibling`] walks from the root at each step.)
pub struct Children<'t> {
    traversal: Traversal<'t>,
    /// True if only the named children are returned.
    named: bool,
}

/// How the children are visited.
enum Traversal<'t> {
    /// By their index. The parser balances long lists, so an index is found in a few steps, which is faster than a step
    /// of a cursor.
    Counted { node: Node<'t>, next: u32, count: u32 },
    /// By a cursor. `more` is true if the cursor is on a child.
    Stepped { cursor: TreeCursor<'t>, more: bool },
}

/// The most children that are visited by index. Consecutive comments are not balanced, so more are visited by a cursor.
const COUNTED: u32 = 64;
/// The most children of an error node that are visited by index, because the parser does not balance them.
const COUNTED_IN_ERROR: u32 = 6;

/// Returns the children of a node; with `named` only the named ones.
fn children(node: Node<'_>, named: bool) -> Children<'_> {
    let count = if named { node.named_child_count() as u32 } else { node.child_count() };
    let counted = count <= COUNTED_IN_ERROR || (count <= COUNTED && !node.is_error());
    let traversal = if counted {
        Traversal::Counted { node, next: 0, count }
    } else {
        let mut cursor = node.walk();
        let more = cursor.goto_first_child();
        Traversal::Stepped { cursor, more }
    };
    Children { traversal, named }
}

impl<'t> Children<'t> {
    /// Returns the most children that may follow, if that is known.
    pub fn most_remaining(&self) -> Option<usize> {
        match self.traversal {
            Traversal::Counted { next, count, .. } => Some((count - next) as usize),
            Traversal::Stepped { .. } => None,
        }
    }
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        loop {
            let node = match &mut self.traversal {
                Traversal::Counted { node, next, count } => {
                    if next == count {
                        return None;
                    }
                    *next += 1;
                    if self.named { node.named_child(*next - 1)? } else { node.child(*next - 1)? }
                }
                Traversal::Stepped { more: false, .. } => return None,
                Traversal::Stepped { cursor, more } => {
                    let node = cursor.node();
                    *more = cursor.goto_next_sibling();
                    if self.named && !node.is_named() {
                        continue;
                    }
                    node
                }
            };
            if !node.is_extra() {
                return Some(node);
            }
        }
    }
}

/// Returns the named children of a node, without comments.
pub fn named(node: Node<'_>) -> Children<'_> {
    children(node, true)
}

/// Returns the first named child of a node that is no comment.
pub fn first(node: Node<'_>) -> Option<Node<'_>> {
    // The first named child is hardly ever a comment, so it is read without an iterator.
    let first = node.named_child(0)?;
    if first.is_extra() { named(node).next() } else { Some(first) }
}

/// Returns all children of a node, without comments.
pub fn all(node: Node<'_>) -> Children<'_> {
    children(node, false)
}
