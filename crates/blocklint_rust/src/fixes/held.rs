//! Values that would be alive while a task waits at a new `.await`. A guard, or a value of one thread, makes the task
//! one that no other thread can take over, and other tasks wait for the guard meanwhile.

use blocklint_core::Refusal;
use tree_sitter::Node;

use super::{File, below};
use crate::kinds::{K, all, fields, kind, named};

/// Names of types, and of functions that give their values, which belong to one thread.
const OF_ONE_THREAD: &[&str] = &[
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
/// Types of which a reference belongs to the thread that has the value.
const NOT_SHARED: &[&str] = &["Receiver"];
/// Names of methods without arguments that give guards.
const GUARDING: &[&str] = &[
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
/// How deep the types of fields are looked at.
const DEPTH: usize = 3;

impl<'a> File<'a> {
    /// Refuses a call at which something may be alive that must not be while a task waits. `root`: the `async` code around it.
    pub(super) fn nothing_is_held(&self, root: Node<'a>, call: Node<'a>) -> Result<(), Refusal> {
        // A value of another function or closure is not alive here.
        let enters = |node: Node<'a>| {
            node == root || contains(node, call) || !matches!(kind(node), K::Closure | K::AsyncBlock | K::FunctionItem)
        };
        for node in below(root, enters) {
            let is_alive = match kind(node) {
                // The call that becomes `async` gives no guard.
                K::Call if node == call => false,
                K::TypeIdentifier | K::Identifier if OF_ONE_THREAD.contains(&self.text(node)) => {
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
                    "`{line}` may be alive here: what belongs to one thread, or others wait for, is not held over an `.await`"
                )));
            }
        }
        Ok(())
    }

    /// `x.lock()`, unless it is awaited: then a task may hold it.
    fn is_guard(&self, call: Node<'a>) -> bool {
        let method = call.child_by_field_id(fields().function).filter(|callee| kind(*callee) == K::Field);
        let name = method.and_then(|method| method.child_by_field_id(fields().field));
        name.is_some_and(|name| GUARDING.contains(&self.text(name)))
            && self.arguments(call).is_empty()
            && call.parent().is_none_or(|parent| kind(parent) != K::Await)
    }
}

/// True if something among the tokens of a macro may be a guard, or belong to one thread.
pub(super) fn is_held_in(tokens: &str) -> bool {
    let mut words = tokens.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_guard = |name: &&str| tokens.contains(&format!(".{name}()"));
    words.any(|word| OF_ONE_THREAD.contains(&word)) || GUARDING.iter().any(is_guard)
}

fn contains(node: Node<'_>, inner: Node<'_>) -> bool {
    node.start_byte() <= inner.start_byte() && inner.end_byte() <= node.end_byte()
}

/// True if the block in which a name stands goes on around the call.
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

/// True if a guard lives until the call: in its statement, or in a variable.
fn is_guard_alive<'a>(file: &File<'a>, guard: Node<'a>, root: Node<'a>, call: Node<'a>) -> bool {
    let (mut node, mut is_whole) = (guard, true);
    while let Some(parent) = node.parent().filter(|_| node != root) {
        match kind(parent) {
            // A block is left, or was not one around the call: in a statement all but the condition of an `if` lives to its end.
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
                let name =
                    parent.child_by_field_id(fields().function).and_then(|of| of.child_by_field_id(fields().field));
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

/// Checks that a parameter may be alive while a task waits.
///
/// # Errors
///
/// Returns the part of its type that may belong to one thread.
pub(super) fn may_be_shared<'a>(file: &File<'a>, parameter: Node<'a>) -> Result<(), &'a str> {
    if kind(parameter) == K::SelfParameter {
        let mut around = parameter.parent();
        while let Some(node) = around {
            if kind(node) == K::ImplItem {
                return node.child_by_field_id(fields().type_name).map_or(Ok(()), |ty| check(file, ty, DEPTH));
            }
            around = node.parent();
        }
        return Ok(());
    }
    parameter.child_by_field_id(fields().type_name).map_or(Ok(()), |ty| check(file, ty, DEPTH))
}

fn check<'a>(file: &File<'a>, ty: Node<'a>, depth: usize) -> Result<(), &'a str> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    for node in below(ty, |_| true) {
        let text = file.text(node);
        match kind(node) {
            K::PointerType => return Err(text),
            K::DynamicType if !is_sendable(file, node) => return Err(text),
            K::TypeIdentifier if OF_ONE_THREAD.contains(&text) => return Err(text),
            K::TypeIdentifier if NOT_SHARED.contains(&text) && is_shared(node, ty) => return Err(text),
            K::TypeIdentifier => {
                for field in declared(file, text) {
                    check(file, field, depth)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// True if a `dyn` type shows that its values go to other threads.
fn is_sendable<'a>(file: &File<'a>, dynamic: Node<'a>) -> bool {
    let bounds = dynamic.parent().filter(|parent| kind(*parent) == K::BoundedType).unwrap_or(dynamic);
    let is_reference = bounds.parent().is_some_and(|parent| kind(parent) == K::ReferenceType && !is_mutable(parent));
    let says = |word: &str| file.text(bounds).split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    if is_reference { says("Sync") } else { says("Send") }
}

fn is_mutable(reference: Node<'_>) -> bool {
    all(reference).any(|part| kind(part) == K::MutableSpecifier)
}

/// True if a type stands behind `&` or in an `Arc`.
fn is_shared<'a>(node: Node<'a>, top: Node<'a>) -> bool {
    let mut around = Some(node);
    while let Some(of) = around {
        if kind(of) == K::ReferenceType && !is_mutable(of) {
            return true;
        }
        around = of.parent().filter(|_| of != top);
    }
    false
}

/// Returns the types of the fields of a type that this file declares.
fn declared<'a>(file: &File<'a>, name: &str) -> Vec<Node<'a>> {
    let items = below(file.root, |node| kind(node) != K::FunctionItem);
    let item = items.into_iter().find(|node| {
        matches!(kind(*node), K::StructItem | K::EnumItem)
            && node.child_by_field_id(fields().name).is_some_and(|of| file.text(of) == name)
    });
    let parts = item.map(|item| below(item, |_| true)).unwrap_or_default();
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
