//! Edits that replace a call by its async twin: `std::fs::read(p)?` → `tokio::fs::read(p).await?`.

use blocklint_core::{Applicability, Refusal, WrittenEdit, last_name};
use tree_sitter::Node;

use super::{File, Site, TextEdit, descendants, manifest_clause, span, span_at};
use crate::kinds::{K, fields, kind};

/// Links of one chain that are followed.
const MAX_LINKS: usize = 64;

impl<'a> File<'a> {
    /// Replaces the callee by the async twin at `path` and awaits the call; the arguments stay as they are.
    pub(super) fn write_twin(
        &self,
        site: &Site<'a>,
        path: &str,
        is_method: bool,
        is_same: bool,
        needs: Option<&str>,
    ) -> Result<WrittenEdit, Refusal> {
        let is_bound = is_same && site.around.may_hold_thread_bound(|node| self.text(node));
        let applicability = if is_same && !is_bound { Applicability::Safe } else { Applicability::Unsafe };
        let name = match kind(site.callee) {
            K::Field => site.callee.child_by_field_id(fields().field),
            K::ScopedIdentifier => site.callee.child_by_field_id(fields().name),
            K::Identifier => Some(site.callee),
            _ => None,
        };
        let name = name.ok_or_else(|| Refusal::new("the call has type arguments, which its twin may not have"))?;
        let awaited = (span_at(site.call.end_byte()), ".await".to_owned());
        if is_method {
            let twin = last_name(path).to_owned();
            let title = format!("Replace with `….{twin}(…).await`{}", manifest_clause(needs));
            return Ok(WrittenEdit { title, applicability, edits: vec![(span(name), twin), awaited] });
        }
        if kind(site.callee) == K::Field {
            return Err(Refusal::new("the twin is not a method"));
        }
        let written = self.spell_path(site.call, path)?;
        let title = format!("Replace with `{written}(…).await`{}", manifest_clause(needs));
        Ok(WrittenEdit { title, applicability, edits: vec![(span(site.callee), written), awaited] })
    }

    /// Replaces the type at the head of the call's chain by its async twin, and awaits the call:
    /// `Command::new("ls").output()` → `tokio::process::Command::new("ls").output().await`. If the head is a variable,
    /// replaces the type in its initialiser.
    pub(super) fn write_twin_type(
        &self,
        site: &Site<'a>,
        from: &str,
        to: &str,
        needs: Option<&str>,
    ) -> Result<WrittenEdit, Refusal> {
        let refused = || Refusal::new("the creation of its receiver is not visible here");
        let head = self.chain_head(site.callee).ok_or_else(refused)?;
        let constructor = match kind(head) {
            K::Identifier => self.find_construction(site, head).ok_or_else(refused)?,
            _ => head,
        };
        // The head of the chain is the call of a path; the type is the path without its last segment.
        let ty = constructor.child_by_field_id(fields().path).ok_or_else(refused)?;
        if self.resolve_path(site.call, self.text(ty)) != from {
            return Err(refused());
        }
        let written = self.spell_path(site.call, to)?;
        let title = format!("Replace with `{written}` and `.await`{}", manifest_clause(needs));
        let edits: Vec<TextEdit> = vec![(span(ty), written), (span_at(site.call.end_byte()), ".await".to_owned())];
        Ok(WrittenEdit { title, applicability: Applicability::Unsafe, edits })
    }

    /// Returns the head of a chain of calls: the path of its first call, or a variable.
    pub(super) fn chain_head(&self, callee: Node<'a>) -> Option<Node<'a>> {
        let mut link = callee;
        for _ in 0..MAX_LINKS {
            link = match kind(link) {
                K::Field => link.child_by_field_id(fields().value)?,
                K::Call => link.child_by_field_id(fields().function)?,
                K::ScopedIdentifier | K::Identifier => return Some(link),
                _ => return None,
            };
        }
        None
    }

    /// Returns the path of the call that creates a variable, if the variable is only used as a receiver of calls.
    fn find_construction(&self, site: &Site<'a>, variable: Node<'a>) -> Option<Node<'a>> {
        let name = self.text(variable);
        let mut constructor = None;
        for node in descendants(site.around.root, |_| true) {
            if kind(node) != K::Identifier || self.text(node) != name {
                continue;
            }
            let parent = node.parent()?;
            match kind(parent) {
                K::LetDeclaration
                    if constructor.is_none() && parent.child_by_field_id(fields().pattern) == Some(node) =>
                {
                    if parent.child_by_field_id(fields().type_name).is_some() {
                        return None;
                    }
                    constructor = Some(self.chain_head(parent.child_by_field_id(fields().value)?)?);
                }
                K::Field if parent.parent().is_some_and(|call| kind(call) == K::Call) => {}
                _ => return None,
            }
        }
        constructor.filter(|constructor| kind(*constructor) == K::ScopedIdentifier)
    }
}
