//! Node kinds and fields of the grammar as numbers: comparing names would dominate the walk.

use std::sync::OnceLock;

use tree_sitter::{Language, Node, TreeCursor};

/// The grammar.
pub(crate) fn grammar() -> Language {
    tree_sitter_rust::LANGUAGE.into()
}

macro_rules! kinds {
    ($($name:ident = $text:literal,)*) => {
        /// The kind of a node, as far as extraction asks for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum K { Unknown, $(#[doc = $text] $name,)* }

        #[cfg(test)]
        pub(crate) const KIND_NAMES: &[&str] = &[$($text,)*];

        fn kind_named(text: &str) -> K {
            match text { $($text => K::$name,)* _ => K::Unknown }
        }
    };
}

kinds! {
    Arguments = "arguments",
    ArrayExpr = "array_expression",
    ArrayType = "array_type",
    AbstractType = "abstract_type",
    Assignment = "assignment_expression",
    AssociatedType = "associated_type",
    Async = "async",
    AsyncBlock = "async_block",
    AttributeItem = "attribute_item",
    Await = "await_expression",
    BaseInit = "base_field_initializer",
    Binary = "binary_expression",
    Block = "block",
    BlockComment = "block_comment",
    Bool = "boolean_literal",
    BoundedType = "bounded_type",
    BracketedType = "bracketed_type",
    Break = "break_expression",
    Call = "call_expression",
    Captured = "captured_pattern",
    Cast = "type_cast_expression",
    Char = "char_literal",
    Closure = "closure_expression",
    Colon2 = "::",
    Comma = ",",
    CompoundAssign = "compound_assignment_expr",
    ConstBlock = "const_block",
    ConstItem = "const_item",
    ConstParam = "const_parameter",
    Continue = "continue_expression",
    Crate = "crate",
    DeclarationList = "declaration_list",
    DynamicType = "dynamic_type",
    ElseClause = "else_clause",
    EnumItem = "enum_item",
    EnumVariant = "enum_variant",
    Equals = "=",
    ExprStatement = "expression_statement",
    ExternCrate = "extern_crate_declaration",
    FatArrow = "=>",
    Field = "field_expression",
    FieldDeclaration = "field_declaration",
    FieldDeclarationList = "field_declaration_list",
    FieldInit = "field_initializer",
    FieldPattern = "field_pattern",
    FieldIdentifier = "field_identifier",
    Float = "float_literal",
    For = "for_expression",
    ForeignMod = "foreign_mod_item",
    FunctionItem = "function_item",
    FunctionModifiers = "function_modifiers",
    FunctionSignature = "function_signature_item",
    FunctionType = "function_type",
    GenBlock = "gen_block",
    GenericFunction = "generic_function",
    GenericPattern = "generic_pattern",
    GenericType = "generic_type",
    GenericTurbofish = "generic_type_with_turbofish",
    HigherRanked = "higher_ranked_trait_bound",
    Identifier = "identifier",
    If = "if_expression",
    IfWord = "if",
    ImplItem = "impl_item",
    Index = "index_expression",
    InnerAttribute = "inner_attribute_item",
    Integer = "integer_literal",
    Label = "label",
    LetChain = "let_chain",
    LetCondition = "let_condition",
    LetDeclaration = "let_declaration",
    Lifetime = "lifetime",
    LifetimeParam = "lifetime_parameter",
    LineComment = "line_comment",
    Loop = "loop_expression",
    MacroDefinition = "macro_definition",
    MacroInvocation = "macro_invocation",
    Match = "match_expression",
    MatchArm = "match_arm",
    Metavariable = "metavariable",
    ModItem = "mod_item",
    Move = "move",
    MutPattern = "mut_pattern",
    MutableSpecifier = "mutable_specifier",
    NegativeLiteral = "negative_literal",
    NeverType = "never_type",
    OrPattern = "or_pattern",
    OrderedFields = "ordered_field_declaration_list",
    Parameter = "parameter",
    Paren = "parenthesized_expression",
    PointerType = "pointer_type",
    PrimitiveType = "primitive_type",
    QualifiedType = "qualified_type",
    RangeExpr = "range_expression",
    RangePattern = "range_pattern",
    RawString = "raw_string_literal",
    RefPattern = "ref_pattern",
    Reference = "reference_expression",
    ReferencePattern = "reference_pattern",
    ReferenceType = "reference_type",
    RemainingField = "remaining_field_pattern",
    RemovedBound = "removed_trait_bound",
    Return = "return_expression",
    ScopedIdentifier = "scoped_identifier",
    ScopedTypeIdentifier = "scoped_type_identifier",
    ScopedUseList = "scoped_use_list",
    SelfParameter = "self_parameter",
    SelfWord = "self",
    Semicolon = ";",
    ShorthandFieldIdentifier = "shorthand_field_identifier",
    ShorthandInit = "shorthand_field_initializer",
    SlicePattern = "slice_pattern",
    SourceFile = "source_file",
    StaticItem = "static_item",
    String = "string_literal",
    StructExpr = "struct_expression",
    StructItem = "struct_item",
    StructPattern = "struct_pattern",
    Super = "super",
    TokenTree = "token_tree",
    TraitBounds = "trait_bounds",
    TraitItem = "trait_item",
    Try = "try_expression",
    TryBlock = "try_block",
    TupleExpr = "tuple_expression",
    TuplePattern = "tuple_pattern",
    TupleStructPattern = "tuple_struct_pattern",
    TupleType = "tuple_type",
    TypeArguments = "type_arguments",
    TypeBinding = "type_binding",
    TypeIdentifier = "type_identifier",
    TypeItem = "type_item",
    TypeParameter = "type_parameter",
    Unary = "unary_expression",
    Underscore = "_",
    EmptyStatement = "empty_statement",
    UnionItem = "union_item",
    Unit = "unit_expression",
    UnitType = "unit_type",
    UnsafeBlock = "unsafe_block",
    UseAs = "use_as_clause",
    UseDeclaration = "use_declaration",
    UseList = "use_list",
    UseWildcard = "use_wildcard",
    VariadicParameter = "variadic_parameter",
    WherePredicate = "where_predicate",
    WhereClause = "where_clause",
    While = "while_expression",
    Yield = "yield_expression",
}

