//! Values held across a new `.await`: lock guards and types that are not `Send` (`Rc`, `RefCell`). With such a value
//! alive the task's future is not `Send`, and other tasks wait for the guard meanwhile.

use blocklint_core::Refusal;
use tree_sitter::Node;

use super::{File, descendants};
use crate::kinds::{K, all, fields, kind, named};

/// Types that are not `Send`, and functions that return them.
const NOT_SEND: &[&str] = &[
    "Rc",
    "Ref",
    "RefMut",
    "RefCell",
    "Cell",
    "UnsafeCell",
    "OnceCell",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "StdoutLock",
    "StderrLock",
    "StdinLock",
    "thread_rng",
    "ThreadRng",
];
/// Types that are not `Sync`, so that a reference to them is not `Send`.
const NOT_SYNC: &[&str] = &["Receiver"];
/// Methods without arguments that return guards.
const GUARD_METHODS: &[&str] = &[
    "lock",
    "try_lock",
    "read",
    "try_read",
    "write",
    "try_write",
    "borrow",
    "borrow_mut",
    "upgradable_read",
    "enter",
    "entered",
];
/// Levels of fields whose types are checked.
const FIELD_DEPTH: usize = 3;

impl<'a> File<'a> {
    /// Refuses a call at which a value is possibly alive that must not be held across an `.await`. `root` is the
    /// `async` code around the call.
    pub(super) fn check_nothing_is_held(&self, root: Node<'a>, call: Node<'a>) -> Result<(), Refusal> {
        // Values of nested functions and closures are not alive at the call.
        let enters = |node: Node<'a>| {
            node == root || contains(node, call) || !matches!(kind(node), K::Closure | K::AsyncBlock | K::FunctionItem)
        };
        for node in descendants(root, enters) {
            let is_alive = match kind(node) {
                // The call that becomes `async` returns no guard.
                K::Call if node == call => false,
                K::TypeIdentifier | K::Identifier if NOT_SEND.contains(&self.text(node)) => {
                    node.start_byte() < call.end_byte() && is_in_scope(node, root, call)
                }
                K::PointerType => is_in_scope(node, root, call),
                K::Call if self.is_guard(node) => is_guard_alive(self, node, root, call),
                _ => false,
            };
            if is_alive {
                let line = self.text(node).lines().next().unwrap_or_default();
                let line: String = line.chars().take(40).collect();
                return Err(Refusal::new(format!(
                    "`{line}` may still be alive here, and it must not be held across an `.await` (a lock, or a value \
                     that is not `Send`)"
                )));
            }
        }
        Ok(())
    }

    /// True for `x.lock()` without `.await`; an async lock may be held across an `.await`.
    fn is_guard(&self, call: Node<'a>) -> bool {
        let method = call.child_by_field_id(fields().function).filter(|callee| kind(*callee) == K::Field);
        let name = method.and_then(|method| method.child_by_field_id(fields().field));
        name.is_some_and(|name| GUARD_METHODS.contains(&self.text(name)))
            && self.arguments(call).is_empty()
            && call.parent().is_none_or(|parent| kind(parent) != K::Await)
    }
}

/// True if the tokens of a macro possibly contain a guard or a value that is not `Send`.
pub(super) fn may_hold_in_tokens(tokens: &str) -> bool {
    let mut words = tokens.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_guard = |name: &&str| tokens.contains(&format!(".{name}()"));
    words.any(|word| NOT_SEND.contains(&word)) || GUARD_METHODS.iter().any(is_guard)
}

fn contains(node: Node<'_>, inner: Node<'_>) -> bool {
    node.start_byte() <= inner.start_byte() && inner.end_byte() <= node.end_byte()
}

/// True if the innermost block around a name also contains the call.
fn is_in_scope<'a>(node: Node<'a>, root: Node<'a>, call: Node<'a>) -> bool {
    let mut around = node.parent();
    while let Some(block) = around.filter(|block| *block != root) {
        if kind(block) == K::Block {
            return contains(block, call);
        }
        around = block.parent();
    }
    true
}

