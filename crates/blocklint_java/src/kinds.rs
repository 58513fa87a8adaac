//! Node kinds and fields of the grammar as numbers: comparing names would dominate the walk.

use std::sync::OnceLock;

use tree_sitter::{Language, Node, TreeCursor};

/// The grammar.
pub(crate) fn grammar() -> Language {
    tree_sitter_java::LANGUAGE.into()
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
    AnnotatedType = "annotated_type",
    Annotation = "annotation",
    AnnotationElement = "annotation_type_element_declaration",
    AnnotationType = "annotation_type_declaration",
    ArrayAccess = "array_access",
    ArrayCreation = "array_creation_expression",
    ArrayInitializer = "array_initializer",
    ArrayType = "array_type",
    Assert = "assert_statement",
    Assignment = "assignment_expression",
    Asterisk = "asterisk",
    Binary = "binary_expression",
    BinaryInteger = "binary_integer_literal",
    Block = "block",
    BlockComment = "block_comment",
    BooleanType = "boolean_type",
    Break = "break_statement",
    Cast = "cast_expression",
    CatchClause = "catch_clause",
    CatchParameter = "catch_formal_parameter",
    CatchType = "catch_type",
    Character = "character_literal",
    ClassBody = "class_body",
    ClassDeclaration = "class_declaration",
    ClassLiteral = "class_literal",
    CompactConstructor = "compact_constructor_declaration",
    Constant = "constant_declaration",
    Constructor = "constructor_declaration",
    ConstructorBody = "constructor_body",
    Continue = "continue_statement",
    Creation = "object_creation_expression",
    DecimalFloat = "decimal_floating_point_literal",
    DecimalInteger = "decimal_integer_literal",
    Default = "default",
    Dimensions = "dimensions",
    DimensionsExpr = "dimensions_expr",
    Do = "do_statement",
    ElementArray = "element_value_array_initializer",
    ElementPair = "element_value_pair",
    EnhancedFor = "enhanced_for_statement",
    EnumBodyDeclarations = "enum_body_declarations",
    EnumConstant = "enum_constant",
    EnumDeclaration = "enum_declaration",
    ExplicitConstructor = "explicit_constructor_invocation",
    ExprStatement = "expression_statement",
    ExtendsInterfaces = "extends_interfaces",
    False = "false",
    FieldAccess = "field_access",
    FieldDeclaration = "field_declaration",
    FinallyClause = "finally_clause",
    FloatType = "floating_point_type",
    For = "for_statement",
    FormalParameter = "formal_parameter",
    FormalParameters = "formal_parameters",
    GenericType = "generic_type",
    Guard = "guard",
    HexFloat = "hex_floating_point_literal",
    HexInteger = "hex_integer_literal",
    Identifier = "identifier",
    If = "if_statement",
    Import = "import_declaration",
    InferredParameters = "inferred_parameters",
    Instanceof = "instanceof_expression",
    IntegralType = "integral_type",
    InterfaceDeclaration = "interface_declaration",
    Invocation = "method_invocation",
    Labeled = "labeled_statement",
    Lambda = "lambda_expression",
    LineComment = "line_comment",
    LocalVariable = "local_variable_declaration",
    MarkerAnnotation = "marker_annotation",
    MethodDeclaration = "method_declaration",
    MethodReference = "method_reference",
    Modifiers = "modifiers",
    New = "new",
    Null = "null_literal",
    OctalInteger = "octal_integer_literal",
    Package = "package_declaration",
    Paren = "parenthesized_expression",
    Pattern = "pattern",
    Program = "program",
    RecordDeclaration = "record_declaration",
    RecordPattern = "record_pattern",
    RecordPatternBody = "record_pattern_body",
    RecordPatternComponent = "record_pattern_component",
    Resource = "resource",
    Return = "return_statement",
    ScopedIdentifier = "scoped_identifier",
    ScopedType = "scoped_type_identifier",
    Spread = "spread_parameter",
    Static = "static",
    StaticInitializer = "static_initializer",
    String = "string_literal",
    StringInterpolation = "string_interpolation",
    Super = "super",
    SuperInterfaces = "super_interfaces",
    Superclass = "superclass",
    Switch = "switch_expression",
    SwitchGroup = "switch_block_statement_group",
    SwitchLabel = "switch_label",
    SwitchRule = "switch_rule",
    Synchronized = "synchronized_statement",
    SynchronizedWord = "synchronized",
    TemplateExpression = "template_expression",
    Ternary = "ternary_expression",
    This = "this",
    Throw = "throw_statement",
    True = "true",
    Try = "try_statement",
    TryResources = "try_with_resources_statement",
    TypeArguments = "type_arguments",
    TypeBound = "type_bound",
    TypeIdentifier = "type_identifier",
    TypeList = "type_list",
    TypeParameter = "type_parameter",
    TypePattern = "type_pattern",
    Unary = "unary_expression",
    Underscore = "underscore_pattern",
    Update = "update_expression",
    VariableDeclarator = "variable_declarator",
    VoidType = "void_type",
    While = "while_statement",
    Wildcard = "wildcard",
    Yield = "yield_statement",
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
    alternative = "alternative",
    arguments = "arguments",
    array = "array",
    body = "body",
    condition = "condition",
    consequence = "consequence",
    constructor = "constructor",
    dimensions = "dimensions",
    element = "element",
    field = "field",
    index = "index",
    init = "init",
    key = "key",
    left = "left",
    name = "name",
    object = "object",
    operand = "operand",
    operator = "operator",
    parameters = "parameters",
    pattern = "pattern",
    resources = "resources",
    right = "right",
    type_name = "type",
    type_parameters = "type_parameters",
    update = "update",
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