macro_rules! fields {
    ($($name:ident = $text:literal,)*) => {
        /// Field numbers of the grammar.
        #[allow(non_snake_case)]
        pub(crate) struct Fields { $(pub(crate) $name: u16,)* }

        #[cfg(test)]
        pub(crate) const FIELD_NAMES: &[&str] = &[$($text,)*];

        fn fields_of(language: &Language) -> Fields {
            // Zero is no field: asking for it finds nothing.
            Fields { $($name: language.field_id_for_name($text).map_or(0, |id| id.get()),)* }
        }
    };
}

fields! {
    alias = "alias",
    alternative = "alternative",
    argument = "argument",
    arguments = "arguments",
    body = "body",
    bounds = "bounds",
    condition = "condition",
    consequence = "consequence",
    element = "element",
    field = "field",
    function = "function",
    left = "left",
    length = "length",
    list = "list",
    macro_name = "macro",
    name = "name",
    operator = "operator",
    parameters = "parameters",
    path = "path",
    pattern = "pattern",
    return_type = "return_type",
    right = "right",
    trait_name = "trait",
    type_name = "type",
    type_arguments = "type_arguments",
    type_parameters = "type_parameters",
    value = "value",
}

struct Tables {
    kinds: Box<[K]>,
    fields: Fields,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let language = grammar();
        let kinds = (0..language.node_kind_count())
            .map(|id| kind_named(language.node_kind_for_id(id as u16).unwrap_or_default()))
            .collect();
        Tables { kinds, fields: fields_of(&language) }
    })
}

/// The kind of a node; `Unknown` for errors too.
pub(crate) fn kind(node: Node<'_>) -> K {
    tables().kinds.get(usize::from(node.kind_id())).copied().unwrap_or(K::Unknown)
}

/// The field numbers.
pub(crate) fn fields() -> &'static Fields {
    &tables().fields
}

/// A child by its field.
pub(crate) fn child<'t>(node: Node<'t>, field: u16) -> Option<Node<'t>> {
    node.child_by_field_id(field)
}

/// The children of a node in order. (Siblings through [`Node::next_sibling`] cost a walk from the root each.)
pub(crate) struct Children<'t> {
    cursor: TreeCursor<'t>,
    more: bool,
    named: bool,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        while self.more {
            let node = self.cursor.node();
            self.more = self.cursor.goto_next_sibling();
            if !node.is_extra() && (!self.named || node.is_named()) {
                return Some(node);
            }
        }
        None
    }
}

/// The named children, without comments.
pub(crate) fn named(node: Node<'_>) -> Children<'_> {
    let mut cursor = node.walk();
    let more = cursor.goto_first_child();
    Children { cursor, more, named: true }
}

/// The parts of a pattern or parameter list; `_` counts, though the grammar gives it no name.
pub(crate) fn parts(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    all(node).filter(|part| part.is_named() || kind(*part) == K::Underscore)
}

/// All children, without comments.
pub(crate) fn all(node: Node<'_>) -> Children<'_> {
    let mut cursor = node.walk();
    let more = cursor.goto_first_child();
    Children { cursor, more, named: false }
}

/// Whether a child of this kind (a word or sign) stands among the children.
pub(crate) fn has(node: Node<'_>, wanted: K) -> bool {
    all(node).any(|part| kind(part) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_is_of_the_grammar() {
        let language = grammar();
        let known =
            |name: &&&str| language.id_for_node_kind(name, true) == 0 && language.id_for_node_kind(name, false) == 0;
        assert_eq!(KIND_NAMES.iter().filter(known).collect::<Vec<_>>(), Vec::<&&str>::new());
        let missing: Vec<_> = FIELD_NAMES.iter().filter(|name| language.field_id_for_name(name).is_none()).collect();
        assert_eq!(missing, Vec::<&&str>::new());
    }
}
