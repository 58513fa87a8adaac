//! Captures: the local variables that a closure around a call would capture, and how it can own each.

use tree_sitter::Node;

use super::{File, Site, descendants};
use crate::kinds::{K, all, fields, kind};

/// A local variable that a call uses.
pub(super) struct Capture<'a> {
    pub(super) name: &'a str,
    pub(super) ownership: Ownership,
}

/// The way in which a closure can own a captured variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The variable moves into the closure, or is copied.
    Moves,
    /// The variable is used later, so the closure gets a clone.
    Clones,
    /// The variable is a reference; the closure gets `to_owned()` of it.
    Owned,
    /// A whole collection would be cloned for a small query: `items.len()`.
    Wasteful,
    /// The code does not show how the closure can own it.
    Unknown,
}

/// The kind of a variable's value, as far as its declaration shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeclaredAs {
    /// Owned, and not `Clone`.
    Single,
    Owned,
    Copied,
    Reference,
    Unknown,
}

/// Types that own their content and are `Clone` and `Send`.
const OWNED_TYPES: &[&str] = &[
    "String",
    "PathBuf",
    "OsString",
    "CString",
    "Duration",
    "Instant",
    "SystemTime",
    "Bytes",
    "BytesMut",
    "Uuid",
    "Url",
    "Uri",
    "SocketAddr",
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "DateTime",
    "NaiveDate",
    "NaiveDateTime",
];
/// Containers that own their content and are `Clone` and `Send` if their elements are.
const CONTAINERS: &[&str] =
    &["Vec", "VecDeque", "Option", "Box", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "Result", "Arc"];

/// Shared handles: a clone refers to the same object.
const SHARED_HANDLES: &[&str] = &["Arc", "Pool"];
/// Types that are `Send` if their content is, and not `Clone`.
const UNCLONABLE_TYPES: &[&str] = &["Receiver"];

