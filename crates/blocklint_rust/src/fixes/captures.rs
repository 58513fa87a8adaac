//! The variables that a closure around a call would capture, and those that it must own for that.

use tree_sitter::Node;

use super::{File, Site, below};
use crate::kinds::{K, all, fields, kind};

/// A local variable that a call uses.
pub(super) struct Capture<'a> {
    pub(super) name: &'a str,
    pub(super) owning: Owning,
}

/// The way in which a closure gets a captured variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owning {
    /// It moves into the closure, or is copied.
    Moves,
    /// It is needed afterwards: the closure takes a clone.
    Clones,
    /// It is a reference: the closure takes what it points to, made owned.
    Owned,
    /// A whole collection would be cloned to ask it something small.
    Wasteful,
    /// The code shows neither.
    Unknown,
}

/// The ownership of a variable, as far as its declaration shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    /// Owned, and not cloned.
    Single,
    Owned,
    Copied,
    Reference,
    Unknown,
}

/// Types that own their content, are `Clone` and `Send`.
const OWNED: &[&str] = &[
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
/// Types that are so where their content is.
const CONTAINERS: &[&str] =
    &["Vec", "VecDeque", "Option", "Box", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "Result", "Arc"];

/// Handles that are made to be shared between threads: a clone of one leads to the same.
const SHARED: &[&str] = &["Arc", "Pool"];
/// Types that go to another thread where their content does, and that cannot be cloned.
const SINGLE: &[&str] = &["Receiver"];

impl<'a> File<'a> {
    /// Returns the locals that a call uses, in order of their first use.
    pub(super) fn captures(&self, site: &Site<'a>) -> Vec<Capture<'a>> {
        let mut found: Vec<Capture<'a>> = Vec::new();
        for node in below(site.call, |_| true) {
            let is_self = kind(node) == K::SelfWord;
            if !is_self && kind(node) != K::Identifier {
                for name in self.named_in_format(node) {
                    if self.declaration(site, name).is_some() && found.iter().all(|known| known.name != name) {
                        found.push(Capture { name, owning: Owning::Unknown });
                    }
                }
                continue;
            }
            let name = self.text(node);
            if found.iter().any(|known| known.name == name) {
                continue;
            }
            if is_self {
                found.push(Capture { name, owning: Owning::Unknown });
                continue;
            }
            let Some((declared, place)) = self.declaration(site, name) else { continue };
            let again = site.around.in_loop.is_some_and(|around| place < around.start_byte());
            let later = again || self.is_used_behind(site, name);
            let owning = match declared {
                Declared::Copied => Owning::Moves,
                Declared::Owned if later && self.is_only_asked(site, name) => Owning::Wasteful,
                Declared::Owned if later => Owning::Clones,
                Declared::Owned => Owning::Moves,
                Declared::Single if later => Owning::Unknown,
                Declared::Single => Owning::Moves,
                Declared::Reference if self.is_only_asked(site, name) => Owning::Wasteful,
                Declared::Reference => Owning::Owned,
                Declared::Unknown => Owning::Unknown,
            };
            found.push(Capture { name, owning });
        }
        found
    }

    /// Returns the variables that the text of a macro names: `format!("{root}/index.html")`.
    fn named_in_format(&self, node: Node<'a>) -> Vec<&'a str> {
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

    /// Returns the last declaration of a name before the call, and where it stands.
    fn declaration(&self, site: &Site<'a>, name: &str) -> Option<(Declared, usize)> {
        let mut last = None;
        let binds = |pattern: Node<'a>| {
            below(pattern, |_| true).into_iter().any(|node| {
                // `Document { text, .. }` binds by the name of the field.
                (kind(node) == K::Identifier || node.kind() == "shorthand_field_identifier") && self.text(node) == name
            })
        };
        for node in below(site.around.function, |node| node.start_byte() < site.call.start_byte()) {
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
                    Some(ty) => self.of_type(site, ty),
                    None => {
                        node.child_by_field_id(fields().value).map_or(Declared::Unknown, |value| self.of_value(value))
                    }
                },
                _ => Declared::Unknown,
            };
            last = Some((declared, node.start_byte()));
        }
        last
    }

    fn of_type(&self, site: &Site<'a>, ty: Node<'a>) -> Declared {
        match kind(ty) {
            K::PrimitiveType => Declared::Copied,
            K::ReferenceType if all(ty).any(|part| kind(part) == K::MutableSpecifier) => Declared::Unknown,
            K::ReferenceType => {
                let is_static = all(ty).any(|part| kind(part) == K::Lifetime && self.text(part) == "'static");
                let target = ty.child_by_field_id(fields().type_name);
                // `str`, `[T]` and `Path` become `String`, `Vec` and `PathBuf`; another type only if it is one's own.
                let is_known = target.is_some_and(|target| match kind(target) {
                    K::TypeIdentifier if matches!(self.text(target), "str" | "Path" | "OsStr" | "CStr") => true,
                    K::PrimitiveType => true,
                    K::ArrayType => crate::kinds::named(target).all(|element| self.is_owned_and_send(site, element)),
                    _ => self.is_owned_and_send(site, target),
                });
                match (is_static, is_known) {
                    (true, _) => Declared::Copied,
                    (false, true) => Declared::Reference,
                    (false, false) => Declared::Unknown,
                }
            }
            _ if self.is_owned_and_send(site, ty) => Declared::Owned,
            K::GenericType if self.is_single(site, ty) => Declared::Single,
            _ => Declared::Unknown,
        }
    }

    /// True if values of a type go to another thread, and are there once.
    fn is_single(&self, site: &Site<'a>, ty: Node<'a>) -> bool {
        let name = ty.child_by_field_id(fields().type_name).map(|name| self.text(name));
        let arguments = ty.child_by_field_id(fields().type_arguments);
        name.is_some_and(|name| SINGLE.contains(&name.rsplit("::").next().unwrap_or(name)))
            && arguments.is_some_and(|list| crate::kinds::named(list).all(|part| self.is_owned_and_send(site, part)))
    }

    /// True if values of a type are known to own all they hold, to be cloned as such, and to go to any thread: types of the
    /// standard library that do, made of such, and what this file declares so.
    fn is_owned_and_send(&self, site: &Site<'a>, ty: Node<'a>) -> bool {
        let all_known = |list: Node<'a>| crate::kinds::named(list).all(|part| self.is_owned_and_send(site, part));
        match kind(ty) {
            K::PrimitiveType => true,
            K::TupleType | K::ArrayType => all_known(ty),
            K::ScopedTypeIdentifier => {
                ty.child_by_field_id(fields().name).is_some_and(|name| OWNED.contains(&self.text(name)))
            }
            K::GenericType => {
                let name = ty.child_by_field_id(fields().type_name).map(|name| self.text(name));
                let name = name.map(|name| name.rsplit("::").next().unwrap_or(name));
                let arguments = ty.child_by_field_id(fields().type_arguments);
                name.is_some_and(|name| CONTAINERS.contains(&name)) && arguments.is_some_and(all_known)
                    // Types that tasks share can be shared between threads.
                    || name.is_some_and(|name| SHARED.contains(&name))
                        && arguments.is_some_and(|list| {
                            below(list, |_| true)
                                .into_iter()
                                .all(|part| !matches!(kind(part), K::Lifetime | K::ReferenceType | K::PointerType))
                        })
            }
            K::TypeIdentifier => OWNED.contains(&self.text(ty)) || self.is_declared_owned(site, self.text(ty)),
            _ => false,
        }
    }

    /// True if this file declares a type of this name that is `Clone` and holds nothing borrowed or bound to a thread.
    fn is_declared_owned(&self, site: &Site<'a>, name: &str) -> bool {
        // A type parameter may be anything, also a reference.
        let parameters = site.around.function.child_by_field_id(fields().type_parameters);
        if parameters.is_some_and(|list| below(list, |_| true).into_iter().any(|of| self.text(of) == name)) {
            return false;
        }
        let declared = below(self.root, |node| kind(node) != K::FunctionItem).into_iter().find(|node| {
            matches!(kind(*node), K::StructItem | K::EnumItem)
                && node.child_by_field_id(fields().name).is_some_and(|of| self.text(of) == name)
        });
        declared.is_some_and(|item| {
            let mut before = item.prev_sibling();
            let mut is_clone = false;
            while let Some(attribute) = before.filter(|node| super::is_comment(*node)) {
                is_clone |= self.text(attribute).contains("derive(")
                    && self.text(attribute).split(|c: char| !c.is_alphanumeric()).any(|word| word == "Clone");
                before = attribute.prev_sibling();
            }
            let fields_owned = below(item, |_| true).into_iter().all(|part| match kind(part) {
                K::Lifetime | K::ReferenceType | K::PointerType => false,
                K::TypeIdentifier if self.text(part) != name => {
                    OWNED.contains(&self.text(part)) || CONTAINERS.contains(&self.text(part))
                }
                _ => true,
            });
            is_clone && fields_owned
        })
    }

    /// True if a call uses a variable only to ask it something: `load(items.len())`.
    fn is_only_asked(&self, site: &Site<'a>, name: &str) -> bool {
        let mut uses = below(site.call, |_| true)
            .into_iter()
            .filter(|node| kind(*node) == K::Identifier && self.text(*node) == name)
            .peekable();
        uses.peek().is_some()
            && uses.all(|node| {
                let field = node.parent().filter(|parent| kind(*parent) == K::Field);
                let asked = field.and_then(|field| field.child_by_field_id(fields().field)).map(|of| self.text(of));
                matches!(asked, Some("len" | "is_empty" | "capacity" | "first" | "last" | "contains" | "contains_key"))
            })
    }

    fn of_value(&self, value: Node<'a>) -> Declared {
        match kind(value) {
            K::Integer | K::Float | K::Bool | K::Char | K::String | K::RawString => Declared::Copied,
            K::MacroInvocation => match value.child_by_field_id(fields().macro_name).map(|name| self.text(name)) {
                Some("vec" | "format") => Declared::Owned,
                _ => Declared::Unknown,
            },
            K::Try | K::Await => value.named_child(0).map_or(Declared::Unknown, |inner| self.of_value(inner)),
            K::Call => {
                let callee = value.child_by_field_id(fields().function);
                let name = callee.and_then(|callee| match kind(callee) {
                    K::Field => callee.child_by_field_id(fields().field),
                    K::ScopedIdentifier => callee.child_by_field_id(fields().name),
                    _ => None,
                });
                match (callee.map(kind), name.map(|name| self.text(name))) {
                    // By the conventions of the language these give something of one's own.
                    (_, Some("to_string" | "to_vec" | "to_path_buf")) => Declared::Owned,
                    (Some(K::ScopedIdentifier), Some("new" | "from" | "default" | "with_capacity"))
                        if callee.and_then(|callee| callee.child_by_field_id(fields().path)).is_some_and(|of| {
                            OWNED.contains(&self.text(of).rsplit("::").next().unwrap_or_default())
                        }) =>
                    {
                        Declared::Owned
                    }
                    (Some(K::Field), Some("unwrap" | "expect" | "unwrap_or_default")) => callee
                        .and_then(|callee| callee.child_by_field_id(fields().value))
                        .map_or(Declared::Unknown, |inner| self.of_value(inner)),
                    _ => Declared::Unknown,
                }
            }
            _ => Declared::Unknown,
        }
    }

    fn is_used_behind(&self, site: &Site<'a>, name: &str) -> bool {
        let end = site.call.end_byte();
        below(site.around.function, |node| node.end_byte() > end).into_iter().any(|node| {
            node.start_byte() >= end
                && kind(node) == K::Identifier
                && self.text(node) == name
                && !is_in_other_arm(site.call, node)
        })
    }
}

/// True if of two places only one is reached: they stand in different arms of an `if` or `match`.
fn is_in_other_arm(call: Node<'_>, other: Node<'_>) -> bool {
    let mut at = call;
    while let Some(parent) = at.parent() {
        let holds_both = parent.start_byte() <= other.start_byte() && other.end_byte() <= parent.end_byte();
        if holds_both {
            return match kind(parent) {
                K::If => parent.child_by_field_id(fields().consequence) == Some(at),
                _ => parent.kind() == "match_block",
            };
        }
        at = parent;
    }
    false
}

/// True if a function does its work the first time only, and keeps what came of it: every caller but one would go to another
/// thread for nothing.
pub(super) fn works_once(definition: &str) -> bool {
    const KEEPING: &[&str] = &[
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
    KEEPING.iter().any(|word| definition.contains(word))
}

/// True if an attribute of a function may make something else of it, a builder for example, than what is written there.
pub(super) fn is_rewritten(definition: &str) -> bool {
    /// Attributes that leave a function what it is.
    const LEAVING: &[&str] = &[
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
        !LEAVING.contains(&path.rsplit("::").next().unwrap_or_default())
    })
}

/// True if a function is what is written there, and can be `async`, with an attribute.
pub(super) fn leaves_a_function(attribute: &str) -> bool {
    const LEAVING: &[&str] = &["allow", "cold", "deny", "deprecated", "doc", "expect", "inline", "must_use", "warn"];
    let path = attribute.trim_start_matches(['#', '[', ' ']).split(['(', ']', '=', ' ']).next().unwrap_or_default();
    LEAVING.contains(&path)
}

/// True if the signature of a function says that its result may borrow, or may not go to another thread.
pub(super) fn gives_borrowed(definition: &str) -> bool {
    // Attributes and documentation stand before the word.
    let signature = definition.find("fn ").map_or(definition, |at| &definition[at..]);
    let signature = signature.split(['{', ';']).next().unwrap_or(signature);
    let Some((_, given)) = signature.rsplit_once("->") else { return false };
    let given = given.split(" where").next().unwrap_or(given);
    let words: Vec<&str> = given.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let borrows = given.replace("&'static", "").contains(['&', '\'', '*']) && !given.trim().starts_with("&'static str");
    borrows
        || words.iter().any(|word| {
            matches!(*word, "impl" | "dyn" | "Rc" | "Ref" | "RefMut" | "Self" | "Cow") || word.ends_with("Guard")
        })
}
