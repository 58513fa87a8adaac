//! The uses of a variable with a scheduler: reads, assignments, calls of `dispose()`, and subscriptions that run on it.

use blocklint_core::{Publishers, Refusal};
use tree_sitter::Node;

use super::File;
use crate::kinds::{K, kind, named};

/// Names of methods that run once in the life of an instance.
const ONCE: &[&str] = &["start", "init", "initialize", "open", "connect", "afterPropertiesSet", "run"];

/// The uses of the variable, without its declaration.
#[derive(Default)]
pub(super) struct Uses<'t> {
    /// The reads of the variable; true if the chain is returned, or subscribed to in a statement of its own.
    pub reads: Vec<(bool, Node<'t>)>,
    /// The assignments of the variable.
    pub assigned: Vec<Node<'t>>,
    /// The calls of `dispose()`.
    pub endings: Vec<Ending<'t>>,
    /// Subscriptions on it that are not stored.
    pub starts: Vec<Start<'t>>,
}

/// A statement `own.dispose();`.
pub(super) struct Ending<'t> {
    pub statement: Node<'t>,
    pub call: Node<'t>,
}

/// A statement that subscribes: `chain.publishOn(own).subscribe();`.
pub(super) struct Start<'t> {
    pub expression: Node<'t>,
    /// True if it runs once in the life of an instance.
    pub once: bool,
}

/// Returns the uses, inside a node, of the variable that a declarator declares.
pub(super) fn uses<'t>(
    file: &File<'_, 't>,
    inside: Node<'t>,
    declarator: Node<'t>,
    name: &str,
    publishers: Publishers,
) -> Result<Uses<'t>, Refusal> {
    let refuse = |reason: String| Err(Refusal::new(reason));
    let mut found = Uses::default();
    let mut open = vec![inside];
    while let Some(node) = open.pop() {
        open.extend(named(node));
        if kind(node) != K::Identifier || file.text(node) != name {
            continue;
        }
        let Some(parent) = node.parent() else { continue };
        let is = |field: &str| parent.child_by_field_name(field) == Some(node);
        let read = match kind(parent) {
            _ if parent == declarator && is("name") => continue,
            K::Invocation | K::MethodDeclaration if is("name") => continue,
            K::ScopedIdentifier => continue,
            K::ElementPair if is("key") => continue,
            K::FieldAccess if is("field") => {
                if parent.child_by_field_name("object").is_none_or(|object| kind(object) != K::This) {
                    return refuse(format!("the name `{name}` is also read from another object"));
                }
                parent
            }
            K::MethodReference => return refuse(format!("a method reference uses `{name}`")),
            _ if is("name") => return refuse(format!("another variable `{name}` is declared")),
            K::InferredParameters | K::Lambda if !is("body") => {
                return refuse(format!("another variable `{name}` is declared"));
            }
            _ => node,
        };
        classify(file, read, publishers, &mut found)?;
    }
    // In the order of the text.
    found.reads.sort_by_key(|(_, node)| node.start_byte());
    found.starts.sort_by_key(|start| start.expression.start_byte());
    found.starts.dedup_by_key(|start| start.expression.start_byte());
    Ok(found)
}

/// Classifies one mention of the variable and adds it to the uses.
fn classify<'t>(
    file: &File<'_, 't>,
    read: Node<'t>,
    publishers: Publishers,
    found: &mut Uses<'t>,
) -> Result<(), Refusal> {
    let Some(parent) = read.parent() else { return Ok(()) };
    if kind(parent) == K::Assignment && parent.child_by_field_name("left") == Some(read) {
        found.assigned.push(parent);
        return Ok(());
    }
    if kind(parent) == K::Invocation && parent.child_by_field_name("object") == Some(read) {
        let name = parent.child_by_field_name("name").map(|name| file.text(name)).unwrap_or_default();
        if name.starts_with("dispose") {
            let statement = parent.parent().filter(|statement| {
                kind(*statement) == K::ExprStatement
                    && statement.parent().is_some_and(|block| matches!(kind(block), K::Block | K::ConstructorBody))
            });
            return match statement {
                Some(statement) if name == "dispose" => {
                    found.endings.push(Ending { statement, call: parent });
                    Ok(())
                }
                _ => Err(Refusal::new("the program disposes of it in a way that the edit cannot keep")),
            };
        }
    }
    let start = find_start(file, read, publishers);
    let kept = start.is_some() || is_returned(read);
    if let Some(start) = start {
        found.starts.push(start);
    }
    found.reads.push((kept, read));
    Ok(())
}

/// Returns the subscription that runs on the scheduler, if the statement does not store it.
fn find_start<'t>(file: &File<'_, 't>, read: Node<'t>, publishers: Publishers) -> Option<Start<'t>> {
    let mut chain = read;
    while let Some(parent) = chain.parent() {
        match kind(parent) {
            K::ExprStatement => break,
            // The chain is part of other code, which subscribes later.
            K::Lambda | K::ClassBody | K::Block | K::ConstructorBody | K::Return => return None,
            _ => chain = parent,
        }
    }
    if kind(chain) != K::Invocation || !publishers.starts.contains(&file.text(chain.child_by_field_name("name")?)) {
        return None;
    }
    // With a subscriber object `subscribe` returns nothing; the subscriber stores its subscription.
    let arguments = chain.child_by_field_name("arguments")?;
    let is_subscribe = publishers.starts.first() == Some(&file.text(chain.child_by_field_name("name")?));
    let is_callable = |argument: Node<'t>| matches!(kind(argument), K::Lambda | K::MethodReference);
    if is_subscribe && !named(arguments).all(is_callable) {
        return None;
    }
    let mut around = chain.parent();
    while let Some(node) = around {
        match kind(node) {
            K::Constructor => return Some(Start { expression: chain, once: true }),
            K::MethodDeclaration => {
                let name = node.child_by_field_name("name").map(|name| file.text(name)).unwrap_or_default();
                return Some(Start { expression: chain, once: ONCE.contains(&name) });
            }
            K::Lambda | K::For | K::EnhancedFor | K::While | K::Do => {
                return Some(Start { expression: chain, once: false });
            }
            _ => around = node.parent(),
        }
    }
    None
}

/// True if the chain around a read is returned to the caller.
fn is_returned(read: Node<'_>) -> bool {
    let mut chain = read;
    while let Some(parent) = chain.parent() {
        match kind(parent) {
            K::Return => return true,
            K::Lambda | K::ClassBody | K::Block | K::ExprStatement => return false,
            _ => chain = parent,
        }
    }
    false
}