impl<'a> File<'a> {
    /// Returns the local variables that a call uses, in the order of their first use.
    pub(super) fn find_captures(&self, site: &Site<'a>) -> Vec<Capture<'a>> {
        let mut found: Vec<Capture<'a>> = Vec::new();
        for node in descendants(site.call, |_| true) {
            let is_self = kind(node) == K::SelfWord;
            if !is_self && kind(node) != K::Identifier {
                for name in self.names_in_format_string(node) {
                    if self.find_declaration(site, name).is_some() && found.iter().all(|known| known.name != name) {
                        found.push(Capture { name, ownership: Ownership::Unknown });
                    }
                }
                continue;
            }
            let name = self.text(node);
            if found.iter().any(|known| known.name == name) {
                continue;
            }
            if is_self {
                found.push(Capture { name, ownership: Ownership::Unknown });
                continue;
            }
            let Some((declared, place)) = self.find_declaration(site, name) else { continue };
            let again = site.around.in_loop.is_some_and(|around| place < around.start_byte());
            let later = again || self.is_used_after(site, name);
            let ownership = match declared {
                DeclaredAs::Copied => Ownership::Moves,
                DeclaredAs::Owned if later && self.is_only_queried(site, name) => Ownership::Wasteful,
                DeclaredAs::Owned if later => Ownership::Clones,
                DeclaredAs::Owned => Ownership::Moves,
                DeclaredAs::Single if later => Ownership::Unknown,
                DeclaredAs::Single => Ownership::Moves,
                DeclaredAs::Reference if self.is_only_queried(site, name) => Ownership::Wasteful,
                DeclaredAs::Reference => Ownership::Owned,
                DeclaredAs::Unknown => Ownership::Unknown,
            };
            found.push(Capture { name, ownership });
        }
        found
    }

    /// Returns the variables in the format string of a macro: `root` of `format!("{root}/index.html")`.
    fn names_in_format_string(&self, node: Node<'a>) -> Vec<&'a str> {
        let is_text = matches!(kind(node), K::String | K::RawString);
        if !is_text || node.parent().is_none_or(|parent| kind(parent) != K::TokenTree) {
            return Vec::new();
        }
        let parts = self.text(node).split('{').skip(1).filter_map(|part| part.split(['}', ':']).next());
        let is_name = |part: &&str| {
            part.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        parts.filter(is_name).collect()
    }

    /// Returns the kind and the offset of the last declaration of a name before the call.
    fn find_declaration(&self, site: &Site<'a>, name: &str) -> Option<(DeclaredAs, usize)> {
        let mut last = None;
        let binds = |pattern: Node<'a>| {
            descendants(pattern, |_| true).into_iter().any(|node| {
                // `Document { text, .. }` binds a variable with the name of the field.
                (kind(node) == K::Identifier || node.kind() == "shorthand_field_identifier") && self.text(node) == name
            })
        };
        for node in descendants(site.around.function, |node| node.start_byte() < site.call.start_byte()) {
            if node.start_byte() >= site.call.start_byte() {
                break;
            }
            let pattern = match kind(node) {
                K::Parameter | K::LetDeclaration | K::LetCondition | K::For | K::MatchArm => {
                    node.child_by_field_id(fields().pattern)
                }
                K::Closure => node.child_by_field_id(fields().parameters),
                _ => None,
            };
            let Some(pattern) = pattern.filter(|pattern| binds(*pattern)) else { continue };
            let alone = kind(pattern) == K::Identifier;
            let declared = match kind(node) {
                K::Parameter | K::LetDeclaration if alone => match node.child_by_field_id(fields().type_name) {
                    Some(ty) => self.classify_type(site, ty),
                    None => node
                        .child_by_field_id(fields().value)
                        .map_or(DeclaredAs::Unknown, |value| self.classify_value(value)),
                },
                _ => DeclaredAs::Unknown,
            };
            last = Some((declared, node.start_byte()));
        }
        last
    }

    fn classify_type(&self, site: &Site<'a>, ty: Node<'a>) -> DeclaredAs {
        match kind(ty) {
            K::PrimitiveType => DeclaredAs::Copied,
            K::ReferenceType if all(ty).any(|part| kind(part) == K::MutableSpecifier) => DeclaredAs::Unknown,
            K::ReferenceType => {
                let is_static = all(ty).any(|part| kind(part) == K::Lifetime && self.text(part) == "'static");
                let target = ty.child_by_field_id(fields().type_name);
                // `str`, `[T]` and `Path` become `String`, `Vec` and `PathBuf`; another type must be known as owned.
                let is_known = target.is_some_and(|target| match kind(target) {
                    K::TypeIdentifier if matches!(self.text(target), "str" | "Path" | "OsStr" | "CStr") => true,
                    K::PrimitiveType => true,
                    K::ArrayType => crate::kinds::named(target).all(|element| self.is_owned_and_send(site, element)),
                    _ => self.is_owned_and_send(site, target),
                });
                match (is_static, is_known) {
                    (true, _) => DeclaredAs::Copied,
                    (false, true) => DeclaredAs::Reference,
                    (false, false) => DeclaredAs::Unknown,
                }
            }
            _ if self.is_owned_and_send(site, ty) => DeclaredAs::Owned,
            K::GenericType if self.is_sendable_once(site, ty) => DeclaredAs::Single,
            _ => DeclaredAs::Unknown,
        }
    }

    /// True if a type is `Send` and not `Clone`.
    fn is_sendable_once(&self, site: &Site<'a>, ty: Node<'a>) -> bool {
        let name = ty.child_by_field_id(fields().type_name).map(|name| self.text(name));
        let arguments = ty.child_by_field_id(fields().type_arguments);
        name.is_some_and(|name| UNCLONABLE_TYPES.contains(&name.rsplit("::").next().unwrap_or(name)))
            && arguments.is_some_and(|list| crate::kinds::named(list).all(|part| self.is_owned_and_send(site, part)))
    }

    /// True if a type is known to own its content and to be `Clone` and `Send`: such types of libraries, containers of
    /// them, and such types that this file declares.
    fn is_owned_and_send(&self, site: &Site<'a>, ty: Node<'a>) -> bool {
        let all_known = |list: Node<'a>| crate::kinds::named(list).all(|part| self.is_owned_and_send(site, part));
        match kind(ty) {
            K::PrimitiveType => true,
            K::TupleType | K::ArrayType => all_known(ty),
            K::ScopedTypeIdentifier => {
                ty.child_by_field_id(fields().name).is_some_and(|name| OWNED_TYPES.contains(&self.text(name)))
            }
            K::GenericType => {
                let name = ty.child_by_field_id(fields().type_name).map(|name| self.text(name));
                let name = name.map(|name| name.rsplit("::").next().unwrap_or(name));
                let arguments = ty.child_by_field_id(fields().type_arguments);
                name.is_some_and(|name| CONTAINERS.contains(&name)) && arguments.is_some_and(all_known)
                    // Shared handles can be cloned for another thread if their content has no borrow.
                    || name.is_some_and(|name| SHARED_HANDLES.contains(&name))
                        && arguments.is_some_and(|list| {
                            descendants(list, |_| true)
                                .into_iter()
                                .all(|part| !matches!(kind(part), K::Lifetime | K::ReferenceType | K::PointerType))
                        })
            }
            K::TypeIdentifier => OWNED_TYPES.contains(&self.text(ty)) || self.is_declared_owned(site, self.text(ty)),
            _ => false,
        }
    }

    /// True if this file declares a type of this name that is `Clone` and has neither borrows nor types that are not
    /// `Send`.
    fn is_declared_owned(&self, site: &Site<'a>, name: &str) -> bool {
        // A type parameter can be a reference.
        let parameters = site.around.function.child_by_field_id(fields().type_parameters);
        if parameters
            .is_some_and(|list| descendants(list, |_| true).into_iter().any(|identifier| self.text(identifier) == name))
        {
            return false;
        }
        let declared = descendants(self.root, |node| kind(node) != K::FunctionItem).into_iter().find(|node| {
            matches!(kind(*node), K::StructItem | K::EnumItem)
                && node.child_by_field_id(fields().name).is_some_and(|identifier| self.text(identifier) == name)
        });
        declared.is_some_and(|item| {
            let mut before = item.prev_sibling();
            let mut is_clone = false;
            while let Some(attribute) = before.filter(|node| super::is_comment(*node)) {
                is_clone |= self.text(attribute).contains("derive(")
                    && self.text(attribute).split(|c: char| !c.is_alphanumeric()).any(|word| word == "Clone");
                before = attribute.prev_sibling();
            }
            let fields_owned = descendants(item, |_| true).into_iter().all(|part| match kind(part) {
                K::Lifetime | K::ReferenceType | K::PointerType => false,
                K::TypeIdentifier if self.text(part) != name => {
                    OWNED_TYPES.contains(&self.text(part)) || CONTAINERS.contains(&self.text(part))
                }
                _ => true,
            });
            is_clone && fields_owned
        })
    }

    /// True if a call uses a variable only for a small query: `load(items.len())`.
    fn is_only_queried(&self, site: &Site<'a>, name: &str) -> bool {
        let mut uses = descendants(site.call, |_| true)
            .into_iter()
            .filter(|node| kind(*node) == K::Identifier && self.text(*node) == name)
            .peekable();
        uses.peek().is_some()
            && uses.all(|node| {
                let field = node.parent().filter(|parent| kind(*parent) == K::Field);
                let asked = field
                    .and_then(|field| field.child_by_field_id(fields().field))
                    .map(|field_name| self.text(field_name));
                matches!(asked, Some("len" | "is_empty" | "capacity" | "first" | "last" | "contains" | "contains_key"))
            })
    }

    fn classify_value(&self, value: Node<'a>) -> DeclaredAs {
        match kind(value) {
            K::Integer | K::Float | K::Bool | K::Char | K::String | K::RawString => DeclaredAs::Copied,
            K::MacroInvocation => match value.child_by_field_id(fields().macro_name).map(|name| self.text(name)) {
                Some("vec" | "format") => DeclaredAs::Owned,
                _ => DeclaredAs::Unknown,
            },
            K::Try | K::Await => value.named_child(0).map_or(DeclaredAs::Unknown, |inner| self.classify_value(inner)),
            K::Call => {
                let callee = value.child_by_field_id(fields().function);
                let name = callee.and_then(|callee| match kind(callee) {
                    K::Field => callee.child_by_field_id(fields().field),
                    K::ScopedIdentifier => callee.child_by_field_id(fields().name),
                    _ => None,
                });
                match (callee.map(kind), name.map(|name| self.text(name))) {
                    // By the conventions of Rust these methods return an owned value.
                    (_, Some("to_string" | "to_vec" | "to_path_buf")) => DeclaredAs::Owned,
                    (Some(K::ScopedIdentifier), Some("new" | "from" | "default" | "with_capacity"))
                        if callee.and_then(|callee| callee.child_by_field_id(fields().path)).is_some_and(|path| {
                            OWNED_TYPES.contains(&self.text(path).rsplit("::").next().unwrap_or_default())
                        }) =>
                    {
                        DeclaredAs::Owned
                    }
                    (Some(K::Field), Some("unwrap" | "expect" | "unwrap_or_default")) => callee
                        .and_then(|callee| callee.child_by_field_id(fields().value))
                        .map_or(DeclaredAs::Unknown, |inner| self.classify_value(inner)),
                    _ => DeclaredAs::Unknown,
                }
            }
            _ => DeclaredAs::Unknown,
        }
    }

    fn is_used_after(&self, site: &Site<'a>, name: &str) -> bool {
        let end = site.call.end_byte();
        descendants(site.around.function, |node| node.end_byte() > end).into_iter().any(|node| {
            node.start_byte() >= end
                && kind(node) == K::Identifier
                && self.text(node) == name
                && !is_in_other_arm(site.call, node)
        })
    }
}

/// True if a call and another node are in different arms of an `if` or `match`.
fn is_in_other_arm(call: Node<'_>, other_node: Node<'_>) -> bool {
    let mut branch = call;
    while let Some(parent) = branch.parent() {
        let holds_both = parent.start_byte() <= other_node.start_byte() && other_node.end_byte() <= parent.end_byte();
        if holds_both {
            return match kind(parent) {
                K::If => parent.child_by_field_id(fields().consequence) == Some(branch),
                _ => parent.kind() == "match_block",
            };
        }
        branch = parent;
    }
    false
}

/// True if a function is a lazy initialisation (`OnceLock`, `get_or_init`), so that all calls but the first are short.
pub(super) fn initialises_once(definition: &str) -> bool {
    const LAZY_CELLS: &[&str] = &[
        "get_or_init(",
        "get_or_try_init(",
        "get_or_insert_with(",
        "call_once(",
        "compare_and_swap(",
        "OnceLock",
        "OnceCell",
        "LazyLock",
        "lazy_static!",
    ];
    LAZY_CELLS.iter().any(|word| definition.contains(word))
}

/// True if a function has an attribute macro that possibly rewrites it, for example to a builder.
pub(super) fn has_rewriting_attribute(definition: &str) -> bool {
    /// Attributes that do not rewrite a function.
    const HARMLESS: &[&str] = &[
        "allow",
        "cfg",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "inline",
        "instrument",
        "must_use",
        "skip",
        "track_caller",
        "warn",
    ];
    let Some(before) = definition.find("fn ").map(|at| &definition[..at]) else { return false };
    before.lines().filter_map(|line| line.trim_start().strip_prefix("#[")).any(|attribute| {
        let path = attribute.split(['(', ']', '=', ' ']).next().unwrap_or_default();
        !HARMLESS.contains(&path.rsplit("::").next().unwrap_or_default())
    })
}

/// True if an attribute neither rewrites a function nor forbids `async`.
pub(super) fn is_harmless_attribute(attribute: &str) -> bool {
    const HARMLESS: &[&str] = &["allow", "cold", "deny", "deprecated", "doc", "expect", "inline", "must_use", "warn"];
    let path = attribute.trim_start_matches(['#', '[', ' ']).split(['(', ']', '=', ' ']).next().unwrap_or_default();
    HARMLESS.contains(&path)
}

/// True if the signature of a function says that its result possibly borrows, or is possibly not `Send`.
pub(super) fn returns_borrow(definition: &str) -> bool {
    // Attributes and doc comments come before `fn`.
    let signature = definition.find("fn ").map_or(definition, |at| &definition[at..]);
    let signature = signature.split(['{', ';']).next().unwrap_or(signature);
    let Some((_, result)) = signature.rsplit_once("->") else { return false };
    let result = result.split(" where").next().unwrap_or(result);
    let words: Vec<&str> = result.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let borrows =
        result.replace("&'static", "").contains(['&', '\'', '*']) && !result.trim().starts_with("&'static str");
    borrows
        || words.iter().any(|word| {
            matches!(*word, "impl" | "dyn" | "Rc" | "Ref" | "RefMut" | "Self" | "Cow") || word.ends_with("Guard")
        })
}
