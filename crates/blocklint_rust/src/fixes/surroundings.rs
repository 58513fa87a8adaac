//! The syntax around a call, which decides whether an `.await` is allowed there.

use blocklint_core::Refusal;
use tree_sitter::Node;

use crate::kinds::{K, all, fields, kind};

/// Facts about the syntax around a call.
pub(super) struct Surroundings<'a> {
    /// The `async` function, block or closure around it.
    pub(super) root: Node<'a>,
    /// The function around the root, or the root: a closure would capture its parameters and variables.
    pub(super) function: Node<'a>,
    /// The outermost loop between the call and the root.
    pub(super) in_loop: Option<Node<'a>>,
    /// True if the result of the call is awaited at once.
    pub(super) is_awaited: bool,
}

impl<'a> Surroundings<'a> {
    /// Collects the facts from the call outward. Refuses a call where no `.await` is allowed.
    pub(super) fn collect(call: Node<'a>) -> Result<Self, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let is_awaited = call.parent().is_some_and(|parent| kind(parent) == K::Await);
        let (mut root, mut in_loop) = (None, None);
        let mut next = call.parent();
        while let Some(node) = next {
            match (kind(node), root) {
                (K::AsyncBlock, None) => root = Some(node),
                (K::Closure, None) if is_async(node) => root = Some(node),
                (K::Closure, None) => return refuse("the call is in a closure that is not `async`"),
                (K::FunctionItem, None) if is_async(node) => root = Some(node),
                (K::FunctionItem, None) => return refuse("the call is in a function that is not `async`"),
                (K::ConstItem | K::StaticItem | K::ConstBlock, _) => return refuse("the call is in a constant"),
                (K::Loop | K::While | K::For, None) => in_loop = Some(node),
                _ => {}
            }
            if kind(node) == K::FunctionItem
                && let Some(root) = root
            {
                return Ok(Surroundings { root, function: node, in_loop, is_awaited });
            }
            next = node.parent();
        }
        match root {
            Some(root) => Ok(Surroundings { root, function: root, in_loop, is_awaited }),
            None => refuse("the call is in no function"),
        }
    }

    /// True if a guard or a value that is not `Send` is possibly alive at the call, so that a new `.await` would make
    /// the future not `Send`.
    pub(super) fn may_hold_thread_bound(&self, text: impl Fn(Node<'a>) -> &'a str) -> bool {
        super::descendants(self.root, |_| true).into_iter().any(|node| match kind(node) {
            K::TypeIdentifier | K::Identifier => THREAD_BOUND.contains(&text(node)),
            K::PointerType => true,
            // A call of these functions often returns a guard.
            K::Call => {
                let callee = node.child_by_field_id(fields().function);
                let method = callee.filter(|callee| kind(*callee) == K::Field);
                let name = method.and_then(|method| method.child_by_field_id(fields().field));
                name.is_some_and(|name| GUARD_METHODS.contains(&text(name)))
            }
            _ => false,
        })
    }
}

/// Types that are not `Send`, and functions that return them.
const THREAD_BOUND: &[&str] =
    &["Rc", "Ref", "RefMut", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "thread_rng", "ThreadRng"];

/// Methods that return guards.
const GUARD_METHODS: &[&str] = &["lock", "read", "write", "borrow", "borrow_mut"];

/// True if a function or closure is `async`.
pub(super) fn is_async(node: Node<'_>) -> bool {
    all(node).any(|part| match kind(part) {
        K::Async => true,
        K::FunctionModifiers => all(part).any(|word| kind(word) == K::Async),
        _ => false,
    })
}
