//! The bodies of a file: which function a closure or block stands in.

use blocklint_facts::{BodyId, BodyKind, FileFacts};

/// The function that a body is, or stands in: closures, blocks and generator expressions belong to it.
pub fn function_around(facts: &FileFacts, mut body: BodyId) -> BodyId {
    while matches!(facts.body(body).kind, BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression)
        && let Some(parent) = facts.body(body).parent.get()
    {
        body = parent;
    }
    body
}
