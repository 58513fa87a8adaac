//! The async twin in place of a call: `std::fs::read(p)?` → `tokio::fs::read(p).await?`.

use blocklint_core::{Applicability, Refusal, WrittenEdit, last_name};
use tree_sitter::Node;

use super::{File, Site, TextEdit, at, below, needing, span};
use crate::kinds::{K, fields, kind};

/// How many calls may stand in one chain.
const CHAIN: usize = 64;

impl<'a> File<'a> {
    /// Renames the callee and awaits the call; arguments stay as they are.
    pub(super) fn twin(
        &self,
        site: &Site<'a>,
        path: &str,
        method: bool,
        same: bool,
        needs: Option<&str>,
    ) -> Result<WrittenEdit, Refusal> {
        let bound = same && site.around.keeps_to_its_thread(|node| self.text(node));
        let applicability = if same && !bound { Applicability::Safe } else { Applicability::Unsafe };
        let name = match kind(site.callee) {
            K::Field => site.callee.child_by_field_id(fields().field),
            K::ScopedIdentifier => site.callee.child_by_field_id(fields().name),
            K::Identifier => Some(site.callee),
            _ => None,
        };
        let name = name.ok_or_else(|| Refusal::new("type arguments of the call are not those of its twin"))?;
        let awaited = (at(site.call.end_byte()), ".await".to_owned());
        if method {
            let twin = last_name(path).to_owned();
            let title = format!("Replace with `….{twin}(…).await`{}", needing(needs));
            return Ok(WrittenEdit { title, applicability, edits: vec![(span(name), twin), awaited] });
        }
        if kind(site.callee) == K::Field {
            return Err(Refusal::new("the twin is no method"));
        }
        let written = self.written(site.call, path)?;
        let title = format!("Replace with `{written}(…).await`{}", needing(needs));
        Ok(WrittenEdit { title, applicability, edits: vec![(span(site.callee), written), awaited] })
    }

    /// Renames the type at the head of the call's chain, or where the variable that begins it is made, and awaits the
    /// call: `Command::new("ls").output()` → `tokio::process::Command::new("ls").output().await`.
    pub(super) fn twin_type(
        &self,
        site: &Site<'a>,
        from: &str,
        to: &str,
        needs: Option<&str>,
    ) -> Result<WrittenEdit, Refusal> {
        let refused = || Refusal::new("where its receiver is made is not seen here");
        let head = self.head_of(site.callee).ok_or_else(refused)?;
        let made = match kind(head) {
            K::Identifier => self.made_for_methods(site, head).ok_or_else(refused)?,
            _ => head,
        };
        // The head of a chain is a call of a path: what stands before its last segment is the type.
        let ty = made.child_by_field_id(fields().path).ok_or_else(refused)?;
        if self.meant(site.call, self.text(ty)) != from {
            return Err(refused());
        }
        let written = self.written(site.call, to)?;
        let title = format!("Replace with `{written}` and `.await`{}", needing(needs));
        let edits: Vec<TextEdit> = vec![(span(ty), written), (at(site.call.end_byte()), ".await".to_owned())];
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// Returns the head of a chain of calls: the path of its first call, or a variable.
    pub(super) fn head_of(&self, callee: Node<'a>) -> Option<Node<'a>> {
        let mut at = callee;
        for _ in 0..CHAIN {
            at = match kind(at) {
                K::Field => at.child_by_field_id(fields().value)?,
                K::Call => at.child_by_field_id(fields().function)?,
                K::ScopedIdentifier | K::Identifier => return Some(at),
                _ => return None,
            };
        }
        None
    }

    /// Returns the path of the call that makes a variable which is only there for methods to be called on it.
    fn made_for_methods(&self, site: &Site<'a>, variable: Node<'a>) -> Option<Node<'a>> {
        let name = self.text(variable);
        let mut made = None;
        for node in below(site.around.root, |_| true) {
            if kind(node) != K::Identifier || self.text(node) != name {
                continue;
            }
            let parent = node.parent()?;
            match kind(parent) {
                K::LetDeclaration if made.is_none() && parent.child_by_field_id(fields().pattern) == Some(node) => {
                    if parent.child_by_field_id(fields().type_name).is_some() {
                        return None;
                    }
                    made = Some(self.head_of(parent.child_by_field_id(fields().value)?)?);
                }
                K::Field if parent.parent().is_some_and(|call| kind(call) == K::Call) => {}
                _ => return None,
            }
        }
        made.filter(|made| kind(*made) == K::ScopedIdentifier)
    }
}
