//! What a closure around a call would take with it, and what it must own for that.

use tree_sitter::Node;

use super::{File, Site, below};
use crate::kinds::{K, all, fields, kind};

/// A local variable that a call uses.
pub(super) struct Capture<'a> {
    pub(super) name: &'a str,
    pub(super) owning: Owning,
}

/// What becomes of a captured variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owning {
    /// It moves into the closure, or is copied.
    Moves,
    /// It is needed afterwards: the closure takes a clone.
    Clones,
    /// It is a reference: the closure takes what it points to, made owned.
    Owned,
    /// Nobody can say here.
    Unknown,
}

/// What a declaration tells of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    Owned,
    Copied,
    Reference,
    Unknown,
}

impl<'a> File<'a> {
    /// The locals that a call uses, in order of their first use.
    pub(super) fn captures(&self, site: &Site<'a>) -> Vec<Capture<'a>> {
        let mut found: Vec<Capture<'a>> = Vec::new();
        for node in below(site.call, |_| true) {
            let is_self = kind(node) == K::SelfWord;
            if !is_self && kind(node) != K::Identifier {
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
                Declared::Owned if later => Owning::Clones,
                Declared::Owned => Owning::Moves,
                Declared::Reference => Owning::Owned,
                Declared::Unknown => Owning::Unknown,
            };
            found.push(Capture { name, owning });
        }
        found
    }

    /// The last declaration of a name before the call, and where it stands.
    fn declaration(&self, site: &Site<'a>, name: &str) -> Option<(Declared, usize)> {
        let mut last = None;
        let binds = |pattern: Node<'a>| {
            below(pattern, |_| true).into_iter().any(|node| kind(node) == K::Identifier && self.text(node) == name)
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
                if is_static { Declared::Copied } else { Declared::Reference }
            }
            K::TypeIdentifier => {
                // A type parameter may be anything, also a reference.
                let parameters = site.around.function.child_by_field_id(fields().type_parameters);
                let is_parameter = parameters
                    .is_some_and(|list| below(list, |_| true).into_iter().any(|p| self.text(p) == self.text(ty)));
                if is_parameter { Declared::Unknown } else { Declared::Owned }
            }
            // `Foo<'a>` borrows.
            K::GenericType | K::ScopedTypeIdentifier | K::TupleType | K::ArrayType => {
                let borrows =
                    below(ty, |_| true).into_iter().any(|part| matches!(kind(part), K::Lifetime | K::ReferenceType));
                if borrows { Declared::Unknown } else { Declared::Owned }
            }
            _ => Declared::Unknown,
        }
    }

    fn of_value(&self, value: Node<'a>) -> Declared {
        match kind(value) {
            K::Integer | K::Float | K::Bool | K::Char | K::String | K::RawString => Declared::Copied,
            K::StructExpr | K::ArrayExpr | K::TupleExpr => Declared::Owned,
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
                    (
                        _,
                        Some(
                            "clone" | "to_owned" | "to_string" | "to_vec" | "to_path_buf" | "into" | "collect" | "join",
                        ),
                    ) => Declared::Owned,
                    (
                        Some(K::ScopedIdentifier),
                        Some("new" | "from" | "default" | "with_capacity" | "open" | "create"),
                    ) => Declared::Owned,
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
        below(site.around.function, |node| node.end_byte() > end)
            .into_iter()
            .any(|node| node.start_byte() >= end && kind(node) == K::Identifier && self.text(node) == name)
    }
}
