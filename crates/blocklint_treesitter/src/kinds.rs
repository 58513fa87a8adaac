//! Node kinds and fields of a grammar as numbers: comparing names would dominate the walk.

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

        /// The kind of a node, as far as extraction asks for it.
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
                // Zero is no field: asking for it finds nothing.
                let fields = Fields { $($field: language.field_id_for_name($field_text).map_or(0, |id| id.get()),)* };
                Tables { kinds, fields }
            })
        }

        /// Returns the kind of a node; `Unknown` for errors too.
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

/// Panics with the names that the grammar does not have: for tests only.
pub fn test_tables(language: &Language, kinds: &[&str], fields: &[&str]) {
    let unknown =
        |name: &&&str| language.id_for_node_kind(name, true) == 0 && language.id_for_node_kind(name, false) == 0;
    assert_eq!(kinds.iter().filter(unknown).collect::<Vec<_>>(), Vec::<&&str>::new());
    let missing: Vec<_> = fields.iter().filter(|name| language.field_id_for_name(name).is_none()).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}

/// Returns a child by its field.
pub fn child<'t>(node: Node<'t>, field: u16) -> Option<Node<'t>> {
    node.child_by_field_id(field)
}

/// The children of a node in order. (Siblings through [`Node::next_sibling`] cost a walk from the root each.)
pub struct Children<'t> {
    traversal: Traversal<'t>,
    named: bool,
}

/// How the children are visited.
enum Traversal<'t> {
    /// By their number: the parser balances long lists, so that one is found in a few steps, and a step of a cursor costs
    /// more than that.
    Counted { node: Node<'t>, next: u32, count: u32 },
    /// By a cursor, and whether it stands on one.
    Stepped { cursor: TreeCursor<'t>, more: bool },
}

/// Up to so many children are counted: comments one after the other, and what did not parse, are no balanced list.
const COUNTED: u32 = 64;
const COUNTED_IN_ERROR: u32 = 6;

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
    /// How many may come at most, where that is known.
    pub fn at_most(&self) -> Option<usize> {
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

/// Returns the named children, without comments.
pub fn named(node: Node<'_>) -> Children<'_> {
    children(node, true)
}

/// Returns the first of them.
pub fn first(node: Node<'_>) -> Option<Node<'_>> {
    // Hardly ever a comment stands there.
    let first = node.named_child(0)?;
    if first.is_extra() { named(node).next() } else { Some(first) }
}

/// Returns all children, without comments.
pub fn all(node: Node<'_>) -> Children<'_> {
    children(node, false)
}
