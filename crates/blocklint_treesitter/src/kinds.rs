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
        /// The grammar.
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

        /// The kind of a node; `Unknown` for errors too.
        pub(crate) fn kind(node: $crate::tree_sitter::Node<'_>) -> K {
            tables().kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Unknown)
        }

        /// The field numbers.
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

/// A child by its field.
pub fn child<'t>(node: Node<'t>, field: u16) -> Option<Node<'t>> {
    node.child_by_field_id(field)
}

/// The children of a node in order. (Siblings through [`Node::next_sibling`] cost a walk from the root each.)
pub struct Children<'t> {
    way: Way<'t>,
    named: bool,
}

/// How the children are gone through.
enum Way<'t> {
    /// By their number: a cursor allocates, which costs more than counting to a few.
    Few { node: Node<'t>, next: u32, count: u32 },
    /// By a cursor, and whether it stands on one.
    Many { cursor: TreeCursor<'t>, more: bool },
}

/// Up to so many children are few.
const FEW: u32 = 6;

fn children(node: Node<'_>, named: bool) -> Children<'_> {
    let count = node.child_count();
    let way = if count <= FEW {
        Way::Few { node, next: 0, count }
    } else {
        let mut cursor = node.walk();
        let more = cursor.goto_first_child();
        Way::Many { cursor, more }
    };
    Children { way, named }
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        loop {
            let node = match &mut self.way {
                Way::Few { node, next, count } => {
                    if next == count {
                        return None;
                    }
                    *next += 1;
                    node.child(*next - 1)?
                }
                Way::Many { more: false, .. } => return None,
                Way::Many { cursor, more } => {
                    let node = cursor.node();
                    *more = cursor.goto_next_sibling();
                    node
                }
            };
            if !node.is_extra() && (!self.named || node.is_named()) {
                return Some(node);
            }
        }
    }
}

/// The named children, without comments.
pub fn named(node: Node<'_>) -> Children<'_> {
    children(node, true)
}

/// All children, without comments.
pub fn all(node: Node<'_>) -> Children<'_> {
    children(node, false)
}