/// True if a guard is alive at the call: as a temporary of the same statement, or in a variable.
fn is_guard_alive<'a>(file: &File<'a>, guard: Node<'a>, root: Node<'a>, call: Node<'a>) -> bool {
    let (mut node, mut is_whole) = (guard, true);
    while let Some(parent) = node.parent().filter(|_| node != root) {
        match kind(parent) {
            // A temporary lives to the end of its statement, except one in the condition of an `if`.
            K::Block => return contains(node, call),
            K::If => {
                let is_condition = parent.child_by_field_id(fields().condition) == Some(node);
                if is_condition && !matches!(kind(node), K::LetCondition | K::LetChain) {
                    return contains(node, call);
                }
            }
            K::LetDeclaration if is_whole => {
                let block = parent.parent();
                return guard.start_byte() < call.end_byte() && block.is_some_and(|block| contains(block, call));
            }
            K::Try | K::Paren => {}
            K::Field => {}
            K::Call => {
                let name = parent
                    .child_by_field_id(fields().function)
                    .and_then(|function| function.child_by_field_id(fields().field));
                let keeps = name.is_some_and(|name| {
                    matches!(file.text(name), "unwrap" | "expect" | "unwrap_or_else" | "map_err" | "ok")
                });
                is_whole &= keeps;
            }
            _ => is_whole = false,
        }
        node = parent;
    }
    contains(node, call)
}

/// Checks that the type of a parameter may be held across an `.await`.
///
/// # Errors
///
/// Returns the part of its type that is possibly not `Send`.
pub(super) fn check_is_sendable<'a>(file: &File<'a>, parameter: Node<'a>) -> Result<(), &'a str> {
    if kind(parameter) == K::SelfParameter {
        let mut around = parameter.parent();
        while let Some(node) = around {
            if kind(node) == K::ImplItem {
                return node
                    .child_by_field_id(fields().type_name)
                    .map_or(Ok(()), |ty| check_type(file, ty, FIELD_DEPTH));
            }
            around = node.parent();
        }
        return Ok(());
    }
    parameter.child_by_field_id(fields().type_name).map_or(Ok(()), |ty| check_type(file, ty, FIELD_DEPTH))
}

fn check_type<'a>(file: &File<'a>, ty: Node<'a>, depth: usize) -> Result<(), &'a str> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    for node in descendants(ty, |_| true) {
        let text = file.text(node);
        match kind(node) {
            K::PointerType => return Err(text),
            K::DynamicType if !is_sendable(file, node) => return Err(text),
            K::TypeIdentifier if NOT_SEND.contains(&text) => return Err(text),
            K::TypeIdentifier if NOT_SYNC.contains(&text) && is_behind_reference(node, ty) => return Err(text),
            K::TypeIdentifier => {
                for field in field_types(file, text) {
                    check_type(file, field, depth)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// True if a `dyn` type has the bound `Send`, or `Sync` behind `&`.
fn is_sendable<'a>(file: &File<'a>, dynamic: Node<'a>) -> bool {
    let bounds = dynamic.parent().filter(|parent| kind(*parent) == K::BoundedType).unwrap_or(dynamic);
    let is_reference = bounds.parent().is_some_and(|parent| kind(parent) == K::ReferenceType && !is_mutable(parent));
    let says = |word: &str| file.text(bounds).split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    if is_reference { says("Sync") } else { says("Send") }
}

fn is_mutable(reference: Node<'_>) -> bool {
    all(reference).any(|part| kind(part) == K::MutableSpecifier)
}

/// True if a type is behind `&` in the type `top`.
fn is_behind_reference<'a>(node: Node<'a>, top: Node<'a>) -> bool {
    let mut around = Some(node);
    while let Some(node_around) = around {
        if kind(node_around) == K::ReferenceType && !is_mutable(node_around) {
            return true;
        }
        around = node_around.parent().filter(|_| node_around != top);
    }
    false
}

/// Returns the field types of a type that is declared in this file.
fn field_types<'a>(file: &File<'a>, name: &str) -> Vec<Node<'a>> {
    let items = descendants(file.root, |node| kind(node) != K::FunctionItem);
    let item = items.into_iter().find(|node| {
        matches!(kind(*node), K::StructItem | K::EnumItem)
            && node.child_by_field_id(fields().name).is_some_and(|field_name| file.text(field_name) == name)
    });
    let parts = item.map(|item| descendants(item, |_| true)).unwrap_or_default();
    let is_field = |node: &Node<'a>| matches!(kind(*node), K::FieldDeclaration | K::OrderedFields);
    parts
        .into_iter()
        .filter(is_field)
        .flat_map(|node| match kind(node) {
            K::FieldDeclaration => node.child_by_field_id(fields().type_name).into_iter().collect::<Vec<_>>(),
            _ => named(node).filter(|part| !super::is_comment(*part)).collect(),
        })
        .collect()
}
