//! The code around a call: its lambda or method, the call of which it is an argument, `catch` clauses, captured locals.

use blocklint_core::Refusal;
use tree_sitter::Node;

use super::File;
use crate::kinds::{K, all, kind, named};

/// The innermost lambda or method around a call.
pub(super) enum Around<'t> {
    /// A lambda.
    Lambda(Node<'t>),
    /// A method with a body.
    Method(Node<'t>),
    /// An initialiser, a constructor, a field.
    Other,
}

/// Returns the innermost lambda or method around a call.
pub(super) fn around(call: Node<'_>) -> Around<'_> {
    let mut node = call;
    while let Some(parent) = node.parent() {
        match kind(parent) {
            K::Lambda => return Around::Lambda(parent),
            K::MethodDeclaration => return Around::Method(parent),
            K::Constructor | K::StaticInitializer | K::ClassBody => return Around::Other,
            _ => node = parent,
        }
    }
    Around::Other
}

/// Returns the call that has an expression as its only argument.
pub(super) fn only_argument_of(expression: Node<'_>) -> Option<Node<'_>> {
    let list = expression.parent()?;
    let call = list.parent().filter(|call| kind(*call) == K::Invocation)?;
    let is_list = call.child_by_field_name("arguments") == Some(list);
    (is_list && named(list).count() == 1).then_some(call)
}

/// Returns the call that has an expression as an argument.
pub(super) fn argument_of(expression: Node<'_>) -> Option<Node<'_>> {
    let list = expression.parent()?;
    let call = list.parent().filter(|call| kind(*call) == K::Invocation)?;
    (call.child_by_field_name("arguments") == Some(list)).then_some(call)
}

/// True if a call is the result of a lambda: its expression, or the only `return` of its block.
pub(super) fn is_result_of(call: Node<'_>, lambda: Node<'_>) -> bool {
    let Some(body) = lambda.child_by_field_name("body") else { return false };
    if body == call {
        return true;
    }
    let Some(parent) = call.parent() else { return false };
    kind(parent) == K::Return && parent.parent() == Some(body) && returns(body).len() == 1
}

/// Returns the `return`s of a block, without those of lambdas and classes in it.
pub(super) fn returns(block: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![block];
    while let Some(node) = open.pop() {
        match kind(node) {
            K::Return => found.push(node),
            K::Lambda | K::ClassBody => {}
            _ => open.extend(named(node)),
        }
    }
    found
}

impl<'t> File<'_, 't> {
    /// Refuses code for a lambda that reads a local or parameter which is assigned more than once, because a lambda can
    /// only capture effectively final variables.
    pub(super) fn check_captures(&self, inside: Node<'t>, method: Node<'t>) -> Result<(), Refusal> {
        let mut names = Vec::new();
        let mut open = vec![inside];
        while let Some(node) = open.pop() {
            if kind(node) == K::Identifier {
                names.push(self.text(node));
            }
            open.extend(named(node));
        }
        let changed = self.reassigned_variables(method);
        match names.iter().find(|name| changed.contains(name)) {
            Some(name) => Err(Refusal::new(format!("`{name}` is assigned more than once, so a lambda cannot use it"))),
            None => Ok(()),
        }
    }

    /// Returns the locals and parameters that are assigned after their declaration.
    pub(super) fn reassigned_variables(&self, body: Node<'t>) -> Vec<&str> {
        let mut found = Vec::new();
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            let target = match kind(node) {
                K::Assignment => node.child_by_field_name("left"),
                K::Update => named(node).next(),
                // A variable without an initial value is assigned later.
                K::VariableDeclarator if node.child_by_field_name("value").is_none() => {
                    node.child_by_field_name("name")
                }
                _ => None,
            };
            if let Some(target) = target.filter(|target| kind(*target) == K::Identifier) {
                found.push(self.text(target));
            }
            open.extend(named(node));
        }
        found
    }

    /// Refuses a call if a `try` around it, inside of `top`, catches a checked exception that possibly only the call
    /// throws, because the compiler rejects such a `catch` without the call.
    pub(super) fn check_catches(&self, call: Node<'t>, top: Node<'t>) -> Result<(), Refusal> {
        let mut node = call;
        while let Some(parent) = node.parent().filter(|_| node != top) {
            if matches!(kind(parent), K::Try | K::TryResources) {
                for clause in all(parent).filter(|part| kind(*part) == K::CatchClause) {
                    let caught = named(clause).find(|part| kind(*part) == K::CatchParameter);
                    let types = caught.and_then(|caught| named(caught).find(|part| kind(*part) == K::CatchType));
                    let broad = |text: &str| matches!(text, "Exception" | "Throwable" | "RuntimeException" | "Error");
                    let is_broad = types.is_some_and(|types| named(types).all(|ty| broad(self.text(ty))));
                    if !is_broad {
                        return Err(Refusal::new(
                            "a `catch` around the call would no longer compile, because nothing would throw its \
                             exception",
                        ));
                    }
                }
            }
            node = parent;
        }
        Ok(())
    }
}
